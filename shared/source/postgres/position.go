package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

// place is how far a server has come in the write-ahead log; zero if it does not
// say.
type place struct {
	lsn      uint64
	timeline int64
	// standby is when the server was started, if it replays the log of another
	// one: two of them did not start in one microsecond.
	standby string
}

// String is the place as a manifest has it, "" if it is unknown.
func (p place) String() string {
	if p.lsn == 0 {
		return ""
	}
	return fmt.Sprintf("lsn %X/%X timeline %d", p.lsn>>32, uint32(p.lsn), p.timeline)
}

// places ask for a server's place in the log, its timeline, when a standby was
// started, and for how far into a file and how long a page the place is. The
// place of a primary is where it inserts: with asynchronous commit, what is
// visible may not be written yet. A server that does not tell that may tell up to
// where it has written.
var places = []string{`
select case when p.standby then pg_catalog.pg_last_wal_replay_lsn() else p.inserts end,
       (select timeline_id from pg_catalog.pg_control_checkpoint()),
       case when p.standby then pg_catalog.pg_postmaster_start_time() end,
       case when not p.standby then (pg_catalog.pg_walfile_name_offset(p.inserts)).file_offset end,
       pg_catalog.current_setting('wal_block_size')
from (select r.standby, case when not r.standby then pg_catalog.pg_current_wal_insert_lsn() end as inserts
      from (select pg_catalog.pg_is_in_recovery() as standby offset 0) r offset 0) p`, `
select pg_catalog.pg_current_wal_lsn(), (select timeline_id from pg_catalog.pg_control_checkpoint()), null, 0, 0`,
}

// position is the server's place at or after the snapshot of the transaction,
// with the timeline, which changes when another server takes over (OPS-11).
func (s *session) position(ctx context.Context) (place, error) {
	for _, question := range places {
		rows, err := s.try(ctx, question)
		if err != nil {
			return place{}, err
		}
		if len(rows) == 0 || rows[0].null(0) {
			continue
		}
		at := rows[0]
		p := place{lsn: numberOf(at.text(0)), timeline: at.int(1)}
		if !at.null(2) {
			p.standby = at.text(2)
		} else {
			p.lsn -= headerBefore(at.int(3), at.int(4))
		}
		return p, nil
	}
	return place{}, nil
}

// headerBefore is how long the header of a page is when nothing but it lies
// before an offset in a file of the log: a replica that has replayed everything
// is at the start of the page then.
func headerBefore(offset, page int64) uint64 {
	const first, others = 40, 24 // of the first page of a file, and of any other
	switch {
	case offset == first:
		return first
	case page > 0 && offset%page == others:
		return others
	}
	return 0
}

// reached asks whether a server has come as far as the one that a plan was made
// on (PLN-31). from is that place as text, "" asks for nothing.
type reached struct {
	from string
	// standby was found to be there in an earlier transaction.
	standby string
}

// by returns an error unless everything that was visible at the place from is
// visible in the transaction that answered p. A standby replays on while a
// transaction looks where it is, so its snapshot may be older than p: errMoved
// asks for another transaction.
func (r *reached) by(p place) error {
	if r.from == "" {
		return nil
	}
	want := numberOf(r.from)
	if want == 0 {
		return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_POSITION", "%q is no place in the log of a server", r.from)
	}
	if p.lsn < want {
		return fault.New(fault.Retryable, failure.Behind, "the plan was made at %s, and the server that was asked has come to %q: rows of the plan may not be there yet. Another attempt finds them when a replica has caught up; "+
			"if none does in time, connect to the primary, or to one replica", r.from, p)
	}
	if p.standby != "" && p.standby != r.standby {
		r.standby = p.standby
		return errMoved
	}
	return nil
}

// numberOf is the place in the log that a text of it or of a position names, 0 if
// it names none.
func numberOf(position string) uint64 {
	var high, low uint32
	if n, err := fmt.Sscanf(strings.TrimPrefix(position, "lsn "), "%X/%X", &high, &low); n < 2 || err != nil {
		return 0
	}
	return uint64(high)<<32 | uint64(low)
}

// now is the moment whose rows the server has, as SQL. A standby's own clock is
// ahead of it by what it has not replayed: there it is the time of the last
// transaction that was, and before all times if there was none yet (CUR-02).
func (s *session) now(ctx context.Context) (string, error) {
	rows, err := s.query(ctx, "select case when pg_catalog.pg_is_in_recovery() then coalesce(least(pg_catalog.now(), pg_catalog.pg_last_xact_replay_timestamp()), '-infinity') end")
	if err != nil || rows[0].null(0) {
		return "pg_catalog.now()", err
	}
	return "timestamp with time zone '" + rows[0].text(0) + "'", nil
}
