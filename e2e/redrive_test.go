package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/lapstrake/lapstrake/internal/testenv"
)

// given are the dead letters of a deployment with one queue.
type given struct {
	client      *sqs.Client
	queue, dead string
}

// newGiven makes the queues, and lets a desk know them.
func newGiven(t *testing.T, d *desk) given {
	t.Helper()
	endpoint := testenv.Server(t, testenv.SQSEndpoint)
	g := given{client: sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})}
	stack := "redrive-" + rand.Text()
	g.dead = g.create(t, stack+"-finalize-dlq", nil)
	g.queue = g.create(t, stack+"-finalize", map[string]string{
		"RedrivePolicy": fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:elasticmq:000000000000:%s-finalize-dlq","maxReceiveCount":"3"}`, stack),
	})
	urls, err := json.Marshal(map[string]string{"finalize": g.queue})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"LAPSTRAKE_QUEUE_URLS": string(urls), "AWS_ENDPOINT_URL_SQS": endpoint,
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
	} {
		d.env[name] = value
	}
	return g
}

func (g given) create(t *testing.T, name string, attributes map[string]string) string {
	t.Helper()
	out, err := g.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := g.client.DeleteQueue(context.Background(), &sqs.DeleteQueueInput{QueueUrl: out.QueueUrl}); err != nil {
			t.Error(err)
		}
	})
	return *out.QueueUrl
}

func (g given) send(t *testing.T, url string, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if _, err := g.client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String(body)}); err != nil {
			t.Fatal(err)
		}
	}
}

// waiting counts the messages that a receiver could have now.
func (g given) waiting(t *testing.T, url string) string {
	t.Helper()
	name := types.QueueAttributeNameApproximateNumberOfMessages
	out, err := g.client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{name}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes[string(name)]
}

func ofRun(run, task string) string {
	return fmt.Sprintf(`{"version":1,"run":{"export":"orders","run_id":%q,"generation":3,"root":{"kind":"s3","uri":"s3://lake"}},"task":%q}`, run, task)
}

func TestRedriveMovesTheDeadLettersOfADeployment(t *testing.T) {
	d := newDesk(t)
	g := newGiven(t, d)
	g.send(t, g.dead, ofRun("orders_1", "000001"), ofRun("orders_1", "000002"), ofRun("orders_2", "000001"), `{"Records":[]}`)

	type result struct {
		Queues []struct {
			Queue       string
			Moved, Kept int
			Runs        []struct {
				RunID      string `json:"run_id"`
				Generation int
				Messages   int
			}
		}
		DryRun bool `json:"dry_run"`
	}
	all := []string{`1 of "" at 0`, `2 of "orders_1" at 3`, `1 of "orders_2" at 3`}
	for _, step := range []struct {
		name               string
		args               []string
		moved, kept        int
		onQueue, stillDead string
		runs               []string
	}{
		{"a dry run changes nothing", []string{"--dry-run"}, 0, 4, "0", "4", all},
		{"one run", []string{"finalize", "--run-id", "orders_1"}, 2, 2, "2", "2", all},
		{"the rest", nil, 2, 0, "4", "0", []string{`1 of "" at 0`, `1 of "orders_2" at 3`}},
		{"nothing is left", nil, 0, 0, "4", "0", nil},
	} {
		o := d.must(t, append([]string{"redrive", "--json"}, step.args...)...)
		var got result
		if err := json.Unmarshal([]byte(o.stdout), &got); err != nil {
			t.Fatalf("%s: %v in %s", step.name, err, o)
		}
		if len(got.Queues) != 1 || got.Queues[0].Queue != "finalize" || got.Queues[0].Moved != step.moved || got.Queues[0].Kept != step.kept {
			t.Errorf("%s: %s", step.name, o.stdout)
		}
		if onQueue, dead := g.waiting(t, g.queue), g.waiting(t, g.dead); onQueue != step.onQueue || dead != step.stillDead {
			t.Errorf("%s: %s messages on the queue and %s dead letters, want %s and %s", step.name, onQueue, dead, step.onQueue, step.stillDead)
		}
		var runs []string
		for _, r := range got.Queues[0].Runs {
			runs = append(runs, fmt.Sprintf("%d of %q at %d", r.Messages, r.RunID, r.Generation))
		}
		if !slices.Equal(runs, step.runs) {
			t.Errorf("%s: the dead letters are %q, want %q", step.name, runs, step.runs)
		}
	}
}

func TestRedriveRefusesWhatItCannotFind(t *testing.T) {
	d := newDesk(t)
	g := newGiven(t, d)
	alone := g.create(t, "redrive-alone-"+rand.Text(), nil)
	for _, tc := range []struct {
		name, urls, code string
		args             []string
	}{
		{"queues are not configured", "", "LAPSTRAKE_CONFIG_SETTING", nil},
		{"a queue that is not known", d.env["LAPSTRAKE_QUEUE_URLS"], "LAPSTRAKE_RUN_QUEUE_UNKNOWN", []string{"chunk-other"}},
		{"a queue that does not exist", `{"finalize":"` + alone + `-not"}`, "LAPSTRAKE_RUN_QUEUE_UNKNOWN", nil},
		{"a queue without dead letters", `{"finalize":"` + alone + `"}`, "LAPSTRAKE_RUN_QUEUE_NO_DEAD_LETTERS", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d.env["LAPSTRAKE_QUEUE_URLS"] = tc.urls
			if o := d.run(t, append([]string{"redrive"}, tc.args...)...); o.code == 0 || !strings.Contains(o.stderr, tc.code) {
				t.Errorf("want %s: %s", tc.code, o)
			}
		})
	}
}
