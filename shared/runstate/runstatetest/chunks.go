package runstatetest

import (
	"slices"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transition"
)

// chunkStates are the states that task 0 can be in, at generation 5, two
// attempts at most, leased as "mine" where it is leased.
var chunkStates = []struct {
	name string
	make func(*fixture) contract.RunID
}{
	{"absent", func(f *fixture) contract.RunID {
		run := f.running()
		f.leaves(run)
		return run
	}},
	{"pending", (*fixture).pending},
	{"running", (*fixture).claimed},
	{"running its last attempt", func(f *fixture) contract.RunID {
		run := f.failedChunk(false)
		f.claim(run, task, "mine")
		return run
	}},
	{"failed", func(f *fixture) contract.RunID { return f.failedChunk(false) }},
	{"failed for good", func(f *fixture) contract.RunID { return f.failedChunk(true) }},
	{"completed", (*fixture).completed},
	{"superseded", func(f *fixture) contract.RunID {
		run := f.completed()
		_, err := f.table.Repair(f.t.Context(), run, task, gen, 2, soon)
		f.must(err)
		return run
	}},
	{"split", func(f *fixture) contract.RunID {
		run := f.claimed()
		_, err := f.table.Split(f.t.Context(), splitOf(run))
		f.must(err)
		return run
	}},
}

func (f *fixture) failedChunk(permanent bool) contract.RunID {
	f.t.Helper()
	run := f.claimed()
	_, err := f.table.Fail(f.t.Context(), mine(run), trouble, permanent, soon)
	f.must(err)
	return run
}

// chunkOperation is one operation with fixed arguments, the states in which its
// condition holds, and what it makes of a chunk.
type chunkOperation struct {
	name   string
	do     func(*fixture, contract.RunID) (*runstate.Chunk, error)
	holds  []string
	change func(*runstate.Chunk)
}

func testChunkOperations(t *testing.T, table runstate.Table) {
	f := newFixture(t, table)
	for _, op := range chunkOperations() {
		t.Run(op.name, func(t *testing.T) {
			f := f.in(t)
			for _, state := range chunkStates {
				checkChunkOperation(t, f, op, state.name, state.make(f))
			}
		})
	}
}

func checkChunkOperation(t *testing.T, f *fixture, op chunkOperation, state string, run contract.RunID) {
	t.Helper()
	before := f.chunk(run, task)
	got, err := op.do(f, run)
	after := f.chunk(run, task)
	if !slices.Contains(op.holds, state) {
		same(t, state+": the chunk in the error", before, refusedBy(t, err).Item)
		same(t, state+": the chunk, though refused", before, after)
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", state, err)
	}
	var want runstate.Chunk
	if before != nil {
		want = *before
	}
	op.change(&want)
	same(t, state+": the chunk afterwards", &want, after)
	if got != nil {
		same(t, state+": the chunk returned", &want, got)
	}
}

