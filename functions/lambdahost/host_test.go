package lambdahost

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/functions/validator"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func TestTriggersOfEveryService(t *testing.T) {
	at := contract.NewTime(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	millis := contract.NewTime(time.Date(2026, 11, 29, 12, 0, 0, 123_000_000, time.UTC))
	for _, tc := range []struct {
		name, payload string
		want          wire.Trigger
		code          string // of the error
	}{
		{name: "a direct invocation", payload: `{"version":1,"action":"run","export":"public.orders","config_uri":"s3://b/rivet.yaml"}`,
			want: wire.Trigger{Version: 1, Action: wire.ActionRun, Export: "public.orders", ConfigURI: "s3://b/rivet.yaml"}},
		{name: "a schedule, which fills in its time", payload: `{"version":1,"action":"run","export":"o","scheduled_time":"2026-11-29T12:00:00Z"}`,
			want: wire.Trigger{Version: 1, Action: wire.ActionRun, Export: "o", ScheduledTime: &at}},
		{name: "a state machine, which waits for a token", payload: `{"version":1,"action":"run","export":"o","scheduled_time":"2026-11-29T12:00:00.123Z","trigger_id":"arn:aws:states:eu-west-1:1:execution:m:e","callback":{"kind":"sfn","token":"t"}}`,
			want: wire.Trigger{Version: 1, Action: wire.ActionRun, Export: "o", ScheduledTime: &millis, TriggerID: "arn:aws:states:eu-west-1:1:execution:m:e", Callback: &wire.Callback{Kind: "sfn", Token: "t"}}},
		{name: "the sweep", payload: `{"version":1,"action":"sweep"}`, want: wire.Trigger{Version: 1, Action: wire.ActionSweep}},
		{name: "a rule without an input", payload: `{"version":"0","id":"1","detail-type":"Scheduled Event","source":"aws.events","account":"1","time":"2026-11-29T12:00:00Z","region":"eu-west-1","resources":[],"detail":{}}`, code: "LAPSTRAKE_RUN_TRIGGER_FORM"},
		{name: "a queue", payload: `{"Records":[{"messageId":"1","body":"{}"}]}`, code: "LAPSTRAKE_RUN_TRIGGER_FORM"},
		{name: "a field that is not known", payload: `{"version":1,"action":"run","query":"select 1"}`, code: "LAPSTRAKE_RUN_MESSAGE_INVALID"},
		{name: "another version", payload: `{"version":2,"action":"run"}`, code: "LAPSTRAKE_RUN_MESSAGE_VERSION"},
		{name: "nothing", payload: ``, code: "LAPSTRAKE_RUN_MESSAGE_INVALID"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig()
			var got wire.Trigger
			want := wire.TriggerResult{RunID: "o_1", Status: wire.Started, Chunks: 3}
			answer, err := Planner(r.Host, func(_ context.Context, trigger wire.Trigger) (wire.TriggerResult, error) {
				got = trigger
				return want, nil
			})(t.Context(), json.RawMessage(tc.payload))
			if tc.code != "" {
				var failed messages.InvokeResponse_Error
				if !errors.As(err, &failed) || failed.Type != tc.code {
					t.Fatalf("error %v, want type %s", err, tc.code)
				}
				return
			}
			if err != nil || answer != want {
				t.Fatalf("answer %+v, %v", answer, err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Fatalf("trigger (-want +got)\n%s", d)
			}
		})
	}
}

func TestPlannersFailureNamesItsCodeAndNoSecret(t *testing.T) {
	for _, tc := range []struct {
		name string
		plan func() error
		kind string
	}{
		{"an error with a code", func() error {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_AUTH", "postgres://u:S3cr3t@db refused")
		}, "LAPSTRAKE_SOURCE_AUTH"},
		{"an error without", func() error { return errors.New("password=S3cr3t is wrong") }, "retryable"},
		{"a panic", func() error { panic("postgres://u:S3cr3t@db") }, "LAPSTRAKE_INTERNAL_PANIC"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig()
			ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "request-1"})
			_, err := Planner(r.Host, func(context.Context, wire.Trigger) (wire.TriggerResult, error) {
				return wire.TriggerResult{}, tc.plan()
			})(ctx, json.RawMessage(`{"version":1,"action":"run","export":"o"}`))
			var failed messages.InvokeResponse_Error
			if !errors.As(err, &failed) || failed.Type != tc.kind {
				t.Fatalf("error %#v, want type %s", err, tc.kind)
			}
			if strings.Contains(failed.Message+r.log.String(), "S3cr3t") {
				t.Fatalf("message %q, log\n%s", failed.Message, r.log.String())
			}
			if !strings.Contains(r.log.String(), `"request_id":"request-1"`) {
				t.Fatalf("log does not name the request:\n%s", r.log.String())
			}
		})
	}
}

// An answer may have 6 MB, and what a failure says comes from servers.
func TestAnAnswerStaysSmallWhateverIsSaid(t *testing.T) {
	r := newRig()
	long := fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_GONE", "%s", strings.Repeat("x", 7<<20))
	_, err := Planner(r.Host, func(context.Context, wire.Trigger) (wire.TriggerResult, error) {
		return wire.TriggerResult{}, long
	})(t.Context(), json.RawMessage(`{"version":1,"action":"run","export":"o"}`))
	if body, _ := json.Marshal(err); err == nil || len(body) > 16<<10 {
		t.Errorf("the planner answers %d bytes", len(body))
	}
	decode := func([]byte) (wire.FinalizeTask, error) { return wire.FinalizeTask{}, nil }
	answer, err := SQS(r.Host, decode, func(context.Context, wire.FinalizeTask) (wire.Outcome, error) {
		return wire.Outcome{}, long
	})(t.Context(), event(t, strings.Repeat("{}", 10)))
	if body, _ := json.Marshal(answer); err != nil || len(body) > 1<<10 || len(answer.BatchItemFailures) != 1 {
		t.Errorf("a queue is answered %d bytes, %v", len(body), err)
	}
}

