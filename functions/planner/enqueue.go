package planner

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// putTasks is P8: the fan-in tree and one item a planned task. A task that is
// there already is left alone, unless it is of an older generation and not
// completed: then it is resumed (T3, T17c).
func (p *planner) putTasks(ctx context.Context, plan chunkplan.Plan) error {
	k := p.State.FaninK()
	n := len(plan.Tasks)
	shards := runstate.ShardCount(n, k)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(p.Settings.PutConcurrency, 1))
	put := func(f runstate.Fanin) {
		g.Go(func() error { return p.State.PutFanin(gctx, f) })
	}
	put(runstate.Fanin{RunID: p.run.RunID, Shard: runstate.RootShard, Expected: shards})
	for s := range shards {
		put(runstate.Fanin{RunID: p.run.RunID, Shard: s, Expected: min(k, n-s*k)})
	}
	if err := g.Wait(); err != nil { // a task must never find its leaf missing
		return fmt.Errorf("put the fan-in tree of run %s: %w", p.run.RunID, err)
	}
	g, gctx = errgroup.WithContext(ctx)
	g.SetLimit(max(p.Settings.PutConcurrency, 1))
	now := p.Clock.Now()
	for i, r := range plan.Tasks {
		c := runstate.Chunk{
			RunID: p.run.RunID, ID: contract.BaseTaskID(i), Status: runstate.ChunkPending, Gen: p.gen, Range: r,
			MaxAttempts: plan.Export.ChunkMaxAttempts, CreatedAt: now, ChangedAt: now,
		}
		g.Go(func() error { return p.putTask(gctx, c) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("put the tasks of run %s: %w", p.run.RunID, err)
	}
	return nil
}

func (p *planner) putTask(ctx context.Context, c runstate.Chunk) error {
	err := p.State.PutChunk(ctx, c)
	var exists *runstate.ConditionError
	if !errors.As(err, &exists) {
		return err
	}
	if exists.Item == nil || exists.Item.Gen >= c.Gen || exists.Item.Status == runstate.ChunkCompleted {
		return nil
	}
	return p.resumeTask(ctx, c.ID, c.MaxAttempts)
}

// resumeTask is T17c. A task that was completed, or resumed by somebody else,
// in the meantime is fine.
func (p *planner) resumeTask(ctx context.Context, id contract.TaskID, budget int) error {
	_, err := p.State.ResumeChunk(ctx, p.run.RunID, id, p.gen, budget, p.Clock.Now())
	if errors.Is(err, runstate.ErrCondition) {
		return nil
	}
	return err
}

// startRun is T5.
func (p *planner) startRun(ctx context.Context, plan chunkplan.Plan, fp contract.Fingerprint) error {
	k := p.State.FaninK()
	run, err := p.State.StartRun(ctx, p.run.RunID, runstate.StartRecord{
		Gen: p.gen, TriggerID: p.run.TriggerID, PlanFingerprint: fp, TaskCount: len(plan.Tasks), Shards: runstate.ShardCount(len(plan.Tasks), k), FaninK: k,
		MaxAttempts: plan.Export.ChunkMaxAttempts, LeaseUntil: p.Clock.Now().Add(p.Settings.RunLease),
	})
	var refused *runstate.ConditionError
	switch {
	case err == nil:
		p.run = run
		return nil
	case errors.As(err, &refused) && refused.Run != nil && refused.Run.Gen == p.gen && refused.Run.Status != runstate.RunPlanning:
		p.run = *refused.Run // a duplicate of this planner is ahead; sending again is harmless
		return nil
	case errors.As(err, &refused) && refused.Run != nil && refused.Run.TriggerID != p.run.TriggerID:
		// A resume has claimed the run: it starts it, at a generation of its own.
		return &commit.FenceLostError{Export: p.name(), RunID: p.run.RunID, OwnerRunID: p.run.RunID, OwnerGen: p.gen}
	}
	return fmt.Errorf("start run %s: %w", p.run.RunID, err)
}

// enqueue is P10 and P11: one message for every task that is not completed, or
// the finalization when none is left.
func (p *planner) enqueue(ctx context.Context, pending []contract.TaskID) error {
	ref := dispatch.Ref(p.run)
	if p.run.Status.Terminal() {
		return nil
	}
	var err error
	if len(pending) == 0 {
		err = p.dispatcher().SendFinalize(ctx, ref)
	} else {
		err = p.dispatcher().SendChunks(ctx, p.run.Queue, ref, pending...)
	}
	if err != nil {
		return err
	}
	enqueued := true
	_, err = p.State.NoteRun(ctx, p.run.RunID, runstate.Note{Enqueued: &enqueued})
	if errors.Is(err, runstate.ErrCondition) {
		return nil // the run has ended meanwhile
	}
	return err
}

// enqueueAgain finishes a planner that stopped between T5 and P11.
func (p *planner) enqueueAgain(ctx context.Context) (*wire.TriggerResult, error) {
	chunks, err := dispatch.AllChunks(ctx, p.State, p.run)
	if err != nil {
		return nil, err
	}
	var pending []contract.TaskID
	for _, c := range chunks {
		if c.Live() && c.Status != runstate.ChunkCompleted {
			pending = append(pending, c.ID)
		}
	}
	if err := p.enqueue(ctx, pending); err != nil {
		return nil, err
	}
	return &wire.TriggerResult{RunID: p.run.RunID, Status: wire.Started, Chunks: p.run.TaskCount}, nil
}
