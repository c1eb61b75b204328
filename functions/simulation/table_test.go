package simulation

import (
	"context"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// mortalTable is the table as one process sees it: every call goes through the
// process's life.
type mortalTable struct {
	runstate.Table
	life *life
}

func through[T any](l *life, op string, perform func() (T, error)) (v T, err error) {
	err = l.call(op, func() (err error) {
		v, err = perform()
		return err
	})
	return v, err
}

func (t mortalTable) CreateRun(ctx context.Context, r runstate.Run) error {
	return t.life.call("CreateRun", func() error { return t.Table.CreateRun(ctx, r) })
}

func (t mortalTable) RecordFence(ctx context.Context, run contract.RunID, f runstate.FenceRecord) error {
	return t.life.call("RecordFence", func() error { return t.Table.RecordFence(ctx, run, f) })
}

func (t mortalTable) PutChunk(ctx context.Context, c runstate.Chunk) error {
	return t.life.call("PutChunk", func() error { return t.Table.PutChunk(ctx, c) })
}

func (t mortalTable) PutFanin(ctx context.Context, f runstate.Fanin) error {
	return t.life.call("PutFanin", func() error { return t.Table.PutFanin(ctx, f) })
}

func (t mortalTable) StartRun(ctx context.Context, run contract.RunID, s runstate.StartRecord) (runstate.Run, error) {
	return through(t.life, "StartRun", func() (runstate.Run, error) { return t.Table.StartRun(ctx, run, s) })
}

func (t mortalTable) Claim(ctx context.Context, c runstate.ClaimRequest) (runstate.Chunk, error) {
	return through(t.life, "Claim", func() (runstate.Chunk, error) { return t.Table.Claim(ctx, c) })
}

func (t mortalTable) Heartbeat(ctx context.Context, l runstate.Lease, until time.Time) error {
	return t.life.call("Heartbeat", func() error { return t.Table.Heartbeat(ctx, l, until) })
}

func (t mortalTable) Complete(ctx context.Context, l runstate.Lease, result runstate.Result, now time.Time) (runstate.Chunk, error) {
	return through(t.life, "Complete", func() (runstate.Chunk, error) { return t.Table.Complete(ctx, l, result, now) })
}

func (t mortalTable) Split(ctx context.Context, s runstate.SplitRequest) (runstate.Chunk, error) {
	return through(t.life, "Split", func() (runstate.Chunk, error) { return t.Table.Split(ctx, s) })
}

func (t mortalTable) Fail(ctx context.Context, l runstate.Lease, f fault.Failure, permanent bool, now time.Time) (runstate.Chunk, error) {
	return through(t.life, "Fail", func() (runstate.Chunk, error) { return t.Table.Fail(ctx, l, f, permanent, now) })
}

func (t mortalTable) Expire(ctx context.Context, run contract.RunID, task contract.TaskID, now time.Time) (runstate.Chunk, error) {
	return through(t.life, "Expire", func() (runstate.Chunk, error) { return t.Table.Expire(ctx, run, task, now) })
}

func (t mortalTable) FaninAdd(ctx context.Context, run contract.RunID, shard int, member string) (runstate.Fanin, error) {
	return through(t.life, "FaninAdd", func() (runstate.Fanin, error) { return t.Table.FaninAdd(ctx, run, shard, member) })
}

func (t mortalTable) BeginFinalize(ctx context.Context, run contract.RunID, g contract.Generation, now time.Time) (runstate.Run, error) {
	return through(t.life, "BeginFinalize", func() (runstate.Run, error) { return t.Table.BeginFinalize(ctx, run, g, now) })
}

func (t mortalTable) SucceedRun(ctx context.Context, run contract.RunID, s runstate.SuccessRecord) (runstate.Run, error) {
	return through(t.life, "SucceedRun", func() (runstate.Run, error) { return t.Table.SucceedRun(ctx, run, s) })
}

func (t mortalTable) FailRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	return through(t.life, "FailRun", func() (runstate.Run, error) { return t.Table.FailRun(ctx, run, g, f, now) })
}

