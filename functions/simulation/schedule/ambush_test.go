package schedule

import (
	"math/rand/v2"
	"strings"
	"time"
)

// ambush puts the process that comes to a point of the protocol to sleep there,
// and starts what is to overtake it.
type ambush struct {
	point  point
	passes int    // how many calls of that kind go by first
	behind bool   // the process falls asleep after the call, not before it
	of     string // what the process is, "" for any
	calls  int    // in a second life, the calls before it is resumed
	armed  int    // the process that has made it
	rival  act
	solo   bool // when it wakes up it is alone for a while
	fast   bool // nothing goes wrong while it sleeps
}

// point is a kind of calls.
type point struct{ op, of string }

// publishing are the calls of F4 to F12 and of TAKE, seal, roll forward and OPEN.
var publishing = []point{
	{"create", "manifest-"}, {"create", "manifest-"}, {"get", "manifest-"}, {"create", "record-"},
	{"get", "/manifest.json"}, {"replace", "/manifest.json"}, {"replace", "/manifest.json"}, {"replace", "_SUCCESS"}, {"replace", "_SUCCESS"},
	{"get", "cursor.json"}, {"replace", "cursor.json"}, {"replace", "cursor.json"}, {"replace", "cursor.json"},
	{"BeginFinalize", ""}, {"SucceedRun", ""}, {"RecordFence", ""},
}

// points are the other ones where it matters who comes first: the start and the
// resume of a run, claim and completion of a task, quarantine, and how runs end.
var points = []point{
	{"create", "plan.json"}, {"create", "part-"}, {"head", "part-"}, {"move", ""}, {"list", ""},
	{"CreateRun", ""}, {"PutChunk", ""}, {"StartRun", ""}, {"ClaimResume", ""}, {"ResumeRun", ""}, {"ResumeChunk", ""},
	{"Claim ", ""}, {"Complete", ""}, {"Split", ""}, {"Fail ", ""}, {"FaninAdd", ""}, {"ListChunks", ""}, {"Repair", ""},
	{"FailRun", ""}, {"SupersedeRun", ""}, {"MarkNotified", ""}, {"DropActive", ""}, {"read", ""}, {"send", ""},
}

// committing are the calls around F6b and F7, at which a finalizer may commit
// whatever becomes of the table.
var committing = []point{{"create", "record-"}, {"create", "record-"}, {"create", "manifest-"}, {"create", "manifest-"}, {"get", "cursor.json"}}

// newForgetting is the ambush of ADR-0007: while a finalizer is about to commit,
// the table is lost, and the run lives again, or the table is put back to what it
// was before anything was done; then the run is resumed, and quarantines what the
// table does not know.
func newForgetting(rng *rand.Rand) ambush {
	a := newAmbush(rng)
	a.of, a.behind = "finalize", rng.IntN(3) == 0
	a.point, a.passes = committing[rng.IntN(len(committing))], 0
	a.rival = []act{restoreTable, restoreTable, loseTable}[rng.IntN(3)]
	a.calls = 5 + rng.IntN(40)
	return a
}

// swapping are the calls around a swap of the fence, and those that rest on what
// it has read of the fence before.
var swapping = []point{
	{"replace", "cursor.json"}, {"replace", "cursor.json"}, {"create", "generations/"}, {"list", "generations/"}, {"get", "cursor.json"},
	{"create", "manifest-"}, {"replace", "/manifest.json"}, {"replace", "_SUCCESS"},
}

// newSwitching is the ambush of ADR-0008: while a process sleeps beside the fence,
// later runs publish, and then the document that it has read is put back.
func newSwitching(rng *rand.Rand) ambush {
	a := newAmbush(rng)
	a.point, a.rival = swapping[rng.IntN(len(swapping))], oldCursor
	return a
}

func newAmbush(rng *rand.Rand) ambush {
	a := ambush{
		point: points[rng.IntN(len(points))], passes: []int{0, 0, 0, 1, 2}[rng.IntN(5)], behind: rng.IntN(4) == 0,
		rival: []act{supersede, supersede, supersede, supersede, resume, resume, trigger, sweep}[rng.IntN(8)], solo: rng.IntN(3) > 0, fast: rng.IntN(3) > 0,
	}
	if rng.IntN(2) == 0 {
		a.point = publishing[rng.IntN(len(publishing))]
	}
	if a.point.op == "replace" && a.point.of != "cursor.json" {
		a.passes = 0
	}
	return a
}

func (p point) matches(op string) bool {
	return strings.HasPrefix(op, p.op) && strings.Contains(op, p.of)
}

