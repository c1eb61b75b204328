// Package wire holds what travels between the functions: queue messages, the
// trigger of the planner and its answer. Layer: leaf.
//
// Messages carry references and identities, never rows and never secrets. A
// message of another version or with an unknown field is refused, not guessed
// at (QUE-21).
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Version is the version of every message of this package.
const Version = 1

// Names of the queues, before a deployment's prefix. The chunk queue has one
// instance a source database, so that its concurrency cap protects that
// database (D11).
const (
	FinalizeQueue = "finalize"
	ValidateQueue = "validate"
)

// ChunkQueue returns the name of the chunk queue of a source.
func ChunkQueue(sourceName string) string { return "chunk-" + sourceName }

// Location says where a destination is and how to sign in: by the names of
// environment variables, a profile, or the function's own role. It never holds
// a secret.
type Location struct {
	// Kind is "local", "s3", "gcs", "azure" or "memory".
	Kind string `json:"kind"`
	// URI is the root: the static part of the configured destination, such as
	// file:///data/exports/orders or s3://bucket/exports/orders.
	URI             string `json:"uri"`
	Region          string `json:"region,omitempty"`
	Endpoint        string `json:"endpoint,omitempty"`
	AccessKeyEnv    string `json:"access_key_env,omitempty"`
	SecretKeyEnv    string `json:"secret_key_env,omitempty"`
	SessionTokenEnv string `json:"session_token_env,omitempty"`
	Profile         string `json:"profile,omitempty"`
	AllowAnonymous  bool   `json:"allow_anonymous,omitempty"`
}

// RunRef names one generation of one run and where its control objects are.
// Every task message has one; the receiver compares PlanFingerprint with the
// plan that it reads, so a message of a foreign run is refused (SEC-09).
type RunRef struct {
	Export          contract.ExportName  `json:"export"`
	RunID           contract.RunID       `json:"run_id"`
	Generation      contract.Generation  `json:"generation"`
	PlanFingerprint contract.Fingerprint `json:"plan_fingerprint,omitempty"`
	Root            Location             `json:"root"`
}

// ChunkTask asks for one chunk. Its range is in the task's item and in the
// plan, not here: the message is a claim check.
type ChunkTask struct {
	Version int             `json:"version"`
	Run     RunRef          `json:"run"`
	Task    contract.TaskID `json:"task"`
}

// FinalizeTask asks for the publication of a run, or for settling a run that
// another one has sealed or rolled forward.
type FinalizeTask struct {
	Version int    `json:"version"`
	Run     RunRef `json:"run"`
}

// ValidateTask asks for a verdict on what a prefix holds now.
type ValidateTask struct {
	Version int `json:"version"`
	// Root is the bucket or folder that Prefix is relative to.
	Root   Location `json:"root"`
	Prefix string   `json:"prefix"`
}

// Action is what a trigger asks of the planner.
type Action string

// The actions of architecture §5.1. A repair is a resume by force, of a run that
// has committed.
const (
	ActionRun      Action = "run"
	ActionResume   Action = "resume"
	ActionRepair   Action = "repair"
	ActionSweep    Action = "sweep"
	ActionValidate Action = "validate"
)

// Trigger is the planner's input, the same for every kind of trigger
// (architecture §5.1).
//
// It has at most MaxTriggerBytes: it is kept with its run.
type Trigger struct {
	Version   int                 `json:"version"`
	Action    Action              `json:"action"`
	Export    contract.ExportName `json:"export,omitempty"`
	ConfigURI string              `json:"config_uri,omitempty"`
	// ScheduledTime is the time of the schedule, not of the delivery: a
	// trigger delivered twice names the same run. RFC 3339.
	ScheduledTime *contract.Time `json:"scheduled_time,omitempty"`
	// TriggerID tells one cause from another; by default the scheduled time.
	TriggerID string         `json:"trigger_id,omitempty"`
	RunID     contract.RunID `json:"run_id,omitempty"`
	Force     bool           `json:"force,omitempty"`
	// Reanchor makes a new fence document when the export's is gone or cannot
	// be read. Only a trigger that names its run may ask for it: a schedule
	// must not carry it for ever.
	Reanchor bool `json:"reanchor,omitempty"`
	// OnConflict is "reject" (default) or "supersede".
	OnConflict string            `json:"on_conflict,omitempty"`
	Params     map[string]string `json:"params,omitempty"`
	Callback   *Callback         `json:"callback,omitempty"`
}

