package finalizer

import (
	"context"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// complete is F2 and F3: whether every task is completed and every recorded
// part is there. A non-nil outcome ends this call; whoever completes the last
// task, or the sweep, calls again (I6).
func (f *finalizer) complete(ctx context.Context) (*wire.Outcome, error) {
	err := f.loadPlan(ctx)
	switch {
	case errors.Is(err, commit.ErrPlanMissing) && f.run.Status == runstate.RunRunning:
		return f.fail(ctx, dispatch.Failure(err))
	case err != nil:
		return nil, err
	}
	chunks, err := dispatch.AllChunks(ctx, f.State, f.run)
	if err != nil {
		return nil, err
	}
	f.chunks = chunks
	for _, c := range chunks {
		if c.Live() && c.Exhausted() && f.run.Status == runstate.RunRunning {
			return f.fail(ctx, failureOf(f.run.Export, c))
		}
	}
	if missing := incomplete(f.plan, chunks); missing != "" {
		return done("run %s: %s", f.run.RunID, missing), nil
	}
	if err := (commit.Frozen{Plan: f.plan, Chunks: chunks}).CheckWindow(); err != nil && f.run.Status == runstate.RunRunning {
		return f.fail(ctx, dispatch.Failure(err))
	}
	return f.partsThere(ctx)
}

// fail ends the run, or reports its success if it has committed nevertheless.
func (f *finalizer) fail(ctx context.Context, failure fault.Failure) (*wire.Outcome, error) {
	committed, err := f.ender().Fail(ctx, f.run, failure)
	switch {
	case err != nil:
		return nil, err
	case !committed:
		return done("run %s has failed: %s", f.run.RunID, failure.Message), nil
	}
	if f.run, err = f.State.GetRun(ctx, f.run.RunID); err != nil {
		return nil, err
	}
	out, err := f.afterwards(ctx)
	return &out, err
}

// failureOf is a task's failure as its run's. What cannot succeed was not tried
// again, whatever the count of attempts says.
func failureOf(export contract.ExportName, c runstate.Chunk) fault.Failure {
	f := fault.Failure{Class: fault.Retryable, Code: "LAPSTRAKE_RUN_CHUNK_FAILED"}
	if c.Error != nil {
		f = *c.Error
	}
	after := ""
	if fault.Retry(f.Err()) {
		after = fmt.Sprintf(" after %d attempts", c.Attempts)
	}
	f.Message = fmt.Sprintf("export %q: task %s (%s) failed%s: %s", export, c.ID, c.Range.Shape(), after, f.Message)
	return f
}

// incomplete says what of a run is not completed, or "". The planned tasks must
// all be there, and the tasks that each of them has become by splits and repairs
// must be completed and cover its range without gap or overlap (V3): a task
// that was never put is a task that is not completed.
func incomplete(plan chunkplan.Plan, chunks []runstate.Chunk) string {
	ranges := make([][]keyspace.Range, len(plan.Tasks))
	for _, c := range chunks {
		if !c.Live() {
			continue
		}
		if c.Status != runstate.ChunkCompleted {
			return fmt.Sprintf("task %s is %s", c.ID, c.Status)
		}
		base, ok := c.ID.Base()
		if !ok || base >= len(plan.Tasks) {
			return fmt.Sprintf("task %s is not of this plan", c.ID)
		}
		ranges[base] = append(ranges[base], c.Range)
	}
	for i, whole := range plan.Tasks {
		if err := keyspace.Tiles(whole, ranges[i]); err != nil {
			return fmt.Sprintf("task %s is not covered: %v", contract.BaseTaskID(i), err)
		}
	}
	return ""
}

// partsThere is F3: every recorded part is in the prefix, at its recorded size
// and content as far as the store vouches for it. A task whose part is gone or
// damaged is done again (M1, M5, T18).
func (f *finalizer) partsThere(ctx context.Context) (*wire.Outcome, error) {
	owner := make(map[string]contract.TaskID)
	var parts []contract.Part
	for _, c := range f.chunks {
		if !c.Live() {
			continue
		}
		for _, p := range c.Parts {
			owner[p.Path] = c.ID
			parts = append(parts, contract.Part{
				Path: p.Path, Rows: p.Rows, SizeBytes: p.SizeBytes, ContentFingerprint: p.Fingerprint, ContentMD5: p.MD5, Status: contract.PartCommitted,
			})
		}
	}
	found, err := verify.Parts(ctx, f.prefix, parts, verify.PartsOptions{Content: f.plan.Export.Verify == "content"})
	if err != nil {
		return nil, fmt.Errorf("look for the parts of run %s: %w", f.run.RunID, err)
	}
	var damaged []string
	for _, finding := range found.Failures {
		if finding.Path == "" { // content could not be verified: no attempt can change that
			err := fault.New(fault.Integrity, "LAPSTRAKE_DEST_CONTENT_UNMET", "run %s: verify: content is asked for, and the store vouches for the size of its parts only; nothing was published. Use verify: size, or a store with checksums", f.run.RunID)
			return f.fail(ctx, dispatch.Failure(err))
		}
		damaged = append(damaged, finding.Path)
	}
	if len(damaged) == 0 {
		return nil, nil
	}
	if f.run.Status == runstate.RunFinalizing {
		return nil, fault.New(fault.Integrity, "LAPSTRAKE_RUN_PART_LOST",
			"run %s: part %s is missing or differs, after the run was frozen; nothing more is published until it is restored, or the run is resumed", f.run.RunID, damaged[0])
	}
	repaired := make(map[contract.TaskID]bool)
	var again []contract.TaskID
	for _, path := range damaged {
		id := owner[path]
		if repaired[id] {
			continue
		}
		repaired[id] = true
		f.log.Warn("a recorded part is missing or differs: its task is done again", "task", id, "part", path)
		c, err := f.State.Repair(ctx, f.run.RunID, id, f.run.Gen, f.run.MaxAttempts, f.Clock.Now())
		switch {
		case errors.Is(err, runstate.ErrCondition):
			continue // somebody repairs it already, or the run has moved on
		case err != nil:
			return nil, fmt.Errorf("repair task %s: %w", id, err)
		}
		again = append(again, c.ID)
	}
	if err := f.dispatcher().SendChunks(ctx, f.run.Queue, dispatch.Ref(f.run), again...); err != nil {
		return nil, err
	}
	return done("run %s: %d parts were missing or damaged, their tasks are done again", f.run.RunID, len(damaged)), nil
}

// loadPlan reads the plan and compares it with the run's item.
func (f *finalizer) loadPlan(ctx context.Context) error {
	if f.planFP != "" {
		return nil
	}
	plan, fp, err := commit.LoadPlan(ctx, f.root, f.run.Export, f.run.RunID)
	if err != nil {
		return commit.StartedWith(f.run, err)
	}
	if f.run.PlanFingerprint != "" && f.run.PlanFingerprint != fp {
		return fault.New(fault.Refused, "LAPSTRAKE_RUN_PLAN_MISMATCH", "run %s: plan.json is not the plan that the run was started with; nothing was published", f.run.RunID)
	}
	f.plan, f.planFP = plan, fp
	return nil
}

func (f *finalizer) dispatcher() dispatch.Dispatcher {
	return dispatch.Dispatcher{State: f.State, Queue: f.Queue}
}

func done(format string, args ...any) *wire.Outcome {
	o := wire.Done(format, args...)
	return &o
}