// springs reports whether a process falls asleep instead of making this call.
func (d *disorder) springs(s *simulation, c *call) bool {
	if d.hunt != nil {
		return false
	}
	for i := range d.ambushes {
		a := &d.ambushes[i]
		switch {
		case a.armed == c.p.id:
		case a.armed != 0 || !a.point.matches(c.op) || !strings.HasPrefix(c.p.what, a.of):
			continue
		case a.passes > 0:
			a.passes--
			continue
		case a.behind:
			a.armed = c.p.id
			continue
		}
		d.hunt = &hunt{ambush: *a, who: c.p.id, run: c.p.run, left: 500, published: s.check.publications, known: len(s.documents)}
		d.ambushes = append(d.ambushes[:i], d.ambushes[i+1:]...)
		d.opening = d.overtake(s, c.p, d.hunt.rival)
		if s.top.cursor != "" {
			d.opening = append([]decision{d.freshRow(s)}, d.opening...)
		}
		return true
	}
	return false
}

// untilAmbushed goes on in order until somebody falls into an ambush.
func (d *disorder) untilAmbushed(s *simulation) (decision, bool) {
	if d.extra--; d.extra < 0 || len(d.ambushes) == 0 || len(s.unended()) == 0 && len(s.waiting) == len(s.asleep) {
		return decision{}, false
	}
	n, ok := d.steady(s, &hunt{ambush: ambush{fast: true}})
	if ok && n.act == grant {
		if c := s.waiting[s.find(n.who, n.what)]; d.springs(s, c) {
			return decision{act: stall, who: n.who}, true
		}
	}
	return n, ok
}

// overtake is what starts while p sleeps.
func (d *disorder) overtake(s *simulation, p *process, rival act) []decision {
	switch rival {
	case supersede, oldCursor:
		next := min(s.newest+1, lastRun-1)
		return []decision{{act: supersede, n: next}}
	case resume:
		return []decision{{act: wait, skew: 2 * planTimeout}, {act: resume, n: p.run}}
	case trigger:
		return []decision{{act: trigger, n: p.run}}
	case restoreTable:
		if s.backup == nil {
			return []decision{{act: loseTable}, {act: trigger, n: p.run}}
		}
		return []decision{{act: restoreTable}, {act: wait, skew: 2 * planTimeout}, {act: resume, n: p.run}}
	case loseTable:
		return []decision{{act: loseTable}, {act: trigger, n: p.run}}
	}
	return []decision{{act: wait, skew: 2 * planTimeout}, {act: sweep}}
}

// hunt is the time from the sleep of a process until what it does afterwards.
type hunt struct {
	ambush
	who       int
	run       int
	left      int // decisions until it wakes up, whatever has happened
	published int // publications when it fell asleep
	known     int // fence documents that had been written then
	awake     bool
	resumed   bool // the second life, too
	idle      int
}

// hunting lets everybody else go on until something is published or nothing is
// left to do, then wakes the sleeper up and lets it go on alone.
func (d *disorder) hunting(s *simulation) (decision, bool) {
	h := d.hunt
	if s.process(h.who) == nil {
		d.hunt = nil
		return decision{}, false
	}
	h.left--
	if !h.awake && (h.left < 0 || h.idle > 4 || s.check.publications > h.published && len(s.unended()) == 0) {
		if h.rival == oldCursor && h.known > 0 {
			n := decision{act: oldCursor, n: h.known}
			h.known = 0
			return n, true
		}
		h.awake, h.left = true, 80
		if s.check.publications > h.published {
			s.saw("a process wakes up after a rival has published")
		}
		return decision{act: wake, who: h.who}, true
	}
	if h.awake {
		for _, c := range s.waiting {
			if h.solo && c.p.id == h.who && h.left >= 0 {
				return decision{act: grant, who: h.who, what: c.op}, true
			}
		}
		d.hunt = nil
		return decision{}, false
	}
	if h.rival == loseTable && !h.resumed {
		if h.calls--; h.calls < 0 || h.idle > 2 {
			h.resumed = true
			d.opening = []decision{{act: wait, skew: 2 * planTimeout}, {act: resume, n: h.run}}
		}
	}
	return d.steady(s, h)
}

// steady does what comes first: calls, due messages, and a sweep when nothing
// else is left.
func (d *disorder) steady(s *simulation, h *hunt) (decision, bool) {
	for _, c := range s.waiting {
		if !s.asleep[c.p.id] {
			g := decision{act: grant, who: c.p.id, what: c.op}
			if !h.fast {
				g.fate = d.fateOf(c)
			}
			return g, true
		}
	}
	for _, q := range queueNames {
		for _, m := range s.queues.Pending(q) {
			if !m.Due.After(s.now) {
				h.idle = 0
				return decision{act: deliver, who: s.born + 1, what: s.label(m)}, true
			}
		}
	}
	h.idle++
	d.opening = []decision{{act: sweep}}
	return decision{act: wait, skew: 4 * time.Minute}, true
}
