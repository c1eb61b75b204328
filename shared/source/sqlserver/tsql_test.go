package sqlserver

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/standin"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

var update = flag.Bool("update", false, "write the statements that are sent to testdata/tsql")

// withTables has the tables of testdata/tsql/00_tables.sql.
func withTables(t *testing.T) *server {
	t.Helper()
	s := &server{Database: &standin.Database{Name: "shop", Snapshot: true}}
	s.serve(t, tdsfake.Options{})
	named := func(name string, c standin.Column) standin.Column {
		c.Name = name
		return c
	}
	collated := func(collation string, c standin.Column) standin.Column {
		c.Collation = collation
		return c
	}
	key := func(c standin.Column) standin.Column {
		c.NotNull = true
		return c
	}
	s.Database.Create("dbo", "orders", []standin.Column{
		key(named("id", columnOf("bigint"))), named("customer", columnOf("nvarchar", 40)), named("code", collated("SQL_Latin1_General_CP1_CI_AS", columnOf("varchar", 20))),
		named("price", columnOf("decimal", 18, 4)), named("paid", columnOf("money")), named("ratio", columnOf("float")), named("weight", columnOf("real")),
		named("at", columnOf("datetime2", 7)), named("changed", columnOf("datetime")), named("seen", columnOf("datetimeoffset", 3)), named("day", columnOf("date")), named("opens", columnOf("time", 3)),
		named("ref", columnOf("uniqueidentifier")), named("note", columnOf("nvarchar", -1)), named("body", columnOf("varbinary", -1)), key(named("version", columnOf("timestamp"))),
		named("doc", columnOf("xml")), named("kanji", collated("Japanese_BIN2", columnOf("varchar", 10))),
	}, "id")
	s.Database.Insert("dbo", "orders",
		[]any{int64(1), "ann", "A-1", decimal("1.5"), decimal("0.0001"), 0.1, 0.5, instant("2024-01-01T00:00:00.1234567Z"), instant("2024-09-25T13:39:40.833Z"), instant("2024-03-31T02:30:00.001+05:30"),
			instant("2024-02-29T00:00:00Z"), instant("0001-01-01T12:00:00.5Z"), guid("6F9619FF-8B86-D011-B42D-00C04FC964FF"), "x", []byte{0, 0xff}, nil, "<a/>", "a"},
		[]any{int64(2), "bob", "B-2", decimal("-1.5"), decimal("-0.0001"), 0.2, 0.25, instant("2024-01-02T00:00:00Z"), instant("2024-09-25T13:39:40.837Z"), instant("2024-03-31T02:30:00.002+05:30"),
			instant("2024-03-01T00:00:00Z"), instant("0001-01-01T13:00:00Z"), guid("00000000-0000-0000-0000-000000000002"), "", []byte{}, nil, nil, nil},
		[]any{int64(3), nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil})
	s.Database.Create("dbo", "pairs", []standin.Column{key(named("tenant", columnOf("int"))), key(named("ref", columnOf("uniqueidentifier"))), named("n", columnOf("int"))}, "tenant", "ref")
	s.Database.Insert("dbo", "pairs", []any{int64(1), guid("00000000-0000-0000-0000-000000000001"), int64(1)}, []any{int64(1), guid("00000000-0000-0000-0000-000000000002"), int64(2)},
		[]any{int64(2), guid("00000000-0000-0000-0000-000000000001"), int64(3)})
	return s
}

var (
	orders = source.Relation{Schema: "dbo", Name: "orders", Overrides: map[string]string{"doc": "text"}}
	pairs  = source.Relation{Schema: "dbo", Name: "pairs"}
	query  = source.Relation{Query: "select id, customer from dbo.orders where id > 0 -- all of them"}
)

