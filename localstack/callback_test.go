package localstack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// machine is a state machine that starts one export and waits for its token, as
// examples/aws-step-functions do.
func (w *world) machine(client *sfn.Client) string {
	w.t.Helper()
	definition := fmt.Sprintf(`{"StartAt":"Extract","States":{"Extract":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken",
		"Parameters":{"FunctionName":%q,"Payload":{"version":1,"action":"run","export.$":"$.export","config_uri.$":"$.config_uri",
		"scheduled_time.$":"$$.Execution.StartTime","callback":{"kind":"sfn","token.$":"$$.Task.Token"}}},
		"TimeoutSeconds":180,"HeartbeatSeconds":120,"End":true}}}`, w.FunctionName("planner"))
	made, err := client.CreateStateMachine(w.t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String(w.Stack), Definition: &definition, RoleArn: aws.String("arn:aws:iam::000000000000:role/workflows"),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return *made.StateMachineArn
}

// execution starts the machine and waits until it has ended.
func (w *world) execution(client *sfn.Client, machine, export, configURI string) *sfn.DescribeExecutionOutput {
	w.t.Helper()
	input, err := json.Marshal(map[string]string{"export": export, "config_uri": configURI})
	if err != nil {
		w.t.Fatal(err)
	}
	started, err := client.StartExecution(w.t.Context(), &sfn.StartExecutionInput{StateMachineArn: &machine, Input: aws.String(string(input))})
	if err != nil {
		w.t.Fatal(err)
	}
	var ended *sfn.DescribeExecutionOutput
	w.eventually("the end of the execution", func() (bool, error) {
		var err error
		ended, err = client.DescribeExecution(w.t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: started.ExecutionArn})
		return err == nil && ended.Status != types.ExecutionStatusRunning, err
	})
	return ended
}

func TestAStateMachineWaitsForItsExport(t *testing.T) {
	w := deploy(t, nil)
	w.makeOrders(2_000)
	client := sfn.NewFromConfig(awsConfig(t))
	machine := w.machine(client)

	t.Run("one that succeeds", func(t *testing.T) {
		ended := w.execution(client, machine, "orders", w.config(ordersConfig))
		var out wire.RunOutput
		if err := json.Unmarshal([]byte(aws.ToString(ended.Output)), &out); err != nil {
			t.Fatalf("%s: %v (%s: %s)", ended.Status, err, aws.ToString(ended.Error), aws.ToString(ended.Cause))
		}
		run := w.await(out.RunID)
		if ended.Status != types.ExecutionStatusSucceeded || out.Status != "success" || out.Verdict != "passed" || out.RowCount != 2_000 ||
			out.PartCount != run.Outcome.Parts || out.ManifestFingerprint != run.Outcome.ManifestFingerprint || out.Error != nil {
			t.Errorf("%s: %+v", ended.Status, out)
		}
		if key, ok := strings.CutPrefix(out.ManifestURI, "s3://"+w.Bucket+"/"); !ok || len(w.keys(key)) != 1 {
			t.Errorf("there is no manifest at %s", out.ManifestURI)
		}
		w.wantPublished(ordersPrefix)
	})

	t.Run("one whose run fails, with the code", func(t *testing.T) {
		w.exec("update " + w.schema + ".orders set note = repeat('x', 2 << 20) where id = 7")
		broken := strings.Replace(ordersConfig, "tls:", "tuning: { max_value_mb: 1 }\n  tls:", 1)
		ended := w.execution(client, machine, "orders", w.config(broken))
		var out wire.RunOutput
		if err := json.Unmarshal([]byte(aws.ToString(ended.Cause)), &out); err != nil {
			t.Fatalf("%s: %v (%s: %s)", ended.Status, err, aws.ToString(ended.Error), aws.ToString(ended.Cause))
		}
		if ended.Status != types.ExecutionStatusFailed || out.Error == nil || aws.ToString(ended.Error) != string(out.Error.Code) || !strings.HasPrefix(aws.ToString(ended.Error), "LAPSTRAKE_") {
			t.Errorf("%s with %s: %+v", ended.Status, aws.ToString(ended.Error), out)
		}
		if run := w.await(out.RunID); run.Status != runstate.RunFailed || run.Error.Code != out.Error.Code {
			t.Errorf("the run is %s: %+v", run.Status, run.Error)
		}
	})

	t.Run("one that cannot be started", func(t *testing.T) {
		ended := w.execution(client, machine, "nothing", w.config(ordersConfig))
		if ended.Status != types.ExecutionStatusFailed || aws.ToString(ended.Error) != "LAPSTRAKE_CONFIG_EXPORT_UNKNOWN" {
			t.Errorf("%s with %s: %s", ended.Status, aws.ToString(ended.Error), aws.ToString(ended.Cause))
		}
	})
}
