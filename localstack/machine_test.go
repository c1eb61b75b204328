package localstack

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// workflows are the state machines of the Terraform example, made from the
// files that it deploys, and what they tell their topics.
type workflows struct {
	*world
	states *sfn.Client
	arns   map[string]string // by the file's name
	told   map[string]string // URL of a queue of each topic
}

// The topics of the example.
const (
	publishedTopic = "published"
	alarmTopic     = "alarms"
)

func (w *world) workflows(cfg aws.Config) *workflows {
	w.t.Helper()
	f := &workflows{world: w, states: sfn.NewFromConfig(cfg), arns: map[string]string{}, told: map[string]string{}}
	topics, at := sns.NewFromConfig(cfg), map[string]string{}
	for _, topic := range []string{publishedTopic, alarmTopic} {
		at[topic] = f.topic(topics, topic)
	}
	for _, machine := range []string{"export", "exports"} {
		body, err := os.ReadFile(filepath.Join("..", "infra", "terraform", "examples", "aws-step-functions", machine+".asl.json"))
		if err != nil {
			w.t.Fatal(err)
		}
		definition := strings.NewReplacer(
			"${planner_arn}", "arn:aws:lambda:us-east-1:000000000000:function:"+w.FunctionName("planner"),
			"${alarm_topic_arn}", at[alarmTopic], "${published_topic_arn}", at[publishedTopic],
		).Replace(string(body))
		if strings.Contains(definition, "${") {
			w.t.Fatalf("%s.asl.json has a variable that this test does not know", machine)
		}
		made, err := f.states.CreateStateMachine(w.t.Context(), &sfn.CreateStateMachineInput{
			Name: aws.String(w.Stack + "-" + machine), Definition: &definition, RoleArn: aws.String("arn:aws:iam::000000000000:role/workflows"),
		})
		if err != nil {
			w.t.Fatal(err)
		}
		f.arns[machine] = *made.StateMachineArn
		w.t.Cleanup(func() {
			if _, err := f.states.DeleteStateMachine(context.Background(), &sfn.DeleteStateMachineInput{StateMachineArn: made.StateMachineArn}); err != nil {
				w.t.Error(err)
			}
		})
	}
	return f
}

// topic makes a topic with a queue that gets what it is told.
func (f *workflows) topic(client *sns.Client, name string) (arn string) {
	f.t.Helper()
	made, err := client.CreateTopic(f.t.Context(), &sns.CreateTopicInput{Name: aws.String(f.Stack + "-" + name)})
	if err != nil {
		f.t.Fatal(err)
	}
	queue, err := f.SQS.CreateQueue(f.t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(f.Stack + "-told-" + name)})
	if err != nil {
		f.t.Fatal(err)
	}
	f.told[name] = *queue.QueueUrl
	described, err := f.SQS.GetQueueAttributes(f.t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: queue.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn}})
	if err == nil {
		endpoint := described.Attributes[string(sqstypes.QueueAttributeNameQueueArn)]
		_, err = client.Subscribe(f.t.Context(), &sns.SubscribeInput{
			TopicArn: made.TopicArn, Protocol: aws.String("sqs"), Endpoint: &endpoint, Attributes: map[string]string{"RawMessageDelivery": "true"},
		})
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_, topicErr := client.DeleteTopic(context.Background(), &sns.DeleteTopicInput{TopicArn: made.TopicArn})
		_, queueErr := f.SQS.DeleteQueue(context.Background(), &sqs.DeleteQueueInput{QueueUrl: queue.QueueUrl})
		if err := errors.Join(topicErr, queueErr); err != nil {
			f.t.Error(err)
		}
	})
	return *made.TopicArn
}

// begin starts an execution of a machine.
func (f *workflows) begin(machine string, input any) (execution string) {
	f.t.Helper()
	body, err := json.Marshal(input)
	if err != nil {
		f.t.Fatal(err)
	}
	started, err := f.states.StartExecution(f.t.Context(), &sfn.StartExecutionInput{StateMachineArn: aws.String(f.arns[machine]), Input: aws.String(string(body))})
	if err != nil {
		f.t.Fatal(err)
	}
	return *started.ExecutionArn
}

// ended waits until an execution has.
func (f *workflows) ended(execution string) *sfn.DescribeExecutionOutput {
	f.t.Helper()
	var out *sfn.DescribeExecutionOutput
	f.eventually("the end of the execution", func() (bool, error) {
		var err error
		out, err = f.states.DescribeExecution(f.t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &execution})
		return err == nil && out.Status != types.ExecutionStatusRunning, err
	})
	return out
}

// heard returns the one message that a topic was told since the last call.
func (f *workflows) heard(topic string, into any) {
	f.t.Helper()
	got, err := f.SQS.ReceiveMessage(f.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(f.told[topic]), MaxNumberOfMessages: 10, WaitTimeSeconds: 5})
	if err != nil {
		f.t.Fatal(err)
	}
	if len(got.Messages) != 1 {
		f.t.Fatalf("topic %s was told %d messages, want one", topic, len(got.Messages))
	}
	if _, err := f.SQS.DeleteMessage(f.t.Context(), &sqs.DeleteMessageInput{QueueUrl: aws.String(f.told[topic]), ReceiptHandle: got.Messages[0].ReceiptHandle}); err != nil {
		f.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(aws.ToString(got.Messages[0].Body)), into); err != nil {
		f.t.Fatalf("topic %s was told %s: %v", topic, aws.ToString(got.Messages[0].Body), err)
	}
}

// silent checks that a topic was told nothing.
func (f *workflows) silent(topic string) {
	f.t.Helper()
	got, err := f.SQS.ReceiveMessage(f.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(f.told[topic])})
	if err != nil {
		f.t.Fatal(err)
	}
	if len(got.Messages) > 0 {
		f.t.Errorf("topic %s was told %s, want nothing", topic, aws.ToString(got.Messages[0].Body))
	}
}

// exportInput is the input of the machine for one export, and an item of that
// for several.
type exportInput struct {
	Export    string `json:"export"`
	ConfigURI string `json:"config_uri"`
}

// exportsInput is the input of the machine for several.
type exportsInput struct {
	Exports []exportInput `json:"exports"`
}
