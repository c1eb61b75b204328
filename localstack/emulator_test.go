package localstack

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/runstate/dynamodb"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// emulated is one function under the Lambda runtime interface emulator, which
// takes one request at a time.
type emulated struct {
	t   *testing.T
	url string
	id  string // marks its processes
	log *bytes.Buffer
}

// emulate starts a function's zip. env is added to what Lambda sets.
func emulate(t *testing.T, function string, timeoutSeconds int, env ...string) *emulated {
	t.Helper()
	emulator := testenv.Server(t, testenv.LambdaEmulator)
	endpoint := testenv.Server(t, testenv.AWSEndpoint)
	packaged, err := zips()
	if err != nil {
		t.Fatal(err)
	}
	bootstrap := unpack(t, packaged[function])
	e := &emulated{t: t, id: "rie-" + wiring.IDs{}.NewID()[:10], log: new(bytes.Buffer)}
	invoke, api := freePort(t), freePort(t)
	e.url = "http://" + invoke + "/2015-03-31/functions/function/invocations"
	cmd := exec.Command(emulator, "--runtime-interface-emulator-address", invoke, "--runtime-api-address", api, "--log-level", "error", bootstrap)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "AWS_LAMBDA_FUNCTION_NAME=" + function, fmt.Sprintf("AWS_LAMBDA_FUNCTION_TIMEOUT=%d", timeoutSeconds),
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_ENDPOINT_URL=" + endpoint,
		"LAPSTRAKE_STACK=" + e.id, `LAPSTRAKE_QUEUE_URLS={"finalize":"` + endpoint + `/000000000000/finalize"}`,
	}, env...)
	cmd.Stdout, cmd.Stderr = e.log, e.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the emulator and what it started
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", function, e.log)
		}
	})
	for began := (clock.System{}).Now(); ; <-(clock.System{}).After(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", invoke)
		if err == nil {
			conn.Close()
			return e
		}
		if (clock.System{}).Now().Sub(began) > patience {
			t.Fatalf("the emulator does not answer: %v", err)
		}
	}
}

