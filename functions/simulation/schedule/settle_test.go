package schedule

import (
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// end is V17: nothing goes wrong any more, whoever is awake works on, and every
// run ends; one more run then delivers the table. Whoever slept all the while
// wakes up last, and does no harm.
func (s *simulation) end() {
	steps := []func(){
		s.finish,
		s.restore,
		s.quiesce,
		s.resumeRestored,
		s.allEnded,
		s.oneMore,
		s.landAll,
		s.wakeAll,
		s.quiesce,
		s.resumeRestored,
		s.allEnded,
	}
	for _, step := range steps {
		if s.check.broken == nil {
			step()
		}
	}
}

// finish grants every call that waits, unless its process is asleep.
func (s *simulation) finish() {
	for n := 0; s.check.broken == nil; n++ {
		at := -1
		for i, c := range s.waiting {
			if !s.asleep[c.p.id] {
				at = i
				break
			}
		}
		if at < 0 {
			return
		}
		if n > 5000 {
			s.check.fail("V17", "the processes do not end; one waits for %s", s.waiting[at].op)
			return
		}
		s.apply(decision{act: grant, who: s.waiting[at].p.id, what: s.waiting[at].op})
	}
}

// landAll lets every request land that is still on its way.
func (s *simulation) landAll() {
	for len(s.late) > 0 && s.check.broken == nil {
		s.apply(decision{act: land, who: s.late[0].p.id, what: s.late[0].op})
	}
}

func (s *simulation) wakeAll() {
	for _, who := range sorted(s.asleep) {
		s.apply(decision{act: wake, who: who})
	}
	s.finish()
}

// quiesce delivers what is due, and lets the clock run to the next sweep when
// nothing is, until the runs have ended.
func (s *simulation) quiesce() {
	for idle := 0; idle < 50 && s.check.broken == nil; {
		if s.deliverDue() {
			continue
		}
		if len(s.unended()) == 0 {
			return
		}
		idle++
		d := decision{act: wait, skew: time.Minute}
		if idle > 10 {
			d.skew = planTimeout
		}
		s.apply(d)
		s.apply(decision{act: sweep, who: s.born + 1})
		s.finish()
	}
}

// resumeRestored resumes what has not ended after a table was put back to what
// it was before, under processes that knew it as it was later: a task that a
// planner had put is gone, or a generation that it had taken. Nobody else can
// tell, so whoever restores a table resumes the runs that stay.
func (s *simulation) resumeRestored() {
	if s.restores == 0 {
		return
	}
	for _, r := range s.unended() {
		s.saw("a run of a restored table has to be resumed")
		s.apply(decision{act: wait, skew: 2 * planTimeout})
		s.apply(decision{act: resume, who: s.born + 1, n: runNumber(r.RunID)})
		s.finish()
		s.quiesce()
	}
}

// deliverDue delivers every message that is due now, one after the other.
func (s *simulation) deliverDue() bool {
	busy := false
	for _, q := range queueNames {
		for n := 0; s.check.broken == nil; n++ {
			if n > 300 {
				s.check.fail("V17", "messages of queue %s come again and again", q)
			}
			due := ""
			for _, m := range s.queues.Pending(q) {
				if !m.Due.After(s.now) {
					due = s.label(m)
					break
				}
			}
			if due == "" || !s.apply(decision{act: deliver, who: s.born + 1, what: due}) {
				break
			}
			busy = true
			s.finish()
		}
	}
	return busy
}

// unended returns the runs that are not terminal.
func (s *simulation) unended() []runstate.Run {
	var found []runstate.Run
	for _, id := range sorted(s.check.runs) {
		if r := s.check.runs[id]; !r.Status.Terminal() {
			found = append(found, r)
		}
	}
	return found
}

// allEnded judges how the runs have ended.
func (s *simulation) allEnded() {
	for _, r := range s.unended() {
		s.check.fail("V17", "run %s stays %s at generation %d: %+v; the fence is %s at generation %d by run %s",
			short(r.RunID), r.Status, r.Gen, r.Error, s.check.cursor.State, s.check.cursor.Generation, short(s.check.cursor.OwnerRunID))
	}
	for _, id := range sorted(s.check.runs) {
		r := s.check.runs[id]
		// A run without rows has committed in the fence alone, which may be gone
		// since, or another's; and without the table it may start again.
		empty := r.Outcome != nil && r.Outcome.ManifestFingerprint == "" || s.tableLosses > 0 && s.check.hasCommittedNothing(id)
		// A run that has committed cannot show that it owns the export when an
		// operator has deleted the fence document, or put an older one back: it says
		// so, also when a repair of it was begun before. Without the table, too, it
		// may live again and fail for any reason.
		unproven := (s.cursorLosses > 0 || s.copies > 0) && r.Status == runstate.RunFailed && r.Error != nil &&
			(r.Error.Code == "LAPSTRAKE_RUN_PUBLISH_INCOMPLETE" || r.Error.Code == "LAPSTRAKE_RUN_FENCE_LOST" && r.Intent == wire.ActionRepair || s.tableLosses > 0)
		if (r.Status == runstate.RunSucceeded) != s.check.hasCommitted(id) && !empty && !unproven {
			s.check.fail("V17", "run %s is %s, it has committed: %v", short(id), r.Status, s.check.hasCommitted(id))
		}
		// With one attempt a task fails when its worker is slower than its lease.
		excused := s.faults > 0 || s.tableLosses > 0 || s.top.export.ChunkMaxAttempts == 1
		rivals := len(s.check.runs) > 1 || s.tableLosses > 0
		switch {
		case r.Status == runstate.RunFailed && !excused, (r.Status == runstate.RunSuperseded || r.Status == runstate.RunRefused) && !rivals && !excused:
			s.check.fail("V17", "run %s is %s, and nothing went wrong: %+v", short(id), r.Status, r.Error)
		}
	}
}

// lastRun is the number of the run that comes after everything.
const lastRun = 9

// oneMore starts one more run, which has to deliver the table as it is.
func (s *simulation) oneMore() {
	id := runID(lastRun)
	for try := 0; ; try++ {
		s.apply(decision{act: wait, skew: planTimeout})
		s.apply(decision{act: supersede, who: s.born + 1, n: lastRun})
		s.finish()
		s.quiesce()
		if r, known := s.check.runs[id]; known && r.Status == runstate.RunSucceeded || s.check.broken != nil {
			break
		}
		if try == 3 {
			s.check.fail("V17", "one more run does not succeed: %+v", s.check.runs[id])
			return
		}
	}
	if s.check.broken != nil {
		return
	}
	doc := s.check.cursor
	if doc.OwnerRunID != id || doc.State != contract.FenceCommitted {
		s.check.fail("V17", "one more run has succeeded, and the cursor is %s by %s", doc.State, short(doc.OwnerRunID))
	}
	if s.top.cursor != "" {
		s.check.allDelivered(s.check.sidecars[id].Manifest)
	}
	if s.check.hasCommittedNothing(id) {
		return
	}
	m := s.check.sidecars[id]
	at := s.check.pairOf(m.prefix)
	if at.manifest != m.fingerprint || at.marked != m.Generation {
		s.check.fail("V17", "the pair is not that of one more run")
	}
	if s.top.cursor == "" && m.RowCount != int64(len(s.source.rows)) {
		s.check.fail("V17", "one more run delivers %d rows, the table has %d", m.RowCount, len(s.source.rows))
	}
}
