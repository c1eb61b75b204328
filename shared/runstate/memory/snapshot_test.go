package memory_test

import (
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
)

func TestSnapshotBringsBackWhatWasThere(t *testing.T) {
	table := memory.New()
	at := time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := table.CreateRun(t.Context(), runstate.Run{RunID: "r", Export: "orders", Creation: "c", Status: runstate.RunPlanning, CreatedAt: at, LeaseUntil: at}); err != nil {
		t.Fatal(err)
	}
	restore := table.Snapshot()
	for range 2 {
		if _, err := table.Refuse(t.Context(), "r", fault.Failure{}, at); err != nil {
			t.Fatal(err)
		}
		restore()
		if run, err := table.GetRun(t.Context(), "r"); err != nil || run.Status != runstate.RunPlanning {
			t.Fatalf("the run is %s, %v", run.Status, err)
		}
	}
}
