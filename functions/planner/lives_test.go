package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// asleepAt runs call, which sleeps before its n-th call to the world while
// meanwhile runs. It reports whether call came that far.
func asleepAt(s *stage.Stage, n int, call, meanwhile func()) bool {
	calls, awake := 0, false
	s.Around = func(_ string, perform func() error) error {
		if calls++; calls == n && !awake {
			awake = true
			s.Around = nil
			meanwhile()
		}
		return perform()
	}
	call()
	s.Around = nil
	return awake
}

// wantOneGeneration fails the test unless the run has ended well, under the
// generation that its fence names.
func wantOneGeneration(t *testing.T, s *stage.Stage, when string, want contract.Generation) {
	t.Helper()
	s.Settle(1)
	s.WantPublished(when, 1)
	run, fence := s.Run(1), s.Fence()
	if run.Status != runstate.RunSucceeded || run.Gen != fence.Generation || fence.State != contract.FenceCommitted || want != 0 && want != run.Gen {
		t.Fatalf("%s: the run is %s at generation %d, the fence %s at %d", when, run.Status, run.Gen, fence.State, fence.Generation)
	}
}

// The planner that has created a run sleeps before each of its calls, while a
// duplicate of it plans the run, or dies in one of its own. Fence and item name
// one generation in the end, the first one.
func TestDuplicateOfAFirstTrigger(t *testing.T) {
	for _, dies := range []string{"", "replace _lapstrake/orders/cursor.json", "RecordFence", "PutChunk", "StartRun"} {
		for n := 2; ; n++ { // after CreateRun
			s := stage.New(t, 10)
			came := asleepAt(s, n, func() { _, _ = s.Plan(s.Trigger(1)) }, func() {
				_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) {
					return dies != "" && strings.HasPrefix(op, dies), true
				}}).Planner(), s.Trigger(1))
			})
			if !came {
				if n < 15 {
					t.Fatalf("only %d calls seen: the test no longer tests anything", n)
				}
				break
			}
			wantOneGeneration(t, s, fmt.Sprintf("asleep before call %d, the duplicate dies in %q", n, dies), 1)
		}
	}
}

// The table is lost while a planner sleeps before each of its calls, and the run
// is created and planned again, or dies at it. What the planner of the first
// life does then keeps the second one from nothing.
func TestPlannerOfALostTable(t *testing.T) {
	for _, dies := range []string{"", "get _lapstrake/orders/cursor.json", "RecordFence", "PutChunk", "StartRun"} {
		for n := 2; ; n++ {
			s := stage.New(t, 10)
			came := asleepAt(s, n, func() { _, _ = s.Plan(s.Trigger(1)) }, func() {
				s.Table.DropAll()
				_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) {
					return dies != "" && strings.HasPrefix(op, dies), true
				}}).Planner(), s.Trigger(1))
			})
			if !came {
				break
			}
			wantOneGeneration(t, s, fmt.Sprintf("asleep before call %d, the second life dies in %q", n, dies), 0)
		}
	}
}

// A planner sleeps before each of its calls until the table is lost and the run
// is being planned again; it wakes up before each call of the planner of the
// second life, which is at work. It takes no generation that its own item would
// not know of.
func TestTwoLivesTakeTurns(t *testing.T) {
	turns := 0
	for k := 2; ; k++ {
		for n := 2; ; n++ {
			s := stage.New(t, 4)
			first := fallAsleep(s, k, s.Trigger(1))
			if first == nil {
				if turns < 100 {
					t.Fatalf("only %d turns seen: the test no longer tests anything", turns)
				}
				return
			}
			s.Table.DropAll()
			came := asleepAt(s, n, func() { _, _ = s.Plan(s.Trigger(1)) }, first)
			if !came {
				first()
			}
			wantOneGeneration(t, s, fmt.Sprintf("the first life sleeps before call %d, and wakes up before call %d of the second", k, n), 0)
			if turns++; !came {
				break
			}
		}
	}
}

// fallAsleep starts a planner that sleeps before its k-th call. It returns what
// lets it go on to its end, or nil if it has ended before.
func fallAsleep(s *stage.Stage, k int, trigger wire.Trigger) (wake func()) {
	asleep, awake, ended := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		if !asleepAt(s, k, func() { _, _ = s.Plan(trigger) }, func() { asleep <- true; <-awake }) {
			asleep <- false
		}
		close(ended)
	}()
	if !<-asleep {
		<-ended
		return nil
	}
	return func() { close(awake); <-ended }
}