func TestEventsOfStoresWithAndWithoutAQueue(t *testing.T) {
	const notification = `{"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","awsRegion":"eu-west-1","eventTime":"2026-11-29T12:00:00.000Z","eventName":"ObjectCreated:Put","s3":{"s3SchemaVersion":"1.0","configurationId":"markers","bucket":{"name":"b","arn":"arn:aws:s3:::b"},"object":{"key":"dt%3D2024-01-01/a+b/_SUCCESS","size":22,"eTag":"d41d8cd98f00b204e9800998ecf8427e","sequencer":"0A1B2C3D4E5F678901"}}}]}`
	const bus = `{"version":"0","id":"1","detail-type":"Object Created","source":"aws.s3","account":"1","time":"2026-11-29T12:00:00Z","region":"eu-west-1","resources":["arn:aws:s3:::b"],"detail":{"version":"0","bucket":{"name":"b"},"object":{"key":"dt=2024-01-01/a b/_SUCCESS","size":22,"etag":"d41d8cd98f00b204e9800998ecf8427e","sequencer":"0A1B2C3D4E5F678901"},"request-id":"1","requester":"1","source-ip-address":"127.0.0.1","reason":"PutObject"}}`
	decode := func(body []byte) ([]wire.ValidateTask, error) {
		return validator.Tasks(body, func(bucket string) wire.Location { return wire.Location{Kind: "s3", URI: "s3://" + bucket} })
	}
	inQueue := func(bodies ...string) string {
		b, err := json.Marshal(event(t, bodies...))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, tc := range []struct {
		name, payload string
		outcome       wire.Outcome
		prefixes      []string
		answer        string // JSON
		fails         string // type of the error
	}{
		{name: "from the bucket", payload: notification, prefixes: []string{"dt=2024-01-01/a b/"}, answer: "null"},
		{name: "from the bus", payload: bus, prefixes: []string{"dt=2024-01-01/a b/"}, answer: "null"},
		{name: "from a queue", payload: inQueue(notification, bus), prefixes: []string{"dt=2024-01-01/a b/", "dt=2024-01-01/a b/"}, answer: `{"batchItemFailures":[]}`},
		{name: "the store's test message in a queue (QUE-18)", payload: inQueue(`{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-11-29T12:00:00.000Z","Bucket":"b","RequestId":"1","HostId":"1"}`), answer: `{"batchItemFailures":[]}`},
		{name: "from a queue, and not settled", payload: inQueue(notification), outcome: wire.Again(60, "pending"), prefixes: []string{"dt=2024-01-01/a b/"}, answer: `{"batchItemFailures":[{"itemIdentifier":"m1"}]}`},
		{name: "from the bucket, and not settled", payload: notification, outcome: wire.Again(60, "pending"), prefixes: []string{"dt=2024-01-01/a b/"}, answer: "null", fails: "LAPSTRAKE_RUN_EVENT_UNSETTLED"},
		{name: "something else", payload: `{"Records":[]}`, answer: "null"},
		{name: "no event", payload: `{"x":1}`, answer: "null", fails: "LAPSTRAKE_VALIDATE_EVENT_INVALID"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig()
			var prefixes []string
			answer, err := Events(r.Host, decode, Each(func(_ context.Context, m wire.ValidateTask) (wire.Outcome, error) {
				prefixes = append(prefixes, m.Prefix)
				return tc.outcome, nil
			}))(t.Context(), json.RawMessage(tc.payload))
			var failed messages.InvokeResponse_Error
			if errors.As(err, &failed); failed.Type != tc.fails {
				t.Fatalf("error %v, want type %q", err, tc.fails)
			}
			if d := cmp.Diff(tc.prefixes, prefixes); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if got, err := json.Marshal(answer); err != nil || string(got) != tc.answer {
				t.Errorf("answer %s (%v), want %s", got, err, tc.answer)
			}
		})
	}
}

func TestTheWorstOutcomeCounts(t *testing.T) {
	for _, tc := range []struct {
		name     string
		messages []string
		kind     wire.OutcomeKind
		after    int
	}{
		{"nothing", nil, wire.Ack, 0},
		{"all done", []string{"done", "done"}, wire.Ack, 0},
		{"one comes back", []string{"done", "again", "done"}, wire.Retry, 100},
		{"the longest wait", []string{"again", "much later", "passing"}, wire.Retry, 5000},
		{"one never works", []string{"fatal", "again"}, wire.Fatal, 0},
		{"one alone", []string{"again"}, wire.Retry, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if o, _ := Each(does)(t.Context(), tc.messages); o.Kind != tc.kind || o.AfterSeconds != tc.after {
				t.Fatalf("outcome %+v", o)
			}
		})
	}
}

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for _, tc := range []struct {
		name string
		env  map[string]string
		want int64
	}{
		{"a function of 2048 MB", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "2048"}, 1717986916},
		{"a limit that is set", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "2048", "GOMEMLIMIT": "1GiB"}, 0},
		{"not on Lambda", nil, 0},
		{"nonsense", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "much"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			debug.SetMemoryLimit(before)
			got := LimitMemory(func(name string) (string, bool) { v, ok := tc.env[name]; return v, ok }, fstest.MapFS{})
			if limit := debug.SetMemoryLimit(-1); got != tc.want || tc.want > 0 && limit != tc.want || tc.want == 0 && limit != before {
				t.Fatalf("returned %d, the limit is %d", got, limit)
			}
		})
	}
}
