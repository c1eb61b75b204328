package simulation

import (
	"fmt"
	"testing"

	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// One process dies at every call of a whole run in turn, with that call landed
// or not. The queue, the sweep and a repeated trigger then complete the run, and
// a reader of its manifest gets the table, each row once (MAN-01, MAN-02).
func TestCrashAtEveryCallOfARun(t *testing.T) {
	for _, landed := range []bool{false, true} {
		t.Run(fmt.Sprintf("landed %v", landed), func(t *testing.T) {
			for n := 1; ; n++ {
				w := newWorld(10, 1)
				w.death = plan{at: n, landed: landed}
				triggerUntilPlanned(t, w, 1)
				w.settle(t, w.runID(1))
				when := fmt.Sprintf("after a crash in call %d (%s)", n, w.lastOp)
				run, err := w.table.GetRun(t.Context(), w.runID(1))
				if err != nil || run.Status != runstate.RunSucceeded {
					t.Fatalf("%s: the run is %q (%v): %+v", when, run.Status, err, run.Error)
				}
				_, rows := w.read(t)
				w.wantTable(t, when, rows)
				if w.calls < n {
					if n < 60 {
						t.Fatalf("only %d crash points seen: the test no longer tests anything", n)
					}
					return
				}
			}
		})
	}
}

// triggerUntilPlanned sends a trigger again, as a scheduler does, until the
// planner has answered.
func triggerUntilPlanned(t *testing.T, w *world, id int) {
	t.Helper()
	for range 4 {
		answer, err := w.planner(t.Context(), w.trigger(id))
		if err == nil && answer.Status != "" {
			return
		}
	}
	t.Fatal("the planner does not answer")
}

// Every message is delivered twice; each chunk is extracted once (QUE-01).
func TestEveryMessageTwice(t *testing.T) {
	w := newWorld(22, 2)
	w.twice = true
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	m, rows := w.read(t)
	w.wantTable(t, "in the end", rows)
	run, err := w.table.GetRun(t.Context(), w.runID(1))
	if err != nil || m.PartCount != run.Outcome.Parts {
		t.Fatalf("%d parts in the manifest, %d in the run (%v)", m.PartCount, run.Outcome.Parts, err)
	}
}

// A run dies for good at every call in turn, and another one of the export
// starts after its leases: the destination has one complete run in the end, and
// what the dead one left is sealed or rolled forward.
func TestSuccessorOfACrashAtEveryCall(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(10, 0)
		w.death = plan{at: n, landed: n%2 == 0}
		_, _ = w.planner(t.Context(), w.trigger(1))
		w.drainUntilDead(t)
		died := w.calls >= n
		w.now = w.now.Add(planTimeout)
		triggerUntilPlanned(t, w, 2)
		w.settle(t, w.runID(2))
		when := fmt.Sprintf("after a crash in call %d (%s)", n, w.lastOp)
		run, err := w.table.GetRun(t.Context(), w.runID(2))
		if err != nil || run.Status != runstate.RunSucceeded {
			t.Fatalf("%s: the second run is %q (%v): %+v", when, run.Status, err, run.Error)
		}
		m, rows := w.read(t)
		w.wantTable(t, when, rows)
		if m.RunID != w.runID(2) {
			t.Fatalf("%s: the manifest is that of %s", when, m.RunID)
		}
		first, err := w.table.GetRun(t.Context(), w.runID(1))
		if err == nil && !first.Status.Terminal() {
			w.settle(t, w.runID(1))
		}
		w.wantHistory(t, when)
		if !died {
			return
		}
	}
}

// A run dies at every call in turn and is resumed under a new generation.
func TestResumeOfACrashAtEveryCall(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(10, 1)
		w.death = plan{at: n, landed: n%2 == 0}
		_, _ = w.planner(t.Context(), w.trigger(1))
		w.drainUntilDead(t)
		died := w.calls >= n
		when := fmt.Sprintf("after a crash in call %d (%s)", n, w.lastOp)
		run, err := w.table.GetRun(t.Context(), w.runID(1))
		if err != nil { // it died before it was a run
			triggerUntilPlanned(t, w, 1)
		} else if run.Status != runstate.RunSucceeded {
			w.now = w.now.Add(planTimeout)
			w.dropMessages(t)
			if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}); err != nil {
				if run.Gen != 0 || run.Status != runstate.RunPlanning {
					t.Fatalf("%s: resume: %v", when, err)
				}
				triggerUntilPlanned(t, w, 1) // it never opened the fence: it is started again
			}
		}
		w.settle(t, w.runID(1))
		run, err = w.table.GetRun(t.Context(), w.runID(1))
		if err != nil || run.Status != runstate.RunSucceeded {
			t.Fatalf("%s: the run is %q (%v): %+v", when, run.Status, err, run.Error)
		}
		_, rows := w.read(t)
		w.wantTable(t, when, rows)
		w.wantHistory(t, when)
		if !died {
			return
		}
	}
}
