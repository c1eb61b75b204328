package simulation

import (
	"fmt"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// One process dies at every call of the second of three runs in turn, and rows
// come at every step. The run is continued, or another one takes its place: the
// Success manifests together have every row once (D15, V10).
func TestCrashAtEveryCallOfAnIncrementalRun(t *testing.T) {
	for _, tc := range []struct {
		name    string
		recover func(t *testing.T, w *world)
	}{
		{"continued by queue and sweep", func(t *testing.T, w *world) {
			triggerUntilPlanned(t, w, 2)
			w.settle(t, w.runID(2))
		}},
		{"followed by another run", func(t *testing.T, w *world) {
			w.now = w.now.Add(planTimeout)
			w.dropMessages(t)
			w.db.changes.add(6, 6, 8, 8)
			w.runExport(t, 3)
		}},
		{"overtaken by another run, and woken up after it", func(t *testing.T, w *world) {
			w.config.Exports[0].OnConflict = "supersede"
			w.db.changes.add(6, 6, 8, 8)
			triggerUntilPlanned(t, w, 3)
			if _, err := w.table.GetRun(t.Context(), w.runID(2)); err == nil {
				w.settle(t, w.runID(2), w.runID(3))
			} else {
				w.settle(t, w.runID(3))
			}
		}},
		{"resumed", func(t *testing.T, w *world) {
			run, err := w.table.GetRun(t.Context(), w.runID(2))
			if err != nil || run.Status == runstate.RunSucceeded {
				w.runExport(t, 2)
				return
			}
			w.now = w.now.Add(planTimeout)
			w.dropMessages(t)
			w.db.changes.add(6, 6, 8, 8)
			if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(2)}); err != nil {
				triggerUntilPlanned(t, w, 2)
			}
			w.settle(t, w.runID(2))
		}},
		{"followed by a run that knows no table", func(t *testing.T, w *world) {
			w.dropMessages(t)
			w.table = memory.NewSharded(2)
			w.db.changes.add(6, 6, 8, 8)
			w.runExport(t, 3)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, landed := range []bool{false, true} {
				for n := 1; ; n++ {
					w := newCursorWorld(1, 2, 3, 3, 4)
					w.db.changes.pieces = 2
					w.runExport(t, 1)
					w.db.changes.add(4, 4, 5, 6, 6)
					w.death = plan{at: w.calls + n, landed: landed}
					_, _ = w.planner(t.Context(), w.trigger(2))
					w.drainUntilDead(t)
					died := w.calls >= w.death.at
					when := fmt.Sprintf("after a crash in call %d (%s), landed %t", n, w.lastOp, landed)
					tc.recover(t, w)
					w.runExport(t, 4)
					w.wantEachOnce(t, when)
					w.db.changes.add(8, 9)
					w.runExport(t, 5)
					w.wantEachOnce(t, when)
					if !died {
						if n < 40 {
							t.Fatalf("only %d crash points seen: the test no longer tests anything", n)
						}
						break
					}
				}
			}
		})
	}
}

// A part is lost after its run has committed, rows come with the value that the
// run ended at, and the run is repaired: it has the rows again that it had, and
// the next run has those that came.
func TestARepairLeavesLateEqualsToTheNextRun(t *testing.T) {
	w := newCursorWorld(1, 5, 5)
	w.runExport(t, 1)
	m, _ := w.read(t)
	w.db.changes.add(5, 5)
	w.move(t, "out/"+m.Parts[0].Path, "elsewhere/lost")
	if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1), Force: true}); err != nil {
		t.Fatal(err)
	}
	w.settle(t, w.runID(1))
	if m, rows := w.read(t); len(rows) != 3 || m.Generation != 2 {
		t.Fatalf("the repair has %v at generation %d", rows, m.Generation)
	}
	w.runExport(t, 2)
	w.wantEachOnce(t, "after the next run")
}

// The position was changed behind the back of a run that is resumed: its window
// does not start there any more (R0).
func TestAResumeFromAnotherPositionIsRefused(t *testing.T) {
	w := newCursorWorld(1, 5)
	w.runExport(t, 1)
	w.db.changes.add(6, 7)
	if _, err := w.planner(t.Context(), w.trigger(2)); err != nil {
		t.Fatal(err)
	}
	w.dropMessages(t)
	w.now = w.now.Add(planTimeout)
	key := contract.CursorKey("orders")
	body, version, err := w.bucket.Get(t.Context(), key, contract.MaxCursorBytes)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := contract.DecodeCursor(body)
	if err != nil {
		t.Fatal(err)
	}
	doc.Position.Value = "1"
	if body, err = doc.Encode(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.bucket.Replace(t.Context(), key, version, body, destination.Meta{}); err != nil {
		t.Fatal(err)
	}
	_, err = w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(2)})
	if fault.CodeOf(err) != "LAPSTRAKE_PLAN_STALE" {
		t.Fatalf("%v", err)
	}
}