func (t mortalTable) Refuse(ctx context.Context, run contract.RunID, f fault.Failure, now time.Time) (runstate.Run, error) {
	return through(t.life, "Refuse", func() (runstate.Run, error) { return t.Table.Refuse(ctx, run, f, now) })
}

func (t mortalTable) SupersedeRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	return through(t.life, "SupersedeRun", func() (runstate.Run, error) { return t.Table.SupersedeRun(ctx, run, g, f, now) })
}

func (t mortalTable) ClaimResume(ctx context.Context, run contract.RunID, c runstate.ResumeClaim) (runstate.Run, error) {
	return through(t.life, "ClaimResume", func() (runstate.Run, error) { return t.Table.ClaimResume(ctx, run, c) })
}

func (t mortalTable) ResumeRun(ctx context.Context, run contract.RunID, g contract.Generation, leaseUntil time.Time) (runstate.Run, error) {
	return through(t.life, "ResumeRun", func() (runstate.Run, error) { return t.Table.ResumeRun(ctx, run, g, leaseUntil) })
}

func (t mortalTable) ResumeChunk(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, budget int, now time.Time) (runstate.Chunk, error) {
	return through(t.life, "ResumeChunk", func() (runstate.Chunk, error) { return t.Table.ResumeChunk(ctx, run, task, g, budget, now) })
}

func (t mortalTable) Repair(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, maxAttempts int, now time.Time) (runstate.Chunk, error) {
	return through(t.life, "Repair", func() (runstate.Chunk, error) { return t.Table.Repair(ctx, run, task, g, maxAttempts, now) })
}

func (t mortalTable) MarkNotified(ctx context.Context, run contract.RunID) error {
	return t.life.call("MarkNotified", func() error { return t.Table.MarkNotified(ctx, run) })
}

func (t mortalTable) NoteRun(ctx context.Context, run contract.RunID, n runstate.Note) (runstate.Run, error) {
	return through(t.life, "NoteRun", func() (runstate.Run, error) { return t.Table.NoteRun(ctx, run, n) })
}

func (t mortalTable) GetRun(ctx context.Context, run contract.RunID) (runstate.Run, error) {
	return through(t.life, "GetRun", func() (runstate.Run, error) { return t.Table.GetRun(ctx, run) })
}

func (t mortalTable) GetChunk(ctx context.Context, run contract.RunID, task contract.TaskID) (runstate.Chunk, error) {
	return through(t.life, "GetChunk", func() (runstate.Chunk, error) { return t.Table.GetChunk(ctx, run, task) })
}

func (t mortalTable) ListChunks(ctx context.Context, run contract.RunID, shard int) ([]runstate.Chunk, error) {
	return through(t.life, "ListChunks", func() ([]runstate.Chunk, error) { return t.Table.ListChunks(ctx, run, shard) })
}

func (t mortalTable) GetFanin(ctx context.Context, run contract.RunID, shard int) (runstate.Fanin, error) {
	return through(t.life, "GetFanin", func() (runstate.Fanin, error) { return t.Table.GetFanin(ctx, run, shard) })
}

func (t mortalTable) ListActive(ctx context.Context) ([]runstate.Active, error) {
	return through(t.life, "ListActive", func() ([]runstate.Active, error) { return t.Table.ListActive(ctx) })
}

func (t mortalTable) DropActive(ctx context.Context, run contract.RunID) error {
	return t.life.call("DropActive", func() error { return t.Table.DropActive(ctx, run) })
}

func (t mortalTable) ListRuns(ctx context.Context, export contract.ExportName, limit int) ([]runstate.Run, error) {
	return through(t.life, "ListRuns", func() ([]runstate.Run, error) { return t.Table.ListRuns(ctx, export, limit) })
}
