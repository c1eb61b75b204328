package simulation

import (
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// sweepFor lets the clock run, with a sweep every minute.
func (w *world) sweepFor(t *testing.T, d time.Duration) {
	t.Helper()
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(time.Minute)
		if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionSweep}); err != nil {
			t.Fatal(err)
		}
	}
}

// The time that a run may take begins again with its resume: a sweep does not
// fail a run of last week that was resumed just now.
func TestOldRunIsResumed(t *testing.T) {
	w := newWorld(10, 0)
	w.db.fail = func(keyspace.Range) error { return errPermanent }
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	w.db.fail = nil
	w.now = w.now.Add(7 * 24 * time.Hour)
	if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}); err != nil {
		t.Fatal(err)
	}
	w.sweepFor(t, 2*time.Minute)
	w.settle(t, w.runID(1))
	if run := w.run(t, 1); run.Status != runstate.RunSucceeded {
		t.Fatalf("the run is %s: %+v", run.Status, run.Error)
	}
	_, rows := w.read(t)
	w.wantTable(t, "in the end", rows)
}

// A worker that sends its heartbeats keeps its run live, however long its chunk
// takes: another run of the export is refused, and the other tasks are not sent
// again and again.
func TestLongChunkKeepsItsRunLive(t *testing.T) {
	w := newWorld(10, 0)
	triggerUntilPlanned(t, w, 1)
	if _, err := w.table.Claim(t.Context(), runstate.ClaimRequest{
		Run: w.runID(1), Task: contract.BaseTaskID(0), Gen: 1, Token: "slow", Now: w.now, LeaseUntil: w.now.Add(2 * time.Hour),
	}); err != nil {
		t.Fatal(err)
	}
	messages := len(w.queues.Pending(chunkQueue))
	w.sweepFor(t, time.Hour)
	if n := len(w.queues.Pending(chunkQueue)); n != messages {
		t.Errorf("%d messages are there, there were %d", n, messages)
	}
	if answer, err := w.planner(t.Context(), w.trigger(2)); err != nil || answer.Status != wire.RefusedTrigger {
		t.Errorf("the next run is answered %+v (%v)", answer, err)
	}
}
