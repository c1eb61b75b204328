package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transition"
)

const (
	leaseOver = "(attribute_not_exists(#lease_until) OR #lease_until < :now)"

	// T6: of an item that is there, since gen is.
	ifClaimable = "#gen = :gen AND #attempts < #max_attempts AND " +
		"(#status IN (:pending, :failed) OR (#status = :running AND " + leaseOver + "))"
	ifHeld    = "#status = :running AND #lease_token = :token"                            // T7, T8, T9, T10
	ifExpired = "#status = :running AND " + leaseOver + " AND #attempts >= #max_attempts" // T10b
	ifOldAs   = "#status = :found AND #gen < :gen"                                        // T17c
	ifLeaf    = "attribute_exists(#pk)"                                                   // T9, T11, T18
	ifRunGen  = "#gen = :gen"                                                             // T9
	ifRunOpen = "#gen = :gen AND #status IN (:planning, :running)"                        // T18
	ifCounts  = "#status = :completed AND attribute_not_exists(#superseded_by)"           // T18
)

// PutChunk is T3.
func (t *Table) PutChunk(ctx context.Context, c runstate.Chunk) error {
	c = transition.NewChunk(c)
	_, err := t.write(ctx, write{op: transition.OpPutChunk, key: t.chunkKey(c.RunID, c.ID), put: t.chunkItem(c), condition: missing})
	return chunkRefusal(transition.OpPutChunk, err)
}

// Claim is T6.
func (t *Table) Claim(ctx context.Context, r runstate.ClaimRequest) (runstate.Chunk, error) {
	var e edit
	e.set("status", text(runstate.ChunkRunning))
	e.expression("attempts", "#attempts + :one")
	e.value("one", number(1))
	e.set("lease_token", text(r.Token))
	e.set("lease_until", optTime(r.LeaseUntil))
	e.set("worker", optText(r.Worker))
	e.set("changed_at", optTime(r.Now))
	e.value("gen", number(r.Gen))
	e.value("now", milliseconds(r.Now))
	return t.updateChunk(ctx, transition.OpClaim, r.Run, r.Task, ifClaimable, e)
}

// Heartbeat is T7.
func (t *Table) Heartbeat(ctx context.Context, l runstate.Lease, until time.Time) error {
	var e edit
	e.set("lease_until", optTime(until))
	_, err := t.updateHeld(ctx, transition.OpHeartbeat, l, e)
	return err
}

// Complete is T8.
func (t *Table) Complete(ctx context.Context, l runstate.Lease, result runstate.Result, now time.Time) (runstate.Chunk, error) {
	if err := transition.CheckResult(result); err != nil {
		return runstate.Chunk{}, err
	}
	return t.updateHeld(ctx, transition.OpComplete, l, completion(result, now))
}

// completion is what T8 and T9 write.
func completion(result runstate.Result, now time.Time) edit {
	var e edit
	e.set("status", text(runstate.ChunkCompleted))
	e.set("parts", optList(result.Parts))
	e.set("rows", optNumber(result.Rows))
	e.set("bytes", optNumber(result.Bytes))
	e.set("read_position", optText(result.ReadPosition))
	e.set("repeated", optNumber(result.Repeated))
	e.set("hi_keys", optList(result.HiKeys))
	e.set("started_at", optTime(result.StartedAt))
	e.set("changed_at", optTime(now))
	e.remove("error")
	return e
}

// Fail is T10.
func (t *Table) Fail(ctx context.Context, l runstate.Lease, f fault.Failure, permanent bool, now time.Time) (runstate.Chunk, error) {
	e := failure(f, now)
	if permanent {
		// No claim goes beyond max_attempts, so this never lowers it (V2).
		e.expression("attempts", "#max_attempts")
	}
	return t.updateHeld(ctx, transition.OpFail, l, e)
}

func failure(f fault.Failure, now time.Time) edit {
	var e edit
	e.set("status", text(runstate.ChunkFailed))
	e.set("error", document(f))
	e.set("changed_at", optTime(now))
	return e
}

// Expire is T10b.
func (t *Table) Expire(ctx context.Context, run contract.RunID, task contract.TaskID, now time.Time) (runstate.Chunk, error) {
	e := failure(transition.LeaseExpired(), now)
	e.value("now", milliseconds(now))
	return t.updateChunk(ctx, transition.OpExpire, run, task, ifExpired, e)
}

// ResumeChunk is T17c. What becomes of the status depends on what it is, which
// one update cannot say: there is one for each status, and a refused one says
// which to make.
func (t *Table) ResumeChunk(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, budget int, now time.Time) (runstate.Chunk, error) {
	found := runstate.ChunkPending
	for try := 1; ; try++ {
		left, err := t.resumeChunkAs(ctx, found, run, task, g, budget, now)
		var refused *runstate.ConditionError
		if !errors.As(err, &refused) || refused.Item == nil || try == mostTries {
			return left, err
		}
		if found = refused.Item.Status; found == runstate.ChunkCompleted || refused.Item.Gen >= g {
			return left, err
		}
	}
}

func (t *Table) resumeChunkAs(ctx context.Context, found runstate.ChunkStatus, run contract.RunID, task contract.TaskID, g contract.Generation, budget int, now time.Time) (runstate.Chunk, error) {
	var e edit
	if found == runstate.ChunkRunning {
		e.set("status", text(runstate.ChunkFailed))
	}
	e.set("gen", number(g))
	e.expression("max_attempts", "#attempts + :budget")
	e.value("budget", number(budget))
	e.remove("lease_token", "lease_until")
	e.set("changed_at", optTime(now))
	e.value("found", text(found))
	return t.updateChunk(ctx, transition.OpResumeChunk, run, task, ifOldAs, e)
}

func (t *Table) updateHeld(ctx context.Context, op string, l runstate.Lease, e edit) (runstate.Chunk, error) {
	e.value("token", text(l.Token))
	return t.updateChunk(ctx, op, l.Run, l.Task, ifHeld, e)
}

func (t *Table) updateChunk(ctx context.Context, op string, run contract.RunID, task contract.TaskID, condition string, e edit) (runstate.Chunk, error) {
	e.set("ttl", t.ttl(KeepItems))
	left, err := t.write(ctx, write{op: op, key: t.chunkKey(run, task), edit: e, condition: condition})
	if err != nil {
		return runstate.Chunk{}, chunkRefusal(op, err)
	}
	return readChunk(left)
}

// chunkRefusal turns a refusal of the first item, a chunk, into a
// ConditionError.
func chunkRefusal(op string, err error) error {
	var refused *refusal
	if !errors.As(err, &refused) {
		return err
	}
	e := &runstate.ConditionError{Op: op}
	if refused.found[0] == nil {
		return e
	}
	c, err := readChunk(refused.found[0])
	if err != nil {
		return err
	}
	e.Item = &c
	return e
}

// GetChunk returns a chunk.
func (t *Table) GetChunk(ctx context.Context, run contract.RunID, task contract.TaskID) (runstate.Chunk, error) {
	found, err := t.read(ctx, "GetChunk", t.chunkKey(run, task))
	if err != nil {
		return runstate.Chunk{}, err
	}
	if found == nil {
		return runstate.Chunk{}, transition.NoChunk(run, task)
	}
	return readChunk(found)
}
