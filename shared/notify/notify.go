// Package notify tells people and other systems how a run has ended and what
// its verdict is. Layer: L4 (observability).
//
// A notification is the last thing that happens to a run and decides nothing:
// it is sent after the verdict is known (I8), it may be sent twice, and a
// caller only logs its failure, unless somebody waits (ErrOwed). Drivers live
// below this package and pass notifytest.
package notify

import (
	"context"
	"errors"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Notifier tells one receiver about an event. It is safe for concurrent use.
type Notifier interface {
	// Notify returns nil when the receiver has the event, or does not want
	// events of this kind. An error says nothing about the run, and never holds
	// the address of the receiver or a token, which can be secrets. Receivers
	// tell repeated events apart by kind, run and manifest fingerprint.
	Notify(ctx context.Context, e Event) error
}

// ErrOwed is in the chain of an error of a receiver that waits for the event and
// has not got it: it has to be told again.
var ErrOwed = errors.New("the receiver waits for this event and has not got it")

// Kind says what an event is about.
type Kind string

const (
	// RunEnded is sent once a run has reached a terminal state.
	RunEnded Kind = "run"
	// Validated is sent once the validator has judged a prefix.
	Validated Kind = "validation"
	// AtWork is sent again and again while a run that has a callback is at
	// work. It is for callbacks alone, like Answered.
	AtWork Kind = "at_work"
	// Answered tells a callback what has become of its run when everybody else
	// knows it, or has nothing to know: the trigger came again after the run's
	// end, was refused, or the answer may have been lost.
	Answered Kind = "answer"
)

// Event is what is told. It holds no row and no key of a row.
type Event struct {
	Kind   Kind                `json:"kind"`
	Export contract.ExportName `json:"export,omitempty"`
	RunID  contract.RunID      `json:"run_id,omitempty"`
	// Status is the run's status ("success", "failed", "superseded", and
	// "refused" in an answer) or the verdict on a prefix ("passed", "failed",
	// "reduced", "pending").
	Status string `json:"status"`
	// Verdict is what a run that has ended was found to have published
	// ("passed", "failed"), "" when it was not looked at.
	Verdict string `json:"verdict,omitempty"`
	// Prefix is where the data is, as a URI, and Manifest the run's own manifest
	// in it.
	Prefix              string               `json:"prefix,omitempty"`
	Manifest            string               `json:"manifest,omitempty"`
	ManifestFingerprint contract.Fingerprint `json:"manifest_fingerprint,omitempty"`
	Rows                int64                `json:"rows"`
	Parts               int                  `json:"parts"`
	DurationMillis      int64                `json:"duration_ms,omitempty"`
	SchemaChanged       bool                 `json:"schema_changed,omitempty"`
	Failure             *fault.Failure       `json:"failure,omitempty"`
	// Findings are the codes of what a verification found, fatal ones first.
	Findings []string `json:"findings,omitempty"`
	// Callback is whom the run's trigger asked to tell, nil for nobody. It holds
	// a token and is no part of what is told.
	Callback *wire.Callback `json:"-"`
}

// ForCallback reports whether the event is for the run's callback alone.
func (e Event) ForCallback() bool { return e.Kind == AtWork || e.Kind == Answered }

// Failed reports whether the event is about something that went wrong. A run
// that was superseded says by what, and is none of these.
func (e Event) Failed() bool {
	return e.Status == "failed" || e.Verdict == "failed" || e.Failure != nil && e.Status != "superseded"
}

// Degraded reports whether the event is about data that stands with less than
// the full guarantees: a prefix without a manifest (M6), or a run that another
// one has superseded.
func (e Event) Degraded() bool {
	return !e.Failed() && (e.Status == "reduced" || e.Status == "superseded")
}

// All tells each of its receivers, whatever the others answer.
type All []Notifier

// Notify implements [Notifier].
func (a All) Notify(ctx context.Context, e Event) error {
	var failed []error
	for _, n := range a {
		failed = append(failed, n.Notify(ctx, e))
	}
	return errors.Join(failed...)
}

// Nop tells nobody.
type Nop struct{}

// Notify does nothing.
func (Nop) Notify(context.Context, Event) error { return nil }