// Every statement that is sent, in a folder of its own that sqlcmd can run: a
// change of one is seen, and can be tried on another T-SQL.
func TestStatements(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, tc := range []struct {
		file string
		do   func(t *testing.T, s *Source, described map[string]source.Table) error
	}{
		{"01_session", nil},
		{"02_identity", func(t *testing.T, s *Source, _ map[string]source.Table) error {
			_, err := s.Identity(t.Context())
			return err
		}},
		{"03_describe_a_table", func(t *testing.T, s *Source, _ map[string]source.Table) error {
			_, err := s.Describe(t.Context(), orders)
			return err
		}},
		{"04_describe_a_query", func(t *testing.T, s *Source, _ map[string]source.Table) error {
			_, err := s.Describe(t.Context(), query)
			return err
		}},
		{"05_a_table_that_is_not_there", func(t *testing.T, s *Source, _ map[string]source.Table) error {
			if _, err := s.Describe(t.Context(), source.Relation{Schema: "dbo", Name: "ORDERS"}); err == nil {
				t.Error("a name in another case is found")
			}
			return nil
		}},
		{"06_integer_bounds", func(t *testing.T, s *Source, of map[string]source.Table) error {
			_, err := s.IntegerBounds(t.Context(), pairs, of["pairs"].KeyColumns["n"])
			return err
		}},
		{"07_split_points", func(t *testing.T, s *Source, of map[string]source.Table) error {
			for _, name := range []string{"id", "customer", "code", "price", "paid", "ratio", "weight", "at", "changed", "seen", "day", "opens", "ref", "version"} {
				if _, err := s.SplitPoints(t.Context(), orders, []keyspace.Column{of["orders"].KeyColumns[name]}, nil, 2); err != nil {
					return err
				}
			}
			_, err := s.SplitPoints(t.Context(), pairs, of["pairs"].Keys[0].Columns, nil, 2)
			return err
		}},
		{"08_cursor_ends", func(t *testing.T, s *Source, of map[string]source.Table) error {
			key := of["orders"].Keys[0].Columns
			for name, from := range map[string]string{"changed": "2024-09-25T13:39:40.833"} {
				if _, err := s.CursorEnd(t.Context(), orders, source.CursorQuery{Cursor: of["orders"].KeyColumns[name], Key: key, From: text(from), Delivered: []keyspace.Key{{"1"}, {"7"}},
					Settle: &source.Settle{After: time.Hour, Column: "seen"}}); err != nil {
					return err
				}
			}
			_, err := s.CursorEnd(t.Context(), orders, source.CursorQuery{Cursor: of["orders"].KeyColumns["version"], Below: text("00000000000007D9")})
			return err
		}},
		{"09_windows", func(t *testing.T, s *Source, of map[string]source.Table) error {
			c := of["orders"].KeyColumns["at"]
			w, _, err := s.TimeWindow(t.Context(), orders, c, false, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 1, 3, 12, 0, 0, 0, time.UTC))
			if err != nil {
				return err
			}
			if _, err := s.EstimateRows(t.Context(), orders, w); err != nil {
				return err
			}
			return read(t, s, source.ReadSpec{Relation: orders, Columns: of["orders"].Columns, Key: []keyspace.Column{c}, Ordered: true, Window: &w})
		}},
		{"10_reads", func(t *testing.T, s *Source, of map[string]source.Table) error {
			for _, r := range []keyspace.Range{{All: true}, {Null: true}, {After: keyspace.Key{"A-1", "1"}, UpTo: keyspace.Key{"b-2", "2"}}} {
				if err := read(t, s, source.ReadSpec{Relation: orders, Columns: of["orders"].Columns, Key: []keyspace.Column{of["orders"].KeyColumns["code"], of["orders"].KeyColumns["id"]}, Ordered: true, Range: r, MaxValueBytes: 1 << 20}); err != nil {
					return err
				}
			}
			w := keyspace.Window{Cursor: of["pairs"].KeyColumns["n"], From: text("1"), FromIncluded: true, To: "3", Key: of["pairs"].Keys[0].Columns, OnlyAtTo: true,
				Except: []keyspace.Key{{"1", "00000000-0000-0000-0000-000000000001"}}, Only: []keyspace.Key{{"2", "00000000-0000-0000-0000-000000000001"}}}
			return read(t, s, source.ReadSpec{Relation: pairs, Columns: of["pairs"].Columns, Key: append([]keyspace.Column{w.Cursor}, w.Key...), Ordered: true, Unique: true, Window: &w})
		}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			s := withTables(t)
			var heard []string
			listen := func(batch string) error {
				heard = append(heard, batch)
				return nil
			}
			if tc.do == nil {
				s.Heard = listen
			}
			src, err := openWith(t, s, func(cfg *exportconfig.Source) { cfg.LockTimeoutSeconds = 30 })
			if err != nil {
				t.Fatal(err)
			}
			described := map[string]source.Table{}
			for _, rel := range []source.Relation{orders, pairs} {
				if tc.do != nil {
					if described[rel.Name], err = src.Describe(t.Context(), rel); err != nil {
						t.Fatal(err)
					}
				}
			}
			if s.Heard = listen; tc.do != nil {
				if err := tc.do(t, src, described); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, filepath.Join("testdata", "tsql", tc.file+".sql"), heard)
		})
	}
}

// read reads to the end.
func read(t *testing.T, s *Source, spec source.ReadSpec) error {
	r, err := s.Read(t.Context(), spec)
	for err == nil {
		_, err = r.Next(t.Context())
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// compare compares the batches that were sent with those of a file.
func compare(t *testing.T, file string, batches []string) {
	t.Helper()
	sent := "use lapstrake_tsql;\ngo\n" + strings.Join(batches, "\ngo\n") + "\ngo\n"
	if *update {
		if err := os.WriteFile(file, []byte(sent), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != sent {
		t.Errorf("other statements than in %s; look, and write them with -update:\n%s", file, sent)
	}
}
