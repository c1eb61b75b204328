package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Codes of this package's failures.
const (
	codeAuth          fault.Code = "LAPSTRAKE_SOURCE_AUTH"
	codeTLS           fault.Code = "LAPSTRAKE_SOURCE_TLS"
	codeUnreachable   fault.Code = "LAPSTRAKE_SOURCE_UNREACHABLE"
	codeInterrupted   fault.Code = "LAPSTRAKE_SOURCE_INTERRUPTED"
	codeOverloaded    fault.Code = "LAPSTRAKE_SOURCE_OVERLOADED"
	codeConflict      fault.Code = "LAPSTRAKE_SOURCE_CONFLICT"
	codeLockTimeout   fault.Code = "LAPSTRAKE_SOURCE_LOCK_TIMEOUT"
	codeTimeout       fault.Code = "LAPSTRAKE_SOURCE_TIMEOUT"
	codePermission    fault.Code = "LAPSTRAKE_SOURCE_PERMISSION"
	codeRowSecurity   fault.Code = "LAPSTRAKE_SOURCE_ROW_SECURITY"
	codeDatabase      fault.Code = "LAPSTRAKE_SOURCE_DATABASE_MISSING"
	codeTableMissing  fault.Code = "LAPSTRAKE_SOURCE_TABLE_MISSING"
	codeColumnMissing fault.Code = "LAPSTRAKE_SOURCE_COLUMN_MISSING"
	codeWrites        fault.Code = "LAPSTRAKE_SOURCE_QUERY_WRITES"
	codeQuery         fault.Code = "LAPSTRAKE_SOURCE_QUERY_FAILED"
	codeCorrupted     fault.Code = "LAPSTRAKE_SOURCE_CORRUPTED"
	codeServer        fault.Code = "LAPSTRAKE_SOURCE_SERVER_FAILED"
	codeStream        fault.Code = "LAPSTRAKE_SOURCE_STREAM_BROKEN"
	codeDrift         fault.Code = "LAPSTRAKE_SOURCE_SCHEMA_DRIFT"
	codeValue         fault.Code = "LAPSTRAKE_SOURCE_VALUE_UNREPRESENTABLE"
	codeTooLarge      fault.Code = "LAPSTRAKE_SOURCE_VALUE_TOO_LARGE"
	codeType          fault.Code = "LAPSTRAKE_TYPE_UNMAPPED"
)

// explain turns a failure of the client library or the server into one with a
// class and a code. The text is built anew: theirs can hold a connection
// string (SEC-01), and a server's details can hold values of rows. A failure
// that has a code already is left as it is.
func (s *session) explain(ctx context.Context, err error, what string) error {
	var ours *fault.Error
	if err == nil || errors.As(err, &ours) {
		return err
	}
	if ctx.Err() != nil {
		return fault.Wrap(context.Cause(ctx), fault.Retryable, codeInterrupted, "%s on %s", what, s.target)
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		c := classify(refused)
		message := refused.Message
		if c.hideText {
			message = "(text not shown, it may quote a value)"
		}
		if c.advice != "" {
			c.advice = ". " + c.advice
		}
		return fault.New(c.class, c.code, "%s on %s: the server answered: %s (SQLSTATE %s)%s", what, s.target, s.scrub(message), refused.Code, c.advice)
	}
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch text := err.Error(); {
	case errors.As(err, &certificate):
		return fault.New(fault.Permanent, codeTLS, "%s: the certificate of %s is not accepted: %s", what, s.target, s.scrub(certificate.Err.Error()))
	case errors.As(err, &record), strings.Contains(text, "refused TLS"), strings.Contains(text, "tls error"):
		return fault.New(fault.Permanent, codeTLS, "%s: %s does not speak TLS as the config asks for: nothing was sent in plain text", what, s.target)
	}
	return fault.New(fault.Retryable, codeUnreachable, "%s: the connection to %s failed: %s", what, s.target, s.reason(err))
}

