package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
	"github.com/lapstrake/lapstrake/shared/source/transport"
)

// oldestMajor is the lowest version that is tested.
const oldestMajor = 12

// pinned are the settings that decide how values look and which rows there
// are, whatever the server, the database and the user are set to. No time zone
// of this machine takes part (OPS-14). Row-level security is off so that the
// server refuses where it would leave rows out; parallel workers are off so
// that a task costs the server one backend.
const pinned = `begin isolation level repeatable read read only;
set local client_encoding = 'UTF8';
set local standard_conforming_strings = on;
set local timezone = 'UTC';
set local datestyle = 'ISO, YMD';
set local intervalstyle = 'iso_8601';
set local extra_float_digits = 1;
set local bytea_output = 'hex';
set local quote_all_identifiers = off;
set local row_security = off;
set local max_parallel_workers_per_gather = 0;
set local idle_in_transaction_session_timeout = '60s'`

// session is one connection, made anew when it was lost between transactions.
type session struct {
	cfg     exportconfig.Source
	resolve endpoint.Resolve

	conn   *pgconn.PgConn // nil before the first connect
	reads  *paced         // of conn
	target target
	begun  bool
}

// connect makes the connection. After a refused password the secret is read
// once more, because it may have been rotated (SEC-08).
func (s *session) connect(ctx context.Context) error {
	return endpoint.SignIn(
		func() (target, error) { return targetOf(ctx, s.cfg, s.resolve) },
		func(t target) error { return s.connectTo(ctx, t) },
		func(a, b target) bool { return a.password == b.password && a.user == b.user },
		failure.Auth)
}

func (s *session) connectTo(ctx context.Context, t target) error {
	tlsConfig, err := t.tlsConfig(s.cfg.TLS)
	if err != nil {
		return err
	}
	s.target = t
	config, err := connConfig(t, tlsConfig, s.cfg.TLS.Mode != "disable")
	if err != nil {
		return err
	}
	s.reads = &paced{}
	config.BuildFrontend = s.reads.frontend
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return s.explain(ctx, err, "connect")
	}
	s.conn, s.begun = conn, false
	major, _, _ := strings.Cut(conn.ParameterStatus("server_version"), ".")
	if n, err := strconv.Atoi(major); err == nil && n < oldestMajor {
		s.close(ctx)
		return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_VERSION", "%s is PostgreSQL %d; %d or later is needed", t, n, oldestMajor)
	}
	return nil
}

// connConfig builds the client library's config from t alone. The library
// insists on parsing a string, and mixes in what it finds in the environment
// and in files: every field is set again afterwards.
func connConfig(t target, tlsConfig *tls.Config, localOnly bool) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig("host=localhost port=5432 user=none password=none dbname=none sslmode=disable connect_timeout=15 target_session_attrs=any")
	if err != nil {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SOURCE_URL", "the environment has settings of libpq (PG…) that cannot be used: unset them")
	}
	config.Host, config.Port, config.User, config.Password, config.Database = t.host, t.port, t.user, t.password, t.database
	config.TLSConfig, config.Fallbacks, config.ConnectTimeout = tlsConfig, nil, t.timeout
	config.ValidateConnect, config.AfterConnect, config.OAuthTokenProvider = nil, nil, nil
	config.SSLNegotiation, config.SSLCertMode, config.ChannelBinding, config.RequireAuth = "", "", "", ""
	config.KerberosSpn, config.KerberosSrvName = "", ""
	config.RuntimeParams = map[string]string{"application_name": "lapstrake"}
	for name, value := range t.params {
		config.RuntimeParams[name] = value
	}
	config.RuntimeParams["client_encoding"] = "UTF8"
	if tlsConfig == nil && localOnly && !t.isSocket() {
		config.DialFunc = pgconn.DialFunc(transport.DialLocal(transport.Dial(config.DialFunc), nil))
	}
	return config, nil
}

