package schedule

import (
	"context"
	"strings"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/taskqueue/inprocess"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// run lets a chooser take decisions until it has no more, or an invariant is
// broken.
func (s *simulation) run(c chooser) {
	for s.check.broken == nil {
		d, more := c.next(s)
		if !more {
			return
		}
		s.apply(d)
	}
}

// apply lets a decision happen. One that does not apply changes nothing.
func (s *simulation) apply(d decision) bool {
	if s.tracing {
		s.trace = append(s.trace, d.String())
	}
	if !s.do(d) {
		if s.tracing {
			s.trace = s.trace[:len(s.trace)-1]
		}
		return false
	}
	s.decisions = append(s.decisions, d)
	s.saw(string(d.act))
	if d.fate != proceeds {
		s.saw(string(d.fate))
	}
	return true
}

func (s *simulation) do(d decision) bool {
	switch d.act {
	case grant:
		i := s.find(d.who, d.what)
		if i < 0 {
			return false
		}
		s.calls++
		if d.fate != proceeds {
			s.faults++
		}
		s.grant(i, d.fate)
	case tick:
		p := s.process(d.who)
		if p == nil || len(p.timers) == 0 || p.dead {
			return false
		}
		s.heartbeat(p)
	case wait:
		s.now = s.now.Add(d.skew)
	case stall:
		if s.process(d.who) == nil {
			return false
		}
		s.asleep[d.who] = true
	case wake:
		delete(s.asleep, d.who)
	case land:
		return s.land(d.who, d.what)
	case deliver:
		return s.deliver(d)
	case dropMessage:
		queue, m, ok := s.message(d.what)
		if !ok {
			return false
		}
		s.faults++
		s.queues.Drop(queue, m.ID)
	case trigger, supersede, resume, repairRun, reanchor, sweep:
		s.invoke(d)
	case insertRow, updateRow, deleteRow, moveRow:
		return s.mutate(d)
	default:
		return s.operate(d)
	}
	return true
}

// newProcess makes the process of a decision that starts one.
func (s *simulation) newProcess(d decision, what string) *process {
	s.born = max(s.born, d.who)
	p := &process{s: s, id: d.who, run: d.n, what: what, skew: d.skew}
	if _, id, ok := strings.Cut(what, "orders_"); ok {
		id, _, _ = strings.Cut(id, " ")
		p.run = runNumber(contract.RunID("orders_" + id))
	}
	return p
}

// invoke starts a process of the planner.
func (s *simulation) invoke(d decision) {
	t := wire.Trigger{Version: wire.Version, Action: wire.ActionSweep}
	switch d.act {
	case trigger, supersede, reanchor:
		s.newest = max(s.newest, d.n)
		at := contract.NewTime(runTime(d.n))
		t = wire.Trigger{Version: wire.Version, Action: wire.ActionRun, Export: "orders", ScheduledTime: &at}
		if d.act != trigger {
			t.OnConflict = "supersede"
		}
		if d.act == reanchor {
			t.Reanchor, t.RunID = true, runID(d.n)
			s.anew[t.RunID] = true
		}
	case resume, repairRun:
		t = wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: runID(d.n), Force: d.act == repairRun}
	}
	s.start(s.newProcess(d, string(d.act)), func(ctx context.Context, p *process) (string, error) { return p.plan(ctx, t) })
}

// message finds the message with a label that is due first.
func (s *simulation) message(label string) (queue string, found inprocess.Stored, ok bool) {
	for _, q := range queueNames {
		for _, m := range s.queues.Pending(q) {
			if s.label(m) == label && (!ok || m.Due.Before(found.Due)) {
				queue, found, ok = q, m, true
			}
		}
	}
	return queue, found, ok
}

func (s *simulation) deliver(d decision) bool {
	queue, m, ok := s.message(d.what)
	if !ok {
		return false
	}
	delivery, ok := s.queues.Deliver(queue, m.ID)
	if !ok {
		return false
	}
	p := s.newProcess(d, d.what)
	p.message = m.ID
	s.start(p, func(ctx context.Context, p *process) (string, error) { return p.receive(ctx, delivery) })
	return true
}

// runNumber returns the number of a run from its id.
func runNumber(id contract.RunID) int {
	for n := range 10 {
		if runID(n) == id {
			return n
		}
	}
	return 0
}

// short is a run's id as traces show it.
func short(id contract.RunID) string { return strings.TrimPrefix(string(id), "orders_21261129T") }
