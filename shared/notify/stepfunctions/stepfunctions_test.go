package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/notify/notifytest"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const token = "AAAAKgAAAAIAAAAAAAAAAQ-t0ken"

// service stands in for Step Functions.
type service struct {
	refusal error
	hangs   bool
	sent    atomic.Int64
}

func (s *service) answer(ctx context.Context) error {
	s.sent.Add(1)
	if s.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.refusal
}

func (s *service) SendTaskSuccess(ctx context.Context, in *sfn.SendTaskSuccessInput, _ ...func(*sfn.Options)) (*sfn.SendTaskSuccessOutput, error) {
	return &sfn.SendTaskSuccessOutput{}, s.answer(ctx)
}

func (s *service) SendTaskFailure(ctx context.Context, in *sfn.SendTaskFailureInput, _ ...func(*sfn.Options)) (*sfn.SendTaskFailureOutput, error) {
	return &sfn.SendTaskFailureOutput{}, s.answer(ctx)
}

func (s *service) SendTaskHeartbeat(ctx context.Context, in *sfn.SendTaskHeartbeatInput, _ ...func(*sfn.Options)) (*sfn.SendTaskHeartbeatOutput, error) {
	return &sfn.SendTaskHeartbeatOutput{}, s.answer(ctx)
}

// recorder keeps the one call that it gets.
type recorder struct {
	service
	call, output, name string
}

func (r *recorder) SendTaskSuccess(ctx context.Context, in *sfn.SendTaskSuccessInput, _ ...func(*sfn.Options)) (*sfn.SendTaskSuccessOutput, error) {
	r.call, r.output = "success "+aws.ToString(in.TaskToken), aws.ToString(in.Output)
	return r.service.SendTaskSuccess(ctx, in)
}

func (r *recorder) SendTaskFailure(ctx context.Context, in *sfn.SendTaskFailureInput, _ ...func(*sfn.Options)) (*sfn.SendTaskFailureOutput, error) {
	r.call, r.output, r.name = "failure "+aws.ToString(in.TaskToken), aws.ToString(in.Cause), aws.ToString(in.Error)
	return r.service.SendTaskFailure(ctx, in)
}

func (r *recorder) SendTaskHeartbeat(ctx context.Context, in *sfn.SendTaskHeartbeatInput, _ ...func(*sfn.Options)) (*sfn.SendTaskHeartbeatOutput, error) {
	r.call = "heartbeat " + aws.ToString(in.TaskToken)
	return r.service.SendTaskHeartbeat(ctx, in)
}

func callback() *wire.Callback { return &wire.Callback{Kind: wire.StepFunctions, Token: token} }

var ended = notify.Event{
	Kind: notify.RunEnded, Export: "orders", RunID: "r1", Status: "success", Verdict: "passed", Manifest: "s3://b/x/manifest-r1.json",
	ManifestFingerprint: "xxh3:0123456789abcdef", Rows: 12, Parts: 3, Callback: callback(),
}

func failed(f *fault.Failure) notify.Event {
	return notify.Event{Kind: notify.RunEnded, Export: "orders", RunID: "r1", Status: "failed", Failure: f, Callback: callback()}
}

func TestConformance(t *testing.T) {
	nobody, other, judged := ended, ended, ended
	nobody.Callback = nil
	other.Callback = &wire.Callback{Kind: "workflows", Token: token}
	judged.Kind = notify.Validated
	notifytest.Run(t, notifytest.Driver{
		Open: func(_ *testing.T, a notifytest.Answer) (notify.Notifier, func() int) {
			s := &service{hangs: a == notifytest.Hangs}
			if a == notifytest.Refuses {
				s.refusal = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no answer for " + token}
			}
			return New(s), func() int { return int(s.sent.Load()) }
		},
		Wanted:   []notify.Event{ended, failed(nil), {Kind: notify.AtWork, RunID: "r1", Callback: callback()}, {Kind: notify.Answered, Status: "refused", Callback: callback()}},
		Unwanted: []notify.Event{nobody, other, judged},
		Secrets:  func() []string { return []string{token} },
		Waits:    true,
	})
}

