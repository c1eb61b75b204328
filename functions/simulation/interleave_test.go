package simulation

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

var (
	seeds     = flag.Int("seeds", 40, "how many random schedules are tried")
	firstSeed = flag.Int("first-seed", 1, "the first of them")
)

// The processes of three runs are interleaved call by call, in an order that a
// seed chooses: duplicate triggers, supersession, resumes, sweeps and messages
// at any time, failing reads, and processes that die or stall in any call. What
// a reader may see is judged after every call. In the end every run has ended,
// and the next one delivers the table.
func TestRandomSchedules(t *testing.T) {
	n := *seeds
	if testing.Short() {
		n = min(n, 10)
	}
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSchedule(t, seed)
				defer func() {
					if t.Failed() {
						for _, line := range s.trace {
							t.Log(line)
						}
					}
				}()
				s.disorder()
				s.end()
			})
		})
	}
}

// disorder is the random part.
func (s *schedule) disorder() {
	slow, failures, deaths, crowd := time.Duration(0), s.rng.IntN(8), s.rng.IntN(4), 1+s.rng.IntN(6)
	if s.rng.IntN(2) == 0 { // tasks split
		s.config.Exports[0].ChunkSize = 1000
		s.budget, slow = time.Minute, 13*time.Second
	}
	s.db.fail = func(keyspace.Range) error {
		s.now = s.now.Add(slow)
		if failures > 0 && s.rng.IntN(5) == 0 {
			failures--
			return errPermanent
		}
		return nil
	}
	s.startRun(1)
	for range 700 {
		if waiting := len(s.turns()); waiting > 0 && s.rng.IntN(100) < 80 {
			f := proceeds
			if deaths > 0 && s.rng.IntN(60) == 0 {
				deaths--
				f = []fate{isLost, lands}[s.rng.IntN(2)]
			}
			s.grant(s.rng.IntN(waiting), f)
		} else if s.alive < crowd {
			s.something()
		}
		s.judge()
	}
	s.note("everything that lives goes on to its end")
	for n := 0; len(s.turns()) > 0; n++ {
		s.grant(s.rng.IntN(len(s.waiting)), proceeds)
		s.judge()
		if n > 20_000 {
			s.t.Fatal("the processes do not end")
		}
	}
	if s.alive != 0 {
		s.t.Fatalf("%d processes wait for nothing", s.alive)
	}
	s.gate, failures = nil, 0
}

// something is what happens in the world beside the calls.
func (s *schedule) something() {
	id := 1 + s.rng.IntN(3)
	switch k := s.rng.IntN(40); {
	case k < 16:
		s.start("a chunk message", func(ctx context.Context) (any, error) { return s.deliver(ctx, chunkQueue) })
	case k < 24:
		s.start("a finalize message", func(ctx context.Context) (any, error) { return s.deliver(ctx, wire.FinalizeQueue) })
	case k < 28:
		s.now = s.now.Add(time.Duration(1+s.rng.IntN(4)) * time.Minute)
	case k < 30:
		s.note("every lease runs out")
		s.now = s.now.Add(planTimeout)
	case k < 33:
		s.plan("sweep", wire.Trigger{Version: wire.Version, Action: wire.ActionSweep})
	case k < 36:
		s.startRun(id)
	default:
		s.plan(fmt.Sprintf("resume %d", id), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: s.runID(id)})
	}
}

func (s *schedule) startRun(id int) {
	t := s.trigger(id)
	if s.rng.IntN(2) == 0 {
		t.OnConflict = "supersede"
	}
	s.plan(fmt.Sprintf("run %d", id), t)
}

func (s *schedule) plan(what string, t wire.Trigger) {
	s.start(what, func(ctx context.Context) (any, error) { return s.planner(ctx, t) })
}

// end lets queue and sweep work alone, and then one more run.
func (s *schedule) end() {
	var runs []contract.RunID
	for id := 1; id <= 3; id++ {
		if _, err := s.table.GetRun(s.t.Context(), s.runID(id)); err == nil {
			runs = append(runs, s.runID(id))
		}
	}
	s.settle(s.t, runs...)
	s.judge()
	for _, id := range runs {
		run, err := s.table.GetRun(s.t.Context(), id)
		committed := s.sidecars[contract.SidecarName(id)] == contract.StatusSuccess
		if err != nil || (run.Status == runstate.RunSucceeded) != committed {
			s.t.Errorf("run %s is %s (%v), it has committed: %v", id, run.Status, run.Error, committed)
		}
	}
	s.now = s.now.Add(planTimeout)
	triggerUntilPlanned(s.t, s.world, 4)
	s.settle(s.t, s.runID(4))
	s.judge()
	m, rows := s.read(s.t)
	s.wantTable(s.t, "the last run", rows)
	if m.RunID != s.runID(4) {
		s.t.Fatalf("the manifest is that of %s", m.RunID)
	}
}

// judge fails the test when a reader could see something wrong: a manifest of
// an older generation than before, a sidecar that has changed its mind, or a
// success whose parts are not the table (M1, V5, V6, D15).
func (s *schedule) judge() {
	ctx := context.Background()
	prefix := destination.Prefixed(s.bucket, "out/")
	var names []string
	if err := prefix.List(ctx, "manifest", func(o destination.Object) error {
		names = append(names, o.Key)
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
	for name := range s.sidecars {
		if !slices.Contains(names, name) {
			s.t.Fatalf("%s is gone", name)
		}
	}
	for _, name := range names {
		body, _, err := prefix.Get(ctx, name, contract.MaxManifestBytes)
		if err != nil {
			s.t.Fatal(err)
		}
		m, err := contract.DecodeManifest(body)
		if err != nil {
			s.t.Fatal(err)
		}
		was, stood := s.sidecars[name]
		switch {
		case name == contract.ManifestName && m.Generation < s.newest:
			s.t.Fatalf("the manifest went from generation %d to %d", s.newest, m.Generation)
		case name == contract.ManifestName:
			s.newest = m.Generation
		case stood && was != m.Status:
			s.t.Fatalf("%s went from %s to %s", name, was, m.Status)
		default:
			s.sidecars[name] = m.Status
		}
		if m.Status == contract.StatusSuccess {
			_, rows := s.rowsOf(s.t, body)
			s.wantTable(s.t, name, rows)
		}
	}
}
