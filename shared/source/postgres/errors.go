package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

// explain turns a failure of the client library or the server into one with a
// class and a code. A failure that has a code already is left as it is.
func (s *session) explain(ctx context.Context, err error, what string) error {
	scene := s.scene(what)
	if explained, known := scene.Known(ctx, err); known {
		return explained
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return scene.Answered(classify(refused), refused.Message, "SQLSTATE "+refused.Code)
	}
	reason := ""
	var long *pgproto3.ExceededMaxBodyLenErr
	if errors.As(err, &long) {
		reason = "a message is longer than allowed"
	}
	text := err.Error()
	return scene.Connection(err, strings.Contains(text, "refused TLS") || strings.Contains(text, "tls error"), reason)
}

func (s *session) scene(what string) failure.Scene {
	return failure.Scene{What: what, Target: s.target, Password: s.target.password}
}

// causes are by SQLSTATE or by its first two characters (reference §3.2).
var causes = map[string]failure.Cause{
	"08":    {Class: fault.Retryable, Code: failure.Unreachable},
	"57P01": {Class: fault.Retryable, Code: failure.Unreachable},
	"57P02": {Class: fault.Retryable, Code: failure.Unreachable},
	"57P03": {Class: fault.Retryable, Code: failure.Unreachable},
	"57P05": {Class: fault.Retryable, Code: failure.Unreachable},
	"25P03": {Class: fault.Retryable, Code: failure.Unreachable},
	"53":    {Class: fault.Retryable, Code: failure.Overloaded, Advice: "Fewer workers at a time need fewer connections"},
	"40":    {Class: fault.Retryable, Code: failure.Conflict, Advice: "On a standby, smaller chunks or hot_standby_feedback avoid it"},
	"55P03": {Class: fault.Retryable, Code: failure.LockTimeout},
	"57014": {Class: fault.Permanent, Code: failure.Timeout, Advice: "The same read would take as long again: use smaller chunks or a higher tuning.statement_timeout_s"},
	"25P04": {Class: fault.Permanent, Code: failure.Timeout, Advice: "The same read would take as long again: use smaller chunks or a higher transaction_timeout"},
	"28":    {Class: fault.Permanent, Code: failure.Auth, Advice: "Check user, password and the server's pg_hba.conf"},
	"3D000": {Class: fault.Permanent, Code: failure.Database},
	"42501": {Class: fault.Permanent, Code: failure.Permission, Advice: "The source's user needs USAGE on the schema and SELECT on what is read"},
	"42P01": {Class: fault.Permanent, Code: failure.TableMissing},
	"3F000": {Class: fault.Permanent, Code: failure.TableMissing},
	"42703": {Class: fault.Permanent, Code: failure.ColumnMissing},
	"25006": {Class: fault.Permanent, Code: failure.Writes, Advice: "An export reads only: nothing was changed"},
	"XX001": {Class: fault.Permanent, Code: failure.Corrupted},
	"XX002": {Class: fault.Permanent, Code: failure.Corrupted},
	"22021": {Class: fault.Refused, Code: failure.Value, HideText: true, Advice: "A text is not valid in the database's own encoding: correct it, or leave its column out with a query:"},
	"22P05": {Class: fault.Refused, Code: failure.Value, HideText: true, Advice: "A text has a character that UTF-8 lacks: correct it, or leave its column out with a query:"},
	"22":    {Class: fault.Permanent, Code: failure.Query, HideText: true, Advice: "An expression of the query, the view or a generated column fails at some row"},
	"23":    {Class: fault.Permanent, Code: failure.Query, HideText: true},
	"0A":    {Class: fault.Permanent, Code: failure.Query},
	"21":    {Class: fault.Permanent, Code: failure.Query},
	"2F":    {Class: fault.Permanent, Code: failure.Query},
	"38":    {Class: fault.Permanent, Code: failure.Query},
	"39":    {Class: fault.Permanent, Code: failure.Query},
	"42":    {Class: fault.Permanent, Code: failure.Query},
	"54":    {Class: fault.Permanent, Code: failure.Query},
	"55000": {Class: fault.Permanent, Code: failure.Query},
	"P0":    {Class: fault.Permanent, Code: failure.Query, HideText: true},
}

func classify(e *pgconn.PgError) failure.Cause {
	// What another server says of its policies comes under postgres_fdw's name.
	if e.Code == "42501" && (e.Routine == "check_enable_rls" || e.Routine == "pgfdw_report_error" && strings.Contains(e.Message, "row-level security")) {
		return failure.Cause{Class: fault.Permanent, Code: failure.RowSecurity, Advice: rowSecurityAdvice}
	}
	if c, ok := causes[e.Code]; ok {
		return c
	}
	if len(e.Code) == 5 {
		if c, ok := causes[e.Code[:2]]; ok {
			return c
		}
	}
	return failure.Cause{Class: fault.Retryable, Code: failure.Server}
}

const rowSecurityAdvice = "Row-level security would leave rows out without a word: export as a user with BYPASSRLS, or use a query: on a view whose owner sees all rows"
