package simulation

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// A second run of an export that is live is refused and changes nothing; with
// supersede it takes over, and the first one can never publish.
func TestOverlappingRuns(t *testing.T) {
	for step := range 12 {
		for _, conflict := range []string{"reject", "supersede"} {
			t.Run(fmt.Sprintf("%s after %d deliveries", conflict, step), func(t *testing.T) {
				w := newWorld(10, 0)
				triggerUntilPlanned(t, w, 1)
				w.deliverSome(t, step)
				live := !w.run(t, 1).Status.Terminal()
				second := w.trigger(2)
				second.OnConflict = conflict
				answer, err := w.planner(t.Context(), second)
				if err != nil {
					t.Fatal(err)
				}
				if live && (conflict == "reject") != (answer.Status == wire.RefusedTrigger) {
					t.Fatalf("the second run is answered %+v", answer)
				}
				w.settle(t, w.runID(1), w.runID(2))
				_, rows := w.read(t)
				w.wantTable(t, "in the end", rows)
				w.wantHistory(t, "in the end")
				want := runstate.RunSucceeded
				if live && conflict == "supersede" {
					want = runstate.RunSuperseded
				}
				if got := w.run(t, 1).Status; got != want {
					t.Fatalf("the first run is %s, want %s", got, want)
				}
			})
		}
	}
}

// The config names another destination when a dead planner's run is planned
// again: the run stays where it was created for, with fence, plan and parts.
func TestDestinationChangesBetweenTwoPlanners(t *testing.T) {
	total := 0
	for n := 1; total == 0 || n <= total; n++ {
		w := newWorld(10, 0)
		w.death = plan{at: n, landed: n%2 == 0}
		_, err := w.planner(t.Context(), w.trigger(1))
		if err == nil {
			total = n
			if n < 20 {
				t.Fatalf("a planner has %d calls: the test no longer tests anything", n)
			}
		}
		created := w.calls > 1 || n%2 == 0 && n > 1
		if _, err := w.table.GetRun(t.Context(), w.runID(1)); err != nil {
			created = false
		}
		w.config.Exports[0].Destination.URI = "memory://bucket/elsewhere"
		triggerUntilPlanned(t, w, 1)
		w.settle(t, w.runID(1))
		run := w.run(t, 1)
		if run.Status != runstate.RunSucceeded {
			t.Fatalf("after a crash in call %d the run is %s: %+v", n, run.Status, run.Error)
		}
		if !created {
			continue
		}
		m, rows := w.read(t)
		w.wantTable(t, fmt.Sprintf("after a crash in call %d", n), rows)
		if m.Destination.URI != "memory://bucket/out" {
			t.Fatalf("the manifest names %s", m.Destination.URI)
		}
	}
}

// The first run has committed and lost a part since, before its pair was
// published: it is not rolled forward, and nothing is started over it (M1).
func TestPredecessorWithoutItsPartIsNotRolledForward(t *testing.T) {
	w := newWorld(10, 0)
	prefix := destination.Prefixed(w.bucket, "out/")
	w.dieAtTheSidecar(t)
	w.dropMessages(t)
	part, err := prefix.Head(t.Context(), "part-000001.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := prefix.Move(t.Context(), part.Key, "elsewhere", part.Version); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(planTimeout)
	if _, err := w.planner(t.Context(), w.trigger(2)); fault.CodeOf(err) != "LAPSTRAKE_RUN_PREDECESSOR_DAMAGED" {
		t.Fatalf("the next run ends with %v", err)
	}
	if _, err := prefix.Head(t.Context(), contract.SuccessName); err == nil {
		t.Fatal("a marker stands")
	}
	moved, err := prefix.Head(t.Context(), "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if err := prefix.Move(t.Context(), "elsewhere", part.Key, moved.Version); err != nil {
		t.Fatal(err)
	}
	triggerUntilPlanned(t, w, 3) // the part is restored: rolled forward, and a run of its own
	w.settle(t, w.runID(1), w.runID(3))
	if run := w.run(t, 1); run.Status != runstate.RunSucceeded {
		t.Fatalf("the run that had committed is %s", run.Status)
	}
	w.wantHistory(t, "in the end")
}

// A planner that slept since before its run was started wakes up after a resume
// has claimed the run, and before that has a generation: it does not start the
// run at the old one, which the fence no longer admits.
func TestPlannerWakesUpInAResume(t *testing.T) {
	w := newWorld(10, 0)
	w.death = plan{at: callNumber(t, "StartRun")}
	_, _ = w.planner(t.Context(), w.trigger(1))
	w.now = w.now.Add(planTimeout)
	asleep := w.run(t, 1)
	woken := false
	w.before = func(op string) {
		if op != "replace _lapstrake/orders/cursor.json" || woken {
			return
		}
		woken = true
		_, err := w.table.StartRun(t.Context(), asleep.RunID, runstate.StartRecord{
			Gen: asleep.Gen, TriggerID: asleep.TriggerID, TaskCount: 3, Shards: 2, FaninK: 2, MaxAttempts: 3, LeaseUntil: w.now.Add(planTimeout),
		})
		if !errors.Is(err, runstate.ErrCondition) {
			t.Errorf("the run is started under the resume (%v)", err)
		}
	}
	if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}); err != nil {
		t.Error(err)
	}
	w.settle(t, w.runID(1))
	m, rows := w.read(t)
	w.wantTable(t, "in the end", rows)
	if !woken || m.Generation != 2 {
		t.Fatalf("woken %v, generation %d", woken, m.Generation)
	}
}