// begin starts the transaction of one operation. A connection that died since
// the last one, as it does while a function is frozen, is replaced once
// (OPS-05).
func (s *session) begin(ctx context.Context) error {
	fresh := false
	if s.conn == nil || s.conn.IsClosed() {
		if err := s.connect(ctx); err != nil {
			return err
		}
		fresh = true
	}
	text := s.settings()
	err := s.exec(ctx, text)
	if err != nil && !fresh && s.conn.IsClosed() && ctx.Err() == nil {
		if err := s.connect(ctx); err != nil {
			return err
		}
		err = s.exec(ctx, text)
	}
	if err != nil {
		return s.explain(ctx, err, "begin a transaction")
	}
	s.begun = true
	return nil
}

// settings is the statement that begins a transaction.
func (s *session) settings() string {
	text := pinned
	if s.conn.ParameterStatus("server_encoding") == "SQL_ASCII" {
		// Such a database holds any bytes as text. Let them come, and the
		// decoder name the column that has some that are no UTF-8 (TPG-21).
		text += ";\nset local client_encoding = 'SQL_ASCII'"
	}
	if n := s.cfg.StatementTimeoutSeconds; n > 0 {
		text += fmt.Sprintf(";\nset local statement_timeout = '%ds'", n)
	}
	if n := s.cfg.LockTimeoutSeconds; n > 0 {
		text += fmt.Sprintf(";\nset local lock_timeout = '%ds'", n)
	}
	return text
}

// end ends the transaction, if there is one, also when ctx is over. Nothing
// was written, so it is rolled back. A connection that cannot do that is given
// up: the next transaction must not find this one's snapshot.
func (s *session) end(ctx context.Context) {
	if s.begun && !s.conn.IsClosed() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if s.exec(ctx, "rollback") != nil {
			_ = s.conn.Close(ctx)
		}
	}
	s.begun = false
}

// transaction runs do in one read-only transaction. what says in errors what
// was being done.
func (s *session) transaction(ctx context.Context, what string, do func() error) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.end(ctx)
	return s.explain(ctx, do(), what)
}

// close ends the connection, and waits until what the library does about a
// broken one in the background is done.
func (s *session) close(ctx context.Context) {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	s.end(ctx)
	_ = s.conn.Close(ctx)
	select {
	case <-s.conn.CleanupDone():
	case <-ctx.Done():
	}
}

// exec runs statements of our own text.
func (s *session) exec(ctx context.Context, statements string) error {
	_, err := s.conn.Exec(ctx, statements).ReadAll()
	return err
}

// row is one row of an answer, each value as text, nil for NULL.
type row [][]byte

func (r row) text(i int) string { return string(r[i]) }
func (r row) null(i int) bool   { return r[i] == nil }
func (r row) bool(i int) bool   { return string(r[i]) == "t" }

func (r row) int(i int) int64 {
	n, _ := strconv.ParseInt(string(r[i]), 10, 64)
	return n
}

// query runs one statement with its arguments bound.
func (s *session) query(ctx context.Context, statement string, args ...string) ([]row, error) {
	if !sqltext.Sendable(statement) {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_NUL_BYTE", "a name or query has a NUL byte")
	}
	values := make([][]byte, len(args))
	for i, a := range args {
		values[i] = []byte(a)
	}
	result := s.conn.ExecParams(ctx, statement, values, nil, nil, nil).Read()
	return rowsOf(result), result.Err
}

// try runs a statement that a server may not offer or allow: then the answer
// is no rows, and the transaction goes on.
func (s *session) try(ctx context.Context, statement string) ([]row, error) {
	results, err := s.conn.Exec(ctx, "savepoint attempt; "+statement).ReadAll()
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && !s.conn.IsClosed():
		return nil, s.exec(ctx, "rollback to savepoint attempt")
	case err != nil:
		return nil, err
	}
	return rowsOf(results[len(results)-1]), nil
}

func rowsOf(result *pgconn.Result) []row {
	rows := make([]row, len(result.Rows))
	for i, r := range result.Rows {
		rows[i] = r
	}
	return rows
}

// endTimeout bounds how long the end of a transaction or session may take,
// also when the caller's own time is over.
const endTimeout = 5 * time.Second
