package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// errDead is what a process sees of the world after its end: nothing.
var errDead = errors.New("this process is dead")

// errSilent is what a table or queue says whose answer is lost.
var errSilent = fault.New(fault.Retryable, "LAPSTRAKE_STATE_UNAVAILABLE", "connection reset")

// process is one invocation of a handler. Every call of it waits for its turn,
// so it may stall in any of them for as long as others need to overtake it.
type process struct {
	s    *simulation
	id   int
	run  int // the number of the run that it is for
	what string
	// message is what it was delivered; "" for a planner.
	message string
	skew    time.Duration
	slow    time.Duration // how long its reads have taken
	ids     int
	dead    bool
	ended   bool
	// timers of heartbeats that have not fired.
	timers []chan time.Time
	// read is what its last read of a chunk saw.
	read     []row
	readKey  []keyspace.Column
	sessions int
	// gen is the generation of the last fence document that it wrote.
	gen int64
	// first is true for a planner that has found no fence document.
	first bool
	// unsure are the calls whose answer it has lost.
	unsure map[string]bool
}

// call is a call that waits for its turn.
type call struct {
	p       *process
	op      string // "create out/manifest.json": unique among the calls of a process at one time
	write   bool
	bucket  bool
	source  bool
	told    bool // it tells somebody, and changes nothing
	perform func() error
	answer  chan fate
	err     error // what the world said
	done    bool  // it has landed
}

// call is a call of a process: it waits for its turn. Handlers make some of
// their calls side by side.
func (p *process) call(c call) error {
	s := p.s
	s.mu.Lock()
	if p.dead {
		s.mu.Unlock()
		return errDead
	}
	if s.direct != nil {
		defer s.mu.Unlock()
		return s.direct(p, c)
	}
	c.p, c.answer = p, make(chan fate)
	s.waiting = append(s.waiting, &c)
	s.mu.Unlock()
	return c.meet(<-c.answer)
}

// meet lets a call meet its fate, and returns what its process sees of it.
func (c *call) meet(f fate) error {
	if c.p.dead && f != diesAfter {
		return errDead
	}
	switch f {
	case proceeds:
		c.err, c.done = c.perform(), true
		return c.err
	case diesAfter:
		c.err, c.done = c.perform(), true // nobody lives to see the answer
		return errDead
	case diesLate:
		return errDead
	case refuses:
		return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_REFUSED", "permission denied")
	case ackLost:
		c.err, c.done = c.perform(), true
	}
	switch {
	case !c.bucket:
		return errSilent
	case c.write && f != failsNow:
		return &destination.OpError{Op: "write", Store: "memory://bucket", Key: c.op, Err: destination.ErrUndecided}
	}
	return &destination.OpError{Op: "read", Store: "memory://bucket", Key: c.op, Err: destination.ErrUnavailable}
}

// start lets a process begin: run is its handler, settle what the transport
// does with the outcome.
func (s *simulation) start(p *process, run func(ctx context.Context, p *process) (string, error)) {
	s.processes = append(s.processes, p)
	go func() {
		said, err := run(s.ctx, p)
		s.mu.Lock()
		defer s.mu.Unlock()
		p.ended = true
		p.timers = nil
		if !p.dead {
			s.check.ended(p, err)
		}
		if s.tracing {
			s.trace = append(s.trace, fmt.Sprintf("  %d ends: %s %v", p.id, said, err))
		}
	}()
	s.settled()
}

// settled waits until every process waits or has ended, and sorts the calls
// that wait: their order does not depend on which goroutine was faster.
func (s *simulation) settled() {
	synctest.Wait()
	slices.SortFunc(s.waiting, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.p.id, b.p.id), strings.Compare(a.op, b.op))
	})
	s.processes = slices.DeleteFunc(s.processes, func(p *process) bool {
		if p.ended {
			delete(s.asleep, p.id)
		}
		return p.ended
	})
}

// grant gives the i-th waiting call its turn.
func (s *simulation) grant(i int, f fate) {
	c := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	switch f {
	case diesBefore, diesAfter, diesLate:
		c.p.dead = true
		s.deaths++
	}
	switch f {
	case diesLate, givesUp:
		s.late = append(s.late, c)
	case ackLost:
		c.p.doubts(c.op)
	}
	c.answer <- f
	s.settled()
	if c.p.dead { // whatever else it was waiting for comes to nothing
		for j := len(s.waiting) - 1; j >= 0; j-- {
			if other := s.waiting[j]; other.p == c.p {
				s.waiting = slices.Delete(s.waiting, j, j+1)
				other.answer <- diesBefore
			}
		}
		s.settled()
	}
}

// land lets a request reach the world that its process has given up.
func (s *simulation) land(who int, op string) bool {
	i := slices.IndexFunc(s.late, func(c *call) bool { return c.p.id == who && c.op == op })
	if i < 0 {
		return false
	}
	c := s.late[i]
	s.late = slices.Delete(s.late, i, i+1)
	if c.perform() == nil {
		s.saw("a late write lands")
	} else {
		s.saw("a late write is refused")
	}
	return true
}

// find returns the waiting call of a process, -1 if it does not wait for that.
func (s *simulation) find(who int, op string) int {
	return slices.IndexFunc(s.waiting, func(c *call) bool { return c.p.id == who && c.op == op })
}

func (s *simulation) process(who int) *process {
	for _, p := range s.processes {
		if p.id == who {
			return p
		}
	}
	return nil
}

// heartbeat lets the time between two heartbeats of p pass.
func (s *simulation) heartbeat(p *process) {
	timer := p.timers[0]
	p.timers = p.timers[1:]
	timer <- p.Now()
	s.settled()
}

// killAll ends every process, so that no goroutine outlives the simulation.
func (s *simulation) killAll() {
	for _, p := range s.processes {
		p.dead = true
	}
	for len(s.waiting) > 0 {
		c := s.waiting[0]
		s.waiting = s.waiting[1:]
		c.answer <- diesBefore
		s.settled()
	}
}

// Now, After, NewID and Jitter make a process the clock and the source of ids of
// its handler.
func (p *process) Now() time.Time { return p.s.now.Add(p.skew + p.slow) }

func (p *process) After(time.Duration) <-chan time.Time {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	timer := make(chan time.Time, 1)
	p.timers = append(p.timers, timer)
	return timer
}

func (p *process) NewID() string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.ids++
	return fmt.Sprintf("p%d-%d", p.id, p.ids)
}

func (p *process) Jitter() float64 { return 0.5 }
