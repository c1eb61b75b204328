package faulty

import (
	"context"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

func (w *wrapped) FaninK() int { return w.table.FaninK() }

func (w *wrapped) CreateRun(ctx context.Context, r runstate.Run) error {
	return only(ctx, w, Call{Op: "CreateRun", Run: r.RunID}, func() error { return w.table.CreateRun(ctx, r) })
}

func (w *wrapped) RecordFence(ctx context.Context, run contract.RunID, f runstate.FenceRecord) error {
	return only(ctx, w, Call{Op: "RecordFence", Run: run}, func() error { return w.table.RecordFence(ctx, run, f) })
}

func (w *wrapped) PutChunk(ctx context.Context, c runstate.Chunk) error {
	return only(ctx, w, Call{Op: "PutChunk", Run: c.RunID, Task: c.ID}, func() error { return w.table.PutChunk(ctx, c) })
}

func (w *wrapped) PutFanin(ctx context.Context, f runstate.Fanin) error {
	return only(ctx, w, Call{Op: "PutFanin", Run: f.RunID, Node: f.Shard}, func() error { return w.table.PutFanin(ctx, f) })
}

func (w *wrapped) StartRun(ctx context.Context, run contract.RunID, s runstate.StartRecord) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "StartRun", Run: run}, func() (runstate.Run, error) { return w.table.StartRun(ctx, run, s) })
}

func (w *wrapped) Claim(ctx context.Context, r runstate.ClaimRequest) (runstate.Chunk, error) {
	return through(ctx, w, Call{Op: "Claim", Run: r.Run, Task: r.Task}, func() (runstate.Chunk, error) { return w.table.Claim(ctx, r) })
}

func (w *wrapped) Heartbeat(ctx context.Context, l runstate.Lease, until time.Time) error {
	return only(ctx, w, Call{Op: "Heartbeat", Run: l.Run, Task: l.Task}, func() error { return w.table.Heartbeat(ctx, l, until) })
}

func (w *wrapped) Complete(ctx context.Context, l runstate.Lease, result runstate.Result, now time.Time) (runstate.Chunk, error) {
	return through(ctx, w, Call{Op: "Complete", Run: l.Run, Task: l.Task}, func() (runstate.Chunk, error) { return w.table.Complete(ctx, l, result, now) })
}

func (w *wrapped) Split(ctx context.Context, s runstate.SplitRequest) (runstate.Chunk, error) {
	return through(ctx, w, Call{Op: "Split", Run: s.Lease.Run, Task: s.Lease.Task}, func() (runstate.Chunk, error) { return w.table.Split(ctx, s) })
}

func (w *wrapped) Fail(ctx context.Context, l runstate.Lease, f fault.Failure, permanent bool, now time.Time) (runstate.Chunk, error) {
	return through(ctx, w, Call{Op: "Fail", Run: l.Run, Task: l.Task}, func() (runstate.Chunk, error) { return w.table.Fail(ctx, l, f, permanent, now) })
}

func (w *wrapped) Expire(ctx context.Context, run contract.RunID, task contract.TaskID, now time.Time) (runstate.Chunk, error) {
	return through(ctx, w, Call{Op: "Expire", Run: run, Task: task}, func() (runstate.Chunk, error) { return w.table.Expire(ctx, run, task, now) })
}

func (w *wrapped) FaninAdd(ctx context.Context, run contract.RunID, shard int, member string) (runstate.Fanin, error) {
	return through(ctx, w, Call{Op: "FaninAdd", Run: run, Node: shard}, func() (runstate.Fanin, error) { return w.table.FaninAdd(ctx, run, shard, member) })
}

func (w *wrapped) BeginFinalize(ctx context.Context, run contract.RunID, g contract.Generation, now time.Time) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "BeginFinalize", Run: run}, func() (runstate.Run, error) { return w.table.BeginFinalize(ctx, run, g, now) })
}

func (w *wrapped) SucceedRun(ctx context.Context, run contract.RunID, s runstate.SuccessRecord) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "SucceedRun", Run: run}, func() (runstate.Run, error) { return w.table.SucceedRun(ctx, run, s) })
}