func unpack(t *testing.T, body []byte) (bootstrap string) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	in, err := archive.Open("bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	bootstrap = filepath.Join(t.TempDir(), "bootstrap")
	out, err := os.OpenFile(bootstrap, os.O_CREATE|os.O_WRONLY, 0o755)
	if err == nil {
		_, err = io.Copy(out, in)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return bootstrap
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// invoke sends one event and returns the answer as it is.
func (e *emulated) invoke(event any) string {
	e.t.Helper()
	body, err := json.Marshal(event)
	if err != nil {
		e.t.Fatal(err)
	}
	answer, err := e.post(e.t.Context(), body)
	if err != nil {
		e.t.Fatal(err)
	}
	return answer
}

func (e *emulated) post(ctx context.Context, body []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return string(answer), err
}

// messages is an event of a queue; the id of each message is its first word.
func messages(bodies ...string) events.SQSEvent {
	var e events.SQSEvent
	for _, b := range bodies {
		id, body, _ := strings.Cut(b, " ")
		e.Records = append(e.Records, events.SQSMessage{
			MessageId: id, ReceiptHandle: "receipt-" + id, Body: body, EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:finalize",
			AWSRegion: "us-east-1", Attributes: map[string]string{"ApproximateReceiveCount": "1"},
		})
	}
	return e
}

// wantFailed checks which messages an answer hands back.
func (e *emulated) wantFailed(answer string, want ...string) {
	e.t.Helper()
	var got struct {
		events.SQSEventResponse
		ErrorType string `json:"errorType"`
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.ErrorType != "" {
		e.t.Errorf("answered %s (%v), want %v handed back", answer, err, want)
		return
	}
	var failed []string
	for _, f := range got.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	if !slices.Equal(failed, want) {
		e.t.Errorf("handed back %v, want %v", failed, want)
	}
}

const (
	testEvent  = `{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-11-29T12:00:00.000Z","Bucket":"lake"}`
	chunkOfRun = `{"version":1,"run":{"export":"orders","run_id":"orders_1","generation":1,"root":{"kind":"s3","uri":"s3://lake"}},"task":"000000"}`
)

func TestTheEmulatorRunsTheValidator(t *testing.T) {
	e := emulate(t, "validator", 30)
	e.wantFailed(e.invoke(messages("test "+testEvent, "bad {nonsense", "part "+string(created("lake", "orders/part-000001.parquet", "1")))), "bad")
	if got := e.invoke(json.RawMessage(testEvent)); got != "null" {
		t.Errorf("a bucket's test event is answered by %s", got)
	}
	if got := e.invoke(json.RawMessage(created("lake", "orders/part-000001.parquet", "1"))); got != "null" {
		t.Errorf("an object that is no marker is answered by %s", got)
	}
	if got := e.invoke(map[string]string{"hello": "world"}); !strings.Contains(got, `"errorType":"LAPSTRAKE_VALIDATE_EVENT_INVALID"`) {
		t.Errorf("an event of nobody is answered by %s", got)
	}
}

func TestTheEmulatorRunsTheChunkFunction(t *testing.T) {
	e := emulate(t, "chunk", 30)
	e.createTable()
	e.wantFailed(e.invoke(messages("bad {nonsense", "gone "+chunkOfRun)), "bad")
	e.wantFailed(e.invoke(messages("gone " + chunkOfRun)))
}

// createTable makes the table that the function takes by its stack's name.
func (e *emulated) createTable() {
	e.t.Helper()
	client := awsdynamodb.NewFromConfig(awsConfig(e.t))
	if err := dynamodb.CreateTable(e.t.Context(), client, e.id+"-state"); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() {
		if _, err := client.DeleteTable(context.Background(), &awsdynamodb.DeleteTableInput{TableName: aws.String(e.id + "-state")}); err != nil {
			e.t.Error(err)
		}
	})
}

// blackHole is a server that takes requests and never answers. asked is told of
// every connection.
func blackHole(t *testing.T) (url string, asked chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	asked = make(chan struct{}, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			asked <- struct{}{}
		}
	}()
	return "http://" + l.Addr().String(), asked
}

func TestAFunctionWhoseTableHangsHandsItsMessageBackInTime(t *testing.T) {
	hole, _ := blackHole(t)
	e := emulate(t, "chunk", 5, "AWS_ENDPOINT_URL_DYNAMODB="+hole)
	e.wantFailed(e.invoke(messages("stuck "+chunkOfRun, "behind "+chunkOfRun)), "stuck", "behind")
	e.wantFailed(e.invoke(messages("bad {nonsense")), "bad")
}

func TestAFunctionThatStopsOrDiesIsStartedAgain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		signal syscall.Signal
		want   string // in the answer
	}{
		{"stopped, until its time is up", syscall.SIGSTOP, "Task timed out after 5.00 seconds"},
		{"ended as by a panic that nothing catches", syscall.SIGABRT, "Runtime.ExitError"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hole, asked := blackHole(t)
			e := emulate(t, "chunk", 5, "AWS_ENDPOINT_URL_DYNAMODB="+hole)
			e.wantFailed(e.invoke(messages("bad {nonsense")), "bad")
			answers := make(chan string, 1)
			go func() {
				body, _ := json.Marshal(messages("stuck " + chunkOfRun))
				answer, err := e.post(t.Context(), body)
				answers <- fmt.Sprint(answer, err)
			}()
			select {
			case <-asked: // it is at work
			case <-(clock.System{}).After(patience):
				t.Fatal("the function does not ask its table")
			}
			for _, p := range processes(t, e.id) {
				if err := syscall.Kill(p.pid, tc.signal); err != nil {
					t.Fatal(err)
				}
			}
			if got := <-answers; !strings.Contains(got, tc.want) {
				t.Errorf("answered %s, want %s", got, tc.want)
			}
			e.wantFailed(e.invoke(messages("bad {nonsense")), "bad")
		})
	}
}
