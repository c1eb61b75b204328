package postgres

import (
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// keyNames are the keys of a table by their columns, the best first.
func keyNames(t *testing.T, src *Source, rel source.Relation) []string {
	t.Helper()
	table, err := src.Describe(t.Context(), rel)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, k := range table.Keys {
		var columns []string
		for _, c := range k.Columns {
			columns = append(columns, c.Name)
		}
		keys = append(keys, strings.Join(columns, ","))
	}
	return keys
}

func TestKeys(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create collation icu (provider = icu, locale = 'en'); create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false); create type pair as (x int, y text); create domain domain_pair as pair;
		create type told as enum ('x', 'y'); create function tell(told) returns text language sql immutable as 'select ''some''::text'; create cast (told as text) with function tell(told)`)
	src := s.source(t)
	for _, tc := range []struct {
		name, columns string
		more          string
		want          []string
	}{
		{"the primary key first, then fewer columns, then the name", "id int, a int not null, b int not null, constraint z primary key (a, b, id), constraint c unique (b), constraint d unique (a), constraint e unique (a, b)", "", []string{"a,b,id", "b", "a", "a,b"}},
		{"two keys and no primary one: the name decides", "ext_id int not null unique, id int not null unique", "", []string{"ext_id", "id"}},
		{"none", "a int", "", nil},
		{"one that may be NULL", "a int unique", "", nil},
		{"one that may be NULL in part", "a int not null, b int, unique (a, b)", "", nil},
		{"a deferrable one", "a int primary key deferrable", "", nil},
		{"a partial one", "a int not null", "create unique index on t (a) where a > 0", nil},
		{"one of an expression", "a int not null", "create unique index on t ((a + 1))", nil},
		{"columns that are only carried along", "a int not null, b int not null", "create unique index on t (b) include (a)", []string{"b"}},
		{"one in descending order", "a int not null", "create unique index on t (a desc)", []string{"a"}},
		{"one that compares by another collation", "a text collate loose not null", `create unique index on t (a collate "C")`, nil},
		{"one of the column's own collation", "a text collate icu not null", "create unique index on t (a)", []string{"a"}},
		{"one with an operator class of its own", "a text not null", "create unique index on t (a text_pattern_ops)", nil},
		{"money, whose text depends on a locale", "a money primary key", "", nil},
		{"a composite, which IS NULL takes apart", "a pair primary key, b domain_pair not null unique", "", nil},
		{"an enum with a cast to text of its own", "a told primary key", "", nil},
		{"that of a table with children says nothing of their rows", "a int primary key", "drop table if exists child; create table child () inherits (t); insert into child values (1); insert into t values (1)", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.exec(t, "drop table if exists t cascade; create table t ("+tc.columns+"); "+tc.more)
			rel := s.table("t")
			if strings.Contains(tc.columns, "money") {
				rel.Overrides = map[string]string{"a": "decimal(19,2)"}
			}
			if strings.Contains(tc.columns, "pair") {
				rel.Overrides = map[string]string{"a": "text", "b": "text"}
			}
			if got := keyNames(t, src, rel); !slices.Equal(got, tc.want) {
				t.Fatalf("%q, want %q", got, tc.want)
			}
		})
	}
}

// A NOT NULL that was never checked is none: PostgreSQL 18 has such.
func TestUncheckedNotNull(t *testing.T) {
	s := newServer(t)
	if s.major(t) < 18 {
		t.Skip("needs PostgreSQL 18")
	}
	s.exec(t, "create table t (a int unique); insert into t values (null), (1); alter table t add constraint a_there not null a not valid")
	src := s.source(t)
	table, err := src.Describe(t.Context(), s.table("t"))
	if err != nil || len(table.Keys) > 0 || !table.KeyColumns["a"].Nullable {
		t.Fatalf("keys %+v, key columns %+v, %v", table.Keys, table.KeyColumns, err)
	}
}

func TestEstimates(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table fresh (a int); insert into fresh values (1);
		create table known (a int, b int); insert into known select g, -g from generate_series(1, 1000) g; analyze known;
		create table parts (a int) partition by range (a); create table p1 partition of parts for values from (0) to (500); create table p2 partition of parts default;
		insert into parts select g from generate_series(1, 1000) g; analyze p1;
		create view v as select * from known`)
	src := s.source(t)
	describe := func(name string) source.Table {
		t.Helper()
		table, err := src.Describe(t.Context(), s.table(name))
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	if d := describe("fresh"); d.Rows != -1 || d.Bytes <= 0 {
		t.Errorf("never analysed: %d rows, %d bytes; unknown is not empty", d.Rows, d.Bytes)
	}
	if d := describe("known"); d.Rows != 1000 || d.Bytes <= 0 || d.Correlation["a"] != 1 || d.Correlation["b"] != -1 {
		t.Errorf("analysed: %d rows, %d bytes, correlation %v", d.Rows, d.Bytes, d.Correlation)
	}
	if d := describe("parts"); d.Rows != -1 || d.Bytes <= 0 {
		t.Errorf("one partition analysed, one not: %d rows, %d bytes", d.Rows, d.Bytes)
	}
	s.exec(t, "analyze p2")
	if d := describe("parts"); d.Rows != 1000 {
		t.Errorf("both partitions analysed: %d rows", d.Rows)
	}
	if d := describe("v"); d.Rows != -1 || d.Bytes != -1 {
		t.Errorf("a view: %d rows, %d bytes", d.Rows, d.Bytes)
	}
}

