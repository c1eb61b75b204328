package memory_test

import (
	"errors"
	"testing"

	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/runstate/runstatetest"
)

func open(*testing.T) runstate.Table { return memory.NewSharded(2) }

func TestTable(t *testing.T) { runstatetest.Run(t, open) }

func TestTableIsWhatTheModelSays(t *testing.T) { runstatetest.RunModel(t, open, 300) }

func TestTheWholeTableCanBeLost(t *testing.T) {
	table := memory.New()
	run := runstate.Run{RunID: "a_20261129T120000.000", Export: "a"}
	if err := table.CreateRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	table.DropAll()
	if _, err := table.GetRun(t.Context(), run.RunID); !errors.Is(err, runstate.ErrNotFound) {
		t.Errorf("after DropAll: %v", err)
	}
	if err := table.CreateRun(t.Context(), run); err != nil {
		t.Errorf("created again: %v", err)
	}
}
