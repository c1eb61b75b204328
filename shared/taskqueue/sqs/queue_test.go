package sqs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/taskqueue/sqs"
)

// fakeSQS answers as the test says and keeps what was asked.
type fakeSQS struct {
	sqs.Client
	// answer returns the code with which an entry fails, "" to store it and
	// "?" to say nothing about it. attempt counts the requests with the body.
	answer func(body string, attempt int) string
	err    error

	mu       sync.Mutex
	batches  [][]string
	groups   map[string]*string
	attempts map[string]int
	hidden   []string
}

func (f *fakeSQS) SendMessageBatch(_ context.Context, in *awssqs.SendMessageBatchInput, _ ...func(*awssqs.Options)) (*awssqs.SendMessageBatchOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	out := &awssqs.SendMessageBatchOutput{}
	var bodies []string
	for _, e := range in.Entries {
		bodies = append(bodies, *e.MessageBody)
		if f.attempts == nil {
			f.attempts, f.groups = map[string]int{}, map[string]*string{}
		}
		f.attempts[*e.MessageBody]++
		f.groups[*e.MessageBody] = e.MessageGroupId
		code := ""
		if f.answer != nil {
			code = f.answer(*e.MessageBody, f.attempts[*e.MessageBody])
		}
		switch code {
		case "":
			out.Successful = append(out.Successful, types.SendMessageBatchResultEntry{Id: e.Id})
		case "?":
		default:
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: &code, Message: aws.String("because"), SenderFault: code != "InternalError"})
		}
	}
	f.batches = append(f.batches, bodies)
	return out, nil
}

func (f *fakeSQS) ChangeMessageVisibility(_ context.Context, in *awssqs.ChangeMessageVisibilityInput, _ ...func(*awssqs.Options)) (*awssqs.ChangeMessageVisibilityOutput, error) {
	f.hidden = append(f.hidden, fmt.Sprintf("%s %s %d", *in.QueueUrl, *in.ReceiptHandle, in.VisibilityTimeout))
	return nil, f.err
}

const queueURL = "https://sqs.eu-west-1.amazonaws.com/123456789012/lapstrake-chunk-default"

func open(f *fakeSQS) *sqs.Queues {
	return sqs.New(f, sqs.Options{URLs: map[string]string{"chunk-default": queueURL, "finalize": queueURL + "-not"}, Clock: clock.System{}, Random: func() float64 { return 0 }})
}

func messages(bodies ...string) []taskqueue.Message {
	var out []taskqueue.Message
	for _, b := range bodies {
		out = append(out, taskqueue.Message{Body: []byte(b), Group: "public.ördens"})
	}
	return out
}

func TestSendRepeatsOnlyWhatIsNotConfirmed(t *testing.T) {
	for _, tc := range []struct {
		name     string
		answer   func(body string, attempt int) string
		batches  [][]string
		code     fault.Code
		class    fault.Class
		atLeast  time.Duration
		contains string
	}{
		{
			name:    "all are stored",
			answer:  func(string, int) string { return "" },
			batches: [][]string{{"a", "b", "c"}},
		},
		{
			name: "one fails once",
			answer: func(body string, attempt int) string {
				if body == "b" && attempt == 1 {
					return "InternalError"
				}
				return ""
			},
			batches: [][]string{{"a", "b", "c"}, {"b"}},
			atLeast: 100 * time.Millisecond,
		},
		{
			name: "one is throttled, which is called the sender's fault",
			answer: func(body string, attempt int) string {
				if body == "a" && attempt <= 2 {
					return "RequestThrottled"
				}
				return ""
			},
			batches: [][]string{{"a", "b", "c"}, {"a"}, {"a"}},
			atLeast: 300 * time.Millisecond,
		},
		{
			name: "the answer says nothing of one",
			answer: func(body string, attempt int) string {
				if body == "c" && attempt == 1 {
					return "?"
				}
				return ""
			},
			batches: [][]string{{"a", "b", "c"}, {"c"}},
		},
		{
			name: "one fails for good",
			answer: func(body string, _ int) string {
				if body == "c" {
					return "InternalError"
				}
				return ""
			},
			batches: [][]string{{"a", "b", "c"}, {"c"}, {"c"}, {"c"}, {"c"}},
			code:    taskqueue.CodeUnavailable, class: fault.Retryable, contains: "1 of 3 messages in 5 attempts: InternalError: because",
		},
		{
			name: "one is wrong",
			answer: func(body string, _ int) string {
				if body == "b" {
					return "InvalidMessageContents"
				}
				return ""
			},
			batches: [][]string{{"a", "b", "c"}},
			code:    taskqueue.CodeInvalid, class: fault.Permanent, contains: "InvalidMessageContents",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fakeSQS{answer: tc.answer}
				start := clock.System{}.Now()
				err := open(f).Send(t.Context(), "chunk-default", messages("a", "b", "c")...)
				if !slices.EqualFunc(f.batches, tc.batches, slices.Equal) {
					t.Errorf("requests %q, want %q", f.batches, tc.batches)
				}
				if took := (clock.System{}).Now().Sub(start); took < tc.atLeast {
					t.Errorf("done after %v, want a pause of at least %v", took, tc.atLeast)
				}
				if tc.code == "" {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				if fault.CodeOf(err) != tc.code || fault.ClassOf(err) != tc.class || !strings.Contains(err.Error(), tc.contains) {
					t.Fatalf("error %v (%s), want %s with %q", err, fault.ClassOf(err), tc.code, tc.contains)
				}
			})
		})
	}
}

