package runstatetest

import (
	"errors"
	"flag"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// RunModel drives random operations through a table and through a model, and
// compares them after each. It also checks V1, V2 and V13 of architecture
// §2.12 on what the table shows. open returns a table with few tasks a shard.
func RunModel(t *testing.T, open func(*testing.T) runstate.Table, checks int) {
	f := newFixture(t, open(t))
	seen := tally{}
	defer seen.check(t, checks)
	check(t, checks, func(rt *rapid.T) {
		m := f.begin()
		before := m.observe(f)
		for range steps(rt) {
			s := drawer{rt, m}.draw()
			_, err := s.do(t.Context(), f.table)
			holds := s.model(m)
			if holds && err != nil || !holds && !errors.Is(err, runstate.ErrCondition) {
				rt.Fatalf("%s: the model says %v, the table %v", s.name, holds, err)
			}
			seen[outcome{s.operation(), holds}]++
			after := m.observe(f)
			rt.Log(s.name, holds)
			if d := cmp.Diff(*m, after, modelFields...); d != "" {
				rt.Fatalf("after %s (-model +table):\n%s", s.name, d)
			}
			if broken := lawful(before, after); broken != "" {
				rt.Fatalf("after %s: %s", s.name, broken)
			}
			before = after
		}
	})
}

// Compare drives the same random operations through two tables and compares
// every answer, and all that they hold in the end.
func Compare(t *testing.T, left, right func(*testing.T) runstate.Table, checks int) {
	l, r := newFixture(t, left(t)), newFixture(t, right(t))
	check(t, checks, func(rt *rapid.T) {
		m := l.begin()
		r.begin()
		for range steps(rt) {
			s := drawer{rt, m}.draw()
			s.model(m)
			want, wantErr := s.do(t.Context(), l.table)
			got, gotErr := s.do(t.Context(), r.table)
			rt.Log(s.name, wantErr)
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				rt.Fatalf("%s answers (-left +right):\n%s", s.name, d)
			}
			if d := cmp.Diff(asCondition(wantErr), asCondition(gotErr), cmpopts.EquateEmpty()); d != "" || (wantErr == nil) != (gotErr == nil) {
				rt.Fatalf("%s: left %v, right %v (-left +right):\n%s", s.name, wantErr, gotErr, d)
			}
		}
		if d := cmp.Diff(l.everything(m), r.everything(m), cmpopts.EquateEmpty()); d != "" {
			rt.Fatalf("in the end (-left +right):\n%s", d)
		}
	})
}

var modelFields = []cmp.Option{cmp.AllowUnexported(model{}, modelRun{}, modelChunk{}, modelNode{}), cmpopts.IgnoreFields(model{}, "now", "tokens"), cmpopts.EquateEmpty()}

// outcome is an operation and whether its condition held.
type outcome struct {
	operation string
	held      bool
}

// tally counts outcomes. A property that has many checks and never sees an
// operation held, or refused, no longer tests it.
type tally map[outcome]int

func (seen tally) check(t *testing.T, checks int) {
	for o := range maps.Keys(maps.Clone(seen)) {
		other := outcome{o.operation, !o.held}
		alwaysSo := o.operation == "T1 CreateRun" || o.operation == "T11 FaninAdd" // begin made run and nodes
		if seen[other] == 0 && checks >= 300 && !alwaysSo && !t.Failed() {
			t.Errorf("%s: held is always %v, in %d steps", o.operation, o.held, seen[o])
		}
	}
	t.Logf("%v", seen)
}

// check runs a property that often, unless the command line says how often.
func check(t *testing.T, checks int, property func(*rapid.T)) {
	t.Helper()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if !set {
		f := flag.Lookup("rapid.checks")
		was := f.Value.String()
		if err := f.Value.Set(strconv.Itoa(checks)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(was) }() // it was valid before
	}
	rapid.Check(t, property)
}

func steps(rt *rapid.T) int { return 20 + drawer{T: rt}.oneOf("steps", 64) }

// begin makes a run of its own, with its fan-in tree, in table and model.
func (f *fixture) begin() *model {
	f.t.Helper()
	run := f.created()
	f.leaves(run)
	k := f.table.FaninK()
	return &model{
		id: run, k: k, now: start, run: &modelRun{status: runstate.RunPlanning, trigger: "t1", creation: creation, lease: lease},
		chunks: map[contract.TaskID]modelChunk{},
		nodes:  map[int]modelNode{0: {expected: k}, 1: {expected: k}, runstate.RootShard: {expected: 2}},
	}
}

func asCondition(err error) *runstate.ConditionError {
	var refused *runstate.ConditionError
	errors.As(err, &refused)
	return refused
}

// everything is all that a table knows of a run.
func (f *fixture) everything(m *model) []any {
	f.t.Helper()
	ctx := f.t.Context()
	all := []any{f.run(m.id), f.isActive(m.id)}
	for _, shard := range []int{0, 1, runstate.RootShard} {
		list, err := f.table.ListChunks(ctx, m.id, shard)
		f.must(err)
		node, err := f.table.GetFanin(ctx, m.id, shard)
		f.must(err)
		all = append(all, list, node)
	}
	return all
}

// runMoves are the moves of V13, with those of T17a and of an adopted success
// sidecar (F6).
var runMoves = map[runstate.RunStatus][]runstate.RunStatus{
	runstate.RunPlanning:   {runstate.RunRunning, runstate.RunRefused, runstate.RunFailed, runstate.RunSuperseded, runstate.RunSucceeded},
	runstate.RunRunning:    {runstate.RunFinalizing, runstate.RunFailed, runstate.RunSuperseded, runstate.RunPlanning, runstate.RunSucceeded},
	runstate.RunFinalizing: {runstate.RunSucceeded, runstate.RunSuperseded, runstate.RunPlanning},
	runstate.RunSucceeded:  {runstate.RunPlanning},
	runstate.RunFailed:     {runstate.RunPlanning, runstate.RunSucceeded},
	runstate.RunSuperseded: {runstate.RunSucceeded},
	runstate.RunRefused:    {runstate.RunSucceeded},
}

// lawful names the law of §2.12 that the move from before to after breaks.
func lawful(before, after model) string {
	if was, is := before.run.status, after.run.status; was != is && !slices.Contains(runMoves[was], is) {
		return "V13: the run went from " + string(was) + " to " + string(is)
	}
	for id, was := range before.chunks {
		is, there := after.chunks[id]
		switch {
		case !there:
			return "V1: chunk " + string(id) + " is gone"
		case was.status == runstate.ChunkCompleted && (is.status != was.status || is.rows != was.rows || is.attempts != was.attempts || is.gen != was.gen):
			return "V1: chunk " + string(id) + " was completed and changed"
		case was.supersededBy != "" && is.supersededBy != was.supersededBy:
			return "V1: chunk " + string(id) + " was superseded and counts again"
		case is.attempts < was.attempts || is.attempts > is.max:
			return "V2: attempts of chunk " + string(id)
		case is.attempts == was.attempts+1 && is.status == runstate.ChunkRunning && is.token == was.token:
			return "V2: a new attempt on chunk " + string(id) + " with the old token"
		case is.gen < was.gen:
			return "the generation of chunk " + string(id) + " went back"
		}
	}
	return ""
}
