// Package chunk is the function that extracts one chunk task. Layer: function
// (no cloud import).
package chunk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/extract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Deps is what the handler works with.
type Deps struct {
	Destinations destination.Opener
	State        runstate.Table
	Queue        taskqueue.Queue
	Sources      source.Opener
	Formats      map[string]partfile.Format // by the export's format
	Clock        clock.Clock
	IDs          contract.IDSource
	Log          *slog.Logger
	Plans        *Plans // that this process has read; nil for none
	Observer     telemetry.Observer

	// Worker names this process in the chunk's item, for people.
	Worker string
	// Lease is how long a claim lasts without a heartbeat, Heartbeat how often
	// one is sent. Both only decide how soon another worker may try (§2.8).
	Lease, Heartbeat time.Duration
}

// Handle does one delivery of a chunk task. Any number of deliveries, at the
// same time or late, deliver the chunk once: the claim decides who works, the
// lease token whose work counts (T6, T8).
//
// The handler stops by itself before ctx's deadline. An error is one of the
// infrastructure: the outcome says what becomes of the message.
func Handle(ctx context.Context, d Deps, m wire.ChunkTask) (wire.Outcome, error) {
	h := handler{Deps: d, task: m, log: d.Log.With("run_id", m.Run.RunID, "export", m.Run.Export, "gen", m.Run.Generation, "task", m.Task)}
	return h.handle(ctx)
}

type handler struct {
	Deps
	task wire.ChunkTask
	log  *slog.Logger
	run  runstate.Run
	root destination.Store
	plan chunkplan.Plan
}

func (h *handler) handle(ctx context.Context) (wire.Outcome, error) {
	ref := h.task.Run
	run, err := h.State.GetRun(ctx, ref.RunID)
	switch {
	case errors.Is(err, runstate.ErrNotFound):
		return wire.Done("run %s is not in the table: nothing to do", ref.RunID), nil
	case err != nil:
		return retry(err), err
	case run.Status.Terminal(): // one that is frozen may still wait for a repair that came just before
		return wire.Done("run %s is %s: nothing to extract", ref.RunID, run.Status), nil
	}
	h.run = run
	err = h.open(ctx)
	switch {
	case errors.Is(err, commit.ErrPlanMissing): // no attempt can do without it: the finalizer fails the run
		if sendErr := h.dispatcher().SendFinalize(ctx, ref); sendErr != nil {
			return retry(sendErr), errors.Join(err, sendErr)
		}
		return wire.Done("run %s has lost its plan", ref.RunID), err
	case err != nil:
		return retry(err), err
	}
	lease := runstate.Lease{Run: ref.RunID, Task: h.task.Task, Token: h.IDs.NewID()}
	claimed, outcome, err := h.claim(ctx, lease)
	if outcome != nil || err != nil {
		return orRetry(outcome, err), err
	}
	h.log = h.log.With("attempt", claimed.Attempts)
	h.count(telemetry.Attempts, 1)
	return h.attempt(ctx, lease, claimed)
}

// open reads the plan and refuses a message that does not belong to it.
func (h *handler) open(ctx context.Context) error {
	ref := h.task.Run
	root, err := h.Destinations.Open(ctx, ref.Root)
	if err != nil {
		return err
	}
	plan, fp, err := h.load(ctx, root)
	if err != nil {
		return commit.StartedWith(h.run, err)
	}
	if ref.PlanFingerprint != fp || h.run.PlanFingerprint != "" && h.run.PlanFingerprint != fp {
		return fault.New(fault.Refused, "LAPSTRAKE_RUN_PLAN_MISMATCH", "run %s: the message, the table and plan.json name different plans; nothing was read", ref.RunID)
	}
	h.root, h.plan = root, plan
	return nil
}

// load returns the run's plan, from what this process has kept or from the
// store.
func (h *handler) load(ctx context.Context, root destination.Store) (chunkplan.Plan, contract.Fingerprint, error) {
	ref := h.task.Run
	if plan, kept := h.Plans.get(ref.PlanFingerprint); kept && plan.RunID == ref.RunID && plan.Export.Name == string(ref.Export) {
		return plan, ref.PlanFingerprint, nil
	}
	plan, fp, err := commit.LoadPlan(ctx, root, ref.Export, ref.RunID)
	if err == nil {
		h.Plans.put(fp, plan)
	}
	return plan, fp, err
}

