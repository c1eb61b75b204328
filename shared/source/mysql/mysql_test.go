package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

func TestDriver(t *testing.T) { sourcetest.Run(t, newServer(t)) }

// server is the test server, with a database of its own for each test.
type server struct {
	url      *url.URL
	database string
	admin    *sql.Conn
	last     []string // statements for the end of the test
}

func newServer(t testing.TB) *server {
	t.Helper()
	u, err := url.Parse(testenv.Server(t, testenv.MariaDBURL))
	if err != nil {
		t.Fatal(err)
	}
	config := mysqldriver.NewConfig()
	config.User, config.Net, config.Addr, config.MultiStatements = u.User.Username(), "tcp", u.Host, true
	config.Passwd, _ = u.User.Password()
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(connector)
	admin, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &server{url: u, admin: admin, database: "test_" + strings.ToLower(strings.NewReplacer("/", "_", "=", "_").Replace(t.Name()))}
	u.Path = "/" + s.database
	s.exec(t, "set names utf8mb4; set sql_mode = ''; set time_zone = '+00:00'; drop database if exists "+quoted(s.database)+"; create database "+quoted(s.database)+" character set utf8mb4; use "+quoted(s.database))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, statement := range append(s.last, "drop database "+quoted(s.database)) {
			if _, err := admin.ExecContext(ctx, statement); err != nil {
				t.Error(err)
			}
		}
		_ = admin.Close()
		_ = pool.Close()
	})
	return s
}

// exec runs statements as root, in the test's database.
func (s *server) exec(t testing.TB, statements string) {
	t.Helper()
	if _, err := s.admin.ExecContext(t.Context(), statements); err != nil {
		t.Fatalf("%v in\n%s", err, statements)
	}
}

// table is a relation in the test's database.
func (s *server) table(name string) source.Relation {
	return source.Relation{Schema: s.database, Name: name}
}

func (s *server) Address() string { return s.url.Host }

func (s *server) Open(t *testing.T, via string) source.Source {
	t.Helper()
	return s.open(t, via)
}

// open opens a source over an address.
func (s *server) open(t testing.TB, via string) *Source {
	t.Helper()
	u := *s.url
	u.Host = via
	src, err := Open(t.Context(), exportconfig.Source{Name: "default", Type: Engine, Inline: exportconfig.InlineSecret{URL: u.String()}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// source opens a source that the test's end closes.
func (s *server) source(t testing.TB) *Source {
	t.Helper()
	src := s.open(t, s.Address())
	t.Cleanup(func() { _ = src.Close(context.WithoutCancel(t.Context())) })
	return src
}

// reader opens a source as a user who has only these grants.
func (s *server) reader(t testing.TB, grants ...string) *Source {
	t.Helper()
	name := "reader@'127.0.0.1'"
	s.exec(t, "drop user if exists "+name+"; create user "+name+" identified by 'reader'")
	s.last = append(s.last, "drop user "+name)
	for _, g := range grants {
		s.exec(t, "grant "+g+" to "+name)
	}
	as := *s
	u := *s.url
	u.User = url.UserPassword("reader", "reader")
	as.url = &u
	return as.source(t)
}

func (s *server) Create(t *testing.T, table sourcetest.Table) source.Relation {
	t.Helper()
	var columns []string
	for _, c := range table.Columns {
		kind := map[rowtype.Kind]string{rowtype.Int64: "bigint", rowtype.Text: "text", rowtype.Timestamp: "timestamp(6)"}[c.Kind]
		if c.Kind == rowtype.Text {
			if slices.Contains(table.Primary, c.Name) {
				kind = "varchar(100)" // an index of a text needs a length
			}
			kind += " collate utf8mb4_nopad_bin"
		}
		null := " null"
		if c.NotNull {
			null = " not null"
		}
		columns = append(columns, quoted(c.Name)+" "+kind+null)
	}
	if len(table.Primary) > 0 {
		names := make([]string, len(table.Primary))
		for i, n := range table.Primary {
			names[i] = quoted(n)
		}
		columns = append(columns, "primary key ("+strings.Join(names, ", ")+")")
	}
	rel := s.table(table.Name)
	name := sqltext.MySQL.Table(rel.Schema, rel.Name)
	s.exec(t, fmt.Sprintf("drop table if exists %s; create table %s (%s)", name, name, strings.Join(columns, ", ")))
	return rel
}

func (s *server) Insert(t *testing.T, rel source.Relation, rows [][]any) {
	t.Helper()
	values := sourcetest.Values(rows, sqltext.MySQL.Literal,
		func(at string) string { return "'" + at + "'" },
		func(age time.Duration) string {
			return fmt.Sprintf("now(6) - interval %d second", int64(age.Seconds()))
		})
	if values != "" {
		s.exec(t, "insert into "+sqltext.MySQL.Table(rel.Schema, rel.Name)+" values "+values)
	}
}

func (s *server) Settle(t *testing.T, rel source.Relation) {
	t.Helper()
	s.exec(t, "analyze table "+sqltext.MySQL.Table(rel.Schema, rel.Name))
}

func (s *server) Retype(t *testing.T, rel source.Relation, column string) {
	t.Helper()
	name := sqltext.MySQL.Table(rel.Schema, rel.Name)
	s.exec(t, fmt.Sprintf("alter table %s drop %s, add %s int", name, quoted(column), quoted(column)))
}
