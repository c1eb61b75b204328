// Package sns publishes events to a topic of Amazon SNS. Layer: L4
// (observability).
package sns

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/smithy-go"

	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

// Timeout bounds one publication with its repetitions, so that a service that
// hangs cannot hold up a function.
const Timeout = 10 * time.Second

const (
	subjectMost  = 100 // of characters, which are ASCII
	findingsMost = 100 // of a prefix, which may have one for each part
)

// API is what is used of the client of SNS.
type API interface {
	Publish(context.Context, *sns.PublishInput, ...func(*sns.Options)) (*sns.PublishOutput, error)
}

// Notifier publishes to one topic.
type Notifier struct {
	api   API
	topic string
}

// New returns a notifier that publishes to the topic with an ARN.
func New(api API, topicARN string) *Notifier { return &Notifier{api: api, topic: topicARN} }

// Notify publishes the ends of runs and the verdicts on prefixes, good and bad:
// what a subscriber wants of them its filter policy says, by the attributes
// kind, status, outcome and schema_changed. The message is the event as JSON.
func (n *Notifier) Notify(ctx context.Context, e notify.Event) error {
	if e.ForCallback() || e.Status == "pending" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	body, err := json.Marshal(told(e))
	if err != nil {
		return fmt.Errorf("encode the notification of run %s: %w", e.RunID, err)
	}
	attributes := map[string]types.MessageAttributeValue{}
	for name, value := range map[string]string{
		"kind": string(e.Kind), "status": e.Status, "outcome": outcome(e), "schema_changed": strconv.FormatBool(e.SchemaChanged),
	} {
		attributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &value}
	}
	_, err = n.api.Publish(ctx, &sns.PublishInput{
		TopicArn: &n.topic, Subject: aws.String(subject(e)), Message: aws.String(string(body)), MessageAttributes: attributes,
	})
	if err == nil {
		return nil
	}
	// A refusal repeats the ARN: its code says enough.
	var refused smithy.APIError
	if errors.As(err, &refused) {
		return fmt.Errorf("notify of run %s: the topic refuses the message: %s", e.RunID, refused.ErrorCode())
	}
	if ctx.Err() != nil {
		return fmt.Errorf("notify of run %s: %w", e.RunID, ctx.Err())
	}
	return fmt.Errorf("notify of run %s: the topic does not answer", e.RunID)
}

// outcome is what most subscribers ask for.
func outcome(e notify.Event) string {
	switch {
	case e.Failed():
		return "failure"
	case e.Degraded():
		return "degraded"
	}
	return "success"
}

// told is the event without secrets, and small enough for a message.
func told(e notify.Event) notify.Event {
	if e.Failure != nil {
		f := *e.Failure
		f.Message = telemetry.Told(f.Message)
		e.Failure = &f
	}
	e.Findings = e.Findings[:min(len(e.Findings), findingsMost)]
	return e
}

// subject is the line that an e-mail has: printable ASCII, as SNS wants it.
func subject(e notify.Event) string {
	text := []byte("lapstrake: " + outcome(e) + " of " + cmp.Or(string(e.Export), string(e.RunID), e.Prefix))
	for i, c := range text {
		if c < ' ' || c > '~' {
			text[i] = '?'
		}
	}
	return string(text[:min(len(text), subjectMost)])
}
