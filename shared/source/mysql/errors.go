package mysql

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"net"
	"strings"

	mysqldriver "github.com/go-sql-driver/mysql"
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
// class and a code. The text is built anew: theirs can hold values of rows. A
// failure that has a code already is left as it is.
func (s *session) explain(ctx context.Context, err error, what string) error {
	var ours *fault.Error
	if err == nil || errors.As(err, &ours) {
		return err
	}
	if ctx.Err() != nil {
		return fault.Wrap(context.Cause(ctx), fault.Retryable, codeInterrupted, "%s on %s", what, s.target)
	}
	var refused *mysqldriver.MySQLError
	if errors.As(err, &refused) {
		c := classify(refused.Number)
		message := refused.Message
		if c.hideText {
			message = "(text not shown, it may quote a value)"
		}
		if c.advice != "" {
			c.advice = ". " + c.advice
		}
		return fault.New(c.class, c.code, "%s on %s: the server answered: %s (error %d)%s", what, s.target, s.scrub(message), refused.Number, c.advice)
	}
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &certificate):
		return fault.New(fault.Permanent, codeTLS, "%s: the certificate of %s is not accepted: %s", what, s.target, s.scrub(certificate.Err.Error()))
	case errors.As(err, &record), errors.Is(err, mysqldriver.ErrNoTLS):
		return fault.New(fault.Permanent, codeTLS, "%s: %s does not speak TLS as the config asks for: nothing was sent in plain text", what, s.target)
	case errors.Is(err, mysqldriver.ErrCleartextPassword), errors.Is(err, mysqldriver.ErrOldPassword), errors.Is(err, mysqldriver.ErrNativePassword), errors.Is(err, mysqldriver.ErrUnknownPlugin):
		return fault.New(fault.Permanent, codeAuth, "%s: the user of %s signs in by a plugin that is not supported: use caching_sha2_password, mysql_native_password or ed25519", what, s.target)
	}
	return fault.New(fault.Retryable, codeUnreachable, "%s: the connection to %s failed: %s", what, s.target, s.reason(err))
}

