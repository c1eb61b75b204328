package runstatetest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

func (d drawer) putChunk() step {
	c := runstate.Chunk{
		RunID: d.m.id, ID: contract.BaseTaskID(d.oneOf("base", 2*d.m.k)), Gen: d.gen(), Range: whole,
		MaxAttempts: 1 + d.oneOf("attempts", 3), CreatedAt: d.m.now,
	}
	return step{
		fmt.Sprintf("T3 PutChunk %s %d", c.ID, c.Gen),
		func(ctx context.Context, t runstate.Table) (any, error) { return nil, t.PutChunk(ctx, c) },
		func(m *model) bool { return m.put(c.ID, c.Gen, c.MaxAttempts) },
	}
}

func (d drawer) claim() step {
	d.m.tokens++
	token, id := strconv.Itoa(d.m.tokens), d.task()
	g := d.gen()
	if c, there := d.m.chunks[id]; there && d.oneOf("message", 4) > 0 {
		g = c.gen
	}
	now := d.clock()
	r := claimOf(d.m.id, id, g, token, now)
	return step{
		fmt.Sprintf("T6 Claim %s %d as %s", id, g, token),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.Claim(ctx, r) },
		func(m *model) bool {
			return m.changeChunk(id,
				func(c modelChunk) bool {
					return c.gen == g && c.attempts < c.max &&
						(c.status == runstate.ChunkPending || c.status == runstate.ChunkFailed || c.status == runstate.ChunkRunning && c.lease.Before(now))
				},
				func(c *modelChunk) {
					c.status, c.attempts, c.token, c.lease = runstate.ChunkRunning, c.attempts+1, token, r.LeaseUntil
				})
		},
	}
}

func (d drawer) heartbeat() step {
	l, until := d.lease(), d.clock().Add(3*time.Minute)
	return step{
		fmt.Sprintf("T7 Heartbeat %s %s", l.Task, l.Token),
		func(ctx context.Context, t runstate.Table) (any, error) { return nil, t.Heartbeat(ctx, l, until) },
		func(m *model) bool {
			return m.changeChunk(l.Task, heldBy(l.Token), func(c *modelChunk) { c.lease = until })
		},
	}
}

func (d drawer) result() runstate.Result {
	rows := int64(1 + d.oneOf("rows", 1000))
	return runstate.Result{Rows: rows, Parts: []runstate.PartRecord{{Path: fmt.Sprint(rows), Rows: rows}}}
}

func (d drawer) complete() step {
	l, r, now := d.lease(), d.result(), d.m.now
	return step{
		fmt.Sprintf("T8 Complete %s %s", l.Task, l.Token),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.Complete(ctx, l, r, now) },
		func(m *model) bool {
			return m.changeChunk(l.Task, heldBy(l.Token), func(c *modelChunk) { c.status, c.rows = runstate.ChunkCompleted, r.Rows })
		},
	}
}

func (d drawer) split() step {
	s := runstate.SplitRequest{Lease: d.lease(), Gen: d.gen(), Done: done, Rest: rest, Result: d.result(), ChildAttempts: 2, Now: d.m.now}
	child := s.Lease.Task.SplitChild()
	return step{
		fmt.Sprintf("T9 Split %s %s %d", s.Lease.Task, s.Lease.Token, s.Gen),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.Split(ctx, s) },
		func(m *model) bool {
			if m.run == nil || m.run.gen != s.Gen {
				return false
			}
			held := m.changeChunk(s.Lease.Task, heldBy(s.Lease.Token), func(c *modelChunk) {
				c.status, c.rows, c.splitInto = runstate.ChunkCompleted, s.Result.Rows, child
			})
			if held {
				m.grow(s.Lease.Task, child, s.Gen, s.ChildAttempts)
			}
			return held
		},
	}
}

func (d drawer) fail() step {
	l, permanent, now := d.lease(), d.oneOf("permanent", 4) == 0, d.m.now
	return step{
		fmt.Sprintf("T10 Fail %s %s %v", l.Task, l.Token, permanent),
		func(ctx context.Context, t runstate.Table) (any, error) {
			return t.Fail(ctx, l, trouble, permanent, now)
		},
		func(m *model) bool {
			return m.changeChunk(l.Task, heldBy(l.Token), func(c *modelChunk) {
				c.status = runstate.ChunkFailed
				if permanent {
					c.attempts = c.max
				}
			})
		},
	}
}

func (d drawer) expire() step {
	id, now := d.task(), d.clock()
	return step{
		fmt.Sprintf("T10b Expire %s", id),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.Expire(ctx, d.m.id, id, now) },
		func(m *model) bool {
			return m.changeChunk(id,
				func(c modelChunk) bool {
					return c.status == runstate.ChunkRunning && c.lease.Before(now) && c.attempts >= c.max
				},
				func(c *modelChunk) { c.status = runstate.ChunkFailed })
		},
	}
}

func (d drawer) resumeChunk() step {
	id, g, budget, now := d.task(), d.gen(), 1+d.oneOf("budget", 3), d.m.now
	return step{
		fmt.Sprintf("T17c ResumeChunk %s %d", id, g),
		func(ctx context.Context, t runstate.Table) (any, error) {
			return t.ResumeChunk(ctx, d.m.id, id, g, budget, now)
		},
		func(m *model) bool {
			return m.changeChunk(id,
				func(c modelChunk) bool { return c.status != runstate.ChunkCompleted && c.gen < g },
				func(c *modelChunk) {
					if c.status == runstate.ChunkRunning {
						c.status = runstate.ChunkFailed
					}
					c.gen, c.max, c.token, c.lease = g, c.attempts+budget, "", time.Time{}
				})
		},
	}
}

func (d drawer) repair() step {
	id, g, now := d.task(), d.gen(), d.m.now
	return step{
		fmt.Sprintf("T18 Repair %s %d", id, g),
		func(ctx context.Context, t runstate.Table) (any, error) { return t.Repair(ctx, d.m.id, id, g, 2, now) },
		func(m *model) bool {
			if m.run == nil || m.run.gen != g || m.run.status != runstate.RunPlanning && m.run.status != runstate.RunRunning {
				return false
			}
			holds := m.changeChunk(id,
				func(c modelChunk) bool { return c.status == runstate.ChunkCompleted && c.supersededBy == "" },
				func(c *modelChunk) { c.supersededBy = id.Repair() })
			if holds {
				m.grow(id, id.Repair(), g, 2)
			}
			return holds
		},
	}
}

func (d drawer) faninAdd() step {
	id := d.task()
	shard, member := d.m.shardOf(id), string(id)
	if d.oneOf("root", 4) == 0 {
		shard, member = runstate.RootShard, strconv.Itoa(shard)
	}
	return step{
		fmt.Sprintf("T11 FaninAdd %d %s", shard, member),
		func(ctx context.Context, t runstate.Table) (any, error) {
			return t.FaninAdd(ctx, d.m.id, shard, member)
		},
		func(m *model) bool { return m.add(shard, member) },
	}
}
