package cloud

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/lapstrake/lapstrake/shared/wire"
)

// createFunctions makes the four functions and waits until they can be called.
func (d *Deployment) createFunctions(ctx context.Context) error {
	urls, err := json.Marshal(d.QueueURLs)
	if err != nil {
		return err
	}
	env := map[string]string{
		"LAPSTRAKE_STACK": d.Stack, "LAPSTRAKE_TABLE": d.Table, "LAPSTRAKE_QUEUE_URLS": string(urls),
		"LAPSTRAKE_CHUNK_TIMEOUT": d.Timeout.String(),
	}
	maps.Copy(env, d.Env)
	for _, function := range Functions {
		if len(d.Zips[function]) == 0 {
			return fmt.Errorf("there is no zip of %s", function)
		}
		_, err := d.Lambda.CreateFunction(ctx, &lambda.CreateFunctionInput{
			FunctionName: aws.String(d.FunctionName(function)), Role: &d.Role,
			Runtime: types.RuntimeProvidedal2023, Handler: aws.String("bootstrap"), Architectures: []types.Architecture{architectures[d.Architecture]},
			MemorySize: aws.Int32(memoryMB), Timeout: aws.Int32(int32(d.Timeout / time.Second)),
			Code: &types.FunctionCode{ZipFile: d.Zips[function]}, Environment: &types.Environment{Variables: env},
		})
		if err != nil {
			return fmt.Errorf("%s: %w", function, err)
		}
	}
	for _, function := range Functions {
		active := lambda.NewFunctionActiveV2Waiter(d.Lambda)
		if err := active.Wait(ctx, &lambda.GetFunctionInput{FunctionName: aws.String(d.FunctionName(function))}, 2*time.Minute); err != nil {
			return fmt.Errorf("wait for %s: %w", function, err)
		}
	}
	return nil
}

var architectures = map[string]types.Architecture{"amd64": types.ArchitectureX8664, "arm64": types.ArchitectureArm64}

// FunctionError is the answer of a function that failed.
type FunctionError struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
	Payload string `json:"-"`
}

func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// Invoke calls a function and waits for its answer. It also returns the last
// 4 KB of the log of the call. A function that failed gives a *FunctionError.
func (d *Deployment) Invoke(ctx context.Context, function string, payload []byte) (answer, log []byte, err error) {
	out, err := d.Lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(d.FunctionName(function)), Payload: payload, LogType: types.LogTypeTail})
	if err != nil {
		return nil, nil, err
	}
	log, err = base64.StdEncoding.DecodeString(aws.ToString(out.LogResult))
	if err != nil {
		return nil, nil, fmt.Errorf("log of %s: %w", function, err)
	}
	if out.FunctionError != nil {
		failed := &FunctionError{Type: *out.FunctionError, Payload: string(out.Payload)}
		_ = json.Unmarshal(out.Payload, failed) // a failure of another form keeps its kind
		return nil, log, failed
	}
	return out.Payload, log, nil
}

// Trigger calls the planner.
func (d *Deployment) Trigger(ctx context.Context, t wire.Trigger) (wire.TriggerResult, error) {
	var result wire.TriggerResult
	payload, err := json.Marshal(t)
	if err != nil {
		return result, err
	}
	answer, _, err := d.Invoke(ctx, "planner", payload)
	if err != nil {
		return result, err
	}
	return result, json.Unmarshal(answer, &result)
}

// Sweep does what the reaper's schedule does each minute.
func (d *Deployment) Sweep(ctx context.Context) error {
	_, _, err := d.Invoke(ctx, "planner", []byte(`{"version":1,"action":"sweep"}`))
	return err
}
