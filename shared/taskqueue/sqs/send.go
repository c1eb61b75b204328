package sqs

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

const (
	batchMostMessages = 10
	// batchMostBytes is what SQS took before 2025 and what emulators still
	// take. Real messages are small, so it costs no request.
	batchMostBytes = 256 << 10
	groupMostBytes = 128

	sendConcurrency = 16
	sendAttempts    = 5
	sendBackoff     = 200 * time.Millisecond
)

// Send stores the messages by batches. What a batch's answer does not confirm
// is sent again; the rest is not.
func (q *Queues) Send(ctx context.Context, queue string, messages ...taskqueue.Message) error {
	url, err := q.url(queue)
	if err != nil {
		return err
	}
	if err := taskqueue.Check(queue, messages); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(sendConcurrency)
	for batch := range batches(messages) {
		g.Go(func() error { return q.sendBatch(ctx, queue, url, batch) })
	}
	return g.Wait()
}

// batches yields the messages in groups that one request takes.
func batches(messages []taskqueue.Message) func(yield func([]taskqueue.Message) bool) {
	return func(yield func([]taskqueue.Message) bool) {
		start, size := 0, 0
		for i, m := range messages {
			if i > start && (i-start == batchMostMessages || size+len(m.Body) > batchMostBytes) {
				if !yield(messages[start:i]) {
					return
				}
				start, size = i, 0
			}
			size += len(m.Body)
		}
		if start < len(messages) {
			yield(messages[start:])
		}
	}
}

func (q *Queues) sendBatch(ctx context.Context, queue string, url *string, batch []taskqueue.Message) error {
	left := make([]types.SendMessageBatchRequestEntry, len(batch))
	for i, m := range batch {
		left[i] = q.entry(strconv.Itoa(i), m)
	}
	for attempt := 1; ; attempt++ {
		out, err := q.client.SendMessageBatch(ctx, &awssqs.SendMessageBatchInput{QueueUrl: url, Entries: left})
		if err != nil {
			return failure(err, "send %d messages to queue %q", len(left), queue)
		}
		left = unconfirmed(left, out.Successful)
		if len(left) == 0 {
			return nil
		}
		if err := refusal(queue, out.Failed); err != nil {
			return err
		}
		if attempt == sendAttempts {
			return fault.New(fault.Retryable, taskqueue.CodeUnavailable,
				"queue %q did not store %d of %d messages in %d attempts%s; sending all of them again is harmless",
				queue, len(left), len(batch), attempt, reason(out.Failed))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-q.Clock.After(fault.Backoff(sendBackoff, attempt, q.Random())):
		}
	}
}

func (q *Queues) entry(id string, m taskqueue.Message) types.SendMessageBatchRequestEntry {
	e := types.SendMessageBatchRequestEntry{Id: &id, MessageBody: aws.String(string(m.Body)), DelaySeconds: int32(m.DelaySeconds)}
	if q.FairQueues && m.Group != "" {
		group := contract.Token(m.Group) // SQS takes ASCII only
		e.MessageGroupId = aws.String(group[:min(len(group), groupMostBytes)])
	}
	return e
}

// unconfirmed returns the entries that the answer does not say are stored.
func unconfirmed(sent []types.SendMessageBatchRequestEntry, stored []types.SendMessageBatchResultEntry) []types.SendMessageBatchRequestEntry {
	confirmed := make(map[string]bool, len(stored))
	for _, s := range stored {
		confirmed[aws.ToString(s.Id)] = true
	}
	var left []types.SendMessageBatchRequestEntry
	for _, e := range sent {
		if !confirmed[*e.Id] {
			left = append(left, e)
		}
	}
	return left
}

// refusal returns an error if SQS says that an entry is wrong and not worth
// sending again.
func refusal(queue string, failed []types.BatchResultErrorEntry) error {
	for _, f := range failed {
		if f.SenderFault && !throttled(aws.ToString(f.Code)) {
			return fault.New(fault.Permanent, taskqueue.CodeInvalid, "queue %q refuses a message: %s: %s", queue, aws.ToString(f.Code), aws.ToString(f.Message))
		}
	}
	return nil
}

func reason(failed []types.BatchResultErrorEntry) string {
	if len(failed) == 0 {
		return ""
	}
	return ": " + aws.ToString(failed[0].Code) + ": " + aws.ToString(failed[0].Message)
}
