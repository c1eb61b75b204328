// Package finalizer is the function that publishes a run whose chunks are all
// completed. Layer: function (no cloud import).
//
// It may be called at any time, by the last chunk, the sweep, a successor or
// twice at once: what it publishes is a pure function of the plan and the
// frozen table, and every write is conditional (architecture §2.6).
package finalizer

import (
	"context"
	"errors"
	"log/slog"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Deps is what the handler works with.
type Deps struct {
	Destinations destination.Opener
	State        runstate.Table
	Queue        taskqueue.Queue
	Notifier     notify.Notifier
	Clock        clock.Clock
	IDs          contract.IDSource
	Log          *slog.Logger
	Observer     telemetry.Observer
}

// Handle finalizes the run of m, as far as it can be. The steps are F1 to F17
// of architecture §2.6, in the order of I8: manifest, cursor, verdict, metrics,
// report, notification.
func Handle(ctx context.Context, d Deps, m wire.FinalizeTask) (wire.Outcome, error) {
	f := finalizer{Deps: d, ref: m.Run, log: d.Log.With("run_id", m.Run.RunID, "export", m.Run.Export)}
	out, err := f.handle(ctx)
	if err == nil {
		return out, nil
	}
	f.note(ctx, err)
	if fault.Retry(err) {
		return wire.Again(30, "%v", err), err
	}
	return wire.Outcome{Kind: wire.Fatal, Detail: err.Error()}, err
}

type finalizer struct {
	Deps
	ref    wire.RunRef
	log    *slog.Logger
	run    runstate.Run
	root   destination.Store
	prefix destination.Store
	plan   chunkplan.Plan
	planFP contract.Fingerprint
	chunks []runstate.Chunk
}

func (f *finalizer) handle(ctx context.Context) (wire.Outcome, error) {
	run, err := f.State.GetRun(ctx, f.ref.RunID) // F1
	switch {
	case errors.Is(err, runstate.ErrNotFound):
		return wire.Done("run %s is not in the table: its successor settles it", f.ref.RunID), nil
	case err != nil:
		return wire.Outcome{}, err
	case run.Status == runstate.RunSucceeded && run.Notified:
		return wire.Done("run %s has succeeded and is reported", run.RunID), nil
	}
	f.run = run
	if err := f.open(ctx); err != nil {
		return wire.Outcome{}, err
	}
	if run.Status == runstate.RunSucceeded {
		return f.afterwards(ctx)
	}
	if run.Intent == wire.ActionRepair && !run.Status.Terminal() {
		return f.repair(ctx)
	}
	settled, err := f.ender().Settle(ctx, run, f.ref.Generation)
	switch {
	case err != nil:
		return wire.Outcome{}, err
	case settled.Ending != runend.Undecided:
		return f.end(ctx, settled)
	case run.Status.Terminal():
		return wire.Done("run %s is %s", run.RunID, run.Status), f.ender().Remind(ctx, run)
	case run.Status == runstate.RunPlanning:
		held, err := f.fence().Read(ctx)
		switch {
		case err != nil:
			return wire.Outcome{}, err
		case held.Doc.CommittedEmpty(run.RunID): // in a life that a resume, or the loss of the table, has cut short
			settled, err := f.ender().Succeed(ctx, run, nil)
			if err != nil {
				return wire.Outcome{}, err
			}
			return f.end(ctx, settled)
		}
		return wire.Done("run %s is still being planned", run.RunID), nil
	}
	if ready, err := f.complete(ctx); err != nil || ready != nil { // F2, F3
		return orDone(ready), err
	}
	return f.freezeAndPublish(ctx, false)
}

func (f *finalizer) open(ctx context.Context) error {
	root, err := f.Destinations.Open(ctx, f.run.Root)
	if err != nil {
		return err
	}
	f.root, f.prefix = root, destination.Prefixed(root, f.run.Prefix)
	return nil
}

// freezeAndPublish is F4 to F10. In a repair the manifest replaces the one that
// the run has committed.
func (f *finalizer) freezeAndPublish(ctx context.Context, repair bool) (wire.Outcome, error) {
	run, err := f.State.BeginFinalize(ctx, f.run.RunID, f.run.Gen, f.Clock.Now())
	var refused *runstate.ConditionError
	switch {
	case errors.As(err, &refused):
		return wire.Done("run %s is no longer to be finalized: %v", f.run.RunID, refused), nil
	case err != nil:
		return wire.Outcome{}, err
	}
	f.run = run
	// The bytes come from this second query: from here on no task can appear or
	// be repaired, so every finalizer sees the same (D10).
	if f.chunks, err = dispatch.AllChunks(ctx, f.State, f.run); err != nil {
		return wire.Outcome{}, err
	}
	if missing := incomplete(f.plan, f.chunks); missing != "" {
		return wire.Done("run %s: %s", f.run.RunID, missing), nil
	}
	frozen := commit.Frozen{
		Plan: f.plan, Generation: f.run.Gen, StartedAt: f.run.CreatedAt, FrozenAt: f.run.FinalizeStartedAt, Chunks: f.chunks,
	}
	record, err := frozen.Record(f.planFP)
	if err != nil {
		return wire.Outcome{}, err
	}
	p := commit.Publication{
		Repair: repair, RecordKey: contract.RecordKey(f.run.Export, f.run.RunID, f.run.Gen), Record: record, Window: frozen.Window(),
	}
	manifest := frozen.Manifest(contract.RunRecordRef{Key: p.RecordKey, Fingerprint: contract.FingerprintOf(record)})
	if manifest.RowCount != frozen.Rows() {
		return wire.Outcome{}, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_ROW_COUNT", "run %s: its parts hold %d rows, its tasks report %d; nothing was published", f.run.RunID, manifest.RowCount, frozen.Rows())
	}
	if manifest.RowCount > 0 || !f.plan.Export.SkipEmpty {
		if p.Manifest, err = manifest.Encode(); err != nil {
			return wire.Outcome{}, err
		}
	}
	return f.publish(ctx, p)
}

// publish is F5 to F12.
func (f *finalizer) publish(ctx context.Context, p commit.Publication) (wire.Outcome, error) {
	p.Fence = f.fence()
	p.Me = commit.Owner{RunID: f.run.RunID, Prefix: f.run.Prefix}
	p.Generation = max(f.run.Gen, f.ref.Generation)
	p.Tombstone = commit.TombstoneOf(f.run.RunID, f.plan.Export, f.plan.Engine, f.Clock.Now())
	p.CheckParts = runend.PartsThere
	done, err := p.Publish(ctx)
	switch {
	case err != nil && done.Manifest != nil:
		return wire.Outcome{}, runend.PublishIncomplete(f.run.RunID, err)
	case err != nil:
		return wire.Outcome{}, err
	case done.Ending == commit.Stale && done.Manifest != nil:
		return f.committedBehind(ctx)
	case done.Ending == commit.Stale:
		return f.end(ctx, runend.Settled{Ending: runend.Resumed})
	case done.Ending == commit.Superseded:
		return f.end(ctx, runend.Settled{Ending: runend.Superseded, SealedBy: done.SealedBy})
	}
	settled, err := f.ender().Succeed(ctx, f.run, done.Manifest)
	if err != nil {
		return wire.Outcome{}, err
	}
	return f.end(ctx, settled)
}

// committedBehind settles a run that this call has committed while another life
// of it took the fence: that one may have failed before it could see the sidecar
// (ADR-0003). A repair is left to its own finalizer.
func (f *finalizer) committedBehind(ctx context.Context) (wire.Outcome, error) {
	run, err := f.State.GetRun(ctx, f.run.RunID)
	switch {
	case errors.Is(err, runstate.ErrNotFound), err == nil && run.Intent == wire.ActionRepair:
		return f.end(ctx, runend.Settled{Ending: runend.Resumed})
	case err != nil:
		return wire.Outcome{}, err
	}
	settled, err := f.ender().SettleNewest(ctx, run)
	if err != nil {
		return wire.Outcome{}, err
	}
	return f.end(ctx, settled)
}

// end is what is left to do for a run whose ending is known.
func (f *finalizer) end(ctx context.Context, s runend.Settled) (wire.Outcome, error) {
	switch s.Ending {
	case runend.Succeeded:
		f.run = s.Run
		return f.afterwards(ctx)
	case runend.Superseded:
		return f.superseded(ctx, s.SealedBy)
	}
	return wire.Done("run %s has been resumed, or has failed: this finalizer acts for an older generation", f.run.RunID), nil
}

// superseded is T16 for a run that was sealed by another.
func (f *finalizer) superseded(ctx context.Context, by *contract.SealedBy) (wire.Outcome, error) {
	lost := &commit.FenceLostError{Export: f.run.Export, RunID: f.run.RunID}
	if by != nil {
		lost.OwnerRunID, lost.OwnerGen = by.RunID, by.Generation
	}
	if _, err := f.ender().Supersede(ctx, f.run, lost); err != nil { // it was sealed, so it has not committed
		return wire.Outcome{}, err
	}
	return wire.Done("%v", lost), nil
}

func (f *finalizer) fence() commit.Fence {
	return commit.Fence{Root: f.root, Export: f.run.Export, Clock: f.Clock, IDs: f.IDs}
}

func (f *finalizer) ender() runend.Ender {
	return runend.Ender{Destinations: f.Destinations, State: f.State, Notifier: f.Notifier, Clock: f.Clock, IDs: f.IDs, Log: f.Log, Observer: f.Observer}
}

// note leaves the error in the run's item, for status and alarms.
func (f *finalizer) note(ctx context.Context, cause error) {
	failure := dispatch.Failure(cause)
	_, err := f.State.NoteRun(context.WithoutCancel(ctx), f.ref.RunID, runstate.Note{Error: &failure})
	if err != nil && !errors.Is(err, runstate.ErrCondition) {
		f.log.Warn("the error could not be noted", "error", err)
	}
}

func orDone(o *wire.Outcome) wire.Outcome {
	if o == nil {
		return wire.Outcome{}
	}
	return *o
}
