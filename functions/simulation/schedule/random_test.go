package schedule

import (
	"math/rand/v2"
	"strings"
	"time"
)

// disorder takes decisions at random. What kinds of things go wrong, and how
// often, is drawn first, so that some simulations are calm and some are full of
// one kind of trouble.
type disorder struct {
	rng   *rand.Rand
	left  int // decisions
	crowd int // processes at a time
	calm  bool
	haste int // of a hundred decisions, how many grant a call

	deaths, silences, failures int // calls that go wrong
	drops                      int
	mutations                  int
	damages                    int
	skewed                     bool // clocks may be off
	losesTable, losesCursor    bool
	rivals                     int // runs that are triggered
	// asleep are processes that stall, however long everybody else goes on.
	asleep  map[int]bool
	sleeps  int
	opening []decision
}

func newDisorder(seed int) *disorder {
	rng := rand.New(rand.NewPCG(uint64(seed), 2))
	d := &disorder{
		rng: rng, left: 60 + rng.IntN(320), crowd: 1 + rng.IntN(5), haste: 70 + rng.IntN(25),
		rivals: 1 + rng.IntN(3), calm: rng.IntN(8) == 0,
	}
	first := trigger
	if rng.IntN(4) == 0 {
		first = supersede
	}
	d.opening = []decision{{act: first, n: 1}}
	if d.calm {
		d.rivals = 1
		return d
	}
	some := func(of, most int) int {
		if rng.IntN(of) > 0 {
			return 0
		}
		return 1 + rng.IntN(most)
	}
	d.deaths, d.silences, d.failures = some(2, 4), some(2, 5), some(3, 5)
	d.drops, d.mutations, d.damages = some(3, 3), some(3, 8), some(10, 2)
	d.sleeps = some(2, 3)
	d.skewed = rng.IntN(4) == 0
	d.losesTable, d.losesCursor = rng.IntN(12) == 0, rng.IntN(20) == 0
	return d
}

// next implements [chooser].
func (d *disorder) next(s *simulation) (decision, bool) {
	if d.left--; d.left < 0 {
		return decision{}, false
	}
	if len(d.opening) > 0 {
		n := d.opening[0]
		d.opening = d.opening[1:]
		n.who = s.born + 1
		return n, true
	}
	if d.rng.IntN(100) < d.haste || len(s.processes) >= d.crowd+len(s.asleep) {
		if g, ok := d.turn(s); ok {
			return g, true
		}
	}
	for range 20 {
		if e, ok := d.event(s); ok {
			return e, true
		}
	}
	return decision{act: wait, skew: time.Minute}, true
}

// turn chooses one of the calls that wait, and its fate.
func (d *disorder) turn(s *simulation) (decision, bool) {
	var awake []*call
	for _, c := range s.waiting {
		if !s.asleep[c.p.id] {
			awake = append(awake, c)
		}
	}
	if len(awake) == 0 {
		return decision{}, false
	}
	c := awake[d.rng.IntN(len(awake))]
	g := decision{act: grant, who: c.p.id, what: c.op}
	switch k := d.rng.IntN(150); {
	case k < 4 && d.deaths > 0:
		d.deaths--
		g.fate = []fate{diesBefore, diesAfter}[d.rng.IntN(2)]
	case k < 8 && d.silences > 0 && c.write:
		d.silences--
		g.fate = []fate{ackLost, ackLost, notSaid}[d.rng.IntN(3)]
	case k < 11 && d.failures > 0:
		d.failures--
		g.fate = failsNow
	case k < 14 && d.sleeps > 0:
		d.sleeps--
		return decision{act: stall, who: c.p.id}, true
	}
	return g, true
}

// event chooses what happens beside the calls.
func (d *disorder) event(s *simulation) (decision, bool) {
	crowded := len(s.processes) >= d.crowd+len(s.asleep)
	switch k := d.rng.IntN(100); {
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
	case k < 85:
		return d.start(s, decision{act: resume, n: 1 + d.rng.IntN(d.rivals)}), !crowded && !d.calm
	case k < 87 && d.drops > 0:
		d.drops--
		m, ok := d.message(s)
		m.act = dropMessage
		return m, ok
	case k < 92 && d.mutations > 0:
		d.mutations--
		return decision{act: []act{insertRow, updateRow, deleteRow}[d.rng.IntN(3)], n: 1 + d.rng.IntN(s.top.rows+6)}, true
	case k < 95 && d.damages > 0:
		return d.damage(s)
	case k < 96 && d.losesTable:
		d.losesTable = false
		return decision{act: loseTable}, true
	case k < 97 && d.losesCursor:
		d.losesCursor = false
		return decision{act: loseCursor}, true
	case k < 99 && len(s.asleep) > 0:
		return decision{act: wake, who: sorted(s.asleep)[0]}, true
	}
	return decision{}, false
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