func TestBatchesKeepTheLimits(t *testing.T) {
	f := &fakeSQS{}
	var sent []taskqueue.Message
	for i := range 23 {
		body := fmt.Sprintf("%02d", i)
		if i == 3 || i == 4 {
			body += strings.Repeat("x", taskqueue.BodyMostBytes-4)
		}
		sent = append(sent, messages(body)...)
	}
	if err := open(f).Send(t.Context(), "chunk-default", sent...); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, batch := range f.batches {
		if size := len(strings.Join(batch, "")); len(batch) > 10 || size > 256<<10 {
			t.Errorf("request of %d messages and %d bytes", len(batch), size)
		}
		n += len(batch)
	}
	if n != 23 || len(f.attempts) != 23 {
		t.Fatalf("%d messages sent, %d different", n, len(f.attempts))
	}
}

func TestGroupIsSentToFairQueuesOnly(t *testing.T) {
	for _, fair := range []bool{false, true} {
		f := &fakeSQS{}
		q := open(f)
		q.FairQueues = fair
		m := messages("short", "long")
		m[1].Group = strings.Repeat("é", 200)
		if err := q.Send(t.Context(), "chunk-default", m...); err != nil {
			t.Fatal(err)
		}
		short, long := f.groups["short"], f.groups["long"]
		if !fair && (short != nil || long != nil) {
			t.Errorf("groups %v and %v sent to queues that know none", short, long)
		}
		if fair && (aws.ToString(short) != "public.-rdens" || len(*long) != 128) {
			t.Errorf("groups %q and %q", *short, *long)
		}
	}
}

func TestSendEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSQS{answer: func(string, int) string { return "InternalError" }}
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		if err := open(f).Send(ctx, "chunk-default", messages("a")...); !errors.Is(err, context.DeadlineExceeded) || len(f.batches) != 2 {
			t.Fatalf("error %v after %d requests", err, len(f.batches))
		}
	})
}

func TestFailuresHaveClassAndCode(t *testing.T) {
	for _, tc := range []struct {
		name  string
		err   error
		class fault.Class
		code  fault.Code
	}{
		{"the queue is gone", &types.QueueDoesNotExist{}, fault.Permanent, taskqueue.CodeUnknownQueue},
		{"the queue is gone, in the old protocol", &smithy.GenericAPIError{Code: "AWS.SimpleQueueService.NonExistentQueue"}, fault.Permanent, taskqueue.CodeUnknownQueue},
		{"no permission", &smithy.GenericAPIError{Code: "AccessDeniedException"}, fault.Permanent, taskqueue.CodeDenied},
		{"no permission for the key", &types.KmsAccessDenied{}, fault.Permanent, taskqueue.CodeDenied},
		{"the key service throttles", &types.KmsThrottled{}, fault.Retryable, taskqueue.CodeUnavailable},
		{"the batch is too long", &types.BatchRequestTooLong{}, fault.Permanent, taskqueue.CodeInvalid},
		{"no connection", errors.New("connection refused"), fault.Retryable, taskqueue.CodeUnavailable},
		{"time is up", context.DeadlineExceeded, fault.Retryable, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := open(&fakeSQS{err: tc.err}).Send(t.Context(), "chunk-default", messages("a")...)
			if fault.ClassOf(err) != tc.class || fault.CodeOf(err) != tc.code || !errors.Is(err, tc.err) || !strings.Contains(err.Error(), `"chunk-default"`) {
				t.Fatalf("error %v with class %s and code %q", err, fault.ClassOf(err), fault.CodeOf(err))
			}
		})
	}
}

func TestLambdaNamesAQueueByItsARN(t *testing.T) {
	f := &fakeSQS{}
	q := open(f)
	if err := q.ChangeVisibility(t.Context(), "arn:aws:sqs:eu-west-1:123456789012:lapstrake-chunk-default", "r1", 90*time.Second+1); err != nil {
		t.Fatal(err)
	}
	if want := []string{queueURL + " r1 91"}; !slices.Equal(f.hidden, want) {
		t.Fatalf("hidden %q, want %q", f.hidden, want)
	}
	err := q.ChangeVisibility(t.Context(), "arn:aws:sqs:eu-west-1:123456789012:chunk-default", "r1", 0)
	if fault.CodeOf(err) != taskqueue.CodeUnknownQueue {
		t.Fatalf("a queue of another deployment was taken for ours: %v", err)
	}
	f.err = &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: "Value r2 for parameter ReceiptHandle is invalid. Reason: Message does not exist."}
	if err := q.Nack(t.Context(), taskqueue.Delivery{Queue: "finalize", Receipt: "r2"}, time.Second); err != nil {
		t.Fatalf("a receipt that is out of date is an error: %v", err)
	}
	f.err = &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: "Total VisibilityTimeout for the message is beyond the limit"}
	if err := q.Nack(t.Context(), taskqueue.Delivery{Queue: "finalize", Receipt: "r2"}, time.Second); fault.CodeOf(err) != taskqueue.CodeInvalid {
		t.Fatalf("a refused time is no error: %v", err)
	}
}
