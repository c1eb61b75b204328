package simulation

import (
	"fmt"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// slow makes every batch of a chunk take d.
func (w *world) slow(d time.Duration) {
	w.db.fail = func(keyspace.Range) error {
		w.now = w.now.Add(d)
		return nil
	}
}

// A chunk that cannot finish before its deadline splits itself, in a chain, and
// the children cover the rest, also past the depth at which the sweep has to
// send them (D8) (OPS-03, OPS-13).
func TestChunksSplitBeforeTheirDeadline(t *testing.T) {
	for _, twice := range []bool{false, true} {
		w := newWorld(250, 2)
		w.config.Exports[0].ChunkSize = 1000
		w.budget = time.Minute
		w.twice = twice
		w.slow(10 * time.Second)
		triggerUntilPlanned(t, w, 1)
		w.settle(t, w.runID(1))
		_, rows := w.read(t)
		w.wantTable(t, "in the end", rows)
		deepest := 0
		for _, c := range w.chunks(t, 1) {
			deepest = max(deepest, c.ID.SplitDepth())
		}
		if deepest <= dispatch.MaxSplitDepth {
			t.Fatalf("the deepest split is %d: the test no longer tests anything", deepest)
		}
	}
}

// A crash at every call of a run whose chunks split.
func TestCrashAtEveryCallOfARunThatSplits(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(30, 0)
		w.config.Exports[0].ChunkSize = 1000
		w.budget = time.Minute
		w.slow(10 * time.Second)
		w.death = plan{at: n, landed: n%2 == 0}
		triggerUntilPlanned(t, w, 1)
		w.settle(t, w.runID(1))
		_, rows := w.read(t)
		w.wantTable(t, fmt.Sprintf("after a crash in call %d", n), rows)
		if w.calls < n {
			if len(w.chunks(t, 1)) < 3 {
				t.Fatal("the run did not split: the test no longer tests anything")
			}
			return
		}
	}
}

// A task without a key to be split by fails when its time is over, and nothing
// is published.
func TestTaskThatCannotSplitFailsInTime(t *testing.T) {
	w := newWorld(100, 2)
	w.config.Exports[0].Mode, w.config.Exports[0].ChunkColumn, w.config.Exports[0].ChunkSize = "full", "", 0
	w.budget = time.Minute
	w.slow(10 * time.Second)
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	if run := w.run(t, 1); run.Status != runstate.RunFailed || run.Error.Code != "LAPSTRAKE_RUN_DEADLINE" {
		t.Fatalf("the run is %s: %+v", run.Status, run.Error)
	}
	w.nothingPublished(t)
}
