package simulation

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/lapstrake/lapstrake/shared/contract"
)

// schedule is one order of the calls of all processes, chosen by a seed. Every
// call waits until its turn comes, so a process may stall in any of them for as
// long as others need to overtake it.
type schedule struct {
	*world
	t   *testing.T
	rng *rand.Rand

	mu      sync.Mutex
	born    map[*life]int // processes in the order of their first calls
	waiting []turn
	alive   int
	trace   []string

	sidecars map[string]contract.Status // that stood at any time
	newest   contract.Generation        // that manifest.json has had
}

// turn is a call that waits.
type turn struct {
	life   *life
	op     string
	answer chan fate
}

// fate is what becomes of a call.
type fate string

const (
	proceeds fate = ""
	isLost   fate = " and dies"            // the process dies before the call lands
	lands    fate = ", lands, and it dies" // the process dies before it sees the answer
)

func newSchedule(t *testing.T, seed int) *schedule {
	s := &schedule{
		t: t, world: newWorld(10, seed%3), rng: rand.New(rand.NewPCG(uint64(seed), 7)),
		born: make(map[*life]int), sidecars: make(map[string]contract.Status),
	}
	s.gate = s.call
	return s
}

// call is a call of a process: it waits for its turn.
func (s *schedule) call(l *life, op string, perform func() error) error {
	r := turn{life: l, op: op, answer: make(chan fate)}
	s.mu.Lock()
	if _, known := s.born[l]; !known {
		s.born[l] = len(s.born)
	}
	s.waiting = append(s.waiting, r)
	s.mu.Unlock()
	f := <-r.answer
	if l.dead {
		return errDead
	}
	if f != proceeds {
		l.dead = true
		if f == lands {
			_ = perform() // nobody lives to see the answer
		}
		return errDead
	}
	return perform()
}

// start lets a process begin.
func (s *schedule) start(what string, process func(ctx context.Context) (any, error)) {
	s.note("start %s", what)
	s.alive++
	go func() {
		got, err := process(s.t.Context())
		s.note("  end of %s: %+v, %v", what, got, err)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.alive--
	}()
}

func (s *schedule) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace = append(s.trace, fmt.Sprintf(format, args...))
}

// turns returns the calls that wait, once every process waits or has ended. The
// order does not depend on which goroutine was faster.
func (s *schedule) turns() []turn {
	synctest.Wait()
	slices.SortStableFunc(s.waiting, func(a, b turn) int {
		return cmp.Or(cmp.Compare(s.born[a.life], s.born[b.life]), cmp.Compare(a.op, b.op))
	})
	return s.waiting
}

// grant gives one of the waiting calls its turn.
func (s *schedule) grant(i int, f fate) {
	r := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.note("  %d: %s%s", s.born[r.life], r.op, f)
	r.answer <- f
	synctest.Wait()
}