// The first planner of the second life dies before it has read the fence: its
// duplicate takes a new generation all the same, since what the first life has
// made may still be published by it.
func TestDuplicateAfterALostTable(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.Table.DropAll()
	_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return op == "CreateRun", true }}).Planner(), s.Trigger(1))
	s.MustPlan(s.Trigger(1))
	wantOneGeneration(t, s, "in the end", 2)
}

// A resume sleeps before each of its calls until its lease has ended, and another
// one claims the run. The sleeper moves nothing from under it.
func TestResumeThatIsClaimedAgain(t *testing.T) {
	for n := 2; ; n++ {
		s := stage.New(t, 10)
		_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return op == "PutChunk 000001", false }}).Planner(), s.Trigger(1))
		s.ExpireLeases()
		came := asleepAt(s, n, func() { _, _ = s.Plan(s.Resume(1)) }, func() {
			s.ExpireLeases()
			_, _ = s.Plan(s.Resume(1))
		})
		if !came {
			if n < 15 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n)
			}
			return
		}
		wantOneGeneration(t, s, fmt.Sprintf("asleep before call %d", n), 0)
	}
}

// A resume sleeps before its k-th call until its lease has ended; the one that
// claims the run then sleeps before its n-th, and meanwhile the first one goes on
// to its end.
func TestTwoResumesTakeTurns(t *testing.T) {
	furthest := 0
	for k := 2; ; k++ {
		for n := 2; ; n++ {
			s := stage.New(t, 4)
			_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return op == "StartRun", false }}).Planner(), s.Trigger(1))
			s.ExpireLeases()
			first := fallAsleep(s, k, s.Resume(1))
			if first == nil {
				if furthest < 15 {
					t.Fatalf("only %d calls seen: the test no longer tests anything", furthest)
				}
				return
			}
			s.ExpireLeases()
			came := asleepAt(s, n, func() { _, _ = s.Plan(s.Resume(1)) }, first)
			if !came {
				first()
			}
			wantOneGeneration(t, s, fmt.Sprintf("the first sleeps before call %d, the second before call %d", k, n), 0)
			if furthest = max(furthest, n); !came {
				break
			}
		}
	}
}

// A resume dies with a new generation of the fence of which the item does not
// know, and a finalizer of the old one commits and dies. Nothing is read again: the next
// resume, which is the sweep's, publishes what has committed.
func TestCommittedRunWhoseResumeDied(t *testing.T) {
	s := extracted(t)
	came := false
	s.Around = func(op string, perform func() error) error {
		if op != "create "+s.Sidecar(1) {
			return perform()
		}
		came = true
		s.Around = nil
		s.ExpireLeases()
		_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) {
			return op == "replace "+contract.CursorKey("orders"), true
		}}).Planner(), s.Resume(1))
		_ = perform()
		s.Around = func(string, func() error) error { return stage.ErrDead } // the finalizer has committed, and is gone
		return stage.ErrDead
	}
	_, _ = s.Finalize(1)
	s.Around = nil
	if run, fence := s.Run(1), s.Fence(); !came || run.Gen != 1 || fence.Generation != 2 || fence.State != contract.FenceOpen {
		t.Fatalf("the run is at generation %d, its fence %s at %d: the test no longer tests anything", run.Gen, fence.State, fence.Generation)
	}
	s.ExpireLeases()
	s.Settle(1)
	if m := s.WantPublished("in the end", 1); m.Generation != 1 || s.Fence().State != contract.FenceCommitted {
		t.Fatalf("generation %d is published, the fence is %s", m.Generation, s.Fence().State)
	}
}

// A planner sleeps until its run is at work, an operator has deleted the fence
// document, and another run has taken the export: it takes nothing any more.
func TestSleepingPlannerDoesNotTakeTheFenceOfAStartedRun(t *testing.T) {
	s := stage.New(t, 10)
	supersede := s.Trigger(1)
	supersede.OnConflict = "supersede"
	calls := 0
	s.Around = func(op string, perform func() error) error {
		if op == "get "+contract.CursorKey("orders") {
			if calls++; calls == 1 {
				s.MustPlan(s.Trigger(1))
				s.Lose(contract.CursorKey("orders"))
				s.Lose(contract.PlanKey("orders", s.RunID(1)))
				s.Lose(contract.GenerationKey("orders", 1))
				s.MustPlan(s.Trigger(2))
			}
		}
		return perform()
	}
	if answer, err := s.Plan(supersede); err != nil || answer.Status != wire.AlreadyRunning {
		t.Fatalf("the planner answers %+v, %v", answer, err)
	}
	if doc := s.Fence(); calls < 2 || doc.OwnerRunID != s.RunID(2) || doc.Generation != 1 {
		t.Fatalf("the fence is %s by %s at generation %d", doc.State, doc.OwnerRunID, doc.Generation)
	}
}