// reason is the part of a connection's failure that says nothing of who
// connects.
func (s *session) reason(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var long *pgproto3.ExceededMaxBodyLenErr
	switch {
	case errors.As(err, &dns):
		return "the host name cannot be resolved"
	case errors.As(err, &op):
		return op.Op + ": " + s.scrub(op.Err.Error())
	case errors.As(err, &long):
		return "a message is longer than allowed"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	for next := err; next != nil; next = errors.Unwrap(next) { // the innermost text is the plainest
		err = next
	}
	return s.scrub(err.Error())
}

// scrub takes the password out of a text that should not have it anyway.
func (s *session) scrub(text string) string {
	if s.target.password == "" {
		return text
	}
	return strings.ReplaceAll(text, s.target.password, "***")
}

// cause is what a class of server errors means to us.
type cause struct {
	class    fault.Class
	code     fault.Code
	advice   string
	hideText bool
}

// causes are by SQLSTATE or by its first two characters (reference §3.2).
var causes = map[string]cause{
	"08":    {class: fault.Retryable, code: codeUnreachable},
	"57P01": {class: fault.Retryable, code: codeUnreachable},
	"57P02": {class: fault.Retryable, code: codeUnreachable},
	"57P03": {class: fault.Retryable, code: codeUnreachable},
	"57P05": {class: fault.Retryable, code: codeUnreachable},
	"25P03": {class: fault.Retryable, code: codeUnreachable},
	"53":    {class: fault.Retryable, code: codeOverloaded, advice: "Fewer workers at a time need fewer connections"},
	"40":    {class: fault.Retryable, code: codeConflict, advice: "On a standby, smaller chunks or hot_standby_feedback avoid it"},
	"55P03": {class: fault.Retryable, code: codeLockTimeout},
	"57014": {class: fault.Permanent, code: codeTimeout, advice: "The same read would take as long again: use smaller chunks or a higher tuning.statement_timeout_s"},
	"25P04": {class: fault.Permanent, code: codeTimeout, advice: "The same read would take as long again: use smaller chunks or a higher transaction_timeout"},
	"28":    {class: fault.Permanent, code: codeAuth, advice: "Check user, password and the server's pg_hba.conf"},
	"3D000": {class: fault.Permanent, code: codeDatabase},
	"42501": {class: fault.Permanent, code: codePermission, advice: "The source's user needs USAGE on the schema and SELECT on what is read"},
	"42P01": {class: fault.Permanent, code: codeTableMissing},
	"3F000": {class: fault.Permanent, code: codeTableMissing},
	"42703": {class: fault.Permanent, code: codeColumnMissing},
	"25006": {class: fault.Permanent, code: codeWrites, advice: "An export reads only: nothing was changed"},
	"XX001": {class: fault.Permanent, code: codeCorrupted},
	"XX002": {class: fault.Permanent, code: codeCorrupted},
	"22021": {class: fault.Refused, code: codeValue, hideText: true, advice: "A text is not valid in the database's own encoding: correct it, or leave its column out with a query:"},
	"22P05": {class: fault.Refused, code: codeValue, hideText: true, advice: "A text has a character that UTF-8 lacks: correct it, or leave its column out with a query:"},
	"22":    {class: fault.Permanent, code: codeQuery, hideText: true, advice: "An expression of the query, the view or a generated column fails at some row"},
	"23":    {class: fault.Permanent, code: codeQuery, hideText: true},
	"0A":    {class: fault.Permanent, code: codeQuery},
	"21":    {class: fault.Permanent, code: codeQuery},
	"2F":    {class: fault.Permanent, code: codeQuery},
	"38":    {class: fault.Permanent, code: codeQuery},
	"39":    {class: fault.Permanent, code: codeQuery},
	"42":    {class: fault.Permanent, code: codeQuery},
	"54":    {class: fault.Permanent, code: codeQuery},
	"55000": {class: fault.Permanent, code: codeQuery},
	"P0":    {class: fault.Permanent, code: codeQuery, hideText: true},
}

func classify(e *pgconn.PgError) cause {
	// What another server says of its policies comes under postgres_fdw's name.
	if e.Code == "42501" && (e.Routine == "check_enable_rls" || e.Routine == "pgfdw_report_error" && strings.Contains(e.Message, "row-level security")) {
		return cause{class: fault.Permanent, code: codeRowSecurity, advice: rowSecurityAdvice}
	}
	if c, ok := causes[e.Code]; ok {
		return c
	}
	if len(e.Code) == 5 {
		if c, ok := causes[e.Code[:2]]; ok {
			return c
		}
	}
	return cause{class: fault.Retryable, code: codeServer}
}

const rowSecurityAdvice = "Row-level security would leave rows out without a word: export as a user with BYPASSRLS, or use a query: on a view whose owner sees all rows"
