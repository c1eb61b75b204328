package cloud

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/lapstrake/lapstrake/shared/wire"
)

// deadLetters is the suffix of a queue's dead-letter queue.
const deadLetters = "-dlq"

// createQueues makes every queue and its dead-letter queue.
func (d *Deployment) createQueues(ctx context.Context) error {
	for _, queue := range d.queues() {
		dead, err := d.createQueue(ctx, queue+deadLetters, map[string]string{"MessageRetentionPeriod": seconds(14 * 24 * time.Hour)})
		if err != nil {
			return err
		}
		receives := maxReceives
		if queue == wire.ValidateQueue {
			receives = validateMaxReceives
		}
		arn, err := d.createQueue(ctx, queue, map[string]string{
			"VisibilityTimeout": seconds(d.Visibility),
			"RedrivePolicy":     fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, dead, receives),
		})
		if err != nil {
			return err
		}
		if queue == wire.ValidateQueue {
			_, err := d.SQS.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{
				QueueUrl: aws.String(d.QueueURLs[queue]), Attributes: map[string]string{"Policy": d.bucketMaySend(arn)},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Deployment) createQueue(ctx context.Context, queue string, attributes map[string]string) (arn string, err error) {
	out, err := d.SQS.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String(d.Stack + "-" + queue), Attributes: attributes})
	if err != nil {
		return "", err
	}
	described, err := d.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: out.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		return "", err
	}
	d.QueueURLs[queue] = aws.ToString(out.QueueUrl)
	d.queueARNs[queue] = described.Attributes[string(types.QueueAttributeNameQueueArn)]
	return d.queueARNs[queue], nil
}

// createEventSources has the queues call their functions: one message a call,
// of which the function names those that failed.
func (d *Deployment) createEventSources(ctx context.Context) error {
	for _, queue := range d.queues() {
		function := "chunk"
		in := &lambda.CreateEventSourceMappingInput{
			EventSourceArn: aws.String(d.queueARNs[queue]), BatchSize: aws.Int32(1),
			FunctionResponseTypes: []lambdatypes.FunctionResponseType{lambdatypes.FunctionResponseTypeReportBatchItemFailures},
			ScalingConfig:         &lambdatypes.ScalingConfig{MaximumConcurrency: aws.Int32(int32(d.MaxConcurrency))},
		}
		switch queue {
		case wire.FinalizeQueue:
			function, in.ScalingConfig = "finalizer", nil
		case wire.ValidateQueue:
			function, in.ScalingConfig = "validator", nil
		}
		in.FunctionName = aws.String(d.FunctionName(function))
		out, err := d.Lambda.CreateEventSourceMapping(ctx, in)
		if err != nil {
			return fmt.Errorf("queue %s: %w", queue, err)
		}
		d.mappings = append(d.mappings, aws.ToString(out.UUID))
	}
	return nil
}

// Send puts a message on a queue, by the name that the functions use.
func (d *Deployment) Send(ctx context.Context, queue string, body []byte) error {
	_, err := d.SQS.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String(d.QueueURLs[queue]), MessageBody: aws.String(string(body))})
	return err
}

// Waiting returns how many messages a queue holds, delivered ones that are not
// deleted included. It is an estimate.
func (d *Deployment) Waiting(ctx context.Context, queue string) (int, error) {
	names := []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible}
	out, err := d.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: aws.String(d.QueueURLs[queue]), AttributeNames: names})
	if err != nil {
		return 0, err
	}
	total := 0
	for _, name := range names {
		n, err := strconv.Atoi(out.Attributes[string(name)])
		if err != nil {
			return 0, fmt.Errorf("queue %s: %s: %w", queue, name, err)
		}
		total += n
	}
	return total, nil
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
