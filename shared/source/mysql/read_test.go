package mysql

import (
	"io"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// count reads to the end.
func count(t testing.TB, s *Source, spec source.ReadSpec) int {
	t.Helper()
	r, err := s.Read(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	n := 0
	for {
		b, err := r.Next(t.Context())
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n += b.Rows
	}
}

var everyRow = keyspace.Range{All: true}

// Every type, at its edges: delivered exactly, or refused by name.
func TestValues(t *testing.T) {
	s := newServer(t)
	for _, tc := range []struct {
		declared, override, value string
		want                      string // printed, or part of the refusal after "refused: "
	}{
		{"tinyint", "", "-128", "-128"},
		{"tinyint(1)", "", "0", "false"},
		{"tinyint(1)", "", "-1", "refused: neither 0 nor 1"},
		{"tinyint(1)", "int16", "-1", "-1"},
		{"tinyint unsigned", "int64", "255", "255"},
		{"smallint unsigned zerofill", "", "7", "7"},
		{"mediumint unsigned", "", "16777215", "16777215"},
		{"bigint unsigned", "", "18446744073709551615", "18446744073709551615"},
		{"bigint unsigned", "int64", "9223372036854775807", "9223372036854775807"},
		{"bigint unsigned", "int64", "9223372036854775808", "refused: a larger number"},
		{"bigint unsigned", "decimal(20,0)", "18446744073709551615", "18446744073709551615"},
		{"bigint", "int32", "2147483648", "refused: a larger number"},
		{"decimal(65,30) zerofill", "", "1.5", "1.500000000000000000000000000000"},
		{"decimal(65,0)", "", "-99999999999999999999999999999999999999999999999999999999999999999", "-99999999999999999999999999999999999999999999999999999999999999999"},
		{"decimal(10,2)", "decimal(10,1)", "1.25", "refused: more digits after the point"},
		{"decimal(10,2)", "text", "1.20", "1.20"},
		{"float", "", "16777217", "1.6777216e+07"},
		{"float", "double", "0.1", "0.10000000149011612"},
		{"double", "", "0.1e0 + 0.2e0", "0.30000000000000004"},
		{"bit(1)", "", "b'1'", "true"},
		{"bit(64)", "", "b'0111111111111111111111111111111111111111111111111111111111111111'", "9223372036854775807"},
		{"bit(64)", "", "b'1000000000000000000000000000000000000000000000000000000000000000'", "refused: a larger number"},
		{"year", "", "2155", "2155"},
		{"date", "", "'9999-12-31'", "2932896"},
		{"date", "", "'2024-00-00'", "refused: month or day of zero"},
		{"date", "text", "'2024-00-00'", "2024-00-00"},
		{"date", "", "'0000-01-01'", "refused: before the year 1"},
		{"datetime(3)", "", "'1969-12-31 23:59:59.999'", "-1000"},
		{"datetime(6)", "timestamp_ns", "'2024-01-01 00:00:00.000001'", "1704067200000001000"},
		{"datetime(6)", "timestamp_ns", "'2300-01-01'", "refused: nanoseconds"},
		{"datetime", "timestamp_tz", "'2024-01-01'", "refused: without changing values"},
		{"time(6)", "", "'23:59:59.999999'", "86399999999"},
		{"time", "", "'24:00:00'", "refused: span of time"},
		{"time", "", "'-00:00:01'", "refused: span of time"},
		{"time(3)", "text", "'-838:59:58.5'", "-838:59:58.500"},
		{"varchar(9) character set latin1", "", "'é€'", "é€"},
		{"varchar(9) character set utf8mb3", "", "'é€'", "é€"},
		{"varchar(9) character set utf16", "", "'é😀'", "é😀"},
		{"varchar(9) character set gbk", "", "'中文'", "中文"},
		{"varchar(9) character set latin2", "", "'ł'", "ł"},
		{"varchar(9) character set cp1250", "", "_binary X'81'", "refused: no character"},
		{"varchar(9)", "json", `'{"a":1}'`, `{"a":1}`},
		{"text", "", "'a\\0b'", "a\x00b"},
		{"longtext", "", "repeat('x', 70000)", strings.Repeat("x", 70000)},
		{"binary(4)", "", "X'41'", "41000000"},
		{"binary(16)", "uuid", "X'000102030405060708090A0B0C0D0E0F'", "000102030405060708090a0b0c0d0e0f"},
		{"varbinary(16)", "uuid", "X'00'", "refused: no UUID"},
		{"char(36)", "uuid", "'00010203-0405-0607-0809-0A0B0C0D0E0F'", "000102030405060708090a0b0c0d0e0f"},
		{"char(36)", "uuid", "'nope'", "refused: no UUID"},
		{"uuid", "uuid", "'00010203-0405-0607-0809-0a0b0c0d0e0f'", "000102030405060708090a0b0c0d0e0f"},
		{"uuid", "", "null", "refused: set it to uuid or text"},
		{"inet6", "text", "'::1'", "::1"},
		{"inet6", "", "null", "refused: set it to text"},
		{"enum('a','b,c')", "", "'b,c'", "b,c"},
		{"set('x','y')", "", "'x,y'", "x,y"},
		{"json", "", `'{"a": 18446744073709551615}'`, `{"a": 18446744073709551615}`},
		{"geometry", "", "null", "refused: st_asbinary"},
		{"point", "", "null", "refused: st_asbinary"},
		{"polygon", "text", "null", "refused: st_asbinary"},
	} {
		t.Run(tc.declared+" "+tc.value[:min(len(tc.value), 30)]+" as "+tc.override, func(t *testing.T) {
			insert := "insert into v values (1, " + tc.value + ")"
			if strings.Contains(tc.value, "X'81'") { // bytes that the server would not take as text
				insert = "alter table v modify v varbinary(9); " + strings.Replace(insert, "_binary ", "", 1) + "; alter table v modify v " + tc.declared
			}
			s.exec(t, "drop table if exists v; create table v (id int primary key, v "+tc.declared+" null); "+insert)
			rel := s.table("v")
			if tc.override != "" {
				rel.Overrides = map[string]string{"v": tc.override}
			}
			b, err := export(t, s.source(t), rel)
			part, refused := strings.CutPrefix(tc.want, "refused: ")
			switch {
			case refused && (err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "`v`")):
				t.Fatalf("%v, want a refusal with %s", err, part)
			case refused:
			case err != nil:
				t.Fatal(err)
			case printed(&b.Columns[1], 0) != tc.want:
				t.Fatalf("%.100s, want %.100s", printed(&b.Columns[1], 0), tc.want)
			}
		})
	}
}

// A function of the server whose result is too long for it gives NULL and a
// warning: that is no NULL to deliver.
func TestAValueThatTheServerCannotSendIsRefused(t *testing.T) {
	_, err := export(t, newServer(t).source(t), source.Relation{Query: "select 1 as id, repeat('x', 20000000) as v union all select 2, 'y'"})
	sourcetest.WantRefusal(t, err, fault.Refused, failure.Value, "max_allowed_packet")
}

// The end of a group of equal keys cannot be seen in the rows where the server
// ignores case.
func TestEqualKeysByACollationAreNotCut(t *testing.T) {
	s := newServer(t)
	for _, tc := range []struct {
		collation string
		want      int
	}{{"utf8mb4_general_ci", 0}, {"utf8mb4_bin", 2}} {
		s.exec(t, "drop table if exists cut; create table cut (k varchar(9) collate "+tc.collation+" not null, index (k)); insert into cut values ('a'), ('a'), ('B'), ('b')")
		src := s.source(t)
		table, err := src.Describe(t.Context(), s.table("cut"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := src.Read(t.Context(), source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Key: []keyspace.Column{table.KeyColumns["k"]}, Ordered: true, BatchRows: 3})
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Next(t.Context())
		if err != nil || b.Rows != 3 {
			t.Fatal(err)
		}
		want := tc.want
		if want > 0 && string(b.Columns[0].Slice(0)) == "B" { // by code point, B comes first
			want = 1
		}
		if n, at := r.Cut(); n != want {
			t.Errorf("%s: cut after %d rows at %v, want %d", tc.collation, n, at, want)
		}
		_ = r.Close(t.Context())
	}
}
