package simulation

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func TestOneRun(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rows  int64
		nulls int
	}{
		{"many chunks", 22, 0},
		{"one row", 1, 0},
		{"an empty table", 0, 0},
		{"NULL keys", 10, 3},
		{"only NULL keys", 0, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(tc.rows, tc.nulls)
			answer, err := w.planner(t.Context(), w.trigger(1))
			if err != nil || answer.Status != wire.Started {
				t.Fatalf("the planner answers %+v: %v", answer, err)
			}
			w.settle(t, w.runID(1))
			run, err := w.table.GetRun(t.Context(), w.runID(1))
			if err != nil || run.Status != runstate.RunSucceeded || run.Verdict != "passed" {
				t.Fatalf("the run is %q with verdict %q (%v): %+v", run.Status, run.Verdict, err, run.Error)
			}
			m, rows := w.read(t)
			w.wantTable(t, "in the end", rows)
			if m.RowCount != tc.rows+int64(tc.nulls) {
				t.Fatalf("row_count %d, want %d", m.RowCount, tc.rows+int64(tc.nulls))
			}
			again, err := w.planner(t.Context(), w.trigger(1))
			if err != nil || again.Status != wire.Succeeded {
				t.Fatalf("the same trigger again is answered %+v (%v)", again, err)
			}
		})
	}
}
