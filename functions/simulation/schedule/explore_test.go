package schedule

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// exploration visits every schedule of a scope that has at most a number of
// preemptions and at most one fault.
//
// A preemption takes the turn from a process that could go on, or takes the
// calls that a process makes side by side in another order. Whose turn it is
// when nobody could go on, or after an event that no process makes, is free, but
// a choice all the same: all of them are tried.
//
// Nothing is copied and nothing is undone: a schedule is run from the beginning
// to the state at which it leaves the one before it. In rounds: round k visits
// what k preemptions and faults reach and not fewer.
//
// A state that was visited before is not left again. That is sound, because a
// state is everything on which what follows depends (see [state]), the faults
// that are left included, and because the rounds visit each state first with
// the fewest of them: whatever could follow later, with fewer of them left, has
// followed already or is waiting to. Two states are told apart by 128 bits.
type exploration struct {
	scope
	t      *testing.T
	visits int // of states, after which the exploration ends

	begun     digest // the state that the scope begins with
	seen      map[digest]bool
	ends      map[digest]bool
	rounds    [][]*step // what is left to be followed, by what it costs
	round     int
	schedules int
	done      []counts // by round
	late      bool     // it ended for want of time
	found     *finding
}

// step is a choice, after those before it. It is taken as the path to a state.
type step struct {
	before *step
	choice int // among all options of the state
}

// finding is a schedule that breaks an invariant.
type finding struct {
	outcome
	choices []int
}

func (at *step) choices() []int {
	var all []int
	for ; at != nil; at = at.before {
		all = append(all, at.choice)
	}
	slices.Reverse(all)
	return all
}

// counts are what was seen up to the end of a round.
type counts struct{ schedules, states int }

// run explores up to a bound.
func (x *exploration) run(bound int) {
	x.seen, x.ends = make(map[digest]bool), make(map[digest]bool)
	x.rounds = make([][]*step, bound+3) // an option costs 2 at most
	x.rounds[0] = []*step{nil}
	for x.round = 0; x.round <= bound; x.round++ {
		for len(x.rounds[x.round]) > 0 {
			left := x.rounds[x.round]
			x.rounds[x.round] = left[:len(left)-1]
			x.follow(left[len(left)-1])
			if x.found != nil {
				return
			}
			if x.late = timeIsUp(x.t); x.late || len(x.seen) >= x.visits {
				x.done = append(x.done, counts{x.schedules, len(x.seen)})
				return
			}
		}
		x.done = append(x.done, counts{x.schedules, len(x.seen)})
	}
}

// resultOf says how a round has ended. "closed" is that every schedule of the
// scope with at most that many preemptions and faults has been visited.
func (x *exploration) resultOf(round int) string {
	switch {
	case round == x.round: // the last one, which was not finished
		return "bound reached"
	case round == x.round-1 && len(x.rounds[x.round])+len(x.rounds[x.round+1]) == 0:
		return "closed, with any number of preemptions"
	}
	return "closed"
}

// follow takes a path, and goes on from where it leads to until it comes to a
// state that was visited before, or to an end.
func (x *exploration) follow(at *step) {
	x.schedules++
	synctest.Test(x.t, func(t *testing.T) {
		s := x.begin(t)
		defer s.killAll()
		w := newWatch(s, x.scope)
		if start := w.state(); x.begun == (digest{}) {
			x.begun = start
		} else if start != x.begun {
			t.Fatalf("%s begins in another state than before: its handlers are not deterministic", x.name)
		}
		for _, i := range at.choices() {
			options := w.options()
			if i >= len(options) {
				t.Fatalf("%s goes another way than before: its handlers are not deterministic", x.name)
			}
			w.take(options[i])
		}
		ended := false
		for s.check.broken == nil {
			state := w.state()
			if x.seen[state] {
				break
			}
			x.seen[state] = true
			at, ended = x.branch(w, at)
			if ended {
				break
			}
		}
		decisions := slices.Clone(s.decisions)
		if ended && s.check.broken == nil && !x.ends[w.world()] {
			x.ends[w.world()] = true
			s.end()
		}
		if s.check.broken != nil {
			x.found = &finding{outcome{broken: s.check.broken, decisions: decisions}, at.choices()}
		}
	})
}

// branch notes every option of a state but one, and takes that. It reports
// whether there is none.
func (x *exploration) branch(w *watch, at *step) (*step, bool) {
	taken := -1
	options := w.options()
	for i, o := range options {
		next := &step{before: at, choice: i}
		switch {
		case o.faulty && w.s.faults > w.faults:
		case o.cost == 0 && taken < 0:
			taken = i
		default:
			x.rounds[x.round+o.cost] = append(x.rounds[x.round+o.cost], next)
		}
	}
	if taken < 0 {
		if len(options) > 0 {
			panic(fmt.Sprintf("no option of %d is free", len(options)))
		}
		return at, true
	}
	w.take(options[taken])
	return &step{before: at, choice: taken}, false
}

// again runs a list of decisions, which need not be all that apply.
func (c scope) again(t *testing.T, list []decision, tracing bool) (out outcome) {
	synctest.Test(t, func(t *testing.T) {
		s := c.begin(t)
		s.tracing = tracing
		s.run(&replay{list})
		out.decisions = s.decisions
		s.end()
		s.killAll()
		out.broken, out.trace = s.check.broken, s.trace
	})
	return out
}
