package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/mysql/packet"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
	"github.com/lapstrake/lapstrake/shared/source/transport"
)

// pinned are the settings that decide how values look, which rows there are
// and how statements are read, whatever the server and the user are set to. No
// time zone of this machine takes part (OPS-14). Of the server's sql_mode only
// ONLY_FULL_GROUP_BY is kept, which refuses queries and changes none (TMY-12).
// A sort looks at more than a key can have, so that its order is that of the
// bounds. While a batch is written somewhere, the server waits to send the next.
var pinned = []string{
	"set names utf8mb4",
	"set session sql_mode = if(find_in_set('ONLY_FULL_GROUP_BY', @@session.sql_mode) > 0, 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES', 'STRICT_TRANS_TABLES')",
	"set session time_zone = '+00:00', autocommit = 1, sql_select_limit = 18446744073709551615, sql_big_selects = 1, lc_time_names = 'en_US'," +
		" div_precision_increment = 4, group_concat_max_len = 1073741824, max_sort_length = 65536, net_write_timeout = 900, net_read_timeout = 900, sql_auto_is_null = 0",
	"set session transaction isolation level repeatable read, read only",
}

// pinnedMariaDB are the settings that only MariaDB has: a time that system-
// versioned tables are read as of, and the length from which a list of
// constants becomes a table with rules of comparison of its own.
var pinnedMariaDB = "set session system_versioning_asof = default, in_predicate_conversion_threshold = 0"

// session is one connection, made anew when it was lost between transactions.
type session struct {
	cfg     exportconfig.Source
	resolve endpoint.Resolve

	conn    driver.Conn  // nil before the first connect, and after a failure
	link    *packet.Link // that conn speaks over
	target  target
	mariaDB bool
	begun   bool
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
	tlsConfig, err := transport.Config(t.Target, s.cfg.TLS)
	if err != nil {
		return err
	}
	s.target = t
	network, address := "tcp", net.JoinHostPort(t.Host, strconv.Itoa(int(t.port)))
	if t.Socket() {
		network, address = "unix", t.Host
	}
	config := mysqldriver.NewConfig()
	config.User, config.Passwd, config.DBName, config.Timeout = t.user, t.password, t.database, t.timeout
	config.Net, config.Addr = network, address
	config.AllowCleartextPasswords = s.cfg.TokenAuth() // which RDS wants as they are
	if tlsConfig != nil {
		config.Net = "unix" // to the library a private channel, like the link: a password need not be encrypted once more
	}
	config.Logger, config.ConnectionAttributes = &mysqldriver.NopLogger{}, "program_name:lapstrake"
	dial := transport.Dial((&net.Dialer{}).DialContext)
	if tlsConfig == nil && s.cfg.TLS.Mode != "disable" && !t.Socket() {
		dial = transport.DialLocal(dial, net.DefaultResolver.LookupHost)
	}
	s.link = nil
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		s.link = packet.NewLink(conn, tlsConfig)
		return s.link, nil
	}
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SOURCE_URL", "the source's connection cannot be used: %s", s.scene("").Scrub(err.Error()))
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		if s.link != nil && s.link.Failure() != nil {
			err = s.link.Failure() // the library only says that the connection is bad
		}
		return s.explain(ctx, err, "connect")
	}
	s.conn, s.begun = conn, false
	if err := s.pin(ctx); err != nil {
		s.close()
		return s.explain(ctx, err, "prepare the session")
	}
	return nil
}

var versionNumber = regexp.MustCompile(`\d+\.\d+`)

