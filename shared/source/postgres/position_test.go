package postgres

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

// A server that has not come as far as the plan was made at is not read
// (PLN-31).
func TestAServerThatIsBehindIsNotRead(t *testing.T) {
	for _, tc := range []struct {
		name string
		from string
		at   place
		code fault.Code // "" is read
	}{
		{"nothing is asked", "", place{}, ""},
		{"the same place", "lsn 0/FF timeline 1", place{lsn: 0xFF, timeline: 1}, ""},
		{"a later place, with more digits", "lsn 0/FF timeline 1", place{lsn: 0x100, timeline: 1}, ""},
		{"a later place in the next file", "lsn 9/FFFFFFFF timeline 1", place{lsn: 0xA00000000, timeline: 1}, ""},
		{"an earlier place", "lsn 0/100 timeline 1", place{lsn: 0xFF, timeline: 1}, failure.Behind},
		{"an earlier place whose digits are greater", "lsn A/0 timeline 1", place{lsn: 0x9FFFFFFFF, timeline: 2}, failure.Behind},
		{"a server that does not say", "lsn 0/FF timeline 1", place{}, failure.Behind},
		{"no place", "yesterday", place{lsn: 0xFF}, "LAPSTRAKE_INTERNAL_POSITION"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := reached{from: tc.from}
			if err := r.by(tc.at); fault.CodeOf(err) != tc.code || tc.code == failure.Behind && !fault.Retry(err) {
				t.Errorf("%v, want %q", err, tc.code)
			}
		})
	}
}

// What a standby has replayed is in the snapshots that come later only: it is
// read in the second transaction that finds it there, and another standby is
// another.
func TestAStandbyIsReadInTheTransactionAfter(t *testing.T) {
	r := reached{from: "lsn 0/10 timeline 1"}
	for i, tc := range []struct {
		at   place
		want error
	}{
		{place{lsn: 0x10, standby: "one"}, errMoved},
		{place{lsn: 0x11, standby: "two"}, errMoved},
		{place{lsn: 0x11, standby: "two"}, nil},
		{place{lsn: 0x10}, nil},
	} {
		if err := r.by(tc.at); err != tc.want {
			t.Errorf("transaction %d: %v, want %v", i+1, err, tc.want)
		}
	}
}

// The place before a record that is still to come is where the last one ended,
// on whatever page the next one will be.
func TestTheHeaderOfAPageIsNoRecord(t *testing.T) {
	for _, tc := range []struct {
		offset, page int64
		want         uint64
	}{{40, 8192, 40}, {24, 8192, 24}, {8192 + 24, 8192, 24}, {8192 + 40, 8192, 0}, {8192, 8192, 0}, {4096 + 24, 8192, 0}, {32768 + 24, 32768, 24}, {24, 0, 0}} {
		if got := headerBefore(tc.offset, tc.page); got != tc.want {
			t.Errorf("at %d of pages of %d: %d, want %d", tc.offset, tc.page, got, tc.want)
		}
	}
}

func TestAReadIsNotBeforeItsPlan(t *testing.T) {
	s := newServer(t)
	s.exec(t, "create table behind (id int primary key); insert into behind values (1)")
	src := s.source(t)
	rel := s.table("behind")
	table, err := src.Describe(t.Context(), rel)
	if err != nil || !strings.HasPrefix(table.Position, "lsn ") {
		t.Fatalf("described at %q, %v", table.Position, err)
	}
	end, err := src.CursorEnd(t.Context(), rel, source.CursorQuery{Cursor: table.Keys[0].Columns[0]})
	if err != nil || !strings.HasPrefix(end.Position, "lsn ") {
		t.Fatalf("the end of the cursor at %q, %v", end.Position, err)
	}
	spec := source.ReadSpec{Relation: rel, Columns: table.Columns, Range: keyspace.Range{All: true}, NotBefore: end.Position}
	r, err := src.Read(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	spec.NotBefore = "lsn FFFFFFFF/0 timeline 1"
	if _, err := src.Read(t.Context(), spec); fault.CodeOf(err) != failure.Behind || !fault.Retry(err) {
		t.Fatalf("a server that is behind its plan: %v", err)
	}
	if at, err := src.session.nowOf(t); err != nil || at != "pg_catalog.now()" {
		t.Fatalf("the clock of a primary is %q, %v", at, err)
	}
}

// nowOf is now in a transaction of its own.
func (s *session) nowOf(t *testing.T) (at string, err error) {
	return at, s.transaction(t.Context(), "ask for the time", func() error {
		at, err = s.now(t.Context())
		return err
	})
}
