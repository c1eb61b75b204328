// Package failure says what went wrong with a database, by one set of codes and
// in the same words for every engine. Layer: L2 (execution).
//
// A text is built anew: those of client libraries can hold a connection string
// (SEC-01), and those of servers values of rows.
package failure

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Codes of what a source refuses or cannot do.
const (
	Auth          fault.Code = "LAPSTRAKE_SOURCE_AUTH"
	TLS           fault.Code = "LAPSTRAKE_SOURCE_TLS"
	Unreachable   fault.Code = "LAPSTRAKE_SOURCE_UNREACHABLE"
	Interrupted   fault.Code = "LAPSTRAKE_SOURCE_INTERRUPTED"
	Overloaded               = source.CodeOverloaded
	Conflict      fault.Code = "LAPSTRAKE_SOURCE_CONFLICT"
	Behind        fault.Code = "LAPSTRAKE_SOURCE_BEHIND"
	LockTimeout   fault.Code = "LAPSTRAKE_SOURCE_LOCK_TIMEOUT"
	Timeout       fault.Code = "LAPSTRAKE_SOURCE_TIMEOUT"
	Permission    fault.Code = "LAPSTRAKE_SOURCE_PERMISSION"
	RowSecurity   fault.Code = "LAPSTRAKE_SOURCE_ROW_SECURITY"
	Database      fault.Code = "LAPSTRAKE_SOURCE_DATABASE_MISSING"
	TableMissing  fault.Code = "LAPSTRAKE_SOURCE_TABLE_MISSING"
	ColumnMissing fault.Code = "LAPSTRAKE_SOURCE_COLUMN_MISSING"
	Writes        fault.Code = "LAPSTRAKE_SOURCE_QUERY_WRITES"
	Query         fault.Code = "LAPSTRAKE_SOURCE_QUERY_FAILED"
	Corrupted     fault.Code = "LAPSTRAKE_SOURCE_CORRUPTED"
	Server        fault.Code = "LAPSTRAKE_SOURCE_SERVER_FAILED"
	Stream        fault.Code = "LAPSTRAKE_SOURCE_STREAM_BROKEN"
	Drift         fault.Code = "LAPSTRAKE_SOURCE_SCHEMA_DRIFT"
	Value         fault.Code = "LAPSTRAKE_SOURCE_VALUE_UNREPRESENTABLE"
	TooLarge      fault.Code = "LAPSTRAKE_SOURCE_VALUE_TOO_LARGE"
	Type          fault.Code = "LAPSTRAKE_TYPE_UNMAPPED"
)

// Cause is what an error of a server means to us.
type Cause struct {
	Class    fault.Class
	Code     fault.Code
	Advice   string
	HideText bool // it may quote a value
}

// Scene is where something failed: What was being done, Target names the server,
// Password must not be told.
type Scene struct {
	What     string
	Target   fmt.Stringer
	Password string
}

// Known returns err itself if it is nil or has a code already, and what became of
// ctx if that has ended; nil, false for a failure that is still to be explained.
func (s Scene) Known(ctx context.Context, err error) (explained error, known bool) {
	var ours *fault.Error
	if err == nil || errors.As(err, &ours) {
		return err, true
	}
	if ctx.Err() != nil {
		return fault.Wrap(context.Cause(ctx), fault.Retryable, Interrupted, "%s on %s", s.What, s.Target), true
	}
	return nil, false
}

// Answered is an error that the server answered, of the kind that number names.
func (s Scene) Answered(c Cause, message, number string) error {
	if c.HideText {
		message = "(text not shown, it may quote a value)"
	}
	if c.Advice != "" {
		c.Advice = ". " + c.Advice
	}
	return fault.New(c.Class, c.Code, "%s on %s: the server answered: %s (%s)%s", s.What, s.Target, s.Scrub(message), number, c.Advice)
}

// Connection is any other failure of a connection. noTLS is true if the server
// does not encrypt; reason is what the client library's own errors mean, "" for
// others.
func (s Scene) Connection(err error, noTLS bool, reason string) error {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &certificate):
		return fault.New(fault.Permanent, TLS, "%s: the certificate of %s is not accepted: %s", s.What, s.Target, s.Scrub(certificate.Err.Error()))
	case noTLS || errors.As(err, &record):
		return fault.New(fault.Permanent, TLS, "%s: %s does not speak TLS as the config asks for: nothing was sent in plain text", s.What, s.Target)
	}
	return fault.New(fault.Retryable, Unreachable, "%s: the connection to %s failed: %s", s.What, s.Target, s.reason(err, reason))
}

// reason is the part of a connection's failure that says nothing of who
// connects.
func (s Scene) reason(err error, own string) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return "the host name cannot be resolved"
	case errors.As(err, &op):
		return op.Op + ": " + s.Scrub(op.Err.Error())
	case own != "":
		return own
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	for next := err; next != nil; next = errors.Unwrap(next) { // the innermost text is the plainest
		err = next
	}
	return s.Scrub(err.Error())
}

// Scrub takes the password out of a text that should not have it anyway.
func (s Scene) Scrub(text string) string {
	if s.Password == "" {
		return text
	}
	return strings.ReplaceAll(text, s.Password, "***")
}
