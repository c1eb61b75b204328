// Package sqs keeps queues in Amazon SQS: standard queues, made by the
// deployment. Layer: L3 (persistence).
package sqs

import (
	"context"
	"maps"
	"slices"

	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

// Client is what the driver uses of the SDK's client. The SDK's own retries
// may stay on: sending twice is harmless.
type Client interface {
	SendMessageBatch(context.Context, *awssqs.SendMessageBatchInput, ...func(*awssqs.Options)) (*awssqs.SendMessageBatchOutput, error)
	ReceiveMessage(context.Context, *awssqs.ReceiveMessageInput, ...func(*awssqs.Options)) (*awssqs.ReceiveMessageOutput, error)
	DeleteMessage(context.Context, *awssqs.DeleteMessageInput, ...func(*awssqs.Options)) (*awssqs.DeleteMessageOutput, error)
	ChangeMessageVisibility(context.Context, *awssqs.ChangeMessageVisibilityInput, ...func(*awssqs.Options)) (*awssqs.ChangeMessageVisibilityOutput, error)
}

// Options says what a driver works with.
type Options struct {
	// URLs has the URL of each queue by its name, as LAPSTRAKE_QUEUE_URLS gives
	// them.
	URLs map[string]string
	// FairQueues sends the message's group, so that SQS serves the groups of a
	// standard queue in turn when one of them has a backlog.
	FairQueues bool
	Clock      clock.Clock
	// Random returns numbers in [0, 1), which spread retries.
	Random func() float64
}

// Queues are the queues of a deployment. They are safe for concurrent use.
type Queues struct {
	client Client
	Options
}

var (
	_ taskqueue.Queue    = (*Queues)(nil)
	_ taskqueue.Consumer = (*Queues)(nil)
)

// New returns the queues of o.URLs. It makes no request.
func New(client Client, o Options) *Queues { return &Queues{client: client, Options: o} }

// url returns the URL of a queue.
func (q *Queues) url(queue string) (*string, error) {
	if u, ok := q.URLs[queue]; ok {
		return &u, nil
	}
	return nil, taskqueue.UnknownQueue(queue, slices.Collect(maps.Keys(q.URLs)))
}