// MaxTriggerBytes bounds the JSON of a trigger. The item of its run, which holds
// it, a callback and a failure besides, stays far below the 400 KB of the
// smallest table.
const MaxTriggerBytes = 64 << 10

// Callback says whom to tell when the run has ended.
type Callback struct {
	Kind  string `json:"kind"` // StepFunctions, "workflows" or "none"
	Token string `json:"token,omitempty"`
}

// TriggerStatus is the planner's answer in one word.
type TriggerStatus string

// The answers of architecture §5.1.
const (
	Started        TriggerStatus = "started"
	AlreadyRunning TriggerStatus = "already_running"
	RefusedTrigger TriggerStatus = "refused"
	Skipped        TriggerStatus = "skipped"
	Succeeded      TriggerStatus = "succeeded"
	FailedTrigger  TriggerStatus = "failed"
)

// TriggerResult is the planner's answer.
type TriggerResult struct {
	RunID  contract.RunID `json:"run_id,omitempty"`
	Status TriggerStatus  `json:"status"`
	Reason string         `json:"reason,omitempty"`
	Chunks int            `json:"chunks"`
	// Skipped is true when nothing was started and nothing is wrong, so that a
	// workflow can branch on it.
	Skipped bool `json:"skipped,omitempty"`
	// LegacyRun is true when a resume found data of another writer in the
	// prefix and no manifest (M6).
	LegacyRun bool `json:"legacy_run,omitempty"`
}

// OutcomeKind says what the transport does with a message.
type OutcomeKind int

const (
	Ack   OutcomeKind = iota // done with: delete it
	Retry                    // hand it back, to be delivered again after Outcome.After
	Fatal                    // will never work: leave it to the dead-letter queue
)

// Outcome is a handler's answer to its transport.
type Outcome struct {
	Kind OutcomeKind
	// After is the least time in seconds before the next delivery of a Retry.
	AfterSeconds int
	// Detail says why, for the log.
	Detail string
}

// Done is the outcome of a message that is dealt with.
func Done(format string, args ...any) Outcome {
	return Outcome{Kind: Ack, Detail: fmt.Sprintf(format, args...)}
}

// Again is the outcome of a message that has to come back.
func Again(afterSeconds int, format string, args ...any) Outcome {
	return Outcome{Kind: Retry, AfterSeconds: afterSeconds, Detail: fmt.Sprintf(format, args...)}
}

// Decode reads one message strictly: one JSON value, no unknown field.
func Decode[M ChunkTask | FinalizeTask | ValidateTask | Trigger](body []byte) (M, error) {
	var m M
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fault.Wrap(err, fault.Permanent, "LAPSTRAKE_RUN_MESSAGE_INVALID", "message of %d bytes cannot be read", len(body))
	}
	if _, err := d.Token(); err != io.EOF {
		return m, fault.New(fault.Permanent, "LAPSTRAKE_RUN_MESSAGE_INVALID", "message of %d bytes has something after its end", len(body))
	}
	if v := version(m); v != Version {
		return m, fault.New(fault.Permanent, "LAPSTRAKE_RUN_MESSAGE_VERSION", "message has version %d, this function reads version %d: deploy planner and functions together", v, Version)
	}
	return m, nil
}

func version(m any) int {
	switch m := m.(type) {
	case ChunkTask:
		return m.Version
	case FinalizeTask:
		return m.Version
	case ValidateTask:
		return m.Version
	case Trigger:
		return m.Version
	}
	return 0
}
