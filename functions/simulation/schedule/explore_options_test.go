package schedule

import (
	"slices"
	"strings"
)

// watch is a simulation as an exploration sees it.
type watch struct {
	s      *simulation
	scope  scope
	faults int // that there were at the beginning
	// turn is the process that had the last one, 0 if it was none.
	turn    int
	scripts []script
	changes bool // the rows of the source change
	// succeeded are the processes that have come to F12.
	succeeded map[int]bool
	digests
}

// script is a list of decisions that are taken in their order, each of them when
// the process that the one before it has started has ended.
type script struct {
	left    []decision
	started int // the process
}

// option is a decision that may be taken, and what it costs.
type option struct {
	decision
	cost   int // 1 for a preemption, and 1 for a fault
	faulty bool
	script int // whose next decision it is, -1 for a call
}

func newWatch(s *simulation, c scope) *watch {
	w := &watch{s: s, scope: c, faults: s.faults, succeeded: make(map[int]bool), digests: newDigests()}
	for i, list := range c.scripts {
		list = slices.Clone(list)
		for j := range list {
			list[j].who = 10*(i+1) + j // the same, whoever starts first
			w.changes = w.changes || list[j].act == updateRow || list[j].act == insertRow
		}
		w.scripts = append(w.scripts, script{left: list})
	}
	w.lookAtBucket(s)
	w.lookAtTable(s)
	return w
}

// options returns everything that may happen next, the same in the same state:
// the turn of a process, with each fate of its call, and the next decision of a
// script.
//
// A process may die behind each of its writes and before its first call. Where
// else it dies makes no difference to anybody: its reads leave nothing. Nor is
// there a difference between its death and a turn that never comes, but that it
// is not there when everything comes to rest.
func (w *watch) options() []option {
	var all []option
	goesOn := slices.ContainsFunc(w.s.waiting, func(c *call) bool { return c.p.id == w.turn })
	before := 0
	for _, c := range w.s.waiting {
		cost := 0
		if goesOn && c.p.id != w.turn || c.p.id == before {
			cost = 1
		}
		before = c.p.id
		o := option{decision: decision{act: grant, who: c.p.id, what: c.op}, cost: cost, script: -1}
		all = append(all, o)
		o.faulty = true
		o.cost++
		for _, f := range w.scope.fates {
			if c.write && f != diesBefore || f == diesBefore && w.histories[c.p.id] == (digest{}) {
				o.fate = f
				all = append(all, o)
			}
		}
	}
	for i, x := range w.scripts {
		if x.started != 0 && w.s.process(x.started) != nil || !w.applies(x.left) {
			continue
		}
		o := option{decision: x.left[0], script: i}
		if goesOn {
			o.cost = 1
		}
		all = append(all, o)
	}
	// Whoever had the last turn comes first: the schedule that is tried first is
	// the one without preemptions.
	slices.SortStableFunc(all, func(a, b option) int { return a.cost - b.cost })
	return all
}

// applies reports whether the next decision of a script can be taken. Time
// passes only for the sake of what comes after it, in one step with it.
func (w *watch) applies(left []decision) bool {
	switch {
	case len(left) == 0:
		return false
	case left[0].act == wait:
		return w.applies(left[1:])
	case left[0].act == deliver:
		_, _, there := w.s.message(left[0].what)
		return there
	}
	return true
}

// take lets an option happen, and every call after it that waits for nobody.
func (w *watch) take(o option) {
	w.apply(o.decision)
	w.turn = o.who
	if o.script >= 0 {
		x := &w.scripts[o.script]
		x.left = x.left[1:]
		if o.act == wait {
			o.decision = x.left[0]
			w.take(o)
			return
		}
		if x.started = o.who; w.s.process(o.who) == nil {
			w.turn = 0
		}
	}
	for {
		i := slices.IndexFunc(w.s.waiting, w.aside)
		if i < 0 {
			return
		}
		c := w.s.waiting[i]
		w.apply(decision{act: grant, who: c.p.id, what: c.op})
	}
}

// aside reports whether a call is made at once, without a turn: it makes no
// difference to anybody when it is. A plan that stands never changes, nor does a
// source that nothing changes, and what a finalizer does when its run has
// succeeded (F13 to F17) tells of the run and decides nothing.
func (w *watch) aside(c *call) bool {
	switch verb, of, _ := strings.Cut(c.op, " "); {
	case verb == "open" || verb == "notify":
		return true
	case verb == "read":
		return !w.changes
	case verb == "get" && strings.HasSuffix(of, "/plan.json"):
		return w.objects[of] != ""
	case verb == "MarkNotified":
		return false
	}
	return w.succeeded[c.p.id]
}

func (w *watch) apply(d decision) {
	bucket, table := d.act != grant, d.act != grant
	if d.act == grant {
		c := w.s.waiting[w.s.find(d.who, d.what)]
		w.remember(w.s, c, d.fate)
		bucket, table = c.write && c.bucket, c.write && !c.bucket
	}
	if !w.s.apply(d) {
		panic("does not apply: " + d.String())
	}
	if strings.HasPrefix(d.what, "SucceedRun ") {
		w.succeeded[d.who] = true
	}
	if bucket {
		w.lookAtBucket(w.s)
	}
	if table {
		w.lookAtTable(w.s)
	}
}
