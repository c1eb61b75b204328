package transition

import (
	"fmt"
	"slices"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// NewFanin returns f as T4 stores it: members in ascending order, each once.
func NewFanin(f runstate.Fanin) runstate.Fanin {
	f.Done = slices.Compact(slices.Sorted(slices.Values(f.Done)))
	return f
}

// FaninAdd is T11 and T12 on a node that is there.
func FaninAdd(found runstate.Fanin, member string) runstate.Fanin {
	if at, there := slices.BinarySearch(found.Done, member); !there {
		found.Done = slices.Insert(slices.Clone(found.Done), at, member)
	}
	return found
}

// NoRun says that a run is not in the table.
func NoRun(run contract.RunID) error { return fmt.Errorf("run %s: %w", run, runstate.ErrNotFound) }

// NoChunk says that a task is not in the table.
func NoChunk(run contract.RunID, task contract.TaskID) error {
	return fmt.Errorf("task %s of run %s: %w", task, run, runstate.ErrNotFound)
}

// NoFanin says that a node of the fan-in tree is not in the table.
func NoFanin(run contract.RunID, shard int) error {
	if shard == runstate.RootShard {
		return fmt.Errorf("root of the fan-in tree of run %s: %w", run, runstate.ErrNotFound)
	}
	return fmt.Errorf("leaf %d of the fan-in tree of run %s: %w", shard, run, runstate.ErrNotFound)
}

// NoLeaf says that T9 or T18 found no leaf for a task.
func NoLeaf(op string, run contract.RunID, task contract.TaskID) error {
	return fmt.Errorf("%s: leaf of task %s of run %s: %w", op, task, run, runstate.ErrNotFound)
}