// TestRefusals are those before any row is read.
func TestRefusals(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table "Orders" (id int primary key, "Amount" numeric(10,2), ip inet, span int4range, n numeric);
		create table nothing (); create table half (id int, pub int, secret int); create table mine (id int); create table guarded (id int);
		alter table guarded enable row level security;
		create type pair as (a int, b money); create table composed (p pair); create table costs (m money, a money[]);
		create view broken as select id from mine; create function fails() returns int language sql as 'insert into `+s.quoted()+`.mine values (1) returning id';
		create schema closed; create table closed.t (a int); grant select on closed.t to public`)
	s.finally("drop schema closed cascade")
	reader := s.reader(t, "select (id, pub) on half", "select on guarded")
	for _, tc := range []struct {
		name      string
		src       *Source
		rel       source.Relation
		overrides map[string]string
		class     fault.Class
		code      fault.Code
		names     []string
	}{
		{"a table that is not there", nil, s.table("gone"), nil, fault.Permanent, failure.TableMissing, []string{`"gone"`}},
		{"a table in another case", nil, s.table("orders"), nil, fault.Permanent, failure.TableMissing, []string{`"orders"`, `."Orders"`}},
		{"columns without a mapping, all at once", nil, s.table("Orders"), nil, fault.Permanent, failure.Type, []string{`"ip": inet`, `"span": int4range`, `"n": numeric`, "decimal(p,s)", "text"}},
		{"an override of a column that is not there", nil, s.table("Orders"), map[string]string{"price": "text"}, fault.Usage, "LAPSTRAKE_CONFIG_COLUMN_UNKNOWN", []string{`"price"`}},
		{"an override in another case", nil, s.table("Orders"), map[string]string{"amount": "text"}, fault.Usage, "LAPSTRAKE_CONFIG_COLUMN_UNKNOWN", []string{`"amount"`, `"Amount"`}},
		{"an override that would change values", nil, s.table("mine"), map[string]string{"id": "int2"}, fault.Permanent, failure.Type, []string{`"id"`, "int16"}},
		{"a composite whose text depends on a locale", nil, s.table("composed"), nil, fault.Permanent, failure.Type, []string{`"p"`, "to_jsonb"}},
		{"the same as text", nil, s.table("composed"), map[string]string{"p": "text"}, fault.Permanent, failure.Type, []string{`"p"`, "to_jsonb"}},
		{"money and arrays of it", nil, s.table("costs"), nil, fault.Permanent, failure.Type, []string{`"m": money`, "decimal(19,2) or text", `"a": _money`}},
		{"a table without columns", nil, s.table("nothing"), nil, fault.Permanent, "LAPSTRAKE_SOURCE_NO_COLUMNS", []string{"nothing"}},
		{"a column that may not be read", reader, s.table("half"), nil, fault.Permanent, failure.Permission, []string{`"secret"`, "half"}},
		{"a table that may not be read", reader, s.table("mine"), nil, fault.Permanent, failure.Permission, []string{`"id"`, "mine"}},
		{"a schema that may not be used", reader, source.Relation{Schema: "closed", Name: "t"}, nil, fault.Permanent, failure.Permission, []string{`"closed"`}},
		{"rows that a policy hides", reader, s.table("guarded"), nil, fault.Permanent, failure.RowSecurity, []string{"guarded", "BYPASSRLS"}},
		{"rows that a policy hides, by a query", reader, source.Relation{Query: "select * from " + s.quoted() + ".guarded"}, nil, fault.Permanent, failure.RowSecurity, []string{"BYPASSRLS"}},
		{"two columns of one name", nil, source.Relation{Query: "select 1 as a, 2 as a"}, nil, fault.Permanent, "LAPSTRAKE_SOURCE_COLUMN_TWICE", []string{`"a"`}},
		{"a second statement", nil, source.Relation{Query: "select 1) as x; drop table mine; select * from (select 1"}, nil, fault.Permanent, failure.Query, []string{"42601"}},
		{"a statement that writes", nil, source.Relation{Query: "delete from mine returning id"}, nil, fault.Permanent, failure.Query, nil},
		{"a NUL byte", nil, source.Relation{Query: "select 1 as a --\x00"}, nil, fault.Usage, "LAPSTRAKE_CONFIG_NUL_BYTE", nil},
		{"a query with a type that has no mapping", nil, source.Relation{Query: "select 1::numeric as n, 1.5::numeric(5,2) as m"}, nil, fault.Permanent, failure.Type, []string{`"n"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := tc.src
			if src == nil {
				src = s.source(t)
			}
			tc.rel.Overrides = tc.overrides
			_, err := export(t, src, tc.rel)
			sourcetest.WantRefusal(t, err, tc.class, tc.code, tc.names...)
		})
	}
	t.Run("a function that writes", func(t *testing.T) {
		_, err := export(t, s.source(t), source.Relation{Query: "select " + s.quoted() + ".fails() as a"})
		sourcetest.WantRefusal(t, err, fault.Permanent, failure.Writes)
	})
	t.Run("a view whose table is gone, by itself", func(t *testing.T) {
		s.exec(t, "alter table mine drop column id cascade")
		_, err := export(t, s.source(t), s.table("broken"))
		sourcetest.WantRefusal(t, err, fault.Permanent, failure.TableMissing)
	})
}

