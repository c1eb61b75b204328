package sqlserver

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
	"github.com/lapstrake/lapstrake/shared/source/transport"
)

// pinned are the settings that decide how values look, how many rows there are
// and how statements are read, whatever the server and the login are set to. A
// row count or a text size would cut rows and values off without a word. In a
// deadlock, an export gives way.
const pinned = "set rowcount 0; set textsize 2147483647; set language us_english; set dateformat ymd; set datefirst 7; " +
	"set ansi_nulls, ansi_padding, ansi_warnings, arithabort, concat_null_yields_null, quoted_identifier, nocount on; " +
	"set numeric_roundabort, implicit_transactions, xact_abort off; set deadlock_priority low; set lock_timeout %d"

// keptStatement looks whether a session has what pinned says, and which database
// it is in. 12664 are the options above that a session shows, 4472 those of
// them that are on.
const keptStatement = "select @@textsize, @@options & 12664, @@lock_timeout, convert(int, serverproperty('ProductMajorVersion')), convert(int, serverproperty('EngineEdition')), " +
	"convert(int, snapshot_isolation_state), convert(int, is_read_committed_snapshot_on), convert(nvarchar(128), schema_name()) from sys.databases where database_id = db_id()"

const (
	optionsOn   = 4472
	oldest      = 13 // SQL Server 2016
	azureSQL    = 5  // the editions whose version says nothing
	azureManage = 8
)

// session is one connection, made anew when it was lost between transactions.
type session struct {
	cfg     exportconfig.Source
	resolve endpoint.Resolve

	conn   *mssql.Conn // nil before the first connect, and after a failure
	line   *line
	target target
	begun  bool

	snapshot bool // the database allows SNAPSHOT isolation
	versions bool // READ COMMITTED reads row versions
	schema   string
}

// line is the network connection under a session, which is closed to end what
// waits on it.
type line struct {
	dial transport.Dial
	conn atomic.Pointer[net.Conn]
}

// DialContext dials, and keeps the connection.
func (l *line) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.dial(ctx, network, address)
	if err == nil {
		l.conn.Store(&conn)
	}
	return conn, err
}

// HostName makes the client library leave the look-up of names to the dialer.
func (l *line) HostName() string { return "" }

func (l *line) hangUp() {
	if conn := l.conn.Load(); conn != nil {
		_ = (*conn).Close()
	}
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

// packetSize is what a packet may have at most under TLS.
const packetSize = 16383

func (s *session) connectTo(ctx context.Context, t target) error {
	tlsConfig, err := transport.Config(t.Target, s.cfg.TLS)
	if err != nil {
		return err
	}
	s.target = t
	config := msdsn.Config{
		Host: t.Host, Port: uint64(t.port), Database: t.database, User: t.user, Password: t.password, AppName: "lapstrake", Workstation: "lapstrake",
		Encryption: msdsn.EncryptionDisabled, DisableRetry: true, DialTimeout: t.timeout, PacketSize: packetSize, Protocols: []string{"tcp"}, NoTraceID: true,
	}
	s.line = &line{dial: (&net.Dialer{Timeout: t.timeout}).DialContext}
	switch {
	case tlsConfig != nil:
		config.Encryption, config.TLSConfig = msdsn.EncryptionRequired, forTDS(tlsConfig)
		config.HostInCertificateProvided = true
	case s.cfg.TLS.Mode != "disable":
		s.line.dial = transport.DialLocal(s.line.dial, net.DefaultResolver.LookupHost)
	}
	connector := mssql.NewConnectorConfig(config)
	connector.Dialer = s.line
	var conn driver.Conn
	err = s.within(ctx, t.timeout, nil, func(ctx context.Context) error {
		conn, err = connector.Connect(ctx)
		return err
	})
	if err != nil {
		s.line.hangUp()
		return s.explain(ctx, err, "connect")
	}
	s.conn, s.begun = conn.(*mssql.Conn), false
	if err := s.pin(ctx); err != nil {
		s.close()
		return s.explain(ctx, err, "prepare the session")
	}
	return nil
}

// forTDS is a TLS config whose records the server's protocol can carry.
func forTDS(c *tls.Config) *tls.Config {
	c.DynamicRecordSizingDisabled = true
	return c
}

// within runs do, and hangs up if ctx ends or the time is over before: to wait
// for the server to confirm a cancellation could take as long. after is the
// error of the latter, nil for that of do.
func (s *session) within(ctx context.Context, limit time.Duration, after error, do func(ctx context.Context) error) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, after)
		defer cancel()
	}
	stop := context.AfterFunc(ctx, s.line.hangUp)
	err := do(context.WithoutCancel(ctx))
	if !stop() && err != nil && after != nil && errors.Is(context.Cause(ctx), after) {
		return after
	}
	return err
}

