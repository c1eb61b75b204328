package simulation

import (
	"fmt"
	"testing"
)

// The whole table is lost between any two deliveries. The next run starts from
// what the destination says, and no reader ever sees half a run.
func TestTableLostAtEveryStep(t *testing.T) {
	for step := range 12 {
		w := newWorld(10, 0)
		triggerUntilPlanned(t, w, 1)
		w.deliverSome(t, step)
		w.loseTable()
		w.drainUntilDead(t) // messages of the lost run come in vain
		triggerUntilPlanned(t, w, 2)
		w.settle(t, w.runID(2))
		_, rows := w.read(t)
		w.wantTable(t, fmt.Sprintf("table lost after %d deliveries", step), rows)
		w.wantHistory(t, fmt.Sprintf("table lost after %d deliveries", step))
	}
}

// The same trigger comes again after the table was lost: the run that held the
// fence is not entered again under its old generation.
func TestTriggerAgainAfterTheTableWasLost(t *testing.T) {
	w := newWorld(10, 0)
	triggerUntilPlanned(t, w, 1)
	_, _ = w.deliver(t.Context(), chunkQueue)
	w.loseTable()
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	m, rows := w.read(t)
	w.wantTable(t, "in the end", rows)
	if m.Generation != 2 {
		t.Fatalf("generation %d, want 2", m.Generation)
	}
}