func TestEachEndHasItsAnswer(t *testing.T) {
	for _, tc := range []struct {
		name              string
		event             notify.Event
		call, errorIs     string
		output            *wire.RunOutput
		withoutInTheCause string
	}{
		{name: "a run that succeeded", event: ended, call: "success", output: &wire.RunOutput{
			RunID: "r1", Export: "orders", Status: "success", ManifestURI: "s3://b/x/manifest-r1.json", ManifestFingerprint: "xxh3:0123456789abcdef", RowCount: 12, PartCount: 3, Verdict: "passed"}},
		{name: "a run that failed, without the secret of its message",
			event: failed(&fault.Failure{Class: fault.Permanent, Code: "LAPSTRAKE_SOURCE_AUTH", Message: "postgres://ann:geheim@db/x refused"}),
			call:  "failure", errorIs: "LAPSTRAKE_SOURCE_AUTH", withoutInTheCause: "geheim",
			output: &wire.RunOutput{RunID: "r1", Export: "orders", Status: "failed",
				Error: &fault.Failure{Class: fault.Permanent, Code: "LAPSTRAKE_SOURCE_AUTH", Message: "postgres://REDACTED@db/x refused"}}},
		{name: "a failure without a code", event: failed(nil), call: "failure", errorIs: "LAPSTRAKE_RUN_FAILED", output: &wire.RunOutput{
			RunID: "r1", Export: "orders", Status: "failed", Error: &fault.Failure{Message: "the run is failed"}}},
		{name: "a run that was superseded", call: "failure", errorIs: "LAPSTRAKE_FENCE_LOST",
			event:  notify.Event{Kind: notify.RunEnded, RunID: "r1", Status: "superseded", Failure: &fault.Failure{Class: fault.Fenced, Code: "LAPSTRAKE_FENCE_LOST", Message: "r2 took over"}, Callback: callback()},
			output: &wire.RunOutput{RunID: "r1", Status: "superseded", Error: &fault.Failure{Class: fault.Fenced, Code: "LAPSTRAKE_FENCE_LOST", Message: "r2 took over"}}},
		{name: "a trigger that was refused", event: notify.Event{Kind: notify.Answered, RunID: "r1", Status: "refused", Callback: callback()},
			call: "success", output: &wire.RunOutput{RunID: "r1", Status: "refused", Skipped: true}},
		{name: "a run at work", event: notify.Event{Kind: notify.AtWork, RunID: "r1", Status: "running", Callback: callback()}, call: "heartbeat"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &recorder{}
			if err := New(r).Notify(t.Context(), tc.event); err != nil {
				t.Fatal(err)
			}
			if r.call != tc.call+" "+token || r.name != tc.errorIs {
				t.Fatalf("sent %q, error %q", r.call, r.name)
			}
			if tc.output == nil {
				return
			}
			var got wire.RunOutput
			if err := json.Unmarshal([]byte(r.output), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*tc.output, got); diff != "" {
				t.Error(diff)
			}
			if tc.withoutInTheCause != "" && strings.Contains(r.output, tc.withoutInTheCause) {
				t.Errorf("the cause tells a secret: %s", r.output)
			}
		})
	}
}

func TestACauseFitsWhateverTheMessage(t *testing.T) {
	r := &recorder{}
	event := failed(&fault.Failure{Class: fault.Bug, Code: "LAPSTRAKE_INTERNAL_PANIC", Message: strings.Repeat("é<", 40_000)})
	if err := New(r).Notify(t.Context(), event); err != nil || len(r.output) > 32<<10 {
		t.Fatalf("%d bytes, %v", len(r.output), err)
	}
}

func TestWhatStepFunctionsRefuses(t *testing.T) {
	for _, tc := range []struct {
		name    string
		refusal error
		fails   bool
		owed    bool
	}{
		{name: "the task has timed out", refusal: &types.TaskTimedOut{}},
		{name: "the execution was stopped, or the token is answered", refusal: &types.TaskDoesNotExist{}},
		{name: "the token is none", refusal: &types.InvalidToken{}},
		{name: "the output is no output", refusal: &types.InvalidOutput{}, fails: true},
		{name: "the request is no request", refusal: &smithy.GenericAPIError{Code: "ValidationException", Message: token}, fails: true},
		{name: "too many requests", refusal: &smithy.GenericAPIError{Code: "ThrottlingException"}, fails: true, owed: true},
		{name: "no permission", refusal: &smithy.GenericAPIError{Code: "AccessDeniedException"}, fails: true, owed: true},
		{name: "no network", refusal: errors.New("dial tcp: refused"), fails: true, owed: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, e := range []notify.Event{ended, failed(nil), {Kind: notify.AtWork, Callback: callback()}} {
				err := New(&service{refusal: tc.refusal}).Notify(t.Context(), e)
				if (err != nil) != tc.fails || errors.Is(err, notify.ErrOwed) != tc.owed {
					t.Errorf("%s, %s: %v", e.Kind, e.Status, err)
				}
			}
		})
	}
}