func chunkOperations() []chunkOperation {
	claimAt := func(g contract.Generation, now time.Time, holds ...string) chunkOperation {
		return chunkOperation{
			do: func(f *fixture, run contract.RunID) (*runstate.Chunk, error) {
				return claimed(f.table.Claim(f.t.Context(), claimOf(run, task, g, "yours", now)))
			},
			holds: holds,
			change: func(c *runstate.Chunk) {
				c.Status, c.Attempts, c.LeaseToken, c.LeaseUntil = runstate.ChunkRunning, c.Attempts+1, "yours", now.Add(3*time.Minute)
				c.Worker, c.ChangedAt = "worker-1", now
			},
		}
	}
	beatWith := func(token string, holds ...string) chunkOperation {
		return chunkOperation{
			do: func(f *fixture, run contract.RunID) (*runstate.Chunk, error) {
				return nil, f.table.Heartbeat(f.t.Context(), runstate.Lease{Run: run, Task: task, Token: token}, late)
			},
			holds: holds, change: func(c *runstate.Chunk) { c.LeaseUntil = late },
		}
	}
	completeWith := func(token string, holds ...string) chunkOperation {
		return chunkOperation{
			do: func(f *fixture, run contract.RunID) (*runstate.Chunk, error) {
				return claimed(f.table.Complete(f.t.Context(), runstate.Lease{Run: run, Task: task, Token: token}, result, late))
			},
			holds: holds,
			change: func(c *runstate.Chunk) {
				c.Status, c.Result, c.Error, c.ChangedAt = runstate.ChunkCompleted, result, nil, late
			},
		}
	}
	failWith := func(token string, permanent bool, holds ...string) chunkOperation {
		return chunkOperation{
			do: func(f *fixture, run contract.RunID) (*runstate.Chunk, error) {
				return claimed(f.table.Fail(f.t.Context(), runstate.Lease{Run: run, Task: task, Token: token}, trouble, permanent, late))
			},
			holds: holds,
			change: func(c *runstate.Chunk) {
				c.Status, c.Error, c.ChangedAt = runstate.ChunkFailed, &trouble, late
				if permanent {
					c.Attempts = c.MaxAttempts
				}
			},
		}
	}
	expireAt := func(now time.Time, holds ...string) chunkOperation {
		return chunkOperation{
			do: func(f *fixture, run contract.RunID) (*runstate.Chunk, error) {
				return claimed(f.table.Expire(f.t.Context(), run, task, now))
			},
			holds: holds,
			change: func(c *runstate.Chunk) {
				failure := transition.LeaseExpired()
				c.Status, c.ChangedAt, c.Error = runstate.ChunkFailed, now, &failure
			},
		}
	}
	resumeAt := func(g contract.Generation, holds ...string) chunkOperation {
		return chunkOperation{
			do: func(f *fixture, run contract.RunID) (*runstate.Chunk, error) {
				return claimed(f.table.ResumeChunk(f.t.Context(), run, task, g, 3, late))
			},
			holds: holds,
			change: func(c *runstate.Chunk) {
				if c.Status == runstate.ChunkRunning {
					c.Status = runstate.ChunkFailed
				}
				c.Gen, c.MaxAttempts, c.LeaseToken, c.LeaseUntil, c.ChangedAt = g, c.Attempts+3, "", time.Time{}, late
			},
		}
	}
	var put contract.RunID
	named := func(name string, op chunkOperation) chunkOperation { op.name = name; return op }
	running := []string{"running", "running its last attempt"}
	return []chunkOperation{
		{
			name: "T3",
			do: func(f *fixture, run contract.RunID) (*runstate.Chunk, error) {
				put = run
				return nil, f.table.PutChunk(f.t.Context(), newChunk(run, task))
			},
			holds:  []string{"absent"},
			change: func(c *runstate.Chunk) { *c = newChunk(put, task) },
		},
		named("T6 while the lease is live", claimAt(gen, soon, "pending", "failed")),
		named("T6 at the last moment of the lease", claimAt(gen, lease, "pending", "failed")),
		named("T6 once the lease has run out", claimAt(gen, late, "pending", "failed", "running")),
		named("T6 with a lower generation", claimAt(gen-1, late)),
		named("T6 with a higher generation", claimAt(gen+1, late)),
		named("T7 with the token", beatWith("mine", running...)),
		named("T7 with another token", beatWith("yours")),
		named("T8 with the token", completeWith("mine", running...)),
		named("T8 with another token", completeWith("yours")),
		named("T10 with the token", failWith("mine", false, running...)),
		named("T10 with another token", failWith("yours", false)),
		named("T10 for good", failWith("mine", true, running...)),
		named("T10b while the lease is live", expireAt(soon)),
		named("T10b at the last moment of the lease", expireAt(lease)),
		named("T10b once the lease has run out", expireAt(late, "running its last attempt")),
		named("T17c with a higher generation", resumeAt(gen+1, "pending", "running", "running its last attempt", "failed", "failed for good")),
		named("T17c with the chunk's own generation", resumeAt(gen)),
	}
}

func claimed(c runstate.Chunk, err error) (*runstate.Chunk, error) { return &c, err }
