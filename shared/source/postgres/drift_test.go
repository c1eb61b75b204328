package postgres

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func TestDrift(t *testing.T) {
	s := newServer(t)
	src := s.source(t)
	for _, tc := range []struct {
		name, change string
		names        []string // "" for no drift
	}{
		{"nothing", "", nil},
		{"a column that is gone", "alter table t drop b", []string{`"b" is gone`}},
		{"a column that is new", "alter table t add d int", []string{`"d" is new`}},
		{"another type", "alter table t alter b type varchar", []string{`"b" was text (text) and is varchar (text)`}},
		{"a decimal that is wider", "alter table t alter n type numeric(12,2)", []string{`numeric(10,2)`, `numeric(12,2)`}},
		{"a column replaced by one of its name", "alter table t drop b; alter table t add b text", []string{"order"}},
		{"a new name", "alter table t rename b to c", []string{`"b" is gone`, `"c" is new`}},
		{"a key that may be NULL", "alter table t drop constraint t_pkey; alter table t alter id drop not null", []string{`"id" was NOT NULL`}},
		{"a key of another type", "alter table t alter id type int4", []string{`"id" was int8`}},
		{"a longer limit of text is none", "alter table t alter v type varchar(20)", nil},
		{"a new label of an enum is none", "alter type mood add value 'new'", nil},
		{"an index is none", "create index on t (b)", nil},
		{"rows are none", "insert into t values (2)", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.exec(t, `drop table if exists t; drop type if exists mood; create type mood as enum ('ok');
				create table t (id int8 primary key, b text, n numeric(10,2), v varchar(10), m mood); insert into t values (1)`)
			table, err := src.Describe(t.Context(), s.table("t"))
			if err != nil {
				t.Fatal(err)
			}
			spec := source.ReadSpec{Relation: s.table("t"), Columns: table.Columns, Key: table.Keys[0].Columns, Ordered: true, Unique: true}
			s.exec(t, tc.change)
			rows, err := readAll(t, src, spec)
			if tc.names == nil {
				if err != io.EOF || rows == 0 {
					t.Fatalf("%d rows, %v", rows, err)
				}
				return
			}
			sourcetest.WantRefusal(t, err, fault.Drift, failure.Drift, tc.names...)
		})
	}
	t.Run("the table is gone", func(t *testing.T) {
		table, err := src.Describe(t.Context(), s.table("t"))
		if err != nil {
			t.Fatal(err)
		}
		s.exec(t, "drop table t")
		_, err = readAll(t, src, source.ReadSpec{Relation: s.table("t"), Columns: table.Columns, Range: keyspace.Range{All: true}})
		sourcetest.WantRefusal(t, err, fault.Permanent, failure.TableMissing, `"t"`)
	})
}

// A bound divides the rows by the order that it was made in: ranges of one order
// overlap and leave rows out in another (PLN-08).
func TestAKeyInAnotherOrderIsDrift(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table sorted (k text primary key); insert into sorted values ('a'), ('B'), ('c')`)
	src := s.source(t)
	table, err := src.Describe(t.Context(), s.table("sorted"))
	if err != nil {
		t.Fatal(err)
	}
	key := table.Keys[0].Columns
	s.exec(t, `alter table sorted alter k type text collate "C"`)
	spec := source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Key: key, Range: keyspace.Range{UpTo: keyspace.Key{"b"}}}
	for name, read := range map[string]func() error{
		"a range": func() error { _, err := src.Read(t.Context(), spec); return err },
		"a window": func() error {
			w := spec
			w.Key, w.Window = nil, &keyspace.Window{Cursor: key[0], To: "b"}
			_, err := src.Read(t.Context(), w)
			return err
		},
		"a cut": func() error { _, err := src.SplitPoints(t.Context(), table.Relation, key, nil, 2); return err },
	} {
		t.Run(name, func(t *testing.T) {
			sourcetest.WantRefusal(t, read(), fault.Drift, failure.Drift, `"k" was sorted by pg_catalog.default and is by pg_catalog.C`)
		})
	}
	spec.Key[0].Collation = "" // planned before the order was noted
	if _, err := src.Read(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
}

// What falls back on a column of another order has no order of its own.
func TestACursorOfTwoOrdersIsRefused(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table sorted (id int primary key, a text collate "C", b text collate "POSIX")`)
	src := s.source(t)
	table, err := src.Describe(t.Context(), s.table("sorted"))
	if err != nil {
		t.Fatal(err)
	}
	either := table.KeyColumns["a"]
	either.Fallback = "b"
	_, err = src.CursorEnd(t.Context(), table.Relation, source.CursorQuery{Cursor: either})
	sourcetest.WantRefusal(t, err, fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "of one type and collation; nothing was read")
}

