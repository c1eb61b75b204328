package sqlserver

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/standin"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// The suite of every driver, against the stand-in: what it shows is that the
// statements mean what they should where the stand-in is like the server.
func TestDriver(t *testing.T) { sourcetest.Run(t, newServer(t)) }

// server is a stand-in with a database of its own for each test.
type server struct {
	*standin.Database
	listener *tdsfake.Server
	cfg      exportconfig.Source
	drawn    string // the last table of a property, which each round makes anew
}

func newServer(t testing.TB) *server {
	t.Helper()
	s := &server{Database: &standin.Database{Name: "shop", Snapshot: true}}
	s.serve(t, tdsfake.Options{Password: "secret"})
	return s
}

func (s *server) serve(t testing.TB, o tdsfake.Options) {
	t.Helper()
	var err error
	if s.listener, err = standin.Serve(s.Database, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.listener.Close)
}

func (s *server) Address() string { return s.listener.Address() }

// Pads says that texts which differ in the spaces at their end are equal.
func (s *server) Pads() {}

// config is how the stand-in is reached over an address.
func (s *server) config(via string) exportconfig.Source {
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword("sa", "secret"), Host: via, Path: "/shop"}
	cfg := s.cfg
	cfg.Name, cfg.Type, cfg.Inline = "default", Engine, exportconfig.InlineSecret{URL: u.String()}
	return cfg
}

func (s *server) Open(t *testing.T, via string) source.Source {
	t.Helper()
	src, err := Open(t.Context(), s.config(via), nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// source opens a source that the test's end closes.
func (s *server) source(t testing.TB) *Source {
	t.Helper()
	src, err := Open(t.Context(), s.config(s.Address()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close(context.WithoutCancel(t.Context())) })
	return src
}

func table(name string) source.Relation { return source.Relation{Schema: "dbo", Name: name} }

var suiteTypes = map[rowtype.Kind]tdsfake.Type{
	rowtype.Int64: {Name: "bigint"}, rowtype.Text: {Name: "nvarchar", Length: -1}, rowtype.Timestamp: {Name: "datetime2", Scale: 6},
}

func (s *server) Create(t *testing.T, table sourcetest.Table) source.Relation {
	t.Helper()
	var columns []standin.Column
	for _, c := range table.Columns {
		columns = append(columns, standin.Column{Name: c.Name, Type: suiteTypes[c.Kind], NotNull: c.NotNull})
	}
	if round := strings.TrimLeft(table.Name, "abcdefghijklmnopqrstuvwxyz_"); round != "" {
		s.Drop("dbo", s.drawn)
		s.drawn = table.Name
	}
	s.Database.Create("dbo", table.Name, columns, table.Primary...)
	return source.Relation{Schema: "dbo", Name: table.Name}
}

func (s *server) Insert(t *testing.T, rel source.Relation, rows [][]any) {
	t.Helper()
	for _, r := range rows {
		for i, cell := range r {
			switch v := cell.(type) {
			case sourcetest.Age:
				r[i] = s.Clock().Add(-time.Duration(v))
			case time.Time:
				r[i] = v.UTC()
			}
		}
		s.Database.Insert(rel.Schema, rel.Name, r)
	}
}

func (s *server) Settle(*testing.T, source.Relation) {}

func (s *server) Retype(t *testing.T, rel source.Relation, column string) {
	t.Helper()
	s.Database.Retype(rel.Schema, rel.Name, column)
}

// made makes a table of one column, v, beside its key, id, with a row for each
// value.
func (s *server) made(name string, c standin.Column, values ...any) source.Relation {
	c.Name = "v"
	s.Database.Create("dbo", name, []standin.Column{{Name: "id", Type: tdsfake.Type{Name: "int"}, NotNull: true}, c}, "id")
	for i, v := range values {
		s.Database.Insert("dbo", name, []any{int64(i + 1), v})
	}
	return table(name)
}
