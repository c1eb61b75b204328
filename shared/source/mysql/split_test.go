package mysql

import (
	"fmt"
	"testing"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Cuts are found by dives into an index, for keys of every kind, and the ranges
// between them hold every row once, none of them most of the rows (PLN-08).
func TestKeysOfEveryKindAreCut(t *testing.T) {
	s := newServer(t)
	const rows = 4000
	for _, tc := range []struct {
		name, key, value string // of row seq
		columns          []string
	}{
		{"sparse integers", "k bigint primary key", "cast(seq * seq * 1000 as signed) - 5000000000", []string{"k"}},
		{"unsigned integers of 64 bits", "k bigint unsigned primary key", "18446744073709551615 - seq * 7", []string{"k"}},
		{"decimals", "k decimal(30,10) primary key", "seq / 7 - 100", []string{"k"}},
		{"doubles", "k double primary key", "exp(seq / 300)", []string{"k"}},
		{"times", "k datetime(6) primary key", "timestamp'2024-01-01 00:00:00' + interval seq * 977 microsecond", []string{"k"}},
		{"dates", "k date primary key", "date'2000-01-01' + interval seq day", []string{"k"}},
		{"hex digests by a collation", "k varchar(40) collate utf8mb4_general_ci primary key", "md5(seq)", []string{"k"}},
		{"numbered names", "k varchar(40) collate utf8mb4_unicode_ci primary key", "concat('Customer/', lpad(seq, 8, '0'))", []string{"k"}},
		{"text outside ASCII", "k varchar(40) collate utf8mb4_bin primary key", "concat(char(0x4E00 + seq using utf16), 'x')", []string{"k"}},
		{"bytes", "k binary(16) primary key", "unhex(md5(seq))", []string{"k"}},
		{"the second column", "a int, k int, primary key (a, k)", "1, seq * 3", []string{"a", "k"}},
		{"a column and the primary key behind it", "a int not null, k int primary key, index (a)", "seq div 1000, seq", []string{"a", "k"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.exec(t, fmt.Sprintf("drop table if exists cut; create table cut (%s); insert into cut select %s from seq_1_to_%d; analyze table cut", tc.key, tc.value, rows))
			src := s.source(t)
			table, err := src.Describe(t.Context(), s.table("cut"))
			if err != nil {
				t.Fatal(err)
			}
			var key []keyspace.Column
			for _, name := range tc.columns {
				key = append(key, table.KeyColumns[name])
			}
			points, err := src.SplitPoints(t.Context(), table.Relation, key, nil, 8)
			if err != nil {
				t.Fatal(err)
			}
			if len(points) < 5 || len(points) > 7 {
				t.Fatalf("cut at %q, want about 7 places", points)
			}
			sum := 0
			var after keyspace.Key
			for _, upTo := range append(points, nil) {
				n := count(t, src, source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Key: key, Range: keyspace.Range{After: after, UpTo: upTo}})
				if sum += n; n > rows/3 {
					t.Errorf("%d of %d rows are in (%v, %v]", n, rows, after, upTo)
				}
				after = upTo
			}
			if sum != rows {
				t.Errorf("the ranges have %d rows of %d", sum, rows)
			}
		})
	}
}

// A key that no index finds would cost a look at every row, again and again.
func TestKeysWithoutAnIndexAreNotCut(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table cut (id int primary key, k int not null, unique (k, id), p varchar(20) not null, index (p(3))); insert into cut select seq, seq, seq from seq_1_to_500; alter table cut drop index k")
	src := s.source(t)
	table, err := src.Describe(t.Context(), s.table("cut"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"k", "p"} {
		if points, err := src.SplitPoints(t.Context(), table.Relation, []keyspace.Column{table.KeyColumns[name]}, nil, 4); err != nil || len(points) > 0 {
			t.Errorf("%s is cut at %v, %v", name, points, err)
		}
	}
}

func TestRowsOfAPlan(t *testing.T) {
	for _, tc := range []struct {
		name, plan string
		want       int64
	}{
		{"MariaDB", `{"query_block":{"select_id":1,"nested_loop":[{"table":{"table_name":"t","rows":97,"filtered":100}}]}}`, 97},
		{"MySQL", `{"query_block":{"cost_info":{"query_cost":"1"},"table":{"rows_examined_per_scan":200,"rows_produced_per_join":20,"filtered":"10"}}}`, 20},
		{"no row can be", `{"query_block":{"select_id":1,"table":{"message":"Impossible WHERE"}}}`, 0},
		{"nothing of rows", `{"query_block":{}}`, -1},
		{"no JSON", `id`, -1},
	} {
		if got := rowsOfPlan(tc.plan); got != tc.want {
			t.Errorf("%s: %d rows, want %d", tc.name, got, tc.want)
		}
	}
}
