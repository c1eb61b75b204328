package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// Values of every type that a cursor can have go to the position and back
// unharmed, whatever the server's own settings are: the second run is empty, and
// a third one has just what came (CUR-04, CUR-06, CUR-12, CUR-13).
func TestCursorsOfEveryType(t *testing.T) {
	s := newServer(t)
	for _, tc := range []struct {
		spelled          string
		first, last      string // values of the first rows
		equal, different string // the last one again, and one after it
	}{
		{"int2", "-32768", "32766", "32766", "32767"},
		{"int8", "-5", "9223372036854775806", "9223372036854775806", "9223372036854775807"},
		{"oid", "1", "4294967294", "4294967294", "4294967295"},
		{"numeric", "1.50", "123456789012345678901234567890.123456789", "123456789012345678901234567890.1234567890", "123456789012345678901234567890.1234567891"},
		{"numeric(12,4)", "-0.0001", "0.0001", "0.0001", "0.0002"},
		{"float4", "-0.1", "16777216", "16777217", "16777218"},
		{"float8", "0.1", "0.30000000000000004", "0.30000000000000004", "0.3000000000000001"},
		{"date", "0001-01-01", "2024-02-29", "2024-02-29", "2024-03-01"},
		{"time", "00:00:00", "23:59:59.999998", "23:59:59.999998", "23:59:59.999999"},
		{"timestamp", "0044-03-15 00:00:00", "2024-05-09 13:28:27.031153", "2024-05-09 13:28:27.031153", "2024-05-09 13:28:27.031154"},
		{"timestamptz", "2024-05-09 13:28:27.031152+00", "2024-11-03 01:30:00.031153-04", "2024-11-03 05:30:00.031153+00", "2024-11-03 01:30:00.031153-05"},
		{"text", "10", "9''s \\ é", "9''s \\ é", "9''s \\ éa"},
		{"varchar(20)", "", "b", "b", "c"},
		{"char(5)", "a", "b", "b  ", "c"},
		{"uuid", "00000000-0000-0000-0000-000000000001", "80000000-0000-0000-0000-000000000000", "80000000-0000-0000-0000-000000000000", "80000000-0000-0000-0000-000000000001"},
		{"bytea", "\\x00", "\\xfe27", "\\xfe27", "\\xfe2700"},
	} {
		t.Run(tc.spelled, func(t *testing.T) {
			s.exec(t, fmt.Sprintf("drop table if exists t; create table t (id int primary key, c %s); insert into t values (1, '%s'), (2, '%s'), (3, null)", tc.spelled, tc.first, tc.last))
			src := s.open(t, s.Address(), "options=-c%20TimeZone%3DAmerica/New_York%20-c%20DateStyle%3DGerman%20-c%20extra_float_digits%3D-5%20-c%20bytea_output%3Descape")
			defer src.Close(t.Context())
			r := sourcetest.Runs{Source: src, Relation: s.table("t")}
			if strings.HasPrefix(tc.spelled, "numeric") && tc.spelled == "numeric" {
				r.Relation.Overrides = map[string]string{"c": "text"}
			}
			r.Follow(t, tc.equal, tc.different, func(values string) { s.exec(t, "insert into t values "+values) })
		})
	}
}

func TestCursorsThatAreRefused(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create type mood as enum ('sad', 'glad');
create table t (id int primary key, b bool, i interval, j jsonb, e mood, tz timetz, a int[], ts timestamptz, f float8, n numeric(5,2), d date);
insert into t values (1, true, '1 month', '1', 'sad', '10:00+00', '{1}', 'infinity', 'NaN', 'NaN', '-infinity')`)
	src := s.source(t)
	for column, want := range map[string]fault.Code{
		"b": "LAPSTRAKE_PLAN_CURSOR_TYPE", "i": "LAPSTRAKE_PLAN_CURSOR_TYPE", "j": "LAPSTRAKE_PLAN_CURSOR_TYPE", "e": "LAPSTRAKE_PLAN_CURSOR_TYPE",
		"tz": "LAPSTRAKE_PLAN_CURSOR_TYPE", "a": "LAPSTRAKE_PLAN_CURSOR_TYPE",
		"ts": "LAPSTRAKE_PLAN_CURSOR_INFINITE", "f": "LAPSTRAKE_PLAN_CURSOR_INFINITE", "n": "LAPSTRAKE_PLAN_CURSOR_INFINITE", "d": "LAPSTRAKE_PLAN_CURSOR_INFINITE",
	} {
		_, err := src.CursorEnd(t.Context(), s.table("t"), source.CursorQuery{Cursor: keyspace.Column{Name: column, Nullable: true, Native: spelled(t, s, column)}})
		if fault.CodeOf(err) != want || !strings.Contains(err.Error(), `"`+column+`"`) {
			t.Errorf("%s: %v, want %s", column, err, want)
		}
	}
}

// spelled is the type of a column of t as it is planned.
func spelled(t *testing.T, s *server, column string) string {
	t.Helper()
	result := s.admin.ExecParams(t.Context(), "select format_type(atttypid, -1) from pg_attribute where attrelid = 't'::regclass and attname = $1", [][]byte{[]byte(column)}, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return string(result.Rows[0][0])
}

// Windows of relations without an index, a heap or a name.
func TestWindowsOfOtherRelations(t *testing.T) {
	s := newServer(t)
	s.exec(t, `create table p (id int, c date, primary key (id, c)) partition by range (c);
create table p1 partition of p for values from ('2024-01-01') to ('2025-01-01'); create table p2 partition of p for values from ('2025-01-01') to ('2026-01-01');
insert into p select i, date '2024-12-01' + i from generate_series(1, 60) i; create view v as select * from p; analyze`)
	for name, rel := range map[string]source.Relation{"a partitioned table": s.table("p"), "a view": s.table("v"), "a query": {Query: "select * from " + s.quoted() + ".p -- all"}} {
		t.Run(name, func(t *testing.T) {
			r := sourcetest.Runs{Source: s.source(t), Relation: rel}
			if got := len(r.Next(t)); got != 60 {
				t.Errorf("%d rows in the first run", got)
			}
			if n, err := r.Source.EstimateRows(t.Context(), rel, keyspace.Window{Cursor: keyspace.Column{Name: "c", Native: "date", Nullable: true}, To: "2024-12-31"}); err != nil || n < 1 {
				t.Errorf("about %d rows, %v", n, err)
			}
		})
	}
}
