package schedule

import (
	"slices"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// chunk checks a task that was written: V1, V2, V4 and V10.
func (c *checker) chunk(p *process, op string, now runstate.Chunk) {
	if c.chunks[now.RunID] == nil {
		c.chunks[now.RunID] = make(map[contract.TaskID]runstate.Chunk)
	}
	was, known := c.chunks[now.RunID][now.ID]
	c.chunks[now.RunID][now.ID] = now
	c.sawTask(p, op, was, now)
	if known {
		c.completedIsFinal(was, now)
		c.attempts(was, now)
	}
	switch {
	case now.Status != runstate.ChunkCompleted:
	case known && was.Status == runstate.ChunkCompleted:
		if was.Live() && !now.Live() {
			for _, part := range now.Parts {
				delete(c.recorded, c.prefixOf(now.RunID)+part.Path)
			}
		}
	default:
		c.recordedIsStored(now)
		c.holdsItsRange(p, now)
	}
}

// completedIsFinal is V1.
func (c *checker) completedIsFinal(was, now runstate.Chunk) {
	if was.Status != runstate.ChunkCompleted {
		return
	}
	if now.Status != runstate.ChunkCompleted || !slices.Equal(was.Parts, now.Parts) || !was.Range.Equal(now.Range) || !was.Live() && now.Live() {
		c.fail("V1", "task %s of run %s was completed with %v and is %s with %v", now.ID, short(now.RunID), was.Parts, now.Status, now.Parts)
	}
}

// attempts is V2.
func (c *checker) attempts(was, now runstate.Chunk) {
	switch {
	case now.Attempts < was.Attempts || now.Attempts > now.MaxAttempts || now.Attempts > was.Attempts+1:
		// A permanent failure uses the attempts up.
		if now.Status == runstate.ChunkFailed && now.Attempts == now.MaxAttempts {
			return
		}
		c.fail("V2", "task %s of run %s went from attempt %d to %d of %d", now.ID, short(now.RunID), was.Attempts, now.Attempts, now.MaxAttempts)
	case now.Attempts > was.Attempts && now.Status == runstate.ChunkRunning:
		if now.LeaseToken == "" || c.tokens[now.LeaseToken] {
			c.fail("V2", "attempt %d on task %s of run %s has the token %q of an earlier one", now.Attempts, now.ID, short(now.RunID), now.LeaseToken)
		}
		c.tokens[now.LeaseToken] = true
	}
}

// tiles is V3: the tasks that a planned task has become cover its range without
// gap or overlap.
func (c *checker) tiles(run contract.RunID, task contract.TaskID) {
	planned, known := c.plans[run]
	base, ok := task.Base()
	if !known || !ok {
		return // its plan is not this world's: a planner that outlived the table
	}
	if base >= len(planned.Tasks) {
		c.fail("V3", "task %s is none of the %d of run %s", task, len(planned.Tasks), short(run))
		return
	}
	var ranges []keyspace.Range
	for id, x := range c.chunks[run] {
		if b, _ := id.Base(); b == base && x.Live() {
			ranges = append(ranges, x.Range)
		}
	}
	if err := keyspace.Tiles(planned.Tasks[base], ranges); err != nil {
		c.fail("V3", "task %s of run %s is not covered: %v", contract.BaseTaskID(base), short(run), err)
	}
}

// recordedIsStored is V4 at the moment of the record; later moments are
// [checker.moved] and [checker.part], which see every change of an object.
func (c *checker) recordedIsStored(now runstate.Chunk) {
	for _, part := range now.Parts {
		key := c.prefixOf(now.RunID) + part.Path
		o, there := c.objects[key]
		if !there || o.fingerprint != part.Fingerprint || int64(len(o.body)) != part.SizeBytes || int64(len(o.rows)) != part.Rows {
			c.fail("V4", "task %s of run %s records %s with %d rows and %s, which the store does not have", now.ID, short(now.RunID), key, part.Rows, part.Fingerprint)
		}
		if _, err := c.s.bucket.Head(c.s.ctx, key); err != nil && !o.damaged {
			c.fail("V4", "task %s of run %s records %s: %v", now.ID, short(now.RunID), key, err)
		}
		c.recorded[key] = record{now.RunID, part.Fingerprint}
	}
}

// holdsItsRange is V10 for one task: its parts are exactly the rows of its range
// at the moment of its read.
func (c *checker) holdsItsRange(p *process, now runstate.Chunk) {
	var want []row
	for _, x := range p.read {
		if now.Range.All || now.Range.Null || c.s.source.between(x, p.readKey, keyspace.Range{UpTo: now.Range.UpTo}) {
			want = append(want, x)
		}
	}
	var got []row
	for _, part := range now.Parts {
		got = append(got, c.objects[c.prefixOf(now.RunID)+part.Path].rows...)
	}
	if !slices.Equal(got, want) || now.Rows != int64(len(want)) {
		c.fail("V10", "task %s of run %s (%s) records %d rows %v, and its range held %v", now.ID, short(now.RunID), now.Range, now.Rows, got, want)
	}
}

// prefixOf returns where a run writes.
func (c *checker) prefixOf(run contract.RunID) string { return c.s.top.prefix(string(run)) }
