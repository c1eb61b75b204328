package postgres

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// TestEveryKeyType reads tables by keys of every kind: by split points, and
// cut again at each batch where the reader lets it be cut. Values are chosen
// so that a comparison outside the server, or a text that loses something,
// would lose or double a row.
func TestEveryKeyType(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create type mood as enum ('so so', 'ok', 'a,b"c''d'); create domain cents as numeric(12,2); create domain cents2 as cents`)
	s.exec(t, `create collation icu (provider = icu, locale = 'en'); create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
	for _, tc := range []struct {
		name     string
		typ      string
		values   []string
		override string
		uncut    bool // when the key repeats, because the end of a group cannot be seen
	}{
		{"smallint", "int2", []string{"-32768", "-1", "0", "1", "32767"}, "", false},
		{"bigint", "int8", []string{"-9223372036854775808", "0", "9007199254740993", "9223372036854775807"}, "", false},
		{"oid", "oid", []string{"0", "1", "2147483648", "4294967295"}, "", false},
		{"boolean", "bool", []string{"false", "true"}, "", false},
		{"real", "float4", []string{"-Infinity", "-1.5", "-0", "0.1", "1.0000001", "3e38", "Infinity", "NaN"}, "", false},
		{"double", "float8", []string{"-Infinity", "-1e300", "5e-324", "0.1", "0.30000000000000004", "Infinity", "NaN"}, "", false},
		{"numeric", "numeric(20,5)", []string{"-999999999999999.99999", "-0.00001", "0", "1.50000", "2"}, "", false},
		{"wide numeric", "numeric(60,10)", []string{"-1e40", "0.0000000001", "1e49"}, "", false},
		{"numeric without precision, as a decimal", "numeric", []string{"1.5", "1.50001", "-2"}, "decimal(30,10)", false},
		{"numeric without precision, as text", "numeric", []string{"1.5", "1.50001", "-2", "NaN"}, "text", true},
		{"a domain", "cents2", []string{"1.50", "-2.25", "3"}, "", false},
		{"text", "text", []string{"", "a", "A", "é", "e\u0301", "'", `\`, "a\nb", "10", "9"}, "", false},
		{"text in a linguistic order", "text collate icu", []string{"a1", "b1", "B1", "C1", "a-1", "é", "e", "Z", "z"}, "", false},
		{"text that ignores case", "text collate loose", []string{"a", "B", "c"}, "", true},
		{"padded text", "char(5)", []string{"", "a", "ab", "a b", "é"}, "", false},
		{"a name", "name", []string{"a", "B", `"`}, "", false},
		{"uuid", "uuid", []string{"ffffffff-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002", "80000000-0000-0000-0000-000000000003"}, "", false},
		{"date", "date", []string{"0001-01-01", "1969-12-31", "2024-02-29", "12345-06-07"}, "", false},
		{"time", "time", []string{"00:00", "00:00:00.000001", "23:59:59.999999"}, "", false},
		{"timestamp", "timestamp", []string{"0001-01-01", "1969-12-31 23:59:59.999999", "2024-02-29 00:00:00.5", "12345-06-07"}, "", false},
		{"timestamptz", "timestamptz", []string{"1969-12-31 23:59:59.999999+00", "2024-02-29 00:00+05:30", "2024-02-29 00:00+00"}, "", false},
		{"timestamptz in nanoseconds", "timestamptz", []string{"1969-12-31 23:59:59.999999+00", "2024-02-29 00:00:00.000001+00"}, "timestamp_tz_ns", false},
		{"bytes", "bytea", []string{`\x`, `\x00`, `\x00ff`, `\x27`, `\x5c`}, "", false},
		{"enum", "mood", []string{"so so", "ok", `a,b"c'd`}, "", false},
		{"interval", "interval", []string{"1 mon", "29 days", "-00:00:01", "1 mon -1 day 00:00:00.5"}, "", true},
		{"jsonb", "jsonb", []string{"1", `"a"`, `{"a": 1}`, "null"}, "", true},
		{"inet as text", "inet", []string{"10.0.0.1", "10.0.0.1/24", "9.0.0.1", "::1"}, "text", true},
		{"a wider integer", "int4", []string{"-2147483648", "0", "2147483647"}, "int8", true},
		{"an integer as a decimal", "int4", []string{"-2147483648", "0", "2147483647"}, "decimal(12,2)", true},
		{"a range as text", "int4range", []string{"[1,2)", "[1,10)", "empty", "(,)"}, "text", true},
		{"an array", "int4[]", []string{"{1,2}", "{1,10}", "{}"}, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base, _, _ := strings.Cut(tc.typ, " ")
			var values []string
			for _, v := range tc.values {
				values = append(values, "("+sqltext.Postgres.Literal(v)+"::"+base+")")
			}
			from := "(values " + strings.Join(values, ", ") + ") as x(v)"
			s.exec(t, "drop table if exists u, g; create table u (k "+tc.typ+" primary key, n int); create table g (k "+tc.typ+", n int);"+
				"insert into u select v, 1 from "+from+"; insert into g select v, n from "+from+", generate_series(1, 3) n; insert into g values (null, 0); analyze u; analyze g")
			for _, unique := range []bool{true, false} {
				rel := s.table(map[bool]string{true: "u", false: "g"}[unique])
				if tc.override != "" {
					rel.Overrides = map[string]string{"k": tc.override}
				}
				readInPieces(t, s.source(t), rel, unique, tc.uncut && !unique)
			}
		})
	}
}

// readInPieces compares a table read whole with the same table read in ranges
// that are cut wherever they can be.
func readInPieces(t *testing.T, src *Source, rel source.Relation, unique, uncut bool) {
	t.Helper()
	table, err := src.Describe(t.Context(), rel)
	if err != nil {
		t.Fatal(err)
	}
	if unique && (len(table.Keys) != 1 || table.Keys[0].Columns[0] != table.KeyColumns["k"]) {
		t.Fatalf("keys %+v", table.Keys)
	}
	base := source.ReadSpec{Relation: rel, Columns: table.Columns, Key: []keyspace.Column{table.KeyColumns["k"]}, Ordered: true, Unique: unique}
	whole := base
	whole.Range.All = true
	want := collect(t, src, whole, false, nil)
	for _, n := range []int{1, 3, 100} {
		points, err := src.SplitPoints(t.Context(), rel, base.Key, nil, n)
		if err != nil {
			t.Fatal(err)
		}
		cuts := 0
		got := collect(t, src, withRange(base, keyspace.Range{Null: true}), false, nil)
		var after keyspace.Key
		for _, point := range append(points, nil) {
			got = append(got, collect(t, src, withRange(base, keyspace.Range{After: after, UpTo: point}), true, &cuts)...)
			after = point
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("unique %t, %d ranges at %q:\n got %q\nwant %q", unique, n, points, got, want)
		}
		if (cuts == 0) != uncut && len(points) == 0 {
			t.Errorf("unique %t: cut %d times, never: %t", unique, cuts, uncut)
		}
	}
}

func withRange(spec source.ReadSpec, r keyspace.Range) source.ReadSpec {
	spec.Range, spec.BatchRows = r, 2
	return spec
}

// collect reads a range. With cut it stops at the first cut and reads the rest
// as a range of its own, on and on.
func collect(t *testing.T, src *Source, spec source.ReadSpec, cut bool, cuts *int) (rows []string) {
	t.Helper()
	r, err := src.Read(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	for {
		b, err := r.Next(t.Context())
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		n, at := r.Cut()
		take := b.Rows
		if cut && n > 0 {
			take = n
		}
		for i := range take {
			var cells []string
			for c := range b.Columns {
				cells = append(cells, cellText(b, c, i))
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		if cut && n > 0 {
			*cuts++
			_, rest, err := spec.Range.CutAt(at)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			return append(rows, collect(t, src, withRange(spec, rest), true, cuts)...)
		}
	}
}

func TestIntegerBounds(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table b (i2 int2, i4 int4, i8 int8 not null, o oid, f float8, n numeric(10,0), nothing int4, unmapped inet);
		insert into b values (-32768, null, -9223372036854775808, 0, 1.5, 1, null, null), (32767, 7, 9223372036854775807, 4294967295, 2, 2, null, null)`)
	src := s.source(t)
	query := source.Relation{Query: "select * from " + s.quoted() + ".b -- all"}
	for _, tc := range []struct {
		name   string
		rel    source.Relation
		column string
		want   source.IntegerBounds
		code   fault.Code
	}{
		{"a smallint", s.table("b"), "i2", source.IntegerBounds{Min: -32768, Max: 32767}, ""},
		{"an integer with a NULL", s.table("b"), "i4", source.IntegerBounds{Min: 7, Max: 7, HasNull: true}, ""},
		{"a bigint", s.table("b"), "i8", source.IntegerBounds{Min: -9223372036854775808, Max: 9223372036854775807}, ""},
		{"an oid, which is unsigned", s.table("b"), "o", source.IntegerBounds{Max: 4294967295}, ""},
		{"nothing but NULL", s.table("b"), "nothing", source.IntegerBounds{Empty: true, HasNull: true}, ""},
		{"a query", query, "i4", source.IntegerBounds{Min: 7, Max: 7, HasNull: true}, ""},
		{"a query without NULL", query, "i8", source.IntegerBounds{Min: -9223372036854775808, Max: 9223372036854775807}, ""},
		{"a float has values in between", s.table("b"), "f", source.IntegerBounds{}, "LAPSTRAKE_PLAN_CHUNK_KEY_TYPE"},
		{"a float of a query too", query, "f", source.IntegerBounds{}, "LAPSTRAKE_PLAN_CHUNK_KEY_TYPE"},
		{"a decimal", s.table("b"), "n", source.IntegerBounds{}, "LAPSTRAKE_PLAN_CHUNK_KEY_TYPE"},
		{"a column that is not there", s.table("b"), "I4", source.IntegerBounds{}, failure.ColumnMissing},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := src.IntegerBounds(t.Context(), tc.rel, keyspace.Column{Name: tc.column})
			if fault.CodeOf(err) != tc.code || got != tc.want {
				t.Fatalf("%+v, %v; want %+v, %s", got, err, tc.want, tc.code)
			}
		})
	}
}

// Split points ascend in the order of the column's own collation, and come
// close to equal parts.
func TestSplitPoints(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create collation icu (provider = icu, locale = 'en');
		create table words (w text collate icu primary key); insert into words select chr(65 + g % 26 + 32 * (g % 2)) || g from generate_series(1, 3000) g;
		create table pairs (a int, b int, primary key (a, b)); insert into pairs select g % 7, g from generate_series(1, 3000) g;
		create table parts (a int primary key) partition by range (a);
		create table parts_1 partition of parts for values from (0) to (1000); create table parts_2 partition of parts default;
		insert into parts select g from generate_series(1, 3000) g;
		create view seen as select * from pairs; create materialized view kept as select * from pairs`)
	src := s.source(t)
	check := func(name, table string, n, least int, columns ...string) {
		t.Run(name, func(t *testing.T) {
			rel := s.table(table)
			described, err := src.Describe(t.Context(), rel)
			if err != nil {
				t.Fatal(err)
			}
			var key []keyspace.Column
			for _, c := range columns {
				key = append(key, described.KeyColumns[c])
			}
			points, err := src.SplitPoints(t.Context(), rel, key, nil, n)
			if err != nil || len(points) > n-1 || len(points) < least {
				t.Fatalf("%d points, %v; want %d to %d", len(points), err, least, n-1)
			}
			var after keyspace.Key
			for _, p := range append(points, nil) {
				rows := collect(t, src, source.ReadSpec{Relation: rel, Columns: described.Columns, Key: key, Range: keyspace.Range{After: after, UpTo: p}}, false, nil)
				if most := 3 * 3000 / (len(points) + 1); len(rows) == 0 || len(rows) > most {
					t.Errorf("%d rows after %v up to %v, want 1 to %d", len(rows), after, p, most)
				}
				after = p
			}
		})
	}
	check("a sample of text in a linguistic order", "words", 10, 9, "w")
	check("a sample of pairs", "pairs", 10, 9, "a", "b")
	check("a sample of partitions", "parts", 10, 9, "a")
	check("a view has none", "seen", 10, 0, "a", "b")
	check("a materialized view has", "kept", 10, 9, "a", "b")
	s.exec(t, "analyze words; analyze parts")
	check("a histogram of text in a linguistic order", "words", 10, 9, "w")
	check("a histogram over partitions", "parts", 10, 9, "a")
	check("more points than a histogram has", "words", 400, 300, "w")
	if points, err := src.SplitPoints(t.Context(), source.Relation{Query: "select 1 as a"}, []keyspace.Column{{Name: "a"}}, nil, 4); err != nil || points != nil {
		t.Fatalf("a query: %v, %v", points, err)
	}
}

// Appended keys are found by the server's comparison, whatever bytes say
// (PLN-08).
func TestOpenRangeFollowsTheCollation(t *testing.T) {
	s := newServer(t)
	s.load(t, "pg_07_collation")
	s.exec(t, "insert into hz_coll.k values ('C2'), ('B2')")
	src := s.source(t)
	rel := source.Relation{Schema: "hz_coll", Name: "k"}
	table, err := src.Describe(t.Context(), rel)
	if err != nil {
		t.Fatal(err)
	}
	rows := collect(t, src, source.ReadSpec{Relation: rel, Columns: table.Columns, Key: table.Keys[0].Columns, Range: keyspace.Range{After: keyspace.Key{"b1"}}}, false, nil)
	for _, want := range []string{"C2", "B2"} {
		if !slices.Contains(rows, want) {
			t.Errorf("%q lacks %s", rows, want)
		}
	}
}
