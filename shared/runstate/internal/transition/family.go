package transition

import (
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// Family is what T9 and T18 look at, and what they leave behind: a chunk, the
// task that takes over some or all of its range, and their leaf.
type Family struct {
	Run   *runstate.Run
	Chunk *runstate.Chunk
	Child *runstate.Chunk
	Leaf  *runstate.Fanin
}

// SplitChild is the task that T9 puts.
func SplitChild(s runstate.SplitRequest) runstate.Chunk {
	return NewChunk(runstate.Chunk{
		RunID: s.Lease.Run, ID: s.Lease.Task.SplitChild(), Gen: s.Gen, Range: s.Rest,
		MaxAttempts: s.ChildAttempts, SplitOf: s.Lease.Task, CreatedAt: s.Now,
	})
}

// RepairTask is the task that T18 puts.
func RepairTask(of runstate.Chunk, g contract.Generation, maxAttempts int, now time.Time) runstate.Chunk {
	return NewChunk(runstate.Chunk{
		RunID: of.RunID, ID: of.ID.Repair(), Gen: g, Range: of.Range,
		MaxAttempts: maxAttempts, RepairOf: of.ID, CreatedAt: now,
	})
}

// Split is T9.
func Split(found Family, s runstate.SplitRequest) (Family, error) {
	runHolds := at(found.Run, s.Gen)
	chunkHolds := held(found.Chunk, s.Lease.Token)
	if err := found.refused(OpSplit, runHolds, chunkHolds); err != nil {
		return Family{}, err
	}
	child := SplitChild(s)
	chunk := completed(*found.Chunk, s.Result, s.Now)
	chunk.Range, chunk.SplitInto = s.Done, child.ID
	return found.grown(chunk, child), nil
}

// Repair is T18.
func Repair(found Family, g contract.Generation, maxAttempts int, now time.Time) (Family, error) {
	runHolds := at(found.Run, g) &&
		(found.Run.Status == runstate.RunPlanning || found.Run.Status == runstate.RunRunning)
	chunkHolds := found.Chunk != nil && found.Chunk.Status == runstate.ChunkCompleted && found.Chunk.Live()
	if err := found.refused(OpRepair, runHolds, chunkHolds); err != nil {
		return Family{}, err
	}
	child := RepairTask(*found.Chunk, g, maxAttempts, now)
	chunk := *found.Chunk
	chunk.SupersededBy, chunk.ChangedAt = child.ID, Milli(now)
	return found.grown(chunk, child), nil
}

// refused says which of the conditions does not hold, if any.
func (f Family) refused(op string, runHolds, chunkHolds bool) error {
	if !runHolds || !chunkHolds {
		e := &runstate.ConditionError{Op: op}
		if !runHolds {
			e.Run = f.Run
		}
		if !chunkHolds {
			e.Item = f.Chunk
		}
		return e
	}
	if err := CheckChild(op, f.Child); err != nil {
		return err
	}
	if f.Leaf == nil {
		return NoLeaf(op, f.Chunk.RunID, f.Chunk.ID)
	}
	return nil
}

// grown is the family after child was added.
func (f Family) grown(chunk, child runstate.Chunk) Family {
	leaf := *f.Leaf
	leaf.Expected++
	return Family{Run: f.Run, Chunk: &chunk, Child: &child, Leaf: &leaf}
}
