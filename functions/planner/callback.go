package planner

import (
	"context"
	"errors"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// reminderSeconds is how long after a planner is about to end a run a finalizer
// makes sure that its callback knows.
const reminderSeconds = 60

// answered does what a trigger asks for and, when nothing more is to come of it,
// tells the trigger's callback at once: the run has ended before, nothing was
// started, or nothing can be. A callback of a run that is at work is told when
// the run ends.
func answered(ctx context.Context, p *planner, do func(*planner, context.Context) (wire.TriggerResult, error)) (wire.TriggerResult, error) {
	result, err := do(p, ctx)
	e, final := p.answer(result, err)
	if !final || e.Callback == nil {
		return result, err
	}
	return result, errors.Join(err, runend.Tell(ctx, p.Notifier, p.Log, e))
}

// answer is what the trigger's callback is told of an answer. An error that may
// pass is none: the same trigger, or the sweep, goes on.
func (p *planner) answer(result wire.TriggerResult, err error) (e notify.Event, final bool) {
	e = notify.Event{Kind: notify.Answered, Export: p.trigger.Export, RunID: result.RunID, Callback: p.trigger.Callback}
	if err != nil {
		f := dispatch.Failure(err)
		e.Status, e.Failure = "failed", &f
		return e, !fault.Retry(err)
	}
	switch result.Status {
	case wire.RefusedTrigger:
		e.Status = string(runstate.RunRefused)
		if e.Callback == nil { // the sweep has planned a run again
			e.Callback = p.run.Callback
		}
		return e, true
	case wire.Succeeded:
		e.Status = string(contract.StatusSuccess)
	case wire.FailedTrigger:
		e.Status, e.Failure = "failed", &fault.Failure{Code: fault.Code(result.Reason)}
	default:
		return e, false
	}
	if p.run.Status.Terminal() {
		callback := e.Callback
		e = runend.EventOf(notify.Answered, p.run)
		e.Callback = callback
	}
	return e, true
}

// noteCallback keeps the callback of a trigger that came again: a workflow that
// retries has a new token. A run that has ended, or does so meanwhile, keeps its
// own, and p.run says so afterwards: then the trigger is answered at once.
func (p *planner) noteCallback(ctx context.Context) error {
	if p.trigger.Callback == nil || p.run.Status.Terminal() {
		return nil
	}
	run, err := p.State.NoteRun(ctx, p.run.RunID, runstate.Note{Callback: p.trigger.Callback})
	if errors.Is(err, runstate.ErrCondition) {
		run, err = p.State.GetRun(ctx, p.run.RunID)
	}
	if err == nil && run.Status.Terminal() {
		p.run = run
	}
	return err
}

// reminded ends a run, and has a finalizer look at it later if it has a callback:
// once a run has ended nothing else looks at it, so a planner that dies before it
// has told the callback, or cannot, would leave it waiting.
func reminded(ctx context.Context, d dispatch.Dispatcher, run runstate.Run, end func() (committed bool, err error)) (committed bool, err error) {
	if run.Callback == nil {
		return end()
	}
	if err := d.SendFinalizeAfter(ctx, dispatch.Ref(run), reminderSeconds); err != nil {
		return false, err
	}
	committed, err = end()
	if fault.CodeOf(err) == runend.CodeCallbackOwed {
		err = nil
	}
	return committed, err
}

// beat tells a callback that its run is at work. It goes without saying for a
// run without one, and one beat that is lost costs nothing.
func (s sweeper) beat(ctx context.Context) {
	if s.run.Callback == nil {
		return
	}
	if err := s.Notifier.Notify(ctx, runend.EventOf(notify.AtWork, s.run)); err != nil {
		s.Log.Warn("the run's callback could not be told that it is at work", "run_id", s.run.RunID, "error", err)
	}
}
