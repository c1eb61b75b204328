package schedule

import (
	"math/rand/v2"
	"strings"
	"time"
)

// disorder takes decisions at random. What kinds of things go wrong, how often,
// and who comes first is drawn at the beginning, so that some simulations are
// calm, some are full of one kind of trouble, and some are about one process
// that sleeps in the worst moment while others run to their end.
type disorder struct {
	rng   *rand.Rand
	left  int // decisions
	extra int // decisions that may follow until nobody is left to be ambushed
	crowd int // processes at a time
	calm  bool
	haste int // of a hundred decisions, how many grant a call

	deaths, silences, failures, lates, refusals int // calls that go wrong
	drops                                       int
	mutations, fresh                            int
	damages                                     int
	sleeps                                      int
	skewed                                      bool // clocks may be off
	losesTable, losesCursor                     bool
	backups                                     int  // of the table, each of which is put back later
	early                                       bool // the table is backed up before anything is done
	repairs, reanchors                          bool
	copies                                      int // older fence documents that are put back
	rivals                                      int // runs that are triggered

	// priorities, unless nil, decide who is next: the same process as long as
	// it has a call, until its luck turns at one of a few moments.
	priorities map[int]int
	turns      map[int]bool

	opening  []decision
	ambushes []ambush
	hunt     *hunt
}

func newDisorder(seed int) *disorder {
	rng := rand.New(rand.NewPCG(uint64(seed), 2))
	d := &disorder{
		rng: rng, left: 40 + rng.IntN(240), crowd: 1 + rng.IntN(5), haste: 70 + rng.IntN(25),
		rivals: 1 + rng.IntN(3), calm: rng.IntN(12) == 0, extra: 300,
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
	d.lates, d.refusals = some(3, 3), some(8, 1)
	d.fresh = some(2, 14)
	d.drops, d.mutations, d.damages = some(3, 3), some(3, 10), some(8, 2)
	d.sleeps = some(3, 3)
	d.skewed = rng.IntN(4) == 0
	d.losesTable, d.losesCursor = rng.IntN(12) == 0, rng.IntN(16) == 0
	d.repairs, d.reanchors = d.damages > 0 && rng.IntN(4) > 0, d.losesCursor && rng.IntN(4) > 0
	if rng.IntN(3) == 0 {
		d.priorities, d.turns = make(map[int]int), make(map[int]bool)
		for range rng.IntN(5) {
			d.turns[rng.IntN(d.left)] = true
		}
	}
	if rng.IntN(10) == 0 {
		d.backups = 1 + rng.IntN(2)
	}
	if rng.IntN(12) == 0 {
		d.early, d.ambushes = true, append(d.ambushes, newForgetting(rng))
	}
	for range []int{0, 1, 1, 1, 2}[rng.IntN(5)] {
		d.ambushes = append(d.ambushes, newAmbush(rng))
	}
	if rng.IntN(10) == 0 {
		d.copies, d.rivals = 1+rng.IntN(2), max(d.rivals, 2)
	}
	if rng.IntN(12) == 0 {
		d.ambushes = append(d.ambushes, newSwitching(rng))
	}
	return d
}

// next implements [chooser].
func (d *disorder) next(s *simulation) (decision, bool) {
	if len(d.opening) > 0 {
		n := d.opening[0]
		d.opening = d.opening[1:]
		n.who = s.born + 1
		return n, true
	}
	if d.hunt != nil {
		if n, ok := d.hunting(s); ok {
			return n, true
		}
	}
	if d.left--; d.left < 0 {
		return d.untilAmbushed(s)
	}
	if d.rng.IntN(100) < d.haste || len(s.processes) >= d.crowd+len(s.asleep) {
		if g, ok := d.turn(s); ok {
			return g, true
		}
	}
	for range 10 {
		if e, ok := d.event(s); ok {
			return e, true
		}
	}
	if g, ok := d.turn(s); ok {
		return g, true
	}
	return decision{act: wait, skew: 2 * time.Minute}, true
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
	if d.priorities != nil {
		c = d.first(awake)
	}
	if d.early && strings.HasPrefix(c.op, "Claim ") {
		d.early = false
		return decision{act: backUpTable}, true
	}
	if d.springs(s, c) {
		return decision{act: stall, who: c.p.id}, true
	}
	g := decision{act: grant, who: c.p.id, what: c.op, fate: d.fateOf(c)}
	if g.fate == proceeds && d.sleeps > 0 && d.rng.IntN(50) == 0 {
		d.sleeps--
		return decision{act: stall, who: c.p.id}, true
	}
	return g, true
}

// first returns a call of the process that comes first.
func (d *disorder) first(awake []*call) *call {
	best := awake[0]
	for _, c := range awake {
		if _, known := d.priorities[c.p.id]; !known {
			d.priorities[c.p.id] = d.rng.IntN(1000)
		}
		if d.priorities[c.p.id] > d.priorities[best.p.id] {
			best = c
		}
	}
	if d.turns[d.left] {
		d.priorities[best.p.id] = -d.left
	}
	return best
}

func (d *disorder) fateOf(c *call) fate {
	switch k := d.rng.IntN(150); {
	case k < 4 && d.deaths > 0:
		d.deaths--
		return []fate{diesBefore, diesAfter}[d.rng.IntN(2)]
	case k < 8 && d.silences > 0 && c.write:
		d.silences--
		return []fate{ackLost, ackLost, notSaid}[d.rng.IntN(3)]
	case k < 11 && d.failures > 0:
		d.failures--
		return failsNow
	case k < 17 && d.lates > 0 && c.write && !c.told:
		d.lates--
		return []fate{diesLate, givesUp}[d.rng.IntN(2)]
	case k < 40 && d.refusals > 0 && c.source:
		d.refusals--
		return refuses
	}
	return proceeds
}
