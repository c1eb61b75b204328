package simulation

import (
	"slices"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// A value with more rows than can be kept with a position waits, and comes
// whole when a greater one is there.
func TestACrowdedValueWaits(t *testing.T) {
	crowd := slices.Repeat([]int64{5}, contract.MaxDeliveredKeys+1)
	w := newCursorWorld(append(crowd, 1, 2)...)
	w.runExport(t, 1)
	m, rows := w.read(t)
	if len(rows) != 2 || !m.Source.Extraction.CursorHighExcluded || w.position(t).Value != "5" || len(w.position(t).DeliveredKeys) != 0 {
		t.Fatalf("%d rows, %+v", len(rows), w.position(t))
	}
	w.runExport(t, 2) // nothing yet
	if m, _ := w.read(t); m.RowCount != 0 {
		t.Fatalf("%d rows", m.RowCount)
	}
	w.db.changes.add(5, 6)
	w.runExport(t, 3)
	w.wantEachOnce(t, "in the end")
}

func TestNothingButACrowdedValueIsRefused(t *testing.T) {
	w := newCursorWorld(slices.Repeat([]int64{5}, contract.MaxDeliveredKeys+1)...)
	_, err := w.planner(t.Context(), w.trigger(1))
	if fault.CodeOf(err) != "LAPSTRAKE_PLAN_CURSOR_TIES" || w.position(t) != nil {
		t.Fatalf("%v", err)
	}
}

// More rows than can be kept come to the end of the window after it was fixed:
// the run fails, nothing is published, and the next one leaves the value.
func TestAValueThatBecomesCrowdedFailsTheRun(t *testing.T) {
	w := newCursorWorld(1, 5)
	if _, err := w.planner(t.Context(), w.trigger(1)); err != nil {
		t.Fatal(err)
	}
	w.db.changes.add(slices.Repeat([]int64{5}, contract.MaxDeliveredKeys)...)
	w.settle(t, w.runID(1))
	run, err := w.table.GetRun(t.Context(), w.runID(1))
	if err != nil || run.Status != runstate.RunFailed || run.Error.Code != "LAPSTRAKE_RUN_CURSOR_TIES_GREW" {
		t.Fatalf("%s: %+v (%v)", run.Status, run.Error, err)
	}
	w.runExport(t, 2)
	w.db.changes.add(6)
	w.runExport(t, 3)
	w.wantEachOnce(t, "in the end")
}

// So do too many rows for one position that no task has too many of.
func TestTasksThatTogetherKeepTooManyKeysFailTheRun(t *testing.T) {
	w := newCursorWorld(append(slices.Repeat([]int64{5}, 6000), 1)...)
	w.db.changes.pieces = 2
	if _, err := w.planner(t.Context(), w.trigger(1)); err != nil {
		t.Fatal(err)
	}
	w.db.changes.add(slices.Repeat([]int64{5}, 6000)...)
	w.settle(t, w.runID(1))
	run, err := w.table.GetRun(t.Context(), w.runID(1))
	if err != nil || run.Status != runstate.RunFailed || run.Error.Code != "LAPSTRAKE_RUN_CURSOR_TIES_GREW" {
		t.Fatalf("%s: %+v (%v)", run.Status, run.Error, err)
	}
	for _, c := range w.chunks(t, 1) {
		if c.Status != runstate.ChunkCompleted {
			t.Fatalf("task %s is %s: the test no longer tests anything", c.ID, c.Status)
		}
	}
}
