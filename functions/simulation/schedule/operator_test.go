package schedule

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// mutate changes the rows of the source.
func (s *simulation) mutate(d decision) bool {
	at := s.source.find(int64(d.n))
	to := int64(0)
	if s.top.cursor == "id" && d.act == moveRow {
		return false // such an export is of rows that are only appended
	}
	if d.act == moveRow {
		n, err := strconv.ParseInt(d.what, 10, 64)
		if to = n; err != nil || s.source.find(to) >= 0 {
			return false
		}
	}
	switch {
	case (d.act == insertRow) == (at >= 0):
		return false
	case d.act == moveRow:
		s.source.remove(at)
		s.source.insert(to, false)
	case s.top.cursor == "id" && d.act == insertRow:
		s.source.insert(s.source.highest+1, false)
	case d.act == insertRow:
		s.source.insert(int64(d.n), false)
	case d.act == deleteRow:
		s.source.remove(at)
	default:
		s.source.remove(at)
		s.source.insert(int64(d.n), false)
	}
	return true
}

// operate does what an operator should not.
func (s *simulation) operate(d decision) bool {
	switch d.act {
	case loseTable:
		s.tableLosses++
		s.table.DropAll()
		s.check.tableLost()
		return true
	case backUpTable:
		s.backup = s.backUp()
		return true
	case restoreTable:
		if s.backup == nil {
			return false
		}
		s.tableLosses++
		s.restores++
		s.backup()
		return true
	case loseCursor:
		key := contract.CursorKey("orders")
		body, _, err := s.bucket.Get(s.ctx, key, 1<<20)
		if err != nil || s.lostCursor != nil || s.firstIsAtWork() {
			return false
		}
		s.faults++
		s.cursorLosses++
		s.lostCursor = body
		s.remove(key)
		s.check.cursorLost()
		return true
	case oldCursor:
		return d.n > 0 && s.lostCursor == nil && s.putBack(d.n)
	case newestCursor:
		return s.lostCursor == nil && s.putBack(0)
	}
	o, there := s.check.objects[d.what]
	if !there || o.damaged {
		return false
	}
	s.faults++
	s.damages++
	s.lostParts[d.what] = o
	s.remove(d.what)
	if d.act == overwritePart {
		if _, err := s.bucket.Create(s.ctx, d.what, append(slices.Clone(o.body), "damaged"...), destination.Meta{}); err != nil {
			panic(err)
		}
	}
	o.damaged = true
	s.check.objects[d.what] = o
	return true
}

// backUp returns what puts the table back to what it is now.
func (s *simulation) backUp() (restore func()) {
	table, seen := s.table.Snapshot(), s.check.tableSeen()
	return func() {
		table()
		seen()
	}
}

// firstIsAtWork reports whether a planner that has found no fence document may
// still make one. When the document of later runs is deleted just then, it
// starts over at generation 1: ADR-0001 looks for traces of other runs before
// the swap, and there were none.
func (s *simulation) firstIsAtWork() bool {
	for _, c := range s.late {
		if c.p.first {
			return true
		}
	}
	return slices.ContainsFunc(s.processes, func(p *process) bool { return p.first })
}

// remove deletes an object behind the back of everything: Move is the only
// deletion that a store has, so it goes to where nobody looks.
func (s *simulation) remove(key string) {
	o, err := s.bucket.Head(s.ctx, key)
	if err != nil {
		return
	}
	s.faults++
	if err := s.bucket.Move(s.ctx, key, fmt.Sprintf("elsewhere/%d/%s", s.faults, key), o.Version); err != nil {
		panic(err)
	}
}

// restore puts back what an operator took away: from a backup, where nothing
// has taken its place.
func (s *simulation) restore() {
	if s.lostCursor != nil {
		key := contract.CursorKey("orders")
		if _, err := s.bucket.Create(s.ctx, key, s.lostCursor, destination.Meta{}); err == nil {
			s.check.cursorRestored()
		}
		s.lostCursor = nil
	}
	if s.copies > 0 || s.cursorLosses > 0 {
		s.putBack(0)
	}
	for _, key := range sorted(s.lostParts) {
		o := s.lostParts[key]
		if there, made := s.check.objects[key]; made && !there.damaged {
			continue // it was made again
		}
		s.remove(key)
		if _, err := s.bucket.Create(s.ctx, key, o.body, destination.Meta{Fingerprint: o.fingerprint, MD5: contract.MD5Base64(o.body), User: o.user}); err != nil {
			panic(err)
		}
		o.damaged = false
		s.check.objects[key] = o
	}
	clear(s.lostParts)
}
