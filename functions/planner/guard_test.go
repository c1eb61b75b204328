package planner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Guards of the planner that another one stands behind, each in the one state in
// which the other does not help.

// What a repair has replaced does not count: a resume moves it like any object
// that nothing lists (R4, M9).
func TestResumeMovesWhatARepairHasReplaced(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	complete(s)
	s.Put("out/part-000002.csv", "other\n")
	s.DropMessages()
	if _, err := s.Finalize(1); err != nil || s.Task(1, "000001").Live() {
		t.Fatalf("the damaged task is not replaced (%v)", err)
	}
	s.ExpireLeases()
	s.MustPlan(s.Resume(1))
	if moved := s.Keys("out/_quarantine/"); len(moved) != 1 || !strings.HasSuffix(moved[0], "/part-000002.csv") {
		t.Fatalf("quarantined: %v", moved)
	}
	s.Settle(1)
	s.WantPublished("in the end", 1)
}

// A finalizer that nobody knew of commits the run between the planner's first
// look and its claim: nothing of the run is taken, and it comes to its end.
func TestResumeFindsACommitAfterItsClaim(t *testing.T) {
	body := published(t).Body(published(t).Sidecar(1)) // the same run commits the same bytes
	s, _ := halfDone(t)
	s.Around = func(op string, perform func() error) error {
		err := perform()
		if op == "ClaimResume" {
			s.Put(s.Sidecar(1), string(body))
		}
		return err
	}
	_, _ = s.Plan(s.Resume(1))
	if doc := s.Fence(); doc.Generation != 1 {
		t.Fatalf("the fence is %s at generation %d", doc.State, doc.Generation)
	}
}

// A run whose plan was made from another position than the fence has now is not
// resumed: its window is not the next one (R0).
func TestStalePlanIsNotResumed(t *testing.T) {
	s, _ := halfDone(t)
	key := contract.PlanKey("orders", s.RunID(1))
	plan, err := chunkplan.Decode(s.Body(key))
	if err != nil {
		t.Fatal(err)
	}
	from := &contract.Position{Kind: contract.PositionIncremental, Column: "id", Type: "bigint", Value: "3"}
	plan.Window = &contract.PositionWindow{Kind: from.Kind, Column: from.Column, Type: from.Type, From: from, To: from}
	body, err := plan.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.Put(key, string(body))
	_, err = s.Plan(s.Resume(1))
	if fault.CodeOf(err) != "LAPSTRAKE_PLAN_STALE" || s.Fence().Generation != 1 {
		t.Fatalf("the planner: %v, the fence is at generation %d", err, s.Fence().Generation)
	}
}

// A call that the table's client repeats, because its first answer was lost,
// meets its own work.
func TestPlannerKnowsItsOwnWork(t *testing.T) {
	again := func(s *stage.Stage, call string) {
		s.Around = func(op string, perform func() error) error {
			if op == call {
				_ = perform()
			}
			return perform()
		}
	}
	t.Run("a claim", func(t *testing.T) {
		s, _ := halfDone(t)
		again(s, "ClaimResume")
		s.MustPlan(s.Resume(1))
	})
	t.Run("a run whose fence is of a life that the table has lost", func(t *testing.T) {
		s := stage.New(t, 10)
		s.MustPlan(s.Trigger(1))
		s.Table.DropAll()
		again(s, "CreateRun")
		s.MustPlan(s.Trigger(1))
		if doc := s.Fence(); doc.Generation != 2 {
			t.Fatalf("the run goes on at generation %d of a life that is forgotten", doc.Generation)
		}
	})
}

// A run id belongs to one export and one trigger.
func TestRunIDOfAnotherIsRefused(t *testing.T) {
	for name, change := range map[string]func(s *stage.Stage, t *wire.Trigger){
		"another trigger": func(s *stage.Stage, t *wire.Trigger) { t.TriggerID = "other" },
		"another export": func(s *stage.Stage, t *wire.Trigger) {
			other := s.Config.Exports[0]
			other.Name, other.PrefixTemplate = "customers", "customers/"
			s.Config.Exports = append(s.Config.Exports, other)
			t.Export = "customers"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage.New(t, 10)
			s.MustPlan(s.Trigger(1))
			trigger := s.Trigger(1)
			trigger.RunID = s.RunID(1)
			change(s, &trigger)
			if _, err := s.Plan(trigger); fault.CodeOf(err) != "LAPSTRAKE_RUN_ID_TAKEN" {
				t.Fatalf("the planner: %v", err)
			}
		})
	}
}

