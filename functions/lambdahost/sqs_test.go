package lambdahost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const queueARN = "arn:aws:sqs:eu-west-1:123456789012:lapstrake-chunk-default"

// rig is a host whose log and queue calls are kept.
type rig struct {
	Host
	log    bytes.Buffer
	hidden []string // receipt and time
	err    error
}

func newRig() *rig {
	r := &rig{}
	r.Host = Host{Log: telemetry.JSONLogger(&r.log, slog.LevelInfo), Clock: clock.System{}, Queues: r, Jitter: func() float64 { return 0.5 }}
	return r
}

func (r *rig) ChangeVisibility(ctx context.Context, arn, receipt string, hidden time.Duration) error {
	if arn != queueARN || ctx.Err() != nil {
		return fmt.Errorf("called for %s with %v", arn, ctx.Err())
	}
	r.hidden = append(r.hidden, receipt+" "+hidden.String())
	return r.err
}

// event is a batch as the event source mapping sends it.
func event(t *testing.T, bodies ...string) events.SQSEvent {
	t.Helper()
	b, err := os.ReadFile("testdata/sqs.json")
	if err != nil {
		t.Fatal(err)
	}
	var e events.SQSEvent
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	one := e.Records[0]
	e.Records = nil
	for i, body := range bodies {
		one.Body, one.MessageId, one.ReceiptHandle = body, fmt.Sprintf("m%d", i+1), fmt.Sprintf("r%d", i+1)
		e.Records = append(e.Records, one)
	}
	return e
}

func text(b []byte) (string, error) {
	if string(b) == "unreadable" {
		return "", fault.New(fault.Permanent, "LAPSTRAKE_RUN_MESSAGE_INVALID", "message of %d bytes cannot be read", len(b))
	}
	return string(b), nil
}

// does what the message says.
func does(_ context.Context, m string) (wire.Outcome, error) {
	switch m {
	case "done":
		return wire.Done("did it"), nil
	case "done with an error":
		return wire.Done("task failed for good"), fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_AUTH", "cannot connect to postgres://u:S3cr3t@db")
	case "again":
		return wire.Again(100, "someone else works on it"), nil
	case "much later":
		return wire.Again(5000, "someone else works on it"), nil
	case "passing":
		return wire.Outcome{}, errors.New("connection reset")
	case "permanent":
		return wire.Outcome{}, fault.New(fault.Permanent, "LAPSTRAKE_X", "no such table")
	case "fatal":
		return wire.Outcome{Kind: wire.Fatal, Detail: "never"}, nil
	case "panic":
		panic("index out of range")
	}
	return wire.Outcome{}, nil
}

