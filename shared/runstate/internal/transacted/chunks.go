package transacted

import (
	"context"
	"errors"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transition"
)

// changeChunk is one conditional operation on a chunk.
func (t Table) changeChunk(ctx context.Context, run contract.RunID, task contract.TaskID, change func(found *runstate.Chunk) (runstate.Chunk, error)) (runstate.Chunk, error) {
	var left runstate.Chunk
	err := t.update(ctx, func(items Items) error {
		found, err := items.Chunk(run, task)
		if err != nil {
			return err
		}
		if left, err = change(found); err != nil {
			return err
		}
		return items.PutChunk(left)
	})
	if err != nil {
		return runstate.Chunk{}, err
	}
	return left, nil
}

// PutChunk is T3.
func (t Table) PutChunk(ctx context.Context, c runstate.Chunk) error {
	_, err := t.changeChunk(ctx, c.RunID, c.ID, func(found *runstate.Chunk) (runstate.Chunk, error) {
		return transition.PutChunk(found, c)
	})
	return err
}

// Claim is T6.
func (t Table) Claim(ctx context.Context, r runstate.ClaimRequest) (runstate.Chunk, error) {
	return t.changeChunk(ctx, r.Run, r.Task, func(found *runstate.Chunk) (runstate.Chunk, error) {
		return transition.Claim(found, r)
	})
}

// Heartbeat is T7.
func (t Table) Heartbeat(ctx context.Context, l runstate.Lease, until time.Time) error {
	_, err := t.changeChunk(ctx, l.Run, l.Task, func(found *runstate.Chunk) (runstate.Chunk, error) {
		return transition.Heartbeat(found, l.Token, until)
	})
	return err
}

// Complete is T8.
func (t Table) Complete(ctx context.Context, l runstate.Lease, result runstate.Result, now time.Time) (runstate.Chunk, error) {
	if err := transition.CheckResult(result); err != nil {
		return runstate.Chunk{}, err
	}
	return t.changeChunk(ctx, l.Run, l.Task, func(found *runstate.Chunk) (runstate.Chunk, error) {
		return transition.Complete(found, l.Token, result, now)
	})
}

// Fail is T10.
func (t Table) Fail(ctx context.Context, l runstate.Lease, f fault.Failure, permanent bool, now time.Time) (runstate.Chunk, error) {
	return t.changeChunk(ctx, l.Run, l.Task, func(found *runstate.Chunk) (runstate.Chunk, error) {
		return transition.Fail(found, l.Token, f, permanent, now)
	})
}

// Expire is T10b.
func (t Table) Expire(ctx context.Context, run contract.RunID, task contract.TaskID, now time.Time) (runstate.Chunk, error) {
	return t.changeChunk(ctx, run, task, func(found *runstate.Chunk) (runstate.Chunk, error) {
		return transition.Expire(found, now)
	})
}

// ResumeChunk is T17c.
func (t Table) ResumeChunk(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, budget int, now time.Time) (runstate.Chunk, error) {
	return t.changeChunk(ctx, run, task, func(found *runstate.Chunk) (runstate.Chunk, error) {
		return transition.ResumeChunk(found, g, budget, now)
	})
}

// Split is T9.
func (t Table) Split(ctx context.Context, s runstate.SplitRequest) (runstate.Chunk, error) {
	if err := transition.CheckResult(s.Result); err != nil {
		return runstate.Chunk{}, err
	}
	left, err := t.changeFamily(ctx, s.Lease.Run, s.Lease.Task, s.Lease.Task.SplitChild(), func(found transition.Family) (transition.Family, error) {
		return transition.Split(found, s)
	})
	if err != nil {
		return runstate.Chunk{}, err
	}
	return *left.Chunk, nil
}

// Repair is T18.
func (t Table) Repair(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, maxAttempts int, now time.Time) (runstate.Chunk, error) {
	left, err := t.changeFamily(ctx, run, task, task.Repair(), func(found transition.Family) (transition.Family, error) {
		return transition.Repair(found, g, maxAttempts, now)
	})
	if err != nil {
		return runstate.Chunk{}, err
	}
	return *left.Child, nil
}

// changeFamily is one transaction over a chunk, its child and their leaf.
func (t Table) changeFamily(ctx context.Context, run contract.RunID, task, child contract.TaskID, change func(found transition.Family) (transition.Family, error)) (transition.Family, error) {
	var left transition.Family
	err := t.update(ctx, func(items Items) error {
		var found transition.Family
		var errs [4]error
		found.Run, errs[0] = items.Run(run)
		found.Chunk, errs[1] = items.Chunk(run, task)
		found.Child, errs[2] = items.Chunk(run, child)
		found.Leaf, errs[3] = items.Fanin(run, runstate.ShardOf(task, t.k))
		err := errors.Join(errs[:]...)
		if err != nil {
			return err
		}
		if left, err = change(found); err != nil {
			return err
		}
		return errors.Join(items.PutChunk(*left.Chunk), items.PutChunk(*left.Child), items.PutFanin(*left.Leaf))
	})
	return left, err
}

// PutFanin is T4.
func (t Table) PutFanin(ctx context.Context, f runstate.Fanin) error {
	return t.update(ctx, func(items Items) error {
		found, err := items.Fanin(f.RunID, f.Shard)
		if err != nil || found != nil {
			return err
		}
		return items.PutFanin(transition.NewFanin(f))
	})
}

// FaninAdd is T11 and T12.
func (t Table) FaninAdd(ctx context.Context, run contract.RunID, shard int, member string) (runstate.Fanin, error) {
	var left runstate.Fanin
	err := t.update(ctx, func(items Items) error {
		found, err := items.Fanin(run, shard)
		if err != nil {
			return err
		}
		if found == nil {
			return transition.NoFanin(run, shard)
		}
		left = transition.FaninAdd(*found, member)
		return items.PutFanin(left)
	})
	if err != nil {
		return runstate.Fanin{}, err
	}
	return left, nil
}

// GetChunk returns a chunk.
func (t Table) GetChunk(ctx context.Context, run contract.RunID, task contract.TaskID) (runstate.Chunk, error) {
	found, err := read(ctx, t, func(items Items) (*runstate.Chunk, error) { return items.Chunk(run, task) })
	if err == nil && found == nil {
		return runstate.Chunk{}, transition.NoChunk(run, task)
	}
	return orZero(found), err
}

// GetFanin returns a node of the fan-in tree.
func (t Table) GetFanin(ctx context.Context, run contract.RunID, shard int) (runstate.Fanin, error) {
	found, err := read(ctx, t, func(items Items) (*runstate.Fanin, error) { return items.Fanin(run, shard) })
	if err == nil && found == nil {
		return runstate.Fanin{}, transition.NoFanin(run, shard)
	}
	return orZero(found), err
}

// ListChunks returns the chunks of a shard.
func (t Table) ListChunks(ctx context.Context, run contract.RunID, shard int) ([]runstate.Chunk, error) {
	var list []runstate.Chunk
	err := t.view(ctx, func(items Items) (err error) {
		list, err = items.Chunks(run, shard)
		return err
	})
	return list, err
}
