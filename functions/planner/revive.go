package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// reviveTasks is R2b to R6.
func (p *planner) reviveTasks(ctx context.Context, plan chunkplan.Plan, fp contract.Fingerprint) (wire.TriggerResult, error) {
	if err := p.putTasks(ctx, plan); err != nil { // R2b
		return wire.TriggerResult{}, err
	}
	shards := p.run
	shards.Shards = runstate.ShardCount(len(plan.Tasks), p.State.FaninK())
	chunks, err := dispatch.AllChunks(ctx, p.State, shards) // R3: revoke every lease of an older generation
	if err != nil {
		return wire.TriggerResult{}, err
	}
	for _, c := range chunks {
		if c.Status != runstate.ChunkCompleted && c.Gen < p.gen {
			if err := p.resumeTask(ctx, c.ID, plan.Export.ChunkMaxAttempts); err != nil {
				return wire.TriggerResult{}, err
			}
		}
	}
	if chunks, err = dispatch.AllChunks(ctx, p.State, shards); err != nil { // R4: from here on nothing old can be recorded
		return wire.TriggerResult{}, err
	}
	if err := p.compare(ctx, plan, chunks); err != nil { // R5
		return wire.TriggerResult{}, err
	}
	if err := p.startRun(ctx, plan, fp); err != nil { // R6
		return wire.TriggerResult{}, err
	}
	if chunks, err = dispatch.AllChunks(ctx, p.State, shards); err != nil {
		return wire.TriggerResult{}, err
	}
	var pending []contract.TaskID
	for _, c := range chunks {
		switch {
		case c.Status == runstate.ChunkCompleted:
			if err := p.dispatcher().Redrive(ctx, dispatch.Ref(p.run), p.run.Queue, c, p.Clock.Now()); err != nil {
				return wire.TriggerResult{}, err
			}
		case c.Live():
			pending = append(pending, c.ID)
		}
	}
	if err := p.enqueue(ctx, pending); err != nil {
		return wire.TriggerResult{}, err
	}
	p.log.Info("run resumed", "gen", p.gen, "tasks", len(chunks), "to_do", len(pending), "legacy_run", p.legacy)
	return wire.TriggerResult{RunID: p.run.RunID, Status: wire.Started, Chunks: len(pending), LegacyRun: p.legacy}, nil
}

// compare decides by M8 what becomes of the recorded parts and of everything
// else in the prefix, and moves what is in the way.
func (p *planner) compare(ctx context.Context, plan chunkplan.Plan, chunks []runstate.Chunk) error {
	var recorded []runstate.PartRecord
	owner := make(map[string]contract.TaskID)
	for _, c := range chunks {
		if c.Status == runstate.ChunkCompleted && c.Live() {
			for _, part := range c.Parts {
				recorded = append(recorded, part)
				owner[part.Path] = c.ID
			}
		}
	}
	plain := contract.Generation(1)
	if plan.RunScoped {
		plain = plan.FirstGeneration
	}
	promised, err := p.revokeGenerations(ctx, plan)
	if err != nil {
		return err
	}
	found, err := commit.Inspect(ctx, p.prefix(), p.run.RunID, plain, p.gen, recorded, promised)
	if err != nil {
		return err
	}
	if err := p.fence().SpareRepairs(ctx, &found, plan.FirstGeneration, p.gen); err != nil {
		return err
	}
	if err := p.mayMove(ctx); err != nil {
		return err
	}
	if p.legacy = found.Legacy; p.legacy {
		p.log.Warn("the prefix holds data of another writer and no manifest: nothing is known of that data, and it is moved out of the way", "legacy_run", true)
	}
	repaired := make(map[contract.TaskID]bool)
	for _, part := range found.Repair {
		id := owner[part.Path]
		if repaired[id] {
			continue
		}
		repaired[id] = true
		p.log.Warn("a recorded part is missing or differs: its task is done again", "task", id, "part", part.Path)
		_, err := p.State.Repair(ctx, p.run.RunID, id, p.gen, plan.Export.ChunkMaxAttempts, p.Clock.Now())
		switch {
		case errors.Is(err, runstate.ErrCondition): // a duplicate of this planner is ahead: what the run records stays where it is
			found.Moves = slices.DeleteFunc(found.Moves, func(m commit.Move) bool { return owner[m.From] == id })
		case err != nil:
			return fmt.Errorf("repair task %s: %w", id, err)
		}
	}
	commit.Quarantine(ctx, p.prefix(), found.Moves, func(m commit.Move, err error) {
		if err != nil {
			p.log.Warn("object could not be quarantined and stays where it is", "from", m.From, "to", m.To, "reason", m.Reason, "error", err)
			return
		}
		p.log.Warn("object quarantined", "from", m.From, "to", m.To, "reason", m.Reason)
	})
	return nil
}

// revokeGenerations keeps the run's older generations from committing what is
// about to be moved, and returns the parts of those that may commit. In a repair
// the one that has committed is over, and so are those before it.
func (p *planner) revokeGenerations(ctx context.Context, plan chunkplan.Plan) (promised map[string]bool, err error) {
	first := plan.FirstGeneration
	if p.trigger.Force {
		sidecar, _, err := commit.ReadSidecar(ctx, p.prefix(), p.run.RunID)
		if err != nil {
			return nil, err
		}
		if sidecar != nil && sidecar.Status == contract.StatusSuccess {
			first = sidecar.Generation + 1
		}
	}
	return p.fence().Revoke(ctx, p.run.RunID, first, p.gen)
}

// mayMove looks at the fence and for this run's success once more, after the
// prefix was listed and before anything in it is moved. A finalizer of an older
// generation can commit at any time. And the document may have been lost and
// made anew, at a generation that this planner's own leaves no trace of: what
// was listed before the fence was read is not of its new owner (ADR-0004). In a
// repair the run has committed, and that is what is repaired.
func (p *planner) mayMove(ctx context.Context) error {
	held, err := p.fence().Read(ctx)
	switch {
	case err != nil:
		return err
	case !held.Owns(p.run.RunID, p.gen):
		return &commit.FenceLostError{Export: p.name(), RunID: p.run.RunID, OwnerRunID: held.Doc.OwnerRunID, OwnerGen: held.Doc.Generation}
	case p.trigger.Force:
		return nil
	}
	m, _, err := commit.ReadSidecar(ctx, p.prefix(), p.run.RunID)
	if err == nil && m != nil && m.Status == contract.StatusSuccess {
		return &commit.CommittedError{RunID: p.run.RunID}
	}
	return err
}
