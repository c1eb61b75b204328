package postgres

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

func TestDriver(t *testing.T) { sourcetest.Run(t, newServer(t)) } // OPS-15

// server is the test server, with a schema of its own for each test.
type server struct {
	url    *url.URL
	schema string
	admin  *pgconn.PgConn
	last   []string // statements for the end of the test
}

func newServer(t testing.TB) *server {
	t.Helper()
	u, err := url.Parse(testenv.Server(t, testenv.PostgresURL))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := pgconn.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	s := &server{url: u, admin: admin, schema: "test_" + strings.ToLower(strings.NewReplacer("/", "_", "=", "_").Replace(t.Name()))}
	s.exec(t, "drop schema if exists "+s.quoted()+" cascade; create schema "+s.quoted())
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, statement := range append(s.last, "drop schema "+s.quoted()+" cascade") {
			if _, err := admin.Exec(ctx, statement).ReadAll(); err != nil {
				t.Error(err)
			}
		}
		_ = admin.Close(ctx)
	})
	return s
}

func (s *server) quoted() string { return sqltext.Postgres.Name(s.schema) }

// exec runs statements as the superuser, with the test's schema in front.
func (s *server) exec(t testing.TB, statements string) {
	t.Helper()
	if _, err := s.admin.Exec(t.Context(), "set search_path = "+s.quoted()+", public; "+statements).ReadAll(); err != nil {
		t.Fatalf("%v in\n%s", err, statements)
	}
}

// table is a relation in the test's schema.
func (s *server) table(name string) source.Relation {
	return source.Relation{Schema: s.schema, Name: name}
}

func (s *server) Address() string { return s.url.Host }

func (s *server) Open(t *testing.T, via string) source.Source {
	t.Helper()
	return s.open(t, via, "")
}

// open opens a source over an address, with parameters added to the URL.
func (s *server) open(t testing.TB, via, query string) *Source {
	t.Helper()
	u := *s.url
	u.Host = via
	u.RawQuery = query
	src, err := Open(t.Context(), exportconfig.Source{Name: "default", Type: "postgres", Inline: exportconfig.InlineSecret{URL: u.String()}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// finally adds statements for the end of the test.
func (s *server) finally(statement string) { s.last = append(s.last, statement) }

// reader opens a source as a user who has only these grants.
func (s *server) reader(t testing.TB, grants ...string) *Source {
	t.Helper()
	name := "reader_of_" + s.schema
	s.exec(t, "create role "+name+" login password 'reader'; grant usage on schema "+s.quoted()+" to "+name)
	for _, g := range grants {
		s.exec(t, "grant "+g+" to "+name)
	}
	s.finally("drop owned by " + name + "; drop role " + name)
	return s.openAs(t, name, "reader")
}

// openAs opens a source as another user.
func (s *server) openAs(t testing.TB, user, password string) *Source {
	t.Helper()
	as := *s
	u := *s.url
	u.User = url.UserPassword(user, password)
	as.url = &u
	return as.source(t)
}

// source opens a source that the test's end closes.
func (s *server) source(t testing.TB) *Source {
	t.Helper()
	src := s.open(t, s.Address(), "")
	t.Cleanup(func() { _ = src.Close(context.WithoutCancel(t.Context())) })
	return src
}

func (s *server) Create(t *testing.T, table sourcetest.Table) source.Relation {
	t.Helper()
	var columns []string
	for _, c := range table.Columns {
		column := sqltext.Postgres.Name(c.Name) + " " + map[rowtype.Kind]string{rowtype.Int64: "int8", rowtype.Text: "text", rowtype.Timestamp: "timestamptz"}[c.Kind]
		if c.NotNull {
			column += " not null"
		}
		columns = append(columns, column)
	}
	if len(table.Primary) > 0 {
		columns = append(columns, "primary key ("+sqltext.Postgres.Names(table.Primary)+")")
	}
	rel := s.table(table.Name)
	name := sqltext.Postgres.Table(rel.Schema, rel.Name)
	s.exec(t, fmt.Sprintf("drop table if exists %s; create table %s (%s)", name, name, strings.Join(columns, ", ")))
	return rel
}

func (s *server) Insert(t *testing.T, rel source.Relation, rows [][]any) {
	t.Helper()
	values := sourcetest.Values(rows, sqltext.Postgres.Literal,
		func(at string) string { return "'" + at + "+00'" },
		func(age time.Duration) string {
			return fmt.Sprintf("now() - interval '%d seconds'", int64(age.Seconds()))
		})
	if values != "" {
		s.exec(t, "insert into "+sqltext.Postgres.Table(rel.Schema, rel.Name)+" values "+values)
	}
}

func (s *server) Settle(t *testing.T, rel source.Relation) {
	t.Helper()
	s.exec(t, "analyze "+sqltext.Postgres.Table(rel.Schema, rel.Name))
}

func (s *server) Retype(t *testing.T, rel source.Relation, column string) {
	t.Helper()
	name, column := sqltext.Postgres.Table(rel.Schema, rel.Name), sqltext.Postgres.Name(column)
	s.exec(t, fmt.Sprintf("alter table %s drop %s; alter table %s add %s int4", name, column, name, column))
}

// major is the server's version.
func (s *server) major(t testing.TB) int {
	t.Helper()
	major, _, _ := strings.Cut(s.admin.ParameterStatus("server_version"), ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