// claim is T6. A nil outcome means that the chunk is this attempt's.
func (h *handler) claim(ctx context.Context, lease runstate.Lease) (runstate.Chunk, *wire.Outcome, error) {
	now := h.Clock.Now()
	c, err := h.State.Claim(ctx, runstate.ClaimRequest{
		Run: lease.Run, Task: lease.Task, Gen: h.task.Run.Generation, Token: lease.Token, Worker: h.Worker,
		Now: now, LeaseUntil: now.Add(h.Lease),
	})
	var refused *runstate.ConditionError
	if !errors.As(err, &refused) {
		return c, nil, err
	}
	found := refused.Item
	switch {
	case found == nil:
		return c, done("task %s is not in the table", lease.Task), nil
	case found.LeaseToken == lease.Token && found.Status == runstate.ChunkRunning:
		return *found, nil, nil // our own claim, whose answer was lost
	case found.Status == runstate.ChunkCompleted:
		if err := h.dispatcher().Redrive(ctx, h.task.Run, h.run.Queue, *found, now); err != nil {
			return c, nil, err
		}
		return c, done("task %s is completed already", lease.Task), nil
	case found.Gen != h.task.Run.Generation:
		return c, done("task %s is at generation %d", lease.Task, found.Gen), nil
	case found.Status == runstate.ChunkRunning && now.Before(found.LeaseUntil):
		wait := int(found.LeaseUntil.Sub(now)/time.Second) + 1
		o := wire.Again(wait, "task %s is being worked on by %s", lease.Task, found.Worker)
		return c, &o, nil
	}
	// No attempt is left: a failed task, or one whose last worker died. The
	// finalizer fails the run; the sweep expires the lease first.
	if err := h.dispatcher().SendFinalize(ctx, h.task.Run); err != nil {
		return c, nil, err
	}
	return c, done("task %s has used its %d attempts", lease.Task, found.MaxAttempts), nil
}

// attempt extracts the claimed chunk and records the result.
func (h *handler) attempt(ctx context.Context, lease runstate.Lease, claimed runstate.Chunk) (wire.Outcome, error) {
	work, lost, stop := h.keepLease(ctx, lease)
	out, err := h.extract(work, claimed)
	stop()
	if lost() {
		h.count(telemetry.ZombieWrites, 1)
		h.log.Warn("lease lost: another attempt has the task, this one's parts stay unlisted")
		return wire.Done("lease of task %s lost", lease.Task), nil
	}
	record := context.WithoutCancel(ctx) // what was done is recorded even when time is up
	if err != nil {
		return h.failed(record, lease, err)
	}
	if out.Rest != nil {
		return h.split(record, lease, claimed, out)
	}
	c, err := h.State.Complete(record, lease, out.Result, h.Clock.Now())
	return h.recorded(record, lease, c, err)
}

func (h *handler) extract(ctx context.Context, claimed runstate.Chunk) (extract.Outcome, error) {
	format, ok := h.Formats[h.plan.Export.Format]
	if !ok {
		return extract.Outcome{}, fault.New(fault.Permanent, "LAPSTRAKE_RUN_FORMAT_UNKNOWN", "format %q is not known to this function: deploy planner and functions together", h.plan.Export.Format)
	}
	src, identity, err := h.connect(ctx)
	if err != nil {
		return extract.Outcome{}, err
	}
	defer func() { _ = src.Close(context.WithoutCancel(ctx)) }() // the session is read-only: nothing is lost with it
	// The reference may lead to another database than when the run was planned:
	// a resume with another environment, a secret that was changed.
	if err := commit.CheckSource(h.task.Run.Export, "the plan", h.plan.SourceIdentity, identity); err != nil {
		return extract.Outcome{}, err
	}
	repaired, err := h.repairs(ctx, claimed)
	if err != nil {
		return extract.Outcome{}, err
	}
	deadline, _ := ctx.Deadline()
	return extract.Run(ctx, extract.Job{
		Plan: h.plan, Repairs: repaired, Task: claimed.ID, Range: claimed.Range, Naming: h.plan.Naming(claimed.Gen),
		Source: src, Prefix: destination.Prefixed(h.root, h.plan.Prefix), Format: format,
		Clock: h.Clock, Deadline: deadline,
	})
}

