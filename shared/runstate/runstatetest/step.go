package runstatetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// step is one operation with its arguments: what it does to a table, and
// whether its condition holds in the model, to which it is then applied.
type step struct {
	name  string // begins with that of ConditionError
	do    func(context.Context, runstate.Table) (any, error)
	model func(*model) bool
}

// operation is the name without arguments.
func (s step) operation() string {
	words := strings.SplitN(s.name, " ", 3)
	return strings.Join(words[:2], " ")
}

// drawer makes a step whose arguments are mostly, not always, right for what
// the model says.
type drawer struct {
	*rapid.T
	m *model
}

// oneOf draws a number below n, each about as often: rapid's own ranges prefer
// small numbers, and here they would be always the same operations.
func (d drawer) oneOf(what string, n int) int {
	drawn := 0
	for size := 1; size < n; size *= 2 {
		drawn *= 2
		if rapid.Bool().Draw(d.T, what) {
			drawn++
		}
	}
	return drawn % n
}

// gen is the run's generation four times out of six.
func (d drawer) gen() contract.Generation {
	g := contract.Generation(1)
	if d.m.run != nil {
		g = max(g, d.m.run.gen)
	}
	return max(1, g+[]contract.Generation{0, 0, 0, 0, 1, -1}[d.oneOf("generation", 6)])
}

func (d drawer) trigger() string {
	if d.m.run != nil && d.oneOf("trigger", 4) > 0 {
		return d.m.run.trigger
	}
	return "another"
}

func (d drawer) task() contract.TaskID {
	known := append(d.m.tasks(), contract.BaseTaskID(d.oneOf("base", 2*d.m.k)))
	return known[d.oneOf("task", len(known))]
}

// lease is the chunk's five times out of six.
func (d drawer) lease() runstate.Lease {
	id := d.task()
	token := d.m.chunks[id].token
	if d.oneOf("token", 6) == 0 {
		token = "nobody's"
	}
	return runstate.Lease{Run: d.m.id, Task: id, Token: token}
}

// clock is what some worker's clock says: now, or skewed past a lease either
// way. The table keeps milliseconds, and so does the model.
func (d drawer) clock() time.Time {
	return d.m.now.Add([]time.Duration{0, 0, 0, 4 * time.Minute, -4 * time.Minute}[d.oneOf("clock", 5)])
}

// draw draws a step. One that would be refused is drawn again now and then, so
// that sequences get somewhere and are still refused often.
func (d drawer) draw() step {
	d.m.now = d.m.now.Add(time.Duration(d.oneOf("minutes", 3)) * time.Minute)
	s := d.any()
	for i := 0; i < 3 && !s.model(d.m.clone()) && d.oneOf("again", 3) > 0; i++ {
		s = d.any()
	}
	return s
}

func (d drawer) any() step {
	if d.oneOf("ending", 8) == 0 {
		kinds := []func() step{d.failRun, d.failRun, d.refuse, d.supersede, d.createRun}
		return kinds[d.oneOf("end", len(kinds))]()
	}
	kinds := []func() step{
		d.claim, d.claim, d.claim, d.complete, d.complete, d.split, d.fail, d.putChunk, d.heartbeat, d.expire, d.resumeChunk, d.repair, d.repair, d.faninAdd,
		d.recordFence, d.startRun, d.startRun, d.beginFinalize, d.succeedRun, d.claimResume, d.claimResume, d.resumeRun, d.markNotified, d.noteRun,
	}
	return kinds[d.oneOf("operation", len(kinds))]()
}

func (d drawer) createRun() step {
	lease := d.m.now.Add(3 * time.Minute)
	r := runstate.Run{RunID: d.m.id, Export: "public.orders", Creation: d.m.now.String(), CreatedAt: d.m.now, LeaseUntil: lease}
	return step{
		"T1 CreateRun",
		func(ctx context.Context, t runstate.Table) (any, error) { return nil, t.CreateRun(ctx, r) },
		func(m *model) bool {
			if m.run != nil {
				return false
			}
			m.run = &modelRun{status: runstate.RunPlanning, creation: r.Creation, lease: lease}
			return true
		},
	}
}

func (d drawer) recordFence() step {
	g, until := d.gen(), d.m.now.Add(3*time.Minute)
	creation := "of another call"
	if d.m.run != nil && d.oneOf("creation", 6) > 0 {
		creation = d.m.run.creation
	}
	return step{
		fmt.Sprintf("T2 RecordFence %d", g),
		func(ctx context.Context, t runstate.Table) (any, error) {
			return nil, t.RecordFence(ctx, d.m.id, runstate.FenceRecord{Gen: g, Creation: creation, LeaseUntil: until, Prefix: "orders/"})
		},
		func(m *model) bool {
			return m.changeRun(
				func(r modelRun) bool {
					return r.status == runstate.RunPlanning && r.creation == creation && (r.gen == 0 || r.gen == g)
				},
				func(r *modelRun) { r.gen, r.lease = g, until })
		},
	}
}

func (d drawer) startRun() step {
	g, until := d.gen(), d.m.now.Add(3*time.Minute)
	trigger := d.trigger()
	return step{
		fmt.Sprintf("T5 StartRun %d by %q", g, trigger),
		func(ctx context.Context, t runstate.Table) (any, error) {
			return t.StartRun(ctx, d.m.id, runstate.StartRecord{Gen: g, TriggerID: trigger, FaninK: d.m.k, TaskCount: 2 * d.m.k, Shards: 2, LeaseUntil: until})
		},
		func(m *model) bool {
			return m.changeRun(
				func(r modelRun) bool { return r.status == runstate.RunPlanning && r.gen == g && r.trigger == trigger },
				func(r *modelRun) { r.status, r.lease = runstate.RunRunning, until })
		},
	}
}

