package sqs

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

// pollMost is the longest that SQS waits for a message in one request.
const pollMost = 20 * time.Second

// Receive makes one request, so it waits at most 20 seconds.
func (q *Queues) Receive(ctx context.Context, queue string, most int, wait time.Duration) ([]taskqueue.Delivery, error) {
	url, err := q.url(queue)
	if err != nil {
		return nil, err
	}
	out, err := q.client.ReceiveMessage(ctx, &awssqs.ReceiveMessageInput{
		QueueUrl:                    url,
		MaxNumberOfMessages:         int32(min(max(most, 1), taskqueue.ReceiveMost)),
		WaitTimeSeconds:             seconds(min(wait, pollMost)),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameApproximateReceiveCount},
	})
	if err != nil {
		return nil, failure(err, "receive from queue %q", queue)
	}
	var got []taskqueue.Delivery
	for _, m := range out.Messages {
		receives, _ := strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
		got = append(got, taskqueue.Delivery{
			Queue: queue, ID: aws.ToString(m.MessageId), Receipt: aws.ToString(m.ReceiptHandle),
			Body: []byte(aws.ToString(m.Body)), Receives: receives,
		})
	}
	return got, nil
}

// Ack deletes the message.
func (q *Queues) Ack(ctx context.Context, d taskqueue.Delivery) error {
	url, err := q.url(d.Queue)
	if err != nil {
		return err
	}
	_, err = q.client.DeleteMessage(ctx, &awssqs.DeleteMessageInput{QueueUrl: url, ReceiptHandle: &d.Receipt})
	if err == nil || outdated(err) {
		return nil
	}
	return failure(err, "delete message %s from queue %q", d.ID, d.Queue)
}

// Nack sets the rest of the delivery's visibility time, in whole seconds,
// rounded up.
func (q *Queues) Nack(ctx context.Context, d taskqueue.Delivery, hidden time.Duration) error {
	url, err := q.url(d.Queue)
	if err != nil {
		return err
	}
	return q.hide(ctx, url, d.Queue, d.Receipt, hidden)
}

// ChangeVisibility is Nack for a delivery that Lambda made: it names the queue
// by its ARN. A queue that is not among the known ones is an error.
func (q *Queues) ChangeVisibility(ctx context.Context, queueARN, receipt string, hidden time.Duration) error {
	name := queueARN[strings.LastIndexByte(queueARN, ':')+1:]
	for queue, url := range q.URLs {
		if strings.HasSuffix(url, "/"+name) {
			return q.hide(ctx, &url, queue, receipt, hidden)
		}
	}
	return fault.New(fault.Permanent, taskqueue.CodeUnknownQueue, "queue %s is not among those of LAPSTRAKE_QUEUE_URLS", queueARN)
}

func (q *Queues) hide(ctx context.Context, url *string, queue, receipt string, hidden time.Duration) error {
	if hidden < 0 || hidden > taskqueue.HiddenMost {
		return fault.New(fault.Bug, taskqueue.CodeInvalid, "a message of queue %q cannot be hidden for %v", queue, hidden)
	}
	_, err := q.client.ChangeMessageVisibility(ctx, &awssqs.ChangeMessageVisibilityInput{
		QueueUrl: url, ReceiptHandle: &receipt, VisibilityTimeout: seconds(hidden),
	})
	if err == nil || outdated(err) {
		return nil
	}
	return failure(err, "hide a message of queue %q for %v", queue, hidden)
}

// outdated reports that the visibility time of the delivery is over, or that
// the message is deleted.
func outdated(err error) bool {
	var inFlight *types.MessageNotInflight
	var receipt *types.ReceiptHandleIsInvalid
	var api smithy.APIError
	return errors.As(err, &inFlight) || errors.As(err, &receipt) ||
		errors.As(err, &api) && api.ErrorCode() == "InvalidParameterValue" && strings.Contains(api.ErrorMessage(), "ReceiptHandle")
}

func seconds(d time.Duration) int32 {
	return int32((max(d, 0) + time.Second - 1) / time.Second)
}
