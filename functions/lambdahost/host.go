// Package lambdahost lets handlers run on AWS Lambda: it reads events, calls
// the handler once a message, and answers in Lambda's forms. Layer: main (used
// by the functions' aws mains only).
//
// It decides nothing about runs: whatever becomes of a message, the run's table
// and the sweep make good what a lost or repeated delivery means.
package lambdahost

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Queues changes for how long a delivered message stays hidden. *sqs.Queues
// does.
type Queues interface {
	ChangeVisibility(ctx context.Context, queueARN, receipt string, hidden time.Duration) error
}

// Host is what every invocation works with.
type Host struct {
	// Log goes through telemetry.Redacting.
	Log   *slog.Logger
	Clock clock.Clock
	// Queues hands messages back. Nil leaves them to the queue's own visibility
	// time.
	Queues Queues
	// Jitter returns numbers in [0, 1), which spread redeliveries.
	Jitter func() float64
}

// answerTime is how much of an invocation's time handlers do not get, so that
// messages can still be handed back and the answer given. Of a very short
// invocation it is a fifth.
const answerTime = 5 * time.Second

// begin returns the handler's context: it ends before the invocation does, and
// its log events name the request.
func (h Host) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	if l, ok := lambdacontext.FromContext(ctx); ok {
		ctx = telemetry.With(ctx, slog.String(telemetry.AttrRequestID, l.AwsRequestID))
	}
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	left := end.Sub(h.Clock.Now())
	return context.WithDeadline(ctx, end.Add(-min(answerTime, left/5)))
}

// guard calls a handler and turns its panic into an error.
func guard[M any](ctx context.Context, h Host, m M, handle func(context.Context, M) (wire.Outcome, error)) (o wire.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			h.Log.ErrorContext(ctx, "handler panicked", "panic", p, "stack", string(debug.Stack()))
			err = fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_PANIC", "the handler panicked: %v", p)
			o = decided(wire.Outcome{}, err)
		}
	}()
	o, err = handle(ctx, m)
	return decided(o, err), err
}

// decided is the outcome that an error has when the handler gave none: the zero
// Outcome would otherwise count as dealt with.
func decided(o wire.Outcome, err error) wire.Outcome {
	if err == nil || o != (wire.Outcome{}) {
		return o
	}
	if fault.Retry(err) {
		return wire.Again(retrySeconds, "%v", err)
	}
	return wire.Outcome{Kind: wire.Fatal, Detail: err.Error()}
}

// retrySeconds is the wait after a passing error of which a handler said
// nothing.
const retrySeconds = 10

// Each handles several messages that came as one. Handling a message again is
// harmless, so all of them come back when one has to.
func Each[M any](handle func(context.Context, M) (wire.Outcome, error)) func(context.Context, []M) (wire.Outcome, error) {
	return func(ctx context.Context, all []M) (wire.Outcome, error) {
		total := wire.Done("%d tasks", len(all))
		var failed []error
		for _, m := range all {
			o, err := handle(ctx, m)
			if err != nil {
				failed = append(failed, err)
			}
			switch o = decided(o, err); {
			case o.Kind > total.Kind, o.Kind == wire.Retry && total.Kind == wire.Retry && o.AfterSeconds > total.AfterSeconds, len(all) == 1:
				total = o
			}
		}
		return total, errors.Join(failed...)
	}
}

// failure is an error in the form in which Lambda reports it: the type is its
// code, for the retry and catch rules of a state machine. It is redacted,
// because callers and logs get it as it is, and shortened, because an answer
// may have 6 MB, and the cause of a state machine's failure 32 KiB.
func failure(err error) error {
	kind := string(fault.CodeOf(err))
	if kind == "" {
		kind = string(fault.ClassOf(err))
	}
	return messages.InvokeResponse_Error{Type: kind, Message: telemetry.Told(err.Error())}
}

// Planner returns a function for direct invocations: the payload is a trigger,
// from whichever service it comes (architecture §5.1). An error reaches the
// caller, whose retry starts nothing twice.
func Planner(h Host, plan func(context.Context, wire.Trigger) (wire.TriggerResult, error)) func(context.Context, json.RawMessage) (wire.TriggerResult, error) {
	return func(ctx context.Context, payload json.RawMessage) (wire.TriggerResult, error) {
		ctx, cancel := h.begin(ctx)
		defer cancel()
		trigger, err := readTrigger(payload)
		var result wire.TriggerResult
		if err == nil {
			_, err = guard(ctx, h, trigger, func(ctx context.Context, t wire.Trigger) (_ wire.Outcome, err error) {
				result, err = plan(ctx, t)
				return wire.Outcome{}, err
			})
		}
		if err != nil {
			h.Log.ErrorContext(ctx, "trigger failed", "action", trigger.Action, telemetry.AttrExport, trigger.Export, telemetry.Err(err))
			return result, failure(err)
		}
		h.Log.InfoContext(ctx, "trigger answered", "action", trigger.Action, telemetry.AttrExport, trigger.Export,
			telemetry.AttrRunID, result.RunID, "status", result.Status, "reason", result.Reason)
		return result, nil
	}
}

// readTrigger refuses a service's own event with a word on how to send a
// trigger instead.
func readTrigger(payload []byte) (wire.Trigger, error) {
	t, err := wire.Decode[wire.Trigger](payload)
	if err == nil {
		return t, nil
	}
	var event struct {
		DetailType string            `json:"detail-type"`
		Records    []json.RawMessage `json:"Records"`
	}
	if json.Unmarshal(payload, &event) == nil && (event.DetailType != "" || event.Records != nil) {
		return t, fault.New(fault.Permanent, "LAPSTRAKE_RUN_TRIGGER_FORM",
			"the payload is an event of a service, not a trigger: give the rule, schedule or pipe an input such as {\"version\":1,\"action\":\"run\",\"export\":\"...\"}")
	}
	return t, err
}