func (d drawer) beginFinalize() step {
	g, now := d.gen(), d.m.now
	return step{
		fmt.Sprintf("T13 BeginFinalize %d", g),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.BeginFinalize(ctx, d.m.id, g, now) },
		func(m *model) bool {
			return m.ends(runstate.RunFinalizing, func(r modelRun) bool {
				return r.gen == g && (r.status == runstate.RunRunning || r.status == runstate.RunFinalizing)
			})
		},
	}
}

func (d drawer) succeedRun() step {
	s := runstate.SuccessRecord{Gen: d.gen(), Adopted: d.oneOf("adopted", 8) == 0, Now: d.m.now, Outcome: runstate.RunOutcome{Rows: 1}}
	return step{
		fmt.Sprintf("T14 SucceedRun %+v", s),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.SucceedRun(ctx, d.m.id, s) },
		func(m *model) bool {
			return m.ends(runstate.RunSucceeded, func(r modelRun) bool {
				if s.Adopted {
					return r.status != runstate.RunSucceeded && r.gen <= s.Gen
				}
				return r.gen == s.Gen && r.status == runstate.RunFinalizing
			})
		},
	}
}

func (d drawer) failRun() step {
	g, now := d.gen(), d.m.now
	return step{
		fmt.Sprintf("T15 FailRun %d", g),
		func(ctx context.Context, t runstate.Table) (any, error) {
			return t.FailRun(ctx, d.m.id, g, trouble, now)
		},
		func(m *model) bool {
			return m.ends(runstate.RunFailed, func(r modelRun) bool {
				return (r.status == runstate.RunPlanning || r.status == runstate.RunRunning) && (r.gen == 0 || r.gen == g)
			})
		},
	}
}

func (d drawer) refuse() step {
	now := d.m.now
	return step{
		"T15r Refuse",
		func(ctx context.Context, t runstate.Table) (any, error) { return t.Refuse(ctx, d.m.id, trouble, now) },
		func(m *model) bool {
			return m.ends(runstate.RunRefused, func(r modelRun) bool { return r.status == runstate.RunPlanning && r.gen == 0 })
		},
	}
}

func (d drawer) supersede() step {
	g, now := d.gen(), d.m.now
	return step{
		fmt.Sprintf("T16 SupersedeRun %d", g),
		func(ctx context.Context, t runstate.Table) (any, error) {
			return t.SupersedeRun(ctx, d.m.id, g, trouble, now)
		},
		func(m *model) bool {
			return m.ends(runstate.RunSuperseded, func(r modelRun) bool { return (r.gen == 0 || r.gen < g) && !ended(r.status) })
		},
	}
}

func ended(s runstate.RunStatus) bool {
	return slices.Contains([]runstate.RunStatus{runstate.RunSucceeded, runstate.RunFailed, runstate.RunSuperseded, runstate.RunRefused}, s)
}

func (d drawer) claimResume() step {
	now := d.clock()
	c := runstate.ResumeClaim{RequestID: strconv.Itoa(d.oneOf("request", 3)), Force: d.oneOf("force", 4) == 0, Now: now, LeaseUntil: now.Add(3 * time.Minute)}
	return step{
		fmt.Sprintf("T17a ClaimResume %+v", c),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.ClaimResume(ctx, d.m.id, c) },
		func(m *model) bool {
			return m.changeRun(
				func(r modelRun) bool {
					return r.status == runstate.RunFailed || r.status == runstate.RunSucceeded && c.Force || !ended(r.status) && r.lease.Before(now)
				},
				func(r *modelRun) {
					r.status, r.trigger, r.lease, r.notified = runstate.RunPlanning, c.RequestID, c.LeaseUntil, false
				})
		},
	}
}

func (d drawer) resumeRun() step {
	g, until := d.gen()+1, d.m.now.Add(3*time.Minute)
	return step{
		fmt.Sprintf("T17b ResumeRun %d", g),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.ResumeRun(ctx, d.m.id, g, until) },
		func(m *model) bool {
			return m.changeRun(
				func(r modelRun) bool { return r.status == runstate.RunPlanning && (r.gen == 0 || r.gen < g) },
				func(r *modelRun) { r.gen, r.lease = g, until })
		},
	}
}

func (d drawer) markNotified() step {
	return step{
		"T19 MarkNotified",
		func(ctx context.Context, t runstate.Table) (any, error) { return nil, t.MarkNotified(ctx, d.m.id) },
		func(m *model) bool {
			return m.changeRun(func(r modelRun) bool { return !r.notified }, func(r *modelRun) { r.notified = true })
		},
	}
}

func (d drawer) noteRun() step {
	until, enqueued, verdict := d.m.now.Add(3*time.Minute), true, "passed"
	var n runstate.Note
	fields := d.oneOf("fields", 8)
	if fields&1 != 0 {
		n.LeaseUntil = &until
	}
	if fields&2 != 0 {
		n.Enqueued, n.Error = &enqueued, &trouble
	}
	if fields&4 != 0 {
		n.Verdict = &verdict
	}
	return step{
		fmt.Sprintf("T20 NoteRun %b", fields),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.NoteRun(ctx, d.m.id, n) },
		func(m *model) bool {
			return m.changeRun(
				func(r modelRun) bool { return r.status == runstate.RunSucceeded || !ended(r.status) },
				func(r *modelRun) {
					if r.status != runstate.RunSucceeded && n.LeaseUntil != nil {
						r.lease = until
					}
				})
		},
	}
}