// split is T9: this task is completed for what it delivered, and a child takes
// the rest.
func (h *handler) split(ctx context.Context, lease runstate.Lease, claimed runstate.Chunk, out extract.Outcome) (wire.Outcome, error) {
	c, err := h.State.Split(ctx, runstate.SplitRequest{
		Lease: lease, Gen: claimed.Gen, Done: out.Done, Rest: *out.Rest, Result: out.Result,
		ChildAttempts: h.run.MaxAttempts, Now: h.Clock.Now(),
	})
	return h.recorded(ctx, lease, c, err)
}

// recorded ends an attempt whose completion was sent to the table: c, or what
// the table holds instead.
func (h *handler) recorded(ctx context.Context, lease runstate.Lease, c runstate.Chunk, err error) (wire.Outcome, error) {
	var refused *runstate.ConditionError
	if errors.As(err, &refused) {
		if refused.Item == nil || refused.Item.Status != runstate.ChunkCompleted || refused.Item.LeaseToken != lease.Token {
			h.count(telemetry.ZombieWrites, 1)
			h.log.Warn("another attempt has the task; this one's parts stay unlisted", "cause", err)
			return wire.Done("task %s was taken over", lease.Task), nil
		}
		c, err = *refused.Item, nil // our own completion, whose answer was lost
	}
	if err != nil {
		return retry(err), fmt.Errorf("record task %s: %w", lease.Task, err)
	}
	if err := h.completed(ctx, c); err != nil {
		return retry(err), err
	}
	h.observe(c)
	h.log.Info("chunk completed", "rows", c.Rows, "bytes", c.Bytes, "parts", len(c.Parts), "split_into", c.SplitInto)
	return wire.Done("task %s completed: %d rows in %d parts", lease.Task, c.Rows, len(c.Parts)), nil
}

// failed is T10: the attempt is recorded as failed, and the message comes back
// unless no further attempt can help.
func (h *handler) failed(ctx context.Context, lease runstate.Lease, cause error) (wire.Outcome, error) {
	permanent := !fault.Retry(cause)
	c, err := h.State.Fail(ctx, lease, dispatch.Failure(cause), permanent, h.Clock.Now())
	var refused *runstate.ConditionError
	switch {
	case errors.As(err, &refused):
		return wire.Done("task %s was taken over after it failed: %v", lease.Task, cause), nil
	case err != nil:
		return retry(err), errors.Join(cause, fmt.Errorf("record the failure of task %s: %w", lease.Task, err))
	}
	if c.Exhausted() {
		if err := h.dispatcher().SendFinalize(ctx, h.task.Run); err != nil {
			return retry(err), errors.Join(cause, err)
		}
		return wire.Done("task %s failed for good: %v", lease.Task, cause), cause
	}
	base := time.Duration(h.plan.Export.RetryBackoffMillis) * time.Millisecond
	wait := fault.Backoff(max(base, time.Second), c.Attempts, h.IDs.Jitter())
	return wire.Again(int((wait+time.Second-1)/time.Second), "attempt %d of %d on task %s failed: %v", c.Attempts, c.MaxAttempts, lease.Task, cause), cause
}

func (h *handler) completed(ctx context.Context, c runstate.Chunk) error {
	return h.dispatcher().Completed(ctx, h.task.Run, h.run.Queue, c)
}

func (h *handler) dispatcher() dispatch.Dispatcher {
	return dispatch.Dispatcher{State: h.State, Queue: h.Queue}
}

func done(format string, args ...any) *wire.Outcome {
	o := wire.Done(format, args...)
	return &o
}

func orRetry(o *wire.Outcome, err error) wire.Outcome {
	if o != nil && err == nil {
		return *o
	}
	return retry(err)
}

// retry hands a message back after an error that has nothing to do with its
// chunk. A refusal is left to the dead-letter queue.
func retry(err error) wire.Outcome {
	if err == nil || fault.Retry(err) {
		return wire.Again(5, "%v", err)
	}
	return wire.Outcome{Kind: wire.Fatal, Detail: err.Error()}
}
