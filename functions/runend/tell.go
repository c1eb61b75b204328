package runend

import (
	"context"
	"errors"
	"log/slog"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// CodeCallbackOwed is the code of an error that says that a run has ended and
// that its callback could not be told. Nothing of the run is undone by it.
const CodeCallbackOwed fault.Code = "LAPSTRAKE_RUN_CALLBACK_OWED"

// EventOf is what there is to tell of a run that has ended, or is at work.
func EventOf(kind notify.Kind, run runstate.Run) notify.Event {
	e := notify.Event{
		Kind: kind, Export: run.Export, RunID: run.RunID, Status: string(run.Status), Failure: run.Error, Callback: run.Callback,
	}
	if !run.FinishedAt.IsZero() {
		e.DurationMillis = run.FinishedAt.Sub(run.CreatedAt).Milliseconds()
	}
	if run.Status != runstate.RunSucceeded {
		return e
	}
	e.Status, e.Verdict, e.Failure = string(contract.StatusSuccess), run.Verdict, nil
	e.Prefix = run.Root.URI + "/" + run.Prefix
	if o := run.Outcome; o != nil {
		e.ManifestFingerprint, e.Rows, e.Parts = o.ManifestFingerprint, o.Rows, o.Parts
		if o.ManifestFingerprint != "" {
			e.Manifest = e.Prefix + contract.SidecarName(run.RunID)
		}
	}
	return e
}

// Tell sends an event. A receiver that waits for it and has not got it is an
// error, which another delivery makes good; that of any other is logged.
func Tell(ctx context.Context, to notify.Notifier, log *slog.Logger, e notify.Event) error {
	err := to.Notify(ctx, e)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, notify.ErrOwed):
		return fault.Wrap(err, fault.Retryable, CodeCallbackOwed, "run %s has ended (%s), and its callback is still to be told", e.RunID, e.Status)
	}
	log.Warn("notification failed", "run_id", e.RunID, "error", err)
	return nil
}

func (e Ender) tell(ctx context.Context, run runstate.Run) error {
	return Tell(ctx, e.Notifier, e.Log, EventOf(notify.RunEnded, run))
}

// Remind tells the callback of a run that has failed or was superseded once
// more: whoever ended the run may have died before it told, and the second
// answer to a callback is lost without harm. It does nothing for a run without a
// callback, or in another status.
func (e Ender) Remind(ctx context.Context, run runstate.Run) error {
	if run.Callback == nil || run.Status != runstate.RunFailed && run.Status != runstate.RunSuperseded {
		return nil
	}
	return Tell(ctx, e.Notifier, e.Log, EventOf(notify.Answered, run))
}