func (w *wrapped) FailRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "FailRun", Run: run}, func() (runstate.Run, error) { return w.table.FailRun(ctx, run, g, f, now) })
}

func (w *wrapped) Refuse(ctx context.Context, run contract.RunID, f fault.Failure, now time.Time) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "Refuse", Run: run}, func() (runstate.Run, error) { return w.table.Refuse(ctx, run, f, now) })
}

func (w *wrapped) SupersedeRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "SupersedeRun", Run: run}, func() (runstate.Run, error) { return w.table.SupersedeRun(ctx, run, g, f, now) })
}

func (w *wrapped) ClaimResume(ctx context.Context, run contract.RunID, c runstate.ResumeClaim) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "ClaimResume", Run: run}, func() (runstate.Run, error) { return w.table.ClaimResume(ctx, run, c) })
}

func (w *wrapped) ResumeRun(ctx context.Context, run contract.RunID, g contract.Generation, leaseUntil time.Time) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "ResumeRun", Run: run}, func() (runstate.Run, error) { return w.table.ResumeRun(ctx, run, g, leaseUntil) })
}

func (w *wrapped) ResumeChunk(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, budget int, now time.Time) (runstate.Chunk, error) {
	return through(ctx, w, Call{Op: "ResumeChunk", Run: run, Task: task}, func() (runstate.Chunk, error) { return w.table.ResumeChunk(ctx, run, task, g, budget, now) })
}

func (w *wrapped) Repair(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, maxAttempts int, now time.Time) (runstate.Chunk, error) {
	return through(ctx, w, Call{Op: "Repair", Run: run, Task: task}, func() (runstate.Chunk, error) { return w.table.Repair(ctx, run, task, g, maxAttempts, now) })
}

func (w *wrapped) MarkNotified(ctx context.Context, run contract.RunID) error {
	return only(ctx, w, Call{Op: "MarkNotified", Run: run}, func() error { return w.table.MarkNotified(ctx, run) })
}

func (w *wrapped) NoteRun(ctx context.Context, run contract.RunID, n runstate.Note) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "NoteRun", Run: run}, func() (runstate.Run, error) { return w.table.NoteRun(ctx, run, n) })
}

func (w *wrapped) GetRun(ctx context.Context, run contract.RunID) (runstate.Run, error) {
	return through(ctx, w, Call{Op: "GetRun", Run: run}, func() (runstate.Run, error) { return w.table.GetRun(ctx, run) })
}

func (w *wrapped) GetChunk(ctx context.Context, run contract.RunID, task contract.TaskID) (runstate.Chunk, error) {
	return through(ctx, w, Call{Op: "GetChunk", Run: run, Task: task}, func() (runstate.Chunk, error) { return w.table.GetChunk(ctx, run, task) })
}

func (w *wrapped) ListChunks(ctx context.Context, run contract.RunID, shard int) ([]runstate.Chunk, error) {
	return through(ctx, w, Call{Op: "ListChunks", Run: run, Node: shard}, func() ([]runstate.Chunk, error) { return w.table.ListChunks(ctx, run, shard) })
}

func (w *wrapped) GetFanin(ctx context.Context, run contract.RunID, shard int) (runstate.Fanin, error) {
	return through(ctx, w, Call{Op: "GetFanin", Run: run, Node: shard}, func() (runstate.Fanin, error) { return w.table.GetFanin(ctx, run, shard) })
}

func (w *wrapped) ListActive(ctx context.Context) ([]runstate.Active, error) {
	return through(ctx, w, Call{Op: "ListActive"}, func() ([]runstate.Active, error) { return w.table.ListActive(ctx) })
}

func (w *wrapped) DropActive(ctx context.Context, run contract.RunID) error {
	return only(ctx, w, Call{Op: "DropActive", Run: run}, func() error { return w.table.DropActive(ctx, run) })
}

func (w *wrapped) ListRuns(ctx context.Context, export contract.ExportName, limit int) ([]runstate.Run, error) {
	return through(ctx, w, Call{Op: "ListRuns"}, func() ([]runstate.Run, error) { return w.table.ListRuns(ctx, export, limit) })
}