// A run id that leads out of the folder of runs, or into another run's, starts
// nothing: neither an item nor an object of it is there.
func TestRunIDThatIsNoFolderIsRefused(t *testing.T) {
	for _, id := range []contract.RunID{".", "..", "../other", "a/b", "a b"} {
		s := stage.New(t, 10)
		trigger := s.Trigger(1)
		trigger.RunID = id
		if _, err := s.Plan(trigger); fault.CodeOf(err) != "LAPSTRAKE_RUN_ID_INVALID" {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := s.Table.GetRun(t.Context(), id); !errors.Is(err, runstate.ErrNotFound) || len(s.Keys("")) > 0 {
			t.Errorf("%q: the run is there (%v), or its objects: %v", id, err, s.Keys(""))
		}
	}
}

// A trigger that comes again sends what its dead planner has not sent: nothing
// that is completed, and nothing at all once it was sent (P10, P11) (QUE-11).
func TestTriggerComesAgain(t *testing.T) {
	for _, tc := range []struct {
		name string
		dies string
		want []string
	}{
		{"after it was started", "send " + stage.ChunkQueue, []string{"000001", "000002"}},
		{"after it was sent", "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return op == tc.dies, false }}).Planner(), s.Trigger(1))
			if _, err := s.Extract(1, "000000"); err != nil {
				t.Fatal(err)
			}
			s.DropMessages()
			s.MustPlan(s.Trigger(1))
			if got := sent(s); !slices.Equal(got, tc.want) {
				t.Fatalf("sent: %v, want %v", got, tc.want)
			}
		})
	}
}

// The predecessor that a planner has sealed goes to its finalizer at once: no
// sweep is needed for it.
func TestSealedPredecessorIsFinalized(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.DropMessages()
	s.ExpireLeases()
	s.MustPlan(s.Trigger(2))
	if got := s.Queues.Pending(wire.FinalizeQueue); len(got) != 1 || !strings.Contains(string(got[0].Body), string(s.RunID(1))) {
		t.Errorf("sent: %+v", got)
	}
}

// P3: a prefix that is not this export's, or is to stay as it is, is refused
// before anything at the destination changes.
func TestPrefixIsChecked(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(s *stage.Stage)
		want   fault.Code
	}{
		{"another export's", func(s *stage.Stage) {
			s.Config.Exports[0].Name = "customers"
		}, "LAPSTRAKE_DEST_PREFIX_OF_OTHER_EXPORT"},
		{"complete, and if_success is refuse", func(s *stage.Stage) { s.Config.Exports[0].IfSuccess = "refuse" }, "LAPSTRAKE_DEST_ALREADY_COMPLETE"}, // MAN-03
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := published(t)
			tc.change(s)
			before := s.Keys("")
			trigger := s.Trigger(2)
			trigger.Export = contract.ExportName(s.Config.Exports[0].Name)
			if _, err := s.Plan(trigger); fault.CodeOf(err) != tc.want {
				t.Errorf("the planner: %v", err)
			}
			if after := s.Keys(""); !slices.Equal(before, after) {
				t.Errorf("the bucket has changed from %v to %v", before, after)
			}
		})
	}
}

// A run that a live one keeps out has ended: nothing plans it later.
func TestRunThatIsKeptOutHasEnded(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.MustPlan(s.Trigger(2))
	if got := s.Run(2); got.Status != runstate.RunRefused {
		t.Fatalf("the run is %s", got.Status)
	}
}

// ghosts is a table whose list of active runs names one that is gone, first.
type ghosts struct {
	runstate.Table
	ghost   contract.RunID
	broken  error
	dropped []contract.RunID
}