// Texts of queries that a careless wrapper would break (PLN-29).
func TestQueries(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table t ("é" int, v text); insert into t values (1, 'a'), (2, 'b'), (3, null)`)
	table := s.quoted() + ".t"
	for _, tc := range []struct {
		name, query string
		rows        int
	}{
		{"comments around", "/* FROM x */ select é from " + table + " -- end", 3},
		{"a comment that has a bracket", "select é from " + table + " -- )", 3},
		{"WITH in front", "with w as (select * from " + table + ") select * from w", 3},
		{"an order and a limit inside", "select * from " + table + " order by é desc limit 2", 2},
		{"a set operation", "select é from " + table + " union all select 4", 4},
		{"values", "values (1, 'a'), (2, 'b')", 2},
		{"quotes and dollars", "select $q$ ' ; -- $q$ as a, 'it''s' as b, E'\\'' as c", 1},
		{"no rows", "select * from " + table + " where false", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := s.source(t)
			rel := source.Relation{Query: tc.query}
			b, err := export(t, src, rel)
			if err != nil || b.Rows != tc.rows {
				t.Fatalf("%v", err)
			}
			if d, err := src.Describe(t.Context(), rel); err != nil || d.Kind != "query" || len(d.Keys) > 0 {
				t.Fatalf("%+v, %v", d, err)
			}
		})
	}
}
