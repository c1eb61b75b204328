package simulation

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// A run without rows that publishes nothing has no sidecar: its commit point is
// the fence. It dies at every call in turn and is resumed; it comes to its end.
func TestResumeOfACrashAtEveryCallOfARunThatPublishesNothing(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(0, 0)
		w.config.Exports[0].SkipEmpty = true
		w.death = plan{at: n, landed: true}
		_, _ = w.planner(t.Context(), w.trigger(1))
		w.drainUntilDead(t)
		died := w.calls >= n
		when := fmt.Sprintf("after a crash in call %d (%s)", n, w.lastOp)
		run, err := w.table.GetRun(t.Context(), w.runID(1))
		if err != nil {
			triggerUntilPlanned(t, w, 1)
		} else if run.Status != runstate.RunSucceeded {
			w.now = w.now.Add(planTimeout)
			w.dropMessages(t)
			if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}); err != nil {
				triggerUntilPlanned(t, w, 1)
			}
		}
		w.settle(t, w.runID(1))
		if run := w.run(t, 1); run.Status != runstate.RunSucceeded {
			t.Fatalf("%s: the run is %s: %+v", when, run.Status, run.Error)
		}
		w.nothingPublished(t)
		if !died {
			if n < 30 {
				t.Fatalf("only %d crash points seen: the test no longer tests anything", n)
			}
			return
		}
	}
}

// A run has committed, and its plan cannot be read when its finalizer comes
// back after a successor has taken the fence: the sidecar alone says what it is.
func TestCommittedRunWithoutItsPlanHasSucceeded(t *testing.T) {
	w := newWorld(10, 0)
	prefix := destination.Prefixed(w.bucket, "out/")
	w.dieAtTheSidecar(t)
	w.now = w.now.Add(planTimeout)
	triggerUntilPlanned(t, w, 2)
	plan := contract.PlanKey("orders", w.runID(1))
	o, err := w.bucket.Head(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.bucket.Move(t.Context(), plan, "elsewhere", o.Version); err != nil {
		t.Fatal(err)
	}
	w.settle(t, w.runID(1), w.runID(2))
	if run := w.run(t, 1); run.Status != runstate.RunSucceeded {
		t.Errorf("the run that has committed is %s: %+v", run.Status, run.Error)
	}
	if _, err := prefix.Head(t.Context(), contract.SidecarName("")); err == nil {
		t.Error("a tombstone of no run stands")
	}
	w.wantHistory(t, "in the end")
}

// A part vanishes between the look of one finalizer and its freeze, and another
// finalizer has the task done again: the frozen run waits for that task, and is
// not left for ever.
func TestRepairJustBeforeTheFreeze(t *testing.T) {
	for _, lost := range []bool{false, true} { // the message of that task
		t.Run(fmt.Sprintf("message lost %v", lost), func(t *testing.T) { repairJustBeforeTheFreeze(t, lost) })
	}
}

func repairJustBeforeTheFreeze(t *testing.T, lost bool) {
	w := newWorld(10, 0)
	triggerUntilPlanned(t, w, 1)
	w.deliverChunks(t)
	repaired := false
	w.before = func(op string) {
		if op != "BeginFinalize" || repaired {
			return
		}
		repaired = true
		w.move(t, out+"part-000002.csv", "elsewhere")
		run := w.run(t, 1)
		if err := w.queues.Send(t.Context(), wire.FinalizeQueue, finalizeMessage(t, run)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.deliver(t.Context(), wire.FinalizeQueue); err != nil {
			t.Fatal(err)
		}
		if lost {
			w.dropMessages(t)
		}
	}
	w.settle(t, w.runID(1))
	run := w.run(t, 1)
	if !repaired || run.Status != runstate.RunSucceeded || run.Gen != 1 {
		t.Fatalf("the run is %s at generation %d: %+v", run.Status, run.Gen, run.Error)
	}
	_, rows := w.read(t)
	w.wantTable(t, "in the end", rows)
}

func finalizeMessage(t *testing.T, run runstate.Run) taskqueue.Message {
	t.Helper()
	body, err := json.Marshal(wire.FinalizeTask{Version: wire.Version, Run: dispatch.Ref(run)})
	if err != nil {
		t.Fatal(err)
	}
	return taskqueue.Message{Body: body}
}

// A run by a cursor that finds nothing new, and publishes nothing, dies at every
// call in turn; rows come, and it is resumed, or followed by another run. Every
// row is in one Success manifest, and the run comes to an end.
func TestCrashAtEveryCallOfAnIncrementalRunThatFindsNothing(t *testing.T) {
	for _, resumed := range []bool{false, true} {
		for n := 1; ; n++ {
			w := newCursorWorld(1, 2, 2)
			w.config.Exports[0].SkipEmpty = true
			w.runExport(t, 1)
			w.death = plan{at: w.calls + n, landed: n%2 == 0}
			_, _ = w.planner(t.Context(), w.trigger(2))
			w.drainUntilDead(t)
			died := w.calls >= w.death.at
			when := fmt.Sprintf("resumed %t, after a crash in call %d (%s)", resumed, n, w.lastOp)
			w.now = w.now.Add(planTimeout)
			w.dropMessages(t)
			w.db.changes.add(2, 3)
			run, err := w.table.GetRun(t.Context(), w.runID(2))
			if resumed && err == nil && run.Status != runstate.RunSucceeded {
				if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(2)}); err != nil {
					triggerUntilPlanned(t, w, 2)
				}
				w.settle(t, w.runID(2))
				if run := w.run(t, 2); run.Status != runstate.RunSucceeded {
					t.Fatalf("%s: the run is %s: %+v", when, run.Status, run.Error)
				}
			}
			w.runExport(t, 3)
			w.wantEachOnce(t, when)
			if p := w.position(t); p.Value != "3" {
				t.Fatalf("%s: the position is %+v", when, p)
			}
			if !died {
				if n < 30 {
					t.Fatalf("only %d crash points seen: the test no longer tests anything", n)
				}
				break
			}
		}
	}
}

// A run finds the rows of its window gone and commits nothing; the next run
// delivers one that came late to the last value. The table is lost, and the first
// one lives again with its plan: it is refused, since its window would have that
// row a second time.
func TestSecondLifeOfARunThatPublishedNothingHasNoWindow(t *testing.T) {
	w := newCursorWorld(1, 2)
	w.config.Exports[0].SkipEmpty = true
	w.runExport(t, 1)
	all := w.db.changes.rows
	w.db.changes.add(5)
	triggerUntilPlanned(t, w, 2)
	w.db.changes.rows = all
	w.settle(t, w.runID(2))
	if run := w.run(t, 2); run.Status != runstate.RunSucceeded || run.Outcome.ManifestFingerprint != "" {
		t.Fatalf("the run is %s with outcome %+v: the test no longer tests anything", run.Status, run.Outcome)
	}
	w.db.changes.add(5)
	w.runExport(t, 3)
	w.wantEachOnce(t, "before")
	w.table = memory.NewSharded(2)
	w.dropMessages(t)
	if _, err := w.planner(t.Context(), w.trigger(2)); fault.CodeOf(err) != "LAPSTRAKE_PLAN_STALE" {
		t.Errorf("%v", err)
	}
	w.settle(t, w.runID(2))
	w.db.changes.add(6)
	w.runExport(t, 4)
	w.wantEachOnce(t, "in the end")
}