func TestEachMessageOfABatchHasItsOwnOutcome(t *testing.T) {
	for _, tc := range []struct {
		name   string
		bodies []string
		failed []string // message ids
		hidden []string
		log    string // part of it
	}{
		{name: "all are done", bodies: []string{"done", "done"}, log: `"outcome":"did it"`},
		{name: "the third of five fails (QUE-03)", bodies: []string{"done", "done", "passing", "done", "done"}, failed: []string{"m3"}, hidden: []string{"r3 11.25s"}},
		{name: "one is handed back with some jitter", bodies: []string{"again", "done"}, failed: []string{"m1"}, hidden: []string{"r1 1m52.5s"}, log: `"msg":"message handed back"`},
		{name: "nothing is handed back for more than 15 minutes", bodies: []string{"much later"}, failed: []string{"m1"}, hidden: []string{"r1 15m0s"}},
		{name: "a message that cannot be read is fatal", bodies: []string{"unreadable", "done"}, failed: []string{"m1"}, hidden: []string{"r1 7.5s"}, log: `"code":"LAPSTRAKE_RUN_MESSAGE_INVALID"`},
		{name: "a panic fails its message only", bodies: []string{"done", "panic", "done"}, failed: []string{"m2"}, hidden: []string{"r2 7.5s"}, log: `"code":"LAPSTRAKE_INTERNAL_PANIC"`},
		{name: "a permanent error without an outcome is fatal", bodies: []string{"permanent"}, failed: []string{"m1"}, hidden: []string{"r1 7.5s"}, log: `"level":"ERROR"`},
		{name: "a fatal outcome", bodies: []string{"fatal"}, failed: []string{"m1"}, hidden: []string{"r1 7.5s"}, log: `"msg":"message failed for good"`},
		{name: "the outcome counts, not the error with it", bodies: []string{"done with an error"}, log: `"code":"LAPSTRAKE_SOURCE_AUTH"`},
		{name: "an empty batch"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig()
			got, err := SQS(r.Host, text, does)(t.Context(), event(t, tc.bodies...))
			if err != nil {
				t.Fatalf("the whole batch failed: %v", err)
			}
			if got.BatchItemFailures == nil {
				t.Error("no list of failures: some implementations take that for a failure")
			}
			var failed []string
			for _, f := range got.BatchItemFailures {
				failed = append(failed, f.ItemIdentifier)
			}
			if d := cmp.Diff(tc.failed, failed); d != "" {
				t.Errorf("failed (-want +got)\n%s", d)
			}
			if d := cmp.Diff(tc.hidden, r.hidden); d != "" {
				t.Errorf("hidden (-want +got)\n%s", d)
			}
			if !strings.Contains(r.log.String(), tc.log) || strings.Contains(r.log.String(), "S3cr3t") {
				t.Errorf("log\n%s", r.log.String())
			}
			if n := strings.Count(r.log.String(), `"queue":"lapstrake-chunk-default"`); n < len(tc.bodies) {
				t.Errorf("%d events name the queue:\n%s", n, r.log.String())
			}
		})
	}
}

func TestFatalMessagesBecomeDeadLettersWithinMinutes(t *testing.T) {
	r := newRig()
	var total time.Duration
	for receive := range 10 {
		e := event(t, "fatal")
		e.Records[0].Attributes["ApproximateReceiveCount"] = fmt.Sprint(receive + 1)
		r.hidden = nil
		if _, err := SQS(r.Host, text, does)(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		d, err := time.ParseDuration(strings.TrimPrefix(r.hidden[0], "r1 "))
		if err != nil {
			t.Fatal(err)
		}
		total += d
	}
	if total < time.Minute || total > 15*time.Minute {
		t.Fatalf("ten deliveries take %v", total)
	}
}

func TestMessageComesBackWhenItsVisibilityCannotBeChanged(t *testing.T) {
	r := newRig()
	r.err = errors.New("throttled")
	got, err := SQS(r.Host, text, does)(t.Context(), event(t, "again"))
	if err != nil || len(got.BatchItemFailures) != 1 || !strings.Contains(r.log.String(), "throttled") {
		t.Fatalf("%v, %v, log\n%s", got, err, r.log.String())
	}
}

func TestHandlerEndsBeforeTheInvocation(t *testing.T) {
	for _, tc := range []struct{ limit, handler time.Duration }{
		{900 * time.Second, 895 * time.Second},
		{10 * time.Second, 8 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig()
			ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
			defer cancel()
			start := r.Clock.Now()
			got, err := SQS(r.Host, text, func(ctx context.Context, m string) (wire.Outcome, error) {
				if m == "late" {
					t.Error("a message was begun when the time was up")
				}
				<-ctx.Done()
				if took := r.Clock.Now().Sub(start); took != tc.handler {
					t.Errorf("of %v the handler had %v, want %v", tc.limit, took, tc.handler)
				}
				return wire.Outcome{}, ctx.Err()
			})(ctx, event(t, "slow", "late"))
			if err != nil || len(got.BatchItemFailures) != 2 || len(r.hidden) != 2 {
				t.Fatalf("failed %v (%v), hidden %v", got.BatchItemFailures, err, r.hidden)
			}
		})
	}
}
