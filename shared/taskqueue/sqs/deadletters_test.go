package sqs_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/taskqueue/sqs"
)

func TestDeadLettersComeBackOnElasticMQ(t *testing.T) {
	deadLettersComeBack(t, testenv.Server(t, testenv.SQSEndpoint))
}

func TestDeadLettersComeBackOnMiniStack(t *testing.T) {
	deadLettersComeBack(t, testenv.Server(t, testenv.AWSEndpoint))
}

// deadLettersComeBack has a server give messages up, and moves them back.
func deadLettersComeBack(t *testing.T, endpoint string) {
	t.Parallel()
	client := awssqs.New(awssqs.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
	urls := withDeadLetters(t, client)
	q := sqs.New(client, sqs.Options{URLs: urls, Clock: clock.System{}, Random: func() float64 { return 0.5 }})

	want := []string{"a", "b", "c"}
	for _, body := range want {
		if err := q.Send(t.Context(), "finalize", taskqueue.Message{Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	giveUp(t, q, len(want))

	var err error
	if urls["dead"], err = sqs.DeadLettersURL(t.Context(), client, "finalize", urls["finalize"]); err != nil {
		t.Fatal(err)
	}
	got, err := taskqueue.Redrive(t.Context(), q, "dead", "finalize", func(taskqueue.Delivery) bool { return true })
	if err != nil || got != (taskqueue.Redriven{Moved: len(want)}) {
		t.Fatalf("redrive: %+v, %v; want all %d moved", got, err, len(want))
	}
	var bodies []string
	for len(bodies) < len(want) {
		more, err := q.Receive(t.Context(), "finalize", taskqueue.ReceiveMost, 5*time.Second)
		if err != nil || len(more) == 0 {
			t.Fatalf("the queue holds %q and no more (%v), want %q", bodies, err, want)
		}
		for _, d := range more {
			bodies = append(bodies, string(d.Body))
		}
	}
	slices.Sort(bodies)
	if !slices.Equal(bodies, want) {
		t.Errorf("the queue holds %q, want %q", bodies, want)
	}
}

// withDeadLetters makes a queue whose messages are given up after one receive.
func withDeadLetters(t *testing.T, client *awssqs.Client) map[string]string {
	dead := create(t, client, 30*time.Second, []string{"dead"})["dead"]
	attributes, err := client.GetQueueAttributes(t.Context(), &awssqs.GetQueueAttributesInput{QueueUrl: &dead, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := json.Marshal(map[string]string{"deadLetterTargetArn": attributes.Attributes["QueueArn"], "maxReceiveCount": "1"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{
		QueueName: aws.String("test-finalize-" + rand.Text()), Attributes: map[string]string{"VisibilityTimeout": "1", "RedrivePolicy": string(policy)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteQueue(context.Background(), &awssqs.DeleteQueueInput{QueueUrl: out.QueueUrl}); err != nil {
			t.Error(err)
		}
	})
	return map[string]string{"finalize": *out.QueueUrl, "dead": dead}
}

// giveUp receives until all n messages are dead letters.
func giveUp(t *testing.T, q *sqs.Queues, n int) {
	seen := 0
	for seen < n {
		got, err := q.Receive(t.Context(), "finalize", taskqueue.ReceiveMost, 2*time.Second)
		if err != nil || len(got) == 0 {
			t.Fatalf("%d of %d messages came (%v)", seen, n, err)
		}
		seen += len(got)
		for _, d := range got {
			if err := q.Nack(t.Context(), d, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if again, err := q.Receive(t.Context(), "finalize", taskqueue.ReceiveMost, 0); err != nil || len(again) > 0 {
		t.Fatalf("%d messages came twice (%v), want dead letters", len(again), err)
	}
}

// fakeAttributes answers with one redrive policy.
type fakeAttributes map[string]string

func (f fakeAttributes) GetQueueAttributes(context.Context, *awssqs.GetQueueAttributesInput, ...func(*awssqs.Options)) (*awssqs.GetQueueAttributesOutput, error) {
	return &awssqs.GetQueueAttributesOutput{Attributes: f}, nil
}

func TestTheRedrivePolicyNamesTheDeadLetters(t *testing.T) {
	for _, tc := range []struct {
		name, policy, want string
		code               fault.Code
	}{
		{
			name:   "a queue of the same account",
			policy: `{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:123456789012:lapstrake-finalize-dlq","maxReceiveCount":"10"}`,
			want:   "https://sqs.eu-west-1.amazonaws.com/123456789012/lapstrake-finalize-dlq",
		},
		{name: "no policy", code: taskqueue.CodeNoDeadLetters},
		{name: "a policy without a target", policy: `{"maxReceiveCount":"10"}`, code: taskqueue.CodeNoDeadLetters},
		{name: "a policy that cannot be read", policy: `{`, code: taskqueue.CodeInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			attributes := fakeAttributes{}
			if tc.policy != "" {
				attributes["RedrivePolicy"] = tc.policy
			}
			got, err := sqs.DeadLettersURL(t.Context(), attributes, "finalize", strings.TrimSuffix(queueURL, "chunk-default")+"finalize")
			if got != tc.want || fault.CodeOf(err) != tc.code {
				t.Errorf("got %q, %v; want %q and code %q", got, err, tc.want, tc.code)
			}
		})
	}
}
