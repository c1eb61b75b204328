// Package stepfunctions answers the task token that a state machine of AWS Step
// Functions has put into a run's trigger and waits for. Layer: L4
// (observability).
package stepfunctions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Timeout bounds one call with its repetitions, so that a service that hangs
// cannot hold up a function.
const Timeout = 15 * time.Second

// API is what is used of the client of Step Functions.
type API interface {
	SendTaskSuccess(context.Context, *sfn.SendTaskSuccessInput, ...func(*sfn.Options)) (*sfn.SendTaskSuccessOutput, error)
	SendTaskFailure(context.Context, *sfn.SendTaskFailureInput, ...func(*sfn.Options)) (*sfn.SendTaskFailureOutput, error)
	SendTaskHeartbeat(context.Context, *sfn.SendTaskHeartbeatInput, ...func(*sfn.Options)) (*sfn.SendTaskHeartbeatOutput, error)
}

// Notifier answers task tokens. An event whose run has none it does not want.
type Notifier struct{ api API }

// New returns a notifier that calls api.
func New(api API) *Notifier { return &Notifier{api: api} }

// Notify sends the token's success, failure or heartbeat. A token can be
// answered once: the second answer, and the answer to a task that has timed out
// or whose execution was stopped, is no error, because nobody waits for it.
//
// Every other refusal has notify.ErrOwed in its chain, but for one of the
// request itself, which would be refused again.
func (n *Notifier) Notify(ctx context.Context, e notify.Event) error {
	c := e.Callback
	if c == nil || c.Kind != wire.StepFunctions || c.Token == "" || e.Kind == notify.Validated {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	if e.Kind == notify.AtWork {
		_, err := n.api.SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: &c.Token})
		return answered("heartbeat", e, err)
	}
	out := outputOf(e)
	body, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encode the output of run %s: %w", e.RunID, err)
	}
	if out.Error == nil {
		_, err = n.api.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &c.Token, Output: aws.String(string(body))})
		return answered("success", e, err)
	}
	_, err = n.api.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{
		TaskToken: &c.Token, Error: aws.String(errorName(*out.Error)), Cause: aws.String(string(body)),
	})
	return answered("failure", e, err)
}

// outputOf is what the state machine is told. A run that failed, or was
// superseded, always says why.
func outputOf(e notify.Event) wire.RunOutput {
	out := wire.RunOutput{
		RunID: e.RunID, Export: e.Export, Status: e.Status, ManifestURI: e.Manifest, ManifestFingerprint: e.ManifestFingerprint,
		RowCount: e.Rows, PartCount: e.Parts, Verdict: e.Verdict,
	}
	switch e.Status {
	case "success":
	case "refused":
		out.Skipped = true
	default:
		var f fault.Failure
		if e.Failure != nil {
			f = *e.Failure
		}
		// The whole cause may have 32 KiB.
		f.Message = telemetry.Told(cmp.Or(f.Message, "the run is "+e.Status))
		out.Error = &f
	}
	return out
}

// errorName is what the Retry and Catch rules of a state machine compare.
func errorName(f fault.Failure) string {
	return cmp.Or(string(f.Code), string(f.Class), "LAPSTRAKE_RUN_FAILED")
}

// answered judges what Step Functions said. Its words are left out: a refusal
// may repeat the token.
func answered(what string, e notify.Event, err error) error {
	var (
		timedOut *types.TaskTimedOut
		absent   *types.TaskDoesNotExist
		invalid  *types.InvalidToken
		refused  smithy.APIError
	)
	switch {
	case err == nil, errors.As(err, &timedOut), errors.As(err, &absent), errors.As(err, &invalid):
		return nil
	case !errors.As(err, &refused):
		return owed(what, e, "there was no answer")
	case refused.ErrorCode() == "ValidationException" || refused.ErrorCode() == "InvalidOutput":
		return fmt.Errorf("send the %s of run %s to its state machine: refused as %s", what, e.RunID, refused.ErrorCode())
	}
	return owed(what, e, refused.ErrorCode())
}

func owed(what string, e notify.Event, why string) error {
	return fmt.Errorf("send the %s of run %s to its state machine (%s): %w", what, e.RunID, why, notify.ErrOwed)
}
