// Package runend ends runs that do not succeed: failed, superseded. Layer:
// function (no cloud import).
//
// A run that has succeeded is ended by the finalizer, whose order of steps is
// its own.
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
)

// Ender ends runs.
type Ender struct {
	Destinations destination.Opener
	State        runstate.Table
	Notifier     notify.Notifier
	Clock        clock.Clock
	IDs          contract.IDSource
	Log          *slog.Logger
}

// Fail is T15: it fails a run that is planning or running, gives its fence back
// and tells whoever waits. A run that is finalizing or has ended is left as it
// is: only its finalizer, or a successor, may decide about it.
//
// A run that is failed publishes nothing: its parts are unlisted, its item and
// its report say why.
func (e Ender) Fail(ctx context.Context, run runstate.Run, f fault.Failure) error {
	failed, err := e.State.FailRun(ctx, run.RunID, run.Gen, f, e.Clock.Now())
	var refused *runstate.ConditionError
	switch {
	case errors.As(err, &refused):
		if refused.Run == nil || refused.Run.Status != runstate.RunFailed {
			return nil
		}
		failed = *refused.Run // by us, or by a duplicate: the courtesies below may be missing
	case err != nil:
		return fmt.Errorf("fail run %s: %w", run.RunID, err)
	}
	e.Log.Error("run failed", "run_id", run.RunID, "export", run.Export, "code", f.Code, "class", f.Class, "error", f.Message)
	if err := e.release(ctx, failed); err != nil {
		e.Log.Warn("the fence could not be given back; the next run waits for this one's lease", "run_id", run.RunID, "error", err)
	}
	e.notify(ctx, failed, "failed")
	return nil
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
// this one.
func (e Ender) Supersede(ctx context.Context, run runstate.Run, lost *commit.FenceLostError) error {
	if lost.OwnerRunID == "" || lost.OwnerRunID == run.RunID {
		return fmt.Errorf("run %s cannot be superseded by %q", run.RunID, lost.OwnerRunID)
	}
	_, err := e.State.SupersedeRun(ctx, run.RunID, lost.OwnerGen, dispatch.Failure(lost), e.Clock.Now())
	if errors.Is(err, runstate.ErrCondition) {
		return nil // it has ended already
	}
	if err != nil {
		return fmt.Errorf("supersede run %s: %w", run.RunID, err)
	}
	e.Log.Warn("run superseded", "run_id", run.RunID, "export", run.Export, "by", lost.OwnerRunID, "gen", lost.OwnerGen)
	e.notify(ctx, run, "superseded")
	return nil
}

func (e Ender) notify(ctx context.Context, run runstate.Run, status string) {
	err := e.Notifier.Notify(ctx, notify.Event{
		Kind: notify.RunEnded, Export: run.Export, RunID: run.RunID, Status: status, Failure: run.Error,
		DurationMillis: e.Clock.Now().Sub(run.CreatedAt).Milliseconds(),
	})
	if err != nil {
		e.Log.Warn("notification failed", "run_id", run.RunID, "error", err)
	}
}
