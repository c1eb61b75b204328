// Package fault gives every failure a class and a stable code. Layer: leaf.
//
// The class decides what the machinery does (try again, give up, stop because
// a newer run owns the export); the code is what an operator searches for and
// what scripts match. A message says what failed, on which export, task and
// column, what is safe now and what to do next; it never holds a secret.
package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Class says what may be done about a failure.
type Class string

// The classes, from architecture §6 and the exit codes of the upstream.
const (
	Retryable Class = "retryable" // throttled, disconnected, deadlocked: the same work may succeed later
	Permanent Class = "permanent" // will fail again: wrong password, missing table, unmapped type
	Usage     Class = "usage"     // a wrong config or command line; nothing was started
	Busy      Class = "busy"      // another process or run is working; try again later
	Integrity Class = "integrity" // verified and wrong: a part is missing, a count differs
	Drift     Class = "drift"     // the source's schema is not the planned one
	Refused   Class = "refused"   // a protective refusal: stale plan, already complete, cursor mismatch
	Fenced    Class = "fenced"    // a newer run owns the export
	Bug       Class = "bug"       // an internal invariant does not hold
)

// Code is a stable identifier, LAPSTRAKE_<FAMILY>_<WHAT>. Families: CONFIG,
// CLI, PLAN, SOURCE, TYPE, DEST, RUN, STATE, VALIDATE, INTERNAL.
type Code string

// Error is a failure with its class and code. Message is complete by itself;
// Err is the cause, if there is one, and is printed after it.
type Error struct {
	Class   Class
	Code    Code
	Message string
	Err     error
}

// New returns an Error without a cause.
func New(class Class, code Code, format string, args ...any) *Error {
	return &Error{Class: class, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an Error around err. It returns nil when err is nil.
func Wrap(err error, class Class, code Code, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Class: class, Code: code, Message: fmt.Sprintf(format, args...), Err: err}
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of the outermost Error in err's chain. An error
// without one is Retryable: unknown failures are tried again until the
// attempts are used up (architecture §6).
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Retryable
}

// CodeOf returns the code of the outermost Error in err's chain that has one,
// or "".
func CodeOf(err error) Code {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Code != "" {
			return e.Code
		}
		err = e.Err
	}
	return ""
}

// Retry reports whether the same work may be tried again.
func Retry(err error) bool {
	switch ClassOf(err) {
	case Retryable, Busy:
		return true
	}
	return false
}

// Exit codes of the upstream (reference §2.1), which schedulers rely on.
const (
	ExitOK        = 0
	ExitGeneric   = 1
	ExitRetryable = 2 // transient, or another process is busy
	ExitIntegrity = 3
	ExitDrift     = 4
	ExitRefused   = 5
	ExitInternal  = 6
)

// ExitCode maps an error to the process's exit code. Interruption by a signal
// is not an error of this package; the CLI answers it with 130 or 143.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return ExitRetryable
	}
	switch ClassOf(err) {
	case Retryable, Busy:
		return ExitRetryable
	case Integrity:
		return ExitIntegrity
	case Drift:
		return ExitDrift
	case Refused, Fenced:
		return ExitRefused
	case Bug:
		return ExitInternal
	}
	return ExitGeneric
}

// Failure is an error as it is stored in a run or chunk item and printed in
// reports.
type Failure struct {
	Class   Class  `json:"class"`
	Code    Code   `json:"code,omitempty"`
	Message string `json:"message"`
}

// FailureOf reduces err to what is stored. Its message is Shortened, so that an
// item stays small whatever a server answered.
func FailureOf(err error) Failure {
	return Failure{Class: ClassOf(err), Code: CodeOf(err), Message: Shortened(err.Error())}
}

// messageMost is how much of a message is stored and answered.
const messageMost = 2000

// Shortened cuts a message at 2,000 bytes, and never inside a character, which a
// table may refuse to store. What is to be hidden in it has to be hidden before:
// a half of a secret is not recognised.
func Shortened(message string) string {
	if len(message) <= messageMost {
		return message
	}
	return strings.ToValidUTF8(message[:messageMost], "") + "…"
}

// Err turns a stored failure back into an error.
func (f Failure) Err() error {
	return &Error{Class: f.Class, Code: f.Code, Message: f.Message}
}