// limit is how long a statement may take, 0 for any time.
func (s *session) limit() time.Duration {
	return time.Duration(s.cfg.StatementTimeoutSeconds) * time.Second
}

// tooLong is the error of a statement that took longer.
func (s *session) tooLong() error {
	return fault.New(fault.Permanent, failure.Timeout, "a statement on %s took longer than the %d seconds of tuning.statement_timeout_s and was ended. "+
		"The same read would take as long again: use smaller chunks or a higher tuning.statement_timeout_s", s.target, s.cfg.StatementTimeoutSeconds)
}

// pin gives the session its settings and looks whether it has them: a proxy
// between us and the server may keep some to itself.
func (s *session) pin(ctx context.Context) error {
	lock := -1
	if n := s.cfg.LockTimeoutSeconds; n > 0 {
		lock = 1000 * n
	}
	if _, err := s.query(ctx, fmt.Sprintf(pinned, lock)); err != nil {
		return err
	}
	rows, err := s.query(ctx, keptStatement)
	if err != nil {
		return err
	}
	if len(rows) != 1 || rows[0].int(0) != 2147483647 || rows[0].int(1) != optionsOn || rows[0].int(2) != int64(lock) {
		return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_SESSION", "%s does not keep the settings that a session is given (textsize, ANSI options, lock_timeout): values would depend on the server. Connect without the proxy between", s.target)
	}
	kept := rows[0]
	if edition := kept.int(4); kept.int(3) < oldest && edition != azureSQL && edition != azureManage {
		return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_VERSION", "%s is SQL Server of major version %d; 2016, which is %d, or later is needed", s.target, kept.int(3), oldest)
	}
	s.snapshot, s.versions, s.schema = kept.int(5) == 1, kept.int(6) == 1, kept.text(7)
	return nil
}

// begin starts the transaction of one operation. A connection that died since
// the last one, as it does while a function is frozen, is replaced once
// (OPS-05).
func (s *session) begin(ctx context.Context) error {
	fresh := false
	if !s.alive() {
		if err := s.connect(ctx); err != nil {
			return err
		}
		fresh = true
	}
	_, err := s.query(ctx, s.beginStatement())
	if err != nil && !fresh && !s.alive() && ctx.Err() == nil {
		if err := s.connect(ctx); err != nil {
			return err
		}
		_, err = s.query(ctx, s.beginStatement())
	}
	if err != nil {
		return s.explain(ctx, err, "begin a transaction")
	}
	s.begun = true
	return nil
}

func (s *session) beginStatement() string {
	level := "read committed"
	if s.snapshot {
		level = "snapshot"
	}
	return "set transaction isolation level " + level + "; begin transaction"
}

func (s *session) alive() bool { return s.conn != nil && s.conn.IsValid() }

const endStatement = "if @@trancount > 0 rollback transaction"

// endTimeout bounds how long the end of a transaction may take, also when the
// caller's own time is over.
const endTimeout = 5 * time.Second

// end ends the transaction, if there is one, also when ctx is over. Nothing was
// written, so it is rolled back. A connection that cannot do that is given up:
// the next transaction must not find this one's snapshot.
func (s *session) end(ctx context.Context) {
	if s.begun && s.alive() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if _, err := s.query(ctx, endStatement); err != nil {
			s.close()
		}
	}
	s.begun = false
}

// close ends the connection.
func (s *session) close() {
	if s.line != nil {
		s.line.hangUp()
	}
	if s.conn != nil {
		_ = s.conn.Close()
	}
	s.conn, s.begun = nil, false
}

// query runs one statement of our own making and returns its whole answer.
func (s *session) query(ctx context.Context, statement string) (all []row, err error) {
	err = s.within(ctx, s.limit(), s.tooLong(), func(ctx context.Context) error {
		rows, err := s.ask(ctx, statement)
		if err != nil {
			return err
		}
		values := make([]driver.Value, len(rows.Columns()))
		for {
			if err := rows.Next(values); errors.Is(err, io.EOF) {
				return rows.Close()
			} else if err != nil {
				return err
			}
			all = append(all, append(row{}, values...))
		}
	})
	if err != nil && !s.alive() {
		s.line.hangUp()
	}
	return all, err
}

// ask sends a statement. It has no parameters, so that the server gets it as a
// batch and plans it for its constants.
func (s *session) ask(ctx context.Context, statement string) (driver.Rows, error) {
	if !sqltext.Sendable(statement) {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_NUL_BYTE", "a name, a key or a query has a NUL byte")
	}
	prepared, err := s.conn.PrepareContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	return prepared.(driver.StmtQueryContext).QueryContext(ctx, nil)
}
