package postgres

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

func TestClassesOfServerErrors(t *testing.T) {
	for _, tc := range []struct {
		state, name string
		class       fault.Class
		code        fault.Code
	}{
		{"08006", "a broken connection", fault.Retryable, failure.Unreachable},
		{"57P01", "a server that shuts down", fault.Retryable, failure.Unreachable},
		{"57P03", "a server that starts", fault.Retryable, failure.Unreachable},
		{"53300", "too many connections", fault.Retryable, failure.Overloaded},
		{"53200", "no memory", fault.Retryable, failure.Overloaded},
		{"40001", "a conflict with recovery", fault.Retryable, failure.Conflict}, // OPS-09
		{"40P01", "a deadlock", fault.Retryable, failure.Conflict},
		{"55P03", "a lock that was not to be had", fault.Retryable, failure.LockTimeout},
		{"57014", "a statement timeout", fault.Permanent, failure.Timeout},
		{"28P01", "a wrong password", fault.Permanent, failure.Auth},
		{"28000", "no entry in pg_hba.conf", fault.Permanent, failure.Auth},
		{"3D000", "no such database", fault.Permanent, failure.Database},
		{"42P01", "no such table", fault.Permanent, failure.TableMissing},
		{"42703", "no such column", fault.Permanent, failure.ColumnMissing},
		{"42501", "no right", fault.Permanent, failure.Permission},
		{"42601", "a syntax error", fault.Permanent, failure.Query},
		{"25006", "a write", fault.Permanent, failure.Writes},
		{"22012", "a division by zero", fault.Permanent, failure.Query},
		{"XX001", "a corrupt page", fault.Permanent, failure.Corrupted},
		{"XX000", "an internal error", fault.Retryable, failure.Server},
		{"99999", "what nobody knows", fault.Retryable, failure.Server},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := session{target: target{host: "h", port: 1, database: "d", password: password}}
			err := s.explain(t.Context(), &pgconn.PgError{Code: tc.state, Message: "said with " + password, Detail: "Key (id)=(4711)"}, "read")
			if fault.ClassOf(err) != tc.class || fault.CodeOf(err) != tc.code {
				t.Fatalf("class %s, code %s; want %s, %s", fault.ClassOf(err), fault.CodeOf(err), tc.class, tc.code)
			}
			if text := err.Error(); !strings.Contains(text, tc.state) || strings.Contains(text, password) || strings.Contains(text, "4711") {
				t.Fatal(text)
			}
		})
	}
}

func TestOtherErrors(t *testing.T) {
	s := session{target: target{host: "h", port: 1, database: "d", password: password}}
	err := s.explain(t.Context(), &net.OpError{Op: "dial", Err: errors.New("refused for " + password)}, "connect")
	if fault.CodeOf(err) != failure.Unreachable || !fault.Retry(err) || strings.Contains(err.Error(), password) || !strings.Contains(err.Error(), "h:1/d") {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = s.explain(ctx, errors.New("whatever came of it"), "read")
	if !errors.Is(err, context.Canceled) || !fault.Retry(err) {
		t.Fatal(err)
	}
	ours := fault.New(fault.Refused, failure.Value, "as it is")
	if got := s.explain(ctx, ours, "read"); got != error(ours) {
		t.Fatal(got)
	}
	if got := s.explain(ctx, nil, "read"); got != nil {
		t.Fatal(got)
	}
	quoted := s.explain(t.Context(), &pgconn.PgError{Code: "22P02", Message: `invalid input syntax for type integer: "Jane Doe"`}, "read")
	if strings.Contains(quoted.Error(), "Jane") {
		t.Fatalf("a value of a row is in %v", quoted)
	}
}