// pin gives the session its settings and looks whether it has them: a proxy
// between us and the server may keep some to itself.
func (s *session) pin(ctx context.Context) error {
	rows, err := s.query(ctx, "select version()")
	if err != nil {
		return err
	}
	version := rows[0].text(0)
	s.mariaDB = strings.Contains(strings.ToLower(version), "mariadb")
	name, oldest := "MySQL", 8.0
	if s.mariaDB {
		name, oldest = "MariaDB", 10.6
		version = strings.TrimPrefix(version, "5.5.5-")
	}
	if tooOld(version, oldest) {
		return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_VERSION", "%s is %s %s; %.1f or later is needed", s.target, name, version, oldest)
	}
	statements := pinned
	timeout := fmt.Sprintf("set session max_execution_time = %d", 1000*s.cfg.StatementTimeoutSeconds)
	if s.mariaDB {
		statements = append(statements[:len(statements):len(statements)], pinnedMariaDB)
		timeout = fmt.Sprintf("set session max_statement_time = %d", s.cfg.StatementTimeoutSeconds)
	}
	statements = append(statements[:len(statements):len(statements)], timeout)
	if n := s.cfg.LockTimeoutSeconds; n > 0 {
		statements = append(statements, fmt.Sprintf("set session lock_wait_timeout = %d", n))
	}
	for _, statement := range statements {
		if _, err := s.query(ctx, statement); err != nil {
			return err
		}
	}
	rows, err = s.query(ctx, "select @@session.time_zone = '+00:00' and @@session.character_set_results = 'utf8mb4' and @@session.character_set_client = 'utf8mb4'"+
		" and @@session.sql_mode in ('STRICT_TRANS_TABLES', 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES') and @@session.sql_select_limit > 18446744073709551614")
	if err != nil {
		return err
	}
	if rows[0].text(0) != "1" {
		return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_SESSION", "%s does not keep the settings that a session is given (time zone, character set, sql_mode): values would depend on the server. Connect without the proxy between", s.target)
	}
	return nil
}

// tooOld compares the start of a version such as 10.11.6.
func tooOld(version string, oldest float64) bool {
	major, minor, _ := strings.Cut(versionNumber.FindString(version), ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	oldestMajor := int(oldest)
	oldestMinor := int(oldest*10+0.5) - 10*oldestMajor
	return errA == nil && errB == nil && (a < oldestMajor || a == oldestMajor && b < oldestMinor)
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
	_, err := s.query(ctx, "start transaction read only")
	if err != nil && !fresh && !s.alive() && ctx.Err() == nil {
		if err := s.connect(ctx); err != nil {
			return err
		}
		_, err = s.query(ctx, "start transaction read only")
	}
	if err != nil {
		return s.explain(ctx, err, "begin a transaction")
	}
	s.begun = true
	return nil
}

func (s *session) alive() bool {
	if s.conn == nil {
		return false
	}
	valid, ok := s.conn.(driver.Validator)
	return !ok || valid.IsValid()
}

// end ends the transaction, if there is one, also when ctx is over. Nothing
// was written, so it is rolled back. A connection that cannot do that is given
// up: the next transaction must not find this one's snapshot.
func (s *session) end(ctx context.Context) {
	if s.begun && s.alive() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if _, err := s.query(ctx, "rollback"); err != nil {
			s.close()
		}
	}
	s.begun = false
}

// close ends the connection.
func (s *session) close() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
	s.conn, s.begun = nil, false
}

// row is one row of an answer, each value as text, nil for NULL.
type row [][]byte

func (r row) text(i int) string { return string(r[i]) }
func (r row) null(i int) bool   { return r[i] == nil }

func (r row) int(i int) int64 {
	n, _ := strconv.ParseInt(string(r[i]), 10, 64)
	return n
}

// query runs one statement of our own making and returns its whole answer.
func (s *session) query(ctx context.Context, statement string) ([]row, error) {
	if !sqltext.Sendable(statement) {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_NUL_BYTE", "a name or query has a NUL byte")
	}
	rows, err := s.conn.(driver.QueryerContext).QueryContext(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	var all []row
	for {
		if err := rows.Next(values); err != nil {
			if errors.Is(err, io.EOF) {
				return all, nil
			}
			return nil, err
		}
		r := make(row, len(values))
		for i, v := range values {
			r[i] = textOf(v)
		}
		all = append(all, r)
	}
}

// textOf is a value of the library as text of its own.
func textOf(v driver.Value) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return append([]byte{}, v...)
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64)
	}
	return fmt.Append([]byte{}, v)
}

// endTimeout bounds how long the end of a transaction may take, also when the
// caller's own time is over.
const endTimeout = 5 * time.Second