// reason is the part of a connection's failure that says nothing of who
// connects.
func (s *session) reason(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return "the host name cannot be resolved"
	case errors.As(err, &op):
		return op.Op + ": " + s.scrub(op.Err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysqldriver.ErrInvalidConn):
		return "it was broken"
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

// cause is what a server's error means to us.
type cause struct {
	class    fault.Class
	code     fault.Code
	advice   string
	hideText bool
}

const changedAdvice = "It was changed while it was read: the same read sees it as it is now"

// causes are by the server's error number. Numbers that MySQL and MariaDB give
// different meanings have none here.
var causes = map[uint16]cause{
	1040: {class: fault.Retryable, code: codeOverloaded, advice: "Fewer workers at a time need fewer connections"}, // too many connections
	1203: {class: fault.Retryable, code: codeOverloaded, advice: "Fewer workers at a time need fewer connections"},
	1226: {class: fault.Retryable, code: codeOverloaded},
	1041: {class: fault.Retryable, code: codeOverloaded}, // out of memory
	1037: {class: fault.Retryable, code: codeOverloaded},
	1021: {class: fault.Retryable, code: codeOverloaded},  // disk full
	1053: {class: fault.Retryable, code: codeUnreachable}, // server shutdown
	1077: {class: fault.Retryable, code: codeUnreachable},
	1152: {class: fault.Retryable, code: codeUnreachable},
	1158: {class: fault.Retryable, code: codeUnreachable}, 1159: {class: fault.Retryable, code: codeUnreachable},
	1160: {class: fault.Retryable, code: codeUnreachable}, 1161: {class: fault.Retryable, code: codeUnreachable},
	1927: {class: fault.Retryable, code: codeUnreachable}, // connection was killed
	1317: {class: fault.Retryable, code: codeConflict},    // query was interrupted
	1205: {class: fault.Retryable, code: codeLockTimeout},
	1213: {class: fault.Retryable, code: codeConflict},
	1412: {class: fault.Retryable, code: codeConflict, advice: changedAdvice},
	1969: {class: fault.Permanent, code: codeTimeout, advice: timeoutAdvice}, // max_statement_time
	3024: {class: fault.Permanent, code: codeTimeout, advice: timeoutAdvice}, // max_execution_time
	1045: {class: fault.Permanent, code: codeAuth, advice: "Check user, password and the hosts that the user may come from"},
	1130: {class: fault.Permanent, code: codeAuth, advice: "The user may not come from this host"},
	1698: {class: fault.Permanent, code: codeAuth},
	1251: {class: fault.Permanent, code: codeAuth},
	1820: {class: fault.Permanent, code: codeAuth, advice: "The password has expired"},
	1862: {class: fault.Permanent, code: codeAuth, advice: "The password has expired"},
	3118: {class: fault.Permanent, code: codeAuth, advice: "The account is locked"},
	4151: {class: fault.Permanent, code: codeAuth, advice: "The account is locked"},
	3159: {class: fault.Permanent, code: codeTLS, advice: "The server asks for TLS: add source.tls"},
	1044: {class: fault.Permanent, code: codePermission, advice: "The source's user needs SELECT on what is read"},
	1142: {class: fault.Permanent, code: codePermission, advice: "The source's user needs SELECT on every column that is read; a query: can list those that it may read"},
	1143: {class: fault.Permanent, code: codePermission, advice: "The source's user needs SELECT on every column that is read; a query: can list those that it may read"},
	1227: {class: fault.Permanent, code: codePermission},
	1370: {class: fault.Permanent, code: codePermission},
	1345: {class: fault.Permanent, code: codePermission},
	1356: {class: fault.Permanent, code: codePermission, advice: "A view refers to what is not there, or its definer may not read it"},
	1049: {class: fault.Permanent, code: codeDatabase},
	1146: {class: fault.Permanent, code: codeTableMissing},
	1051: {class: fault.Permanent, code: codeTableMissing},
	1054: {class: fault.Permanent, code: codeColumnMissing},
	1792: {class: fault.Permanent, code: codeWrites, advice: "An export reads only: nothing was changed"},
	1290: {class: fault.Permanent, code: codeWrites},
	1033: {class: fault.Permanent, code: codeCorrupted}, 1034: {class: fault.Permanent, code: codeCorrupted},
	1035: {class: fault.Permanent, code: codeCorrupted}, 126: {class: fault.Permanent, code: codeCorrupted},
	1194: {class: fault.Permanent, code: codeCorrupted}, 1195: {class: fault.Permanent, code: codeCorrupted},
	1712: {class: fault.Permanent, code: codeCorrupted}, 1877: {class: fault.Permanent, code: codeCorrupted},
	1064: {class: fault.Permanent, code: codeQuery},
	1052: {class: fault.Permanent, code: codeQuery}, 1055: {class: fault.Permanent, code: codeQuery}, 1056: {class: fault.Permanent, code: codeQuery},
	1060: {class: fault.Permanent, code: codeQuery, advice: "Two columns of the query have one name: give one of them another with AS"},
	1111: {class: fault.Permanent, code: codeQuery}, 1140: {class: fault.Permanent, code: codeQuery}, 1104: {class: fault.Permanent, code: codeQuery},
	1222: {class: fault.Permanent, code: codeQuery}, 1235: {class: fault.Permanent, code: codeQuery}, 1248: {class: fault.Permanent, code: codeQuery},
	1241: {class: fault.Permanent, code: codeQuery}, 1242: {class: fault.Permanent, code: codeQuery}, 1267: {class: fault.Permanent, code: codeQuery},
	1271: {class: fault.Permanent, code: codeQuery}, 1305: {class: fault.Permanent, code: codeQuery}, 1318: {class: fault.Permanent, code: codeQuery},
	1295: {class: fault.Permanent, code: codeQuery, advice: "Only a SELECT is read"},
	1365: {class: fault.Permanent, code: codeQuery, hideText: true}, 1690: {class: fault.Permanent, code: codeQuery, hideText: true},
	1292: {class: fault.Permanent, code: codeQuery, hideText: true}, 1366: {class: fault.Permanent, code: codeQuery, hideText: true},
	1525: {class: fault.Permanent, code: codeQuery, hideText: true}, 3141: {class: fault.Permanent, code: codeQuery, hideText: true},
}

const timeoutAdvice = "The same read would take as long again: use smaller chunks or a higher tuning.statement_timeout_s"

func classify(number uint16) cause {
	if c, ok := causes[number]; ok {
		return c
	}
	return cause{class: fault.Retryable, code: codeServer}
}
