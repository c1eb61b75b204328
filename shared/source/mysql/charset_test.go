package mysql

import (
	"fmt"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// Keys that were delivered at the position are told from those that were not,
// whatever character set they are stored in (CUR-01).
func TestKeysOfEveryCharacterSetAreFoundInAList(t *testing.T) {
	s := newServer(t)
	for _, tc := range []struct{ declared, word string }{
		{"character set utf8mb4 collate utf8mb4_unicode_ci", "é'日\\"},
		{"character set utf8mb3", "é'日\\"},
		{"character set latin1", "é'ß\\"},
		{"character set latin1 collate latin1_german2_ci", "é'ß\\"},
		{"character set cp1251 collate cp1251_bin", "имя'\\"},
		{"character set ucs2", "é'日\\"},
		{"character set utf16", "é'日\\"},
		{"character set gbk", "中文'\\"},
		{"character set sjis", "ソ表'"},
	} {
		t.Run(tc.declared, func(t *testing.T) {
			s.exec(t, "drop table if exists listed; create table listed (k varchar(9) "+tc.declared+" not null, n bigint not null, primary key (k, n))")
			rel := s.table("listed")
			s.Insert(t, rel, [][]any{{tc.word, int64(1)}, {tc.word, int64(2)}, {tc.word, int64(3)}, {"a", int64(4)}})
			src := s.source(t)
			table, err := src.Describe(t.Context(), rel)
			if err != nil {
				t.Fatal(err)
			}
			key := []keyspace.Column{table.KeyColumns["k"], table.KeyColumns["n"]}
			delivered := []keyspace.Key{{tc.word, "1"}, {tc.word, "3"}}
			end, err := src.CursorEnd(t.Context(), rel, source.CursorQuery{Cursor: key[0], Key: key, From: &tc.word, Delivered: delivered})
			if err != nil || end.Value != tc.word || end.Order != 0 || end.Ties != 3 || end.FromTies != 1 {
				t.Errorf("%+v, %v, want three rows at the end and one of them not delivered", end, err)
			}
			at := keyspace.Window{Cursor: key[0], Key: key, From: &tc.word, FromIncluded: true, To: tc.word}
			without, only := at, at
			without.Except = delivered
			only.OnlyAtTo, only.Only = true, delivered
			for name, want := range map[*keyspace.Window]int{&at: 3, &without: 1, &only: 2} {
				if n := count(t, src, source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Window: name}); n != want {
					t.Errorf("%d rows of %+v, want %d", n, *name, want)
				}
			}
		})
	}
}

// A guess may have characters that the column cannot have: it is then some
// other guess, and nothing is refused.
func TestKeysOfEveryCharacterSetAreCut(t *testing.T) {
	s := newServer(t)
	for _, set := range []string{"cp1251", "koi8r", "ucs2"} {
		s.exec(t, fmt.Sprintf("drop table if exists cut; create table cut (k varchar(40) character set %s primary key); "+
			"insert into cut select concat(elt(1 + seq %% 3, 'a', 'ж', 'я'), sha1(seq)) from seq_1_to_2000; analyze table cut", set))
		src := s.source(t)
		table, err := src.Describe(t.Context(), s.table("cut"))
		if err != nil {
			t.Fatal(err)
		}
		points, err := src.SplitPoints(t.Context(), table.Relation, []keyspace.Column{table.KeyColumns["k"]}, nil, 4)
		if err != nil || len(points) < 2 {
			t.Errorf("%s: cut at %q, %v", set, points, err)
		}
	}
}

// A bound divides the rows by the order that it was made in: ranges of one order
// overlap and leave rows out in another (PLN-08).
func TestAKeyInAnotherOrderIsDrift(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table sorted (k varchar(9) collate utf8mb4_general_ci primary key); insert into sorted values ('a'), ('B'), ('c')")
	src := s.source(t)
	table, err := src.Describe(t.Context(), s.table("sorted"))
	if err != nil {
		t.Fatal(err)
	}
	key := table.Keys[0].Columns
	s.exec(t, "alter table sorted modify k varchar(9) collate utf8mb4_bin")
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
			sourcetest.WantRefusal(t, read(), fault.Drift, failure.Drift, "`k` was sorted by utf8mb4_general_ci and is by utf8mb4_bin")
		})
	}
	spec.Key[0].Collation = "" // planned before the order was noted
	if _, err := src.Read(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
}
