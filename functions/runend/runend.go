// Package runend ends runs: failed, superseded, and succeeded as far as their
// item goes. Layer: function (no cloud import).
//
// Whether a run has succeeded is decided by its sidecar alone: whoever is about
// to fail a run looks there (ADR-0003). What follows a success is the
// finalizer's, whose order of steps is its own.
package runend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

// Ender ends runs.
type Ender struct {
	Destinations destination.Opener
	State        runstate.Table
	Notifier     notify.Notifier
	Clock        clock.Clock
	IDs          contract.IDSource
	Log          *slog.Logger
	Observer     telemetry.Observer
}

// Fail is T15: it fails a run that is planning or running, gives its fence back
// and tells whoever waits. A run that is finalizing or has ended is left as it
// is: only its finalizer, or a successor, may decide about it.
//
// A run that is failed publishes nothing: its parts are unlisted, its item and
// its report say why. A run that turns out to have committed, by a finalizer
// that nobody knew to be alive, is settled as succeeded instead, and committed
// is true: the caller has its finalizer do what follows a success. The sidecar
// is looked at on both sides of T15; a finalizer that commits later than that
// finds the run failed and settles it itself.
//
// An error that has CodeCallbackOwed says that the run has failed and its
// callback does not know it: Remind tells it.
func (e Ender) Fail(ctx context.Context, run runstate.Run, f fault.Failure) (committed bool, err error) {
	if ending, err := e.settleInstead(ctx, run, f); ending == Succeeded || err != nil {
		return ending == Succeeded, err
	}
	failed, err := e.State.FailRun(ctx, run.RunID, run.Gen, f, e.Clock.Now())
	var refused *runstate.ConditionError
	switch {
	case errors.As(err, &refused):
		if refused.Run == nil || refused.Run.Status != runstate.RunFailed {
			return false, nil
		}
		failed = *refused.Run // by us, or by a duplicate: the courtesies below may be missing
	case err != nil:
		return false, fmt.Errorf("fail run %s: %w", run.RunID, err)
	}
	if ending, err := e.settleInstead(ctx, failed, f); ending == Succeeded || err != nil {
		return ending == Succeeded, err
	}
	e.count(telemetry.RunFailed, run)
	e.Log.Error("run failed", "run_id", run.RunID, "export", run.Export, "code", f.Code, "class", f.Class, "error", f.Message)
	if err := e.release(ctx, failed); err != nil {
		e.Log.Warn("the fence could not be given back; the next run waits for this one's lease", "run_id", run.RunID, "error", err)
	}
	return false, e.tell(ctx, failed)
}

// settleInstead settles a run that has committed, and returns what became of it.
// One that cannot be settled, because what it has committed is damaged, may fail:
// a repair brings it to its end.
func (e Ender) settleInstead(ctx context.Context, run runstate.Run, f fault.Failure) (Ending, error) {
	settled, err := e.SettleNewest(ctx, run)
	switch {
	case err != nil && fault.Retry(err):
		return Undecided, fmt.Errorf("run %s is about to be failed (%s), and whether it has committed is not known: %w", run.RunID, f.Message, err)
	case err != nil:
		e.Log.Error("run has committed and cannot be published", "run_id", run.RunID, "export", run.Export, "error", err)
		return Undecided, nil
	case settled.Ending == Succeeded:
		e.Log.Warn("run has succeeded, whatever failed after it had committed", "run_id", run.RunID, "export", run.Export, "code", f.Code, "error", f.Message)
	}
	return settled.Ending, nil
}

func (e Ender) count(m telemetry.Metric, run runstate.Run) {
	telemetry.Or(e.Observer).Count(m, 1, slog.String(telemetry.AttrExport, string(run.Export)))
}

// release gives the fence back if this run opened it at its generation.
func (e Ender) release(ctx context.Context, run runstate.Run) error {
	if run.Gen == 0 {
		return nil
	}
	root, err := e.Destinations.Open(ctx, run.Root)
	if err != nil {
		return err
	}
	f := commit.Fence{Root: root, Export: run.Export, Clock: e.Clock, IDs: e.IDs}
	return f.Release(ctx, run.RunID, run.Gen)
}

// Supersede is T16: lost names the run that holds the fence, or that sealed
// this one. A run that has committed is settled instead, and committed is true.
func (e Ender) Supersede(ctx context.Context, run runstate.Run, lost *commit.FenceLostError) (committed bool, err error) {
	if lost.OwnerRunID == "" || lost.OwnerRunID == run.RunID {
		return false, fmt.Errorf("run %s cannot be superseded by %q", run.RunID, lost.OwnerRunID)
	}
	ending, err := e.settleInstead(ctx, run, dispatch.Failure(lost))
	if ending == Succeeded || err != nil {
		return ending == Succeeded, err
	}
	g := lost.OwnerGen
	if ending == Superseded {
		// Its own tombstone stands: no generation of it can commit, whatever that
		// of the owner who sealed it. The two are equal when the fence document
		// was deleted in between, and generations began again.
		g = max(g, run.Gen+1)
	}
	superseded, err := e.State.SupersedeRun(ctx, run.RunID, g, dispatch.Failure(lost), e.Clock.Now())
	var refused *runstate.ConditionError
	switch {
	case errors.As(err, &refused) && refused.Run != nil:
		return false, e.Remind(ctx, *refused.Run) // it has ended already
	case errors.Is(err, runstate.ErrCondition):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("supersede run %s: %w", run.RunID, err)
	}
	e.count(telemetry.FenceLost, run)
	e.Log.Warn("run superseded", "run_id", run.RunID, "export", run.Export, "by", lost.OwnerRunID, "gen", lost.OwnerGen)
	return false, e.tell(ctx, superseded)
}
