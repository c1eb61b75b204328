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
	"fmt"
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
	sidecar, body, err := commit.ReadSidecar(ctx, f.prefix, run.RunID)
	switch {
	case err != nil:
		return wire.Outcome{}, err
	case sidecar != nil && sidecar.Status == contract.StatusSuccess:
		return f.publish(ctx, commit.Publication{Manifest: body, Window: sidecar.Position}, true)
	case sidecar != nil:
		return f.superseded(ctx, sidecar.SealedBy)
	case run.Status.Terminal():
		return wire.Done("run %s is %s", run.RunID, run.Status), nil
	case run.Status == runstate.RunPlanning:
		held, err := f.fence().Read(ctx)
		switch {
		case err != nil:
			return wire.Outcome{}, err
		case held.Doc.CommittedEmpty(run.RunID): // in a life that a resume, or the loss of the table, has cut short
			return f.succeed(ctx, commit.Published{Ending: commit.Committed}, true)
		}
		return wire.Done("run %s is still being planned", run.RunID), nil
	}
	if ready, err := f.complete(ctx); err != nil || ready != nil { // F2, F3
		return orDone(ready), err
	}
	return f.freezeAndPublish(ctx)
}

func (f *finalizer) open(ctx context.Context) error {
	root, err := f.Destinations.Open(ctx, f.run.Root)
	if err != nil {
		return err
	}
	f.root, f.prefix = root, destination.Prefixed(root, f.run.Prefix)
	return nil
}

// freezeAndPublish is F4 to F10.
func (f *finalizer) freezeAndPublish(ctx context.Context) (wire.Outcome, error) {
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
		RecordKey: contract.RecordKey(f.run.Export, f.run.RunID, f.run.Gen), Record: record, Window: f.plan.Window,
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
	return f.publish(ctx, p, false)
}

// publish is F5 to F12. adopted is true when p.Manifest is the run's own
// sidecar, found as a success: the run has committed whatever its item says.
func (f *finalizer) publish(ctx context.Context, p commit.Publication, adopted bool) (wire.Outcome, error) {
	p.Fence = f.fence()
	p.Me = commit.Owner{RunID: f.run.RunID, Prefix: f.run.Prefix}
	p.Generation = max(f.run.Gen, f.ref.Generation)
	if err := f.loadPlan(ctx); err == nil {
		p.Tombstone = commit.TombstoneOf(f.run.RunID, f.plan.Export, f.plan.Engine, f.Clock.Now())
	} else if !adopted {
		return wire.Outcome{}, err
	}
	done, err := p.Publish(ctx)
	if err != nil {
		if done.Manifest != nil {
			return wire.Outcome{}, fault.Wrap(err, fault.ClassOf(err), "LAPSTRAKE_RUN_PUBLISH_INCOMPLETE", "run %s has committed (%s stands), but its publication is not finished; it will be repeated, nothing is lost", f.run.RunID, contract.SidecarName(f.run.RunID))
		}
		return wire.Outcome{}, err
	}
	switch done.Ending {
	case commit.Stale:
		return wire.Done("run %s has been resumed: this finalizer acts for an older generation", f.run.RunID), nil
	case commit.Superseded:
		return f.superseded(ctx, done.SealedBy)
	}
	return f.succeed(ctx, done, adopted || done.Ending == commit.RolledForward)
}

// succeed is F12 (T14).
func (f *finalizer) succeed(ctx context.Context, done commit.Published, adopted bool) (wire.Outcome, error) {
	s := runstate.SuccessRecord{Gen: f.run.Gen, Adopted: adopted, Now: f.Clock.Now()}
	if done.Manifest != nil {
		m, err := contract.DecodeManifest(done.Manifest)
		if err != nil {
			return wire.Outcome{}, err
		}
		s.Outcome = runstate.RunOutcome{ManifestFingerprint: contract.FingerprintOf(done.Manifest), Rows: m.RowCount, Parts: m.PartCount}
		for _, part := range m.Parts {
			s.Outcome.Bytes += part.SizeBytes
		}
	}
	run, err := f.State.SucceedRun(ctx, f.run.RunID, s)
	var refused *runstate.ConditionError
	switch {
	case errors.As(err, &refused) && refused.Run != nil && refused.Run.Status == runstate.RunSucceeded:
		f.run = *refused.Run
	case err != nil:
		return wire.Outcome{}, fmt.Errorf("record the success of run %s, which is published: %w", f.run.RunID, err)
	default:
		f.run = run
		f.log.Info("run succeeded", "gen", f.run.Gen, "rows", s.Outcome.Rows, "parts", s.Outcome.Parts, "bytes", s.Outcome.Bytes)
	}
	return f.afterwards(ctx)
}

// superseded is T16 for a run that was sealed by another.
func (f *finalizer) superseded(ctx context.Context, by *contract.SealedBy) (wire.Outcome, error) {
	lost := &commit.FenceLostError{Export: f.run.Export, RunID: f.run.RunID}
	if by != nil {
		lost.OwnerRunID, lost.OwnerGen = by.RunID, by.Generation
	}
	if err := f.ender().Supersede(ctx, f.run, lost); err != nil {
		return wire.Outcome{}, err
	}
	return wire.Done("%v", lost), nil
}

func (f *finalizer) fence() commit.Fence {
	return commit.Fence{Root: f.root, Export: f.run.Export, Clock: f.Clock, IDs: f.IDs}
}

func (f *finalizer) ender() runend.Ender {
	return runend.Ender{Destinations: f.Destinations, State: f.State, Notifier: f.Notifier, Clock: f.Clock, IDs: f.IDs, Log: f.Log}
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
