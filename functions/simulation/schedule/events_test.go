package schedule

import (
	"strconv"
	"strings"
	"time"
)

// event chooses what happens beside the calls.
func (d *disorder) event(s *simulation) (decision, bool) {
	crowded := len(s.processes) >= d.crowd+len(s.asleep)
	if s.top.cursor != "" && d.fresh > 0 && d.rng.IntN(6) == 0 {
		return d.freshRow(s), true
	}
	if d.copies > 0 && d.rng.IntN(12) == 0 {
		return d.olderCopy(s)
	}
	switch k := d.rng.IntN(113); {
	case k < 45:
		if crowded {
			return decision{}, false
		}
		return d.message(s)
	case k < 55:
		return decision{act: wait, skew: time.Duration(1+d.rng.IntN(4)) * time.Minute}, true
	case k < 58:
		return decision{act: wait, skew: planTimeout}, !d.calm
	case k < 66:
		return d.heartbeat(s)
	case k < 71:
		return d.start(s, decision{act: sweep}), !crowded
	case k < 79:
		a := trigger
		if d.rng.IntN(2) == 0 {
			a = supersede
		}
		return d.start(s, decision{act: a, n: 1 + d.rng.IntN(d.rivals)}), !crowded && !d.calm
	case k < 84:
		return d.start(s, decision{act: resume, n: 1 + d.rng.IntN(d.rivals)}), !crowded && !d.calm
	case k < 86 && d.drops > 0:
		d.drops--
		m, ok := d.message(s)
		m.act = dropMessage
		return m, ok
	case k < 91 && d.mutations > 0:
		return d.mutation(s)
	case k < 94 && d.damages > 0:
		return d.damage(s)
	case k < 95 && d.losesTable:
		d.losesTable = false
		return decision{act: loseTable}, true
	case k < 97 && d.losesCursor:
		d.losesCursor = false
		return decision{act: loseCursor}, true
	case k < 99 && len(s.asleep) > 0:
		return decision{act: wake, who: sorted(s.asleep)[0]}, true
	case k < 102 && len(s.late) > 0:
		c := s.late[d.rng.IntN(len(s.late))]
		return decision{act: land, who: c.p.id, what: c.op}, true
	case k < 104 && d.repairs && s.damages > 0:
		return d.start(s, decision{act: repairRun, n: max(1, s.newest)}), !crowded
	case k < 106 && d.reanchors && s.cursorLosses > 0 && s.newest < lastRun-1:
		d.reanchors = d.rng.IntN(2) == 0
		return d.start(s, decision{act: reanchor, n: s.newest + 1}), !crowded
	case k < 108 && d.backups > 0 && s.backup == nil:
		return decision{act: backUpTable}, true
	case k < 110 && d.backups > 0 && s.backup != nil:
		d.backups--
		return decision{act: restoreTable}, true
	case k < 113 && s.stale():
		return d.cure(s)
	}
	return decision{}, false
}

// freshRow adds or changes a row, for the next run to find.
func (d *disorder) freshRow(s *simulation) decision {
	d.fresh--
	if d.rng.IntN(3) == 0 {
		return decision{act: updateRow, n: 1 + d.rng.IntN(s.top.rows+2)}
	}
	return decision{act: insertRow, n: int(s.source.highest) + 1}
}

func (d *disorder) mutation(s *simulation) (decision, bool) {
	d.mutations--
	m := decision{act: []act{insertRow, updateRow, deleteRow, moveRow}[d.rng.IntN(4)], n: 1 + d.rng.IntN(s.top.rows+6)}
	if m.act == moveRow {
		m.what = strconv.Itoa(1 + d.rng.IntN(s.top.rows+6))
	}
	return m, true
}

func (d *disorder) start(s *simulation, n decision) decision {
	n.who = s.born + 1
	if d.skewed && d.rng.IntN(3) == 0 {
		n.skew = time.Duration(d.rng.IntN(240)-120) * time.Minute
	}
	return n
}

// message chooses a message, due or not, at work or not: any order, twice.
func (d *disorder) message(s *simulation) (decision, bool) {
	for _, q := range queueNames {
		found := s.queues.Pending(q)
		if len(found) == 0 || d.rng.IntN(3) == 0 {
			continue
		}
		m := found[d.rng.IntN(len(found))]
		if m.Due.After(s.now) && d.rng.IntN(4) > 0 {
			continue
		}
		return d.start(s, decision{act: deliver, what: s.label(m)}), true
	}
	return decision{}, false
}

func (d *disorder) heartbeat(s *simulation) (decision, bool) {
	for _, p := range s.processes {
		if len(p.timers) > 0 && !s.asleep[p.id] && d.rng.IntN(2) == 0 {
			return decision{act: tick, who: p.id}, true
		}
	}
	return decision{}, false
}

// damage chooses a part that is there.
func (d *disorder) damage(s *simulation) (decision, bool) {
	var parts []string
	for _, key := range sorted(s.check.objects) {
		if o := s.check.objects[key]; o.part && !o.damaged && !strings.Contains(key, "_quarantine") {
			parts = append(parts, key)
		}
	}
	if len(parts) == 0 {
		return decision{}, false
	}
	d.damages--
	return decision{act: []act{losePart, overwritePart}[d.rng.IntN(2)], what: parts[d.rng.IntN(len(parts))]}, true
}
