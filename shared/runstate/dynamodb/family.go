package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transition"
)

// Split is T9.
func (t *Table) Split(ctx context.Context, s runstate.SplitRequest) (runstate.Chunk, error) {
	if err := transition.CheckResult(s.Result); err != nil {
		return runstate.Chunk{}, err
	}
	child := transition.SplitChild(s)
	e := completion(s.Result, s.Now)
	e.set("range", document(s.Done))
	e.set("split_into", text(child.ID))
	e.value("token", text(s.Lease.Token))
	run := write{key: runKey(s.Lease.Run), condition: ifRunGen}
	run.edit.value("gen", number(s.Gen))
	err := t.grow(ctx, transition.OpSplit, run, s.Lease.Task, write{edit: e, condition: ifHeld}, child)
	if err != nil {
		return runstate.Chunk{}, err
	}
	return t.GetChunk(ctx, s.Lease.Run, s.Lease.Task)
}

// Repair is T18. The range of a completed chunk never changes, so it may be
// read before.
func (t *Table) Repair(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, maxAttempts int, now time.Time) (runstate.Chunk, error) {
	found, err := t.GetChunk(ctx, run, task)
	if err != nil && !errors.Is(err, runstate.ErrNotFound) {
		return runstate.Chunk{}, err
	}
	found.RunID, found.ID = run, task
	child := transition.RepairTask(found, g, maxAttempts, now)
	var e edit
	e.set("superseded_by", text(child.ID))
	e.set("changed_at", optTime(now))
	check := write{key: runKey(run), condition: ifRunOpen}
	check.edit.value("gen", number(g))
	err = t.grow(ctx, transition.OpRepair, check, task, write{edit: e, condition: ifCounts}, child)
	if err != nil {
		return runstate.Chunk{}, err
	}
	return child, nil
}

// grow is the transaction of T9 and T18: the chunk is changed, the run
// checked, the child put, and their leaf expects one more.
func (t *Table) grow(ctx context.Context, op string, run write, task contract.TaskID, chunk write, child runstate.Chunk) error {
	chunk.key = t.chunkKey(child.RunID, task)
	chunk.edit.set("ttl", t.ttl(KeepItems))
	leaf := write{key: faninKey(child.RunID, runstate.ShardOf(task, t.k)), condition: ifLeaf}
	leaf.edit.add("expected", number(1))
	leaf.edit.set("ttl", t.ttl(KeepItems))
	err := t.transact(ctx, op, []write{chunk, run, {put: t.chunkItem(child), condition: missing}, leaf})
	var refused *refusal
	if errors.As(err, &refused) && len(refused.failed) == 4 {
		return familyRefusal(op, refused, child.RunID, task)
	}
	return err
}

// familyRefusal says which of the four conditions of grow does not hold.
func familyRefusal(op string, r *refusal, run contract.RunID, task contract.TaskID) error {
	const chunkAt, runAt, childAt = 0, 1, 2
	var found transition.Family
	var errs [3]error
	if r.found[chunkAt] != nil {
		found.Chunk, errs[0] = pointer(readChunk(r.found[chunkAt]))
	}
	if r.found[runAt] != nil {
		found.Run, errs[1] = pointer(readRun(r.found[runAt]))
	}
	if r.found[childAt] != nil {
		found.Child, errs[2] = pointer(readChunk(r.found[childAt]))
	}
	switch err := errors.Join(errs[:]...); {
	case err != nil:
		return err
	case r.failed[chunkAt] || r.failed[runAt]:
		return &runstate.ConditionError{Op: op, Run: found.Run, Item: found.Chunk}
	case r.failed[childAt]:
		return transition.CheckChild(op, found.Child)
	}
	return transition.NoLeaf(op, run, task)
}

func pointer[T any](v T, err error) (*T, error) { return &v, err }
