// Package notify tells people and other systems how a run has ended and what
// its verdict is. Layer: L4 (observability).
//
// A notification is the last thing that happens to a run and decides nothing:
// it is sent after the verdict is known (I8), it may be sent twice, and a
// caller only logs its failure. Drivers live below this package.
package notify

import (
	"context"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Notifier tells one receiver about an event. It is safe for concurrent use.
type Notifier interface {
	// Notify returns nil when the receiver has the event, or does not want
	// events of this kind. An error says nothing about the run, and never holds
	// the address of the receiver, which can be a secret. Receivers tell
	// repeated events apart by kind, run and manifest fingerprint.
	Notify(ctx context.Context, e Event) error
}

// Kind says what an event is about.
type Kind string

const (
	// RunEnded is sent once a run has reached a terminal state.
	RunEnded Kind = "run"
	// Validated is sent once the validator has judged a prefix.
	Validated Kind = "validation"
)

// Event is what is told. It holds no row and no key of a row.
type Event struct {
	Kind   Kind                `json:"kind"`
	Export contract.ExportName `json:"export,omitempty"`
	RunID  contract.RunID      `json:"run_id,omitempty"`
	// Status is the run's status ("success", "failed", "superseded") or the
	// verdict on a prefix ("passed", "failed", "reduced", "pending").
	Status string `json:"status"`
	// Verdict is what a run that has ended was found to have published
	// ("passed", "failed"), "" when it was not looked at.
	Verdict string `json:"verdict,omitempty"`
	// Prefix is where the data is, as a URI.
	Prefix              string               `json:"prefix,omitempty"`
	ManifestFingerprint contract.Fingerprint `json:"manifest_fingerprint,omitempty"`
	Rows                int64                `json:"rows"`
	Parts               int                  `json:"parts"`
	DurationMillis      int64                `json:"duration_ms,omitempty"`
	SchemaChanged       bool                 `json:"schema_changed,omitempty"`
	Failure             *fault.Failure       `json:"failure,omitempty"`
	// Findings are the codes of what a verification found, fatal ones first.
	Findings []string `json:"findings,omitempty"`
}

// Failed reports whether the event is about something that went wrong.
func (e Event) Failed() bool {
	return e.Status == "failed" || e.Verdict == "failed" || e.Failure != nil
}

// Degraded reports whether the event is about data that stands with less than
// the full guarantees: a prefix without a manifest (M6), or a run that another
// one has superseded.
func (e Event) Degraded() bool {
	return !e.Failed() && (e.Status == "reduced" || e.Status == "superseded")
}

// Nop tells nobody.
type Nop struct{}

// Notify does nothing.
func (Nop) Notify(context.Context, Event) error { return nil }
