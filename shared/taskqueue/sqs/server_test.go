package sqs_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/taskqueue/sqs"
	"github.com/lapstrake/lapstrake/shared/taskqueue/taskqueuetest"
)

// ElasticMQ knows no fair queues: it refuses a group on a standard queue.
func TestElasticMQ(t *testing.T) { runSuite(t, testenv.Server(t, testenv.SQSEndpoint), false) }
func TestMiniStack(t *testing.T) { runSuite(t, testenv.Server(t, testenv.AWSEndpoint), true) }

func runSuite(t *testing.T, endpoint string, fairQueues bool) {
	client := awssqs.New(awssqs.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		// MiniStack sometimes drops a connection that it kept, after it has done
		// what was asked: the SDK's retry then makes a duplicate, or leaves a
		// received message hidden. That is as SQS may be, yet not what is tested.
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
	taskqueuetest.Run(t, taskqueuetest.Options{
		Open: func(t *testing.T, visibility time.Duration, names ...string) taskqueuetest.Driver {
			t.Parallel()
			q := sqs.New(client, sqs.Options{
				URLs: create(t, client, visibility, names), FairQueues: fairQueues,
				Clock: clock.System{}, Random: func() float64 { return 0.5 },
			})
			return taskqueuetest.Driver{Queue: q, Consumer: q}
		},
	})
}

// create makes queues of this test's own and returns their URLs.
func create(t *testing.T, client *awssqs.Client, visibility time.Duration, names []string) map[string]string {
	urls := map[string]string{}
	for _, name := range names {
		out, err := client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{
			QueueName:  aws.String("test-" + name + "-" + rand.Text()),
			Attributes: map[string]string{"VisibilityTimeout": strconv.Itoa(int(visibility / time.Second))},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := client.DeleteQueue(context.Background(), &awssqs.DeleteQueueInput{QueueUrl: out.QueueUrl}); err != nil {
				t.Error(err)
			}
		})
		urls[name] = *out.QueueUrl
	}
	return urls
}
