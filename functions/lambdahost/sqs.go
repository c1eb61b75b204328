package lambdahost

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const (
	// hiddenMost bounds how long a message is handed back for.
	hiddenMost = 900 * time.Second
	// fatalBackoff spaces the deliveries of a message that will never work, so
	// that it is a dead letter, and an alarm, within minutes rather than after
	// ten visibility times; a deployment that is under way has ended by then
	// (QUE-21).
	fatalBackoff = 10 * time.Second
)

// SQS returns a function for an event source mapping of a queue that reports
// failed items: each message is dealt with by itself (QUE-03), one after the
// other. A message that decode refuses is fatal.
//
// The outcome says what becomes of a message, whether or not there is an error
// with it:
//
//   - Ack: it is deleted.
//   - Retry: it is delivered again after at least Outcome.AfterSeconds.
//   - Fatal, or a panic: it is reported as failed until the queue's maximum of
//     deliveries makes it a dead letter.
//
// An error with the zero Outcome is Retry or Fatal by its class.
func SQS[M any](h Host, decode func([]byte) (M, error), handle func(context.Context, M) (wire.Outcome, error)) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		work, cancel := h.begin(ctx)
		defer cancel()
		for _, m := range event.Records {
			d := delivery{Host: h, message: m, receives: receives(m)}
			if !deliver(ctx, work, d, decode, handle) {
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
		}
		return response, nil
	}
}

// deliver returns whether the message is dealt with. invocation lasts longer
// than work, so that a message can be handed back when the handler's time is
// up.
func deliver[M any](invocation, work context.Context, d delivery, decode func([]byte) (M, error), handle func(context.Context, M) (wire.Outcome, error)) bool {
	attrs := []slog.Attr{
		slog.String(telemetry.AttrQueue, d.message.EventSourceARN[strings.LastIndexByte(d.message.EventSourceARN, ':')+1:]),
		slog.String(telemetry.AttrMessageID, d.message.MessageId), slog.Int(telemetry.AttrReceives, d.receives),
	}
	invocation, work = telemetry.With(invocation, attrs...), telemetry.With(work, attrs...)
	if work.Err() != nil {
		return d.settle(invocation, wire.Again(0, "no time left for this message of the batch"), nil)
	}
	m, err := decode([]byte(d.message.Body))
	if err != nil {
		return d.settle(invocation, wire.Outcome{Kind: wire.Fatal, Detail: "the message cannot be read"}, err)
	}
	o, err := guard(work, d.Host, m, handle)
	return d.settle(invocation, o, err)
}

// delivery is one message of a batch.
type delivery struct {
	Host
	message  events.SQSMessage
	receives int
}

// settle logs the outcome, hands the message back if need be, and returns
// whether it is dealt with.
func (d delivery) settle(ctx context.Context, o wire.Outcome, err error) bool {
	level, what := slog.LevelInfo, "message dealt with"
	hidden := time.Duration(0)
	switch o.Kind {
	case wire.Ack:
	case wire.Retry:
		what = "message handed back"
		after := time.Duration(max(o.AfterSeconds, 0)) * time.Second
		hidden = min(after+d.spread(max(after/4, 2*time.Second)), hiddenMost)
	default:
		level, what = slog.LevelError, "message failed for good"
		hidden = fault.Backoff(fatalBackoff, d.receives, d.Jitter())
	}
	attrs := []slog.Attr{slog.String("outcome", o.Detail)}
	if err != nil {
		level = max(level, slog.LevelWarn)
		if !fault.Retry(err) {
			level = slog.LevelError
		}
		attrs = append(attrs, telemetry.Err(err))
	}
	if o.Kind != wire.Ack {
		attrs = append(attrs, slog.Duration("hidden", hidden))
	}
	d.Log.LogAttrs(ctx, level, what, attrs...)
	if o.Kind == wire.Ack {
		return true
	}
	if d.Queues != nil {
		if err := d.Queues.ChangeVisibility(ctx, d.message.EventSourceARN, d.message.ReceiptHandle, hidden); err != nil {
			d.Log.WarnContext(ctx, "message stays hidden for the queue's visibility time", telemetry.Err(err))
		}
	}
	return false
}

func (d delivery) spread(most time.Duration) time.Duration {
	return time.Duration(d.Jitter() * float64(most))
}

func receives(m events.SQSMessage) int {
	n, err := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	if err != nil {
		return 1
	}
	return n
}

// Events returns a function that takes the messages of a queue like SQS, and
// everything else as one message itself: what a bucket or an event bus sends
// without a queue between. Lambda repeats such an invocation twice when it
// fails.
func Events[M any](h Host, decode func([]byte) (M, error), handle func(context.Context, M) (wire.Outcome, error)) func(context.Context, json.RawMessage) (any, error) {
	fromQueue := SQS(h, decode, handle)
	return func(ctx context.Context, payload json.RawMessage) (any, error) {
		var event events.SQSEvent
		if json.Unmarshal(payload, &event) == nil && len(event.Records) > 0 && event.Records[0].EventSource == "aws:sqs" {
			return fromQueue(ctx, event)
		}
		work, cancel := h.begin(ctx)
		defer cancel()
		m, err := decode(payload)
		if err != nil {
			h.Log.ErrorContext(work, "event failed for good", telemetry.Err(err))
			return nil, failure(err)
		}
		o, err := guard(work, h, m, handle)
		if err == nil && o.Kind != wire.Ack {
			err = fault.New(fault.Retryable, "LAPSTRAKE_RUN_EVENT_UNSETTLED", "%s", o.Detail)
		}
		if o.Kind == wire.Ack {
			h.Log.InfoContext(work, "event dealt with", "outcome", o.Detail)
			return nil, nil
		}
		h.Log.ErrorContext(work, "event not dealt with", telemetry.Err(err))
		return nil, failure(err)
	}
}