func (g *ghosts) ListActive(ctx context.Context) ([]runstate.Active, error) {
	active, err := g.Table.ListActive(ctx)
	return append([]runstate.Active{{RunID: g.ghost, Export: "orders"}}, active...), err
}

func (g *ghosts) GetRun(ctx context.Context, run contract.RunID) (runstate.Run, error) {
	if run == g.ghost && g.broken != nil {
		return runstate.Run{}, g.broken
	}
	return g.Table.GetRun(ctx, run)
}

func (g *ghosts) DropActive(ctx context.Context, run contract.RunID) error {
	g.dropped = append(g.dropped, run)
	return g.Table.DropActive(ctx, run)
}

// A run that is gone leaves the list of active ones, and one that cannot be read
// keeps no other run from being swept.
func TestSweepOfAGhost(t *testing.T) {
	for _, broken := range []error{nil, fault.New(fault.Retryable, "LAPSTRAKE_STATE_UNAVAILABLE", "throttled")} {
		s := stage.New(t, 10)
		s.MustPlan(s.Trigger(1))
		s.DropMessages()
		s.Time = s.Time.Add(3 * time.Minute)
		deps := (&stage.Process{Stage: s}).Planner()
		table := &ghosts{Table: deps.State, ghost: "orders_gone", broken: broken}
		deps.State = table
		_, err := planner.Sweep(t.Context(), deps)
		if (err != nil) != (broken != nil) || len(sent(s)) != 3 {
			t.Errorf("broken %v: the sweep ends with %v, sent: %v", broken, err, sent(s))
		}
		if dropped := slices.Equal(table.dropped, []contract.RunID{"orders_gone"}); dropped != (broken == nil) {
			t.Errorf("broken %v: dropped %v", broken, table.dropped)
		}
	}
}

// A sweep reads what is not finished, sends nothing that has its place in the
// tree, and never more than its share.
func TestSweepDoesNotDoTooMuch(t *testing.T) {
	s := stage.New(t, 12) // a shard of two tasks, and one of one
	s.MustPlan(s.Trigger(1))
	if _, err := s.Extract(1, "000002"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Extract(1, "000000"); err != nil {
		t.Fatal(err)
	}
	claim(s, "000001", time.Hour)
	s.DropMessages()
	s.Time = s.Time.Add(5 * time.Minute)
	lists := 0
	s.Around = func(op string, perform func() error) error {
		if strings.HasPrefix(op, "ListChunks") {
			lists++
		}
		return perform()
	}
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if got := sent(s); len(got) != 0 || lists != 1 {
		t.Errorf("sent: %v; %d shards of two were read, and one is full", got, lists)
	}
	s = stage.New(t, 4*1010)
	s.MustPlan(s.Trigger(1))
	s.DropMessages()
	s.Time = s.Time.Add(3 * time.Minute)
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if n := len(sent(s)); n != 1000 {
		t.Errorf("%d tasks are sent at once", n)
	}
}

// The child of a long chain of splits is left to the sweep, which sends it
// though its run is busy.
func TestSweepSendsTheChildOfALongChain(t *testing.T) {
	s := stage.New(t, 100)
	s.Config.Exports[0].ChunkSize = 50
	s.MustPlan(s.Trigger(1))
	id := contract.TaskID("000000")
	for depth := range dispatch.MaxSplitDepth {
		done, rest, err := s.Task(1, id).Range.CutAt(keyspace.Key{string(rune('1' + depth%9))})
		if depth >= 9 || err != nil {
			done, rest, err = s.Task(1, id).Range.CutAt(keyspace.Key{"1" + string(rune('0'+depth-9))})
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Table.Split(t.Context(), runstate.SplitRequest{Lease: claim(s, id, time.Hour), Gen: 1, Done: done, Rest: rest, ChildAttempts: 3, Now: s.Time}); err != nil {
			t.Fatal(err)
		}
		id = id.SplitChild()
	}
	claim(s, "000001", time.Hour)
	s.DropMessages()
	s.Time = s.Time.Add(time.Minute)
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if got := sent(s); !slices.Equal(got, []string{string(id)}) {
		t.Fatalf("sent: %v, want %s", got, id)
	}
}
