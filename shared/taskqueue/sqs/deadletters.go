package sqs

import (
	"context"
	"encoding/json"
	"strings"

	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

// Attributes is what is used of the SDK's client to find the dead letters of a
// queue.
type Attributes interface {
	GetQueueAttributes(context.Context, *awssqs.GetQueueAttributesInput, ...func(*awssqs.Options)) (*awssqs.GetQueueAttributesOutput, error)
}

// DeadLettersURL returns the URL of the dead-letter queue of the queue at url,
// which its redrive policy names. SQS has both in one region and account.
func DeadLettersURL(ctx context.Context, client Attributes, queue, url string) (string, error) {
	out, err := client.GetQueueAttributes(ctx, &awssqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameRedrivePolicy},
	})
	if err != nil {
		return "", failure(err, "read the redrive policy of queue %q", queue)
	}
	var policy struct {
		Target string `json:"deadLetterTargetArn"`
	}
	text := out.Attributes[string(types.QueueAttributeNameRedrivePolicy)]
	if text != "" && json.Unmarshal([]byte(text), &policy) != nil {
		return "", fault.New(fault.Permanent, taskqueue.CodeInvalid, "the redrive policy of queue %q cannot be read", queue)
	}
	if policy.Target == "" {
		return "", fault.New(fault.Permanent, taskqueue.CodeNoDeadLetters, "queue %q has no dead-letter queue: its redrive policy names none", queue)
	}
	name := policy.Target[strings.LastIndexByte(policy.Target, ':')+1:]
	return url[:strings.LastIndexByte(url, '/')+1] + name, nil
}