// Keys that were delivered when the column was wider are of no row now, and no
// reason to fail.
func TestDeliveredKeysOfAWiderInteger(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table narrow (id int primary key, region int2 unique not null, c int); insert into narrow values (1, 1, 7), (2, 2, 7)`)
	src := s.source(t)
	table, err := src.Describe(t.Context(), s.table("narrow"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id", "region"} {
		key, at := []keyspace.Column{table.KeyColumns[name]}, "7"
		end, err := src.CursorEnd(t.Context(), table.Relation, source.CursorQuery{Cursor: table.KeyColumns["c"], Key: key, From: &at, Delivered: []keyspace.Key{{"1"}, {"5000000000"}}})
		if err != nil || end.FromTies != 1 {
			t.Errorf("by %s: %+v, %v", name, end, err)
		}
	}
}

// meanwhile runs statements in a transaction that it commits as soon as the
// action in test waits for their locks: the action's snapshot is older than
// the commit.
func (s *server) meanwhile(t *testing.T, src *Source, statements string, action func()) {
	t.Helper()
	s.exec(t, "begin; "+statements)
	pid := itoa(src.session.conn.PID())
	done := make(chan struct{})
	go func() {
		defer close(done)
		action()
	}()
	for waiting := false; !waiting; {
		select {
		case <-done:
			t.Fatal("it did not wait")
		default:
		}
		results, err := s.admin.Exec(context.WithoutCancel(t.Context()), "select exists (select from pg_locks where pid = "+pid+" and not granted)").ReadAll()
		if err != nil {
			t.Error(err)
			break
		}
		waiting = string(results[0].Rows[0][0]) == "t"
	}
	s.exec(t, "commit")
	<-done
}

// A table that is truncated and filled again while a read waits for it would
// look empty to the read's snapshot. It is read as it is afterwards.
func TestTableReplacedWhileReadBegins(t *testing.T) {
	s := newServer(t)
	for _, tc := range []struct {
		name, change string
		rel          source.Relation
		rows         int // -1 for drift
	}{
		{"truncated and filled", "truncate t; insert into t select g from generate_series(1, 7) g", s.table("t"), 7},
		{"rewritten", "drop view seen; alter table t alter id type int8; alter table t alter id type int4", s.table("t"), 3},
		{"below a view", "truncate t; insert into t select g from generate_series(1, 7) g", s.table("seen"), 7},
		{"below a query", "truncate t; insert into t select g from generate_series(1, 7) g", source.Relation{Query: "select id from " + s.quoted() + ".t"}, 7},
		{"a partition", "truncate p1; insert into p1 select g from generate_series(1, 7) g", s.table("parts"), 7},
		{"swapped for another", "create table n (id int primary key); insert into n select g from generate_series(1, 7) g; alter table t rename to o; alter table n rename to t", s.table("t"), 7},
		{"swapped for one whose key may be NULL", "alter table t rename to o; alter table loose rename to t", s.table("t"), -1},
		{"a column dropped", "alter table t drop v", s.table("t"), -1},
		{"a column swapped for another", "alter table t drop v; alter table t add v int default 9", s.table("t"), -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.exec(t, `drop table if exists t, o, n, loose, parts cascade; create table loose (id int); insert into loose values (null); create table t (id int primary key, v int); alter table t drop v; insert into t values (1), (2), (3);
				create view seen as select * from t; create table parts (id int) partition by range (id); create table p1 partition of parts for values from (0) to (100);
				insert into parts values (1), (2), (3)`)
			if strings.HasPrefix(tc.name, "a column") {
				s.exec(t, "alter table t add v text")
			}
			src := s.source(t)
			spec := wholeOf(t, src, tc.rel)
			if tc.rel.Name == "t" {
				spec.Key = []keyspace.Column{{Name: "id", Native: "integer"}}
			}
			var rows int
			var err error
			s.meanwhile(t, src, tc.change, func() { rows, err = readAll(t, src, spec) })
			if tc.rows < 0 {
				sourcetest.WantRefusal(t, err, fault.Drift, failure.Drift)
				return
			}
			if err != io.EOF || rows != tc.rows {
				t.Fatalf("%d rows, %v; want %d", rows, err, tc.rows)
			}
		})
	}
	t.Run("while bounds are asked for", func(t *testing.T) {
		s.exec(t, "drop table t cascade; create table t (id int); insert into t values (1)")
		src := s.source(t)
		var b source.IntegerBounds
		var err error
		s.meanwhile(t, src, "truncate t; insert into t values (5), (6)", func() {
			b, err = src.IntegerBounds(context.WithoutCancel(t.Context()), s.table("t"), keyspace.Column{Name: "id"})
		})
		if err != nil || b != (source.IntegerBounds{Min: 5, Max: 6}) {
			t.Fatalf("%+v, %v", b, err)
		}
	})
}
