package sns

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/smithy-go"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/notify/notifytest"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const topic = "arn:aws:sns:eu-west-1:123456789012:runs"

// service stands in for SNS, and keeps the last message.
type service struct {
	answer notifytest.Answer
	sent   atomic.Int64
	last   *sns.PublishInput
	err    error
}

func (s *service) Publish(ctx context.Context, in *sns.PublishInput, _ ...func(*sns.Options)) (*sns.PublishOutput, error) {
	if s.sent.Add(1) == 1 {
		s.last = in
	}
	switch s.answer {
	case notifytest.Hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case notifytest.Refuses:
		return nil, &smithy.GenericAPIError{Code: "AuthorizationError", Message: "not authorized to perform SNS:Publish on " + topic}
	}
	return &sns.PublishOutput{}, s.err
}

func TestConformance(t *testing.T) {
	notifytest.Run(t, notifytest.Driver{
		Open: func(_ *testing.T, a notifytest.Answer) (notify.Notifier, func() int) {
			s := &service{answer: a}
			return New(s, topic), func() int { return int(s.sent.Load()) }
		},
		Wanted: []notify.Event{
			{Kind: notify.RunEnded, RunID: "r1", Status: "failed"},
			{Kind: notify.RunEnded, RunID: "r1", Status: "success"},
			{Kind: notify.Validated, Status: "reduced"},
		},
		Unwanted: []notify.Event{
			{Kind: notify.Answered, RunID: "r1", Status: "failed", Callback: &wire.Callback{Kind: wire.StepFunctions, Token: "t"}},
			{Kind: notify.AtWork, RunID: "r1", Status: "running"},
			{Kind: notify.Validated, Status: "pending"},
		},
		Secrets: func() []string { return []string{topic} },
	})
}

func TestSubscribersTellEventsApart(t *testing.T) {
	for _, tc := range []struct {
		name    string
		event   notify.Event
		outcome string
		subject string
		changed string
	}{
		{"a success", notify.Event{Kind: notify.RunEnded, Export: "orders", RunID: "r1", Status: "success", Verdict: "passed"}, "success", "lapstrake: success of orders", "false"},
		{"a success with another schema", notify.Event{Kind: notify.RunEnded, Export: "orders", Status: "success", SchemaChanged: true}, "success", "lapstrake: success of orders", "true"},
		{"a success that did not pass", notify.Event{Kind: notify.RunEnded, Export: "orders", Status: "success", Verdict: "failed"}, "failure", "lapstrake: failure of orders", "false"},
		{"a failure", notify.Event{Kind: notify.RunEnded, Export: "orders", Status: "failed", Failure: &fault.Failure{Code: "LAPSTRAKE_X"}}, "failure", "lapstrake: failure of orders", "false"},
		{"a run that was superseded", notify.Event{Kind: notify.RunEnded, RunID: "r1", Status: "superseded"}, "degraded", "lapstrake: degraded of r1", "false"},
		{"a verdict on a prefix without a manifest", notify.Event{Kind: notify.Validated, Prefix: "s3://b/ä\nb/", Status: "reduced"}, "degraded", "lapstrake: degraded of s3://b/???b/", "false"},
		{"a failed verdict", notify.Event{Kind: notify.Validated, Export: "orders", Status: "failed"}, "failure", "lapstrake: failure of orders", "false"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &service{}
			if err := New(s, topic).Notify(t.Context(), tc.event); err != nil {
				t.Fatal(err)
			}
			if got := aws.ToString(s.last.Subject); got != tc.subject {
				t.Errorf("the subject is %q, want %q", got, tc.subject)
			}
			for name, want := range map[string]string{"kind": string(tc.event.Kind), "status": tc.event.Status, "outcome": tc.outcome, "schema_changed": tc.changed} {
				if got := aws.ToString(s.last.MessageAttributes[name].StringValue); got != want {
					t.Errorf("the attribute %s is %q, want %q", name, got, want)
				}
			}
			var got notify.Event
			if err := json.Unmarshal([]byte(aws.ToString(s.last.Message)), &got); err != nil || got.Kind != tc.event.Kind || got.Status != tc.event.Status || got.Export != tc.event.Export {
				t.Errorf("the message is %s: %v", aws.ToString(s.last.Message), err)
			}
		})
	}
}

// A message has at most 256 KiB, and its subject at most 100 characters.
func TestAMessageFitsAndHoldsNoSecret(t *testing.T) {
	s := &service{}
	event := notify.Event{
		Kind: notify.Validated, Export: "o", RunID: "r1", Status: "failed", Prefix: "s3://b/" + strings.Repeat("p", 1024),
		Failure:  &fault.Failure{Message: "postgres://ann:geheim@db/x refused" + strings.Repeat("\x01", 400_000)},
		Findings: strings.Split(strings.Repeat("RIVET_VERIFY_PART_MISSING,", 100_000), ","),
	}
	if err := New(s, topic).Notify(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	if n := len(aws.ToString(s.last.Message)); n > 64<<10 {
		t.Errorf("the message has %d bytes", n)
	}
	if strings.Contains(aws.ToString(s.last.Message), "geheim") {
		t.Errorf("the message tells a secret: %s", aws.ToString(s.last.Message))
	}
	event.Prefix, event.Export, event.RunID = strings.Repeat("p", 500), "", ""
	long := &service{}
	if err := New(long, topic).Notify(t.Context(), event); err != nil || len(aws.ToString(long.last.Subject)) != 100 {
		t.Errorf("the subject is %q: %v", aws.ToString(long.last.Subject), err)
	}
}

func TestATopicThatDoesNotAnswer(t *testing.T) {
	err := New(&service{err: errors.New("dial tcp: lookup sns." + topic)}, topic).Notify(t.Context(), notify.Event{Kind: notify.RunEnded, RunID: "r1", Status: "failed"})
	if err == nil || !strings.Contains(err.Error(), "r1") || strings.Contains(err.Error(), topic) {
		t.Errorf("error is %v", err)
	}
}
