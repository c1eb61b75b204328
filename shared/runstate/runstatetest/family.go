package runstatetest

import (
	"errors"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// family is what a split or repair touches.
type family struct {
	chunk, child *runstate.Chunk
	leaf         runstate.Fanin
}

func (f *fixture) family(run contract.RunID, child contract.TaskID) family {
	f.t.Helper()
	leaf, err := f.table.GetFanin(f.t.Context(), run, 0)
	if !errors.Is(err, runstate.ErrNotFound) {
		f.must(err)
	}
	return family{chunk: f.chunk(run, task), child: f.chunk(run, child), leaf: leaf}
}

func (f *fixture) sameFamily(what string, want, got family) {
	f.t.Helper()
	same(f.t, what+": the chunk", want.chunk, got.chunk)
	same(f.t, what+": its child", want.child, got.child)
	same(f.t, what+": their leaf", want.leaf, got.leaf)
}

// resumedAt gives the run another generation than its chunks have.
func (f *fixture) resumedAt(run contract.RunID, g contract.Generation) {
	f.t.Helper()
	ctx := f.t.Context()
	_, err := f.table.ClaimResume(ctx, run, runstate.ResumeClaim{RequestID: "request-1", Now: late, LeaseUntil: late.Add(lease.Sub(start))})
	f.must(err)
	_, err = f.table.ResumeRun(ctx, run, g, late)
	f.must(err)
}

func testSplit(t *testing.T, table runstate.Table) {
	f := newFixture(t, table)
	child := task.SplitChild()
	for _, tc := range []struct {
		name            string
		make            func(*fixture) contract.RunID
		token           string
		wantRun         bool // the run is in the error
		wantItem        bool // the chunk is in the error
		notFound, holds bool
	}{
		{name: "held", make: (*fixture).claimed, token: "mine", holds: true},
		{name: "held by another", make: (*fixture).claimed, token: "yours", wantItem: true},
		{name: "pending", make: (*fixture).pending, token: "mine", wantItem: true},
		{name: "completed already", make: (*fixture).completed, token: "mine", wantItem: true},
		{name: "failed already", make: func(f *fixture) contract.RunID { return f.failedChunk(false) }, token: "mine", wantItem: true},
		{name: "no such chunk", make: (*fixture).running, token: "mine"},
		{name: "no such run", make: func(*fixture) contract.RunID { return "public.orders_20000101T000000.000" }, token: "mine"},
		{name: "the run was resumed", token: "mine", wantRun: true, make: func(f *fixture) contract.RunID {
			run := f.claimed()
			f.resumedAt(run, gen+1)
			return run
		}},
		{name: "the run was resumed and the chunk revoked", token: "mine", wantRun: true, wantItem: true, make: func(f *fixture) contract.RunID {
			run := f.claimed()
			f.resumedAt(run, gen+1)
			_, err := f.table.ResumeChunk(f.t.Context(), run, task, gen+1, 3, late)
			f.must(err)
			return run
		}},
		{name: "the leaf is gone", token: "mine", notFound: true, make: func(f *fixture) contract.RunID {
			run := f.running()
			f.must(f.table.PutChunk(f.t.Context(), newChunk(run, task)))
			f.claim(run, task, "mine")
			return run
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := f.in(t)
			run := tc.make(f)
			before, runBefore := f.family(run, child), f.run(run)
			s := splitOf(run)
			s.Lease.Token = tc.token
			got, err := table.Split(t.Context(), s)
			after := f.family(run, child)
			switch {
			case tc.holds:
				f.must(err)
				want := before
				c := *before.chunk
				c.Status, c.Range, c.Result, c.SplitInto, c.ChangedAt = runstate.ChunkCompleted, done, result, child, soon
				want.chunk = &c
				want.child = &runstate.Chunk{
					RunID: run, ID: child, Status: runstate.ChunkPending, Gen: gen, Range: rest, MaxAttempts: 3,
					SplitOf: task, CreatedAt: soon, ChangedAt: soon,
				}
				want.leaf.Expected++
				f.sameFamily("after the split", want, after)
				same(t, "the chunk returned", c, got)
				return
			case tc.notFound:
				if !errors.Is(err, runstate.ErrNotFound) {
					t.Errorf("got %v, want ErrNotFound", err)
				}
			default:
				refused := refusedBy(t, err)
				same(t, "the run in the error", only(tc.wantRun, runBefore), refused.Run)
				same(t, "the chunk in the error", only(tc.wantItem, before.chunk), refused.Item)
			}
			f.sameFamily("though refused", before, after)
		})
	}

	t.Run("the child is there although the chunk is held", func(t *testing.T) {
		f := f.in(t)
		run := f.claimed()
		f.must(table.PutChunk(t.Context(), newChunk(run, child)))
		before := f.family(run, child)
		_, err := table.Split(t.Context(), splitOf(run))
		isBug(t, err)
		f.sameFamily("though refused", before, f.family(run, child))
	})

	t.Run("a chain of splits counts up and stays in its shard", func(t *testing.T) {
		f := f.in(t)
		run := f.claimed()
		id := task
		for _, want := range []contract.TaskID{"000000.s01", "000000.s02", "000000.s03"} {
			s := splitOf(run)
			s.Lease.Task = id
			c, err := table.Split(t.Context(), s)
			f.must(err)
			if c.SplitInto != want {
				t.Fatalf("split of %s made %s, want %s", id, c.SplitInto, want)
			}
			id = c.SplitInto
			f.claim(run, id, "mine")
		}
		leaf, err := table.GetFanin(t.Context(), run, 0)
		f.must(err)
		if want := table.FaninK() + 3; leaf.Expected != want {
			t.Errorf("leaf expects %d, want %d", leaf.Expected, want)
		}
	})
}

func testRepair(t *testing.T, table runstate.Table) {
	f := newFixture(t, table)
	repair := task.Repair()
	for _, tc := range []struct {
		name            string
		make            func(*fixture) contract.RunID
		gen             contract.Generation
		wantRun         bool
		wantItem        bool
		notFound, holds bool
	}{
		{name: "completed, the run is running", make: (*fixture).completed, gen: gen, holds: true},
		{name: "completed, the run is planning", gen: gen + 1, holds: true, make: func(f *fixture) contract.RunID {
			run := f.completed()
			f.resumedAt(run, gen+1)
			return run
		}},
		{name: "an older generation repairs", gen: gen, wantRun: true, make: func(f *fixture) contract.RunID {
			run := f.completed()
			f.resumedAt(run, gen+1)
			return run
		}},
		{name: "the run is finalizing", gen: gen, wantRun: true, make: func(f *fixture) contract.RunID {
			run := f.completed()
			_, err := f.table.BeginFinalize(f.t.Context(), run, gen, soon)
			f.must(err)
			return run
		}},
		{name: "the run has failed", gen: gen, wantRun: true, make: func(f *fixture) contract.RunID {
			run := f.completed()
			_, err := f.table.FailRun(f.t.Context(), run, gen, trouble, soon)
			f.must(err)
			return run
		}},
		{name: "repaired already", gen: gen, wantItem: true, make: func(f *fixture) contract.RunID {
			run := f.completed()
			_, err := f.table.Repair(f.t.Context(), run, task, gen, 2, soon)
			f.must(err)
			return run
		}},
		{name: "not completed", make: (*fixture).claimed, gen: gen, wantItem: true},
		{name: "no such chunk", make: (*fixture).running, gen: gen},
		{name: "no such run", make: func(*fixture) contract.RunID { return "public.orders_20000101T000000.000" }, gen: gen},
		{name: "the leaf is gone", gen: gen, notFound: true, make: func(f *fixture) contract.RunID {
			run := f.running()
			f.must(f.table.PutChunk(f.t.Context(), newChunk(run, task)))
			f.claim(run, task, "mine")
			_, err := f.table.Complete(f.t.Context(), mine(run), result, soon)
			f.must(err)
			return run
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := f.in(t)
			run := tc.make(f)
			before, runBefore := f.family(run, repair), f.run(run)
			got, err := table.Repair(t.Context(), run, task, tc.gen, 4, late)
			after := f.family(run, repair)
			switch {
			case tc.holds:
				f.must(err)
				want := before
				c := *before.chunk
				c.SupersededBy, c.ChangedAt = repair, late
				want.chunk = &c
				want.child = &runstate.Chunk{
					RunID: run, ID: repair, Status: runstate.ChunkPending, Gen: tc.gen, Range: whole, MaxAttempts: 4,
					RepairOf: task, CreatedAt: late, ChangedAt: late,
				}
				want.leaf.Expected++
				f.sameFamily("after the repair", want, after)
				same(t, "the chunk returned", *want.child, got)
				return
			case tc.notFound:
				if !errors.Is(err, runstate.ErrNotFound) {
					t.Errorf("got %v, want ErrNotFound", err)
				}
			default:
				refused := refusedBy(t, err)
				same(t, "the run in the error", only(tc.wantRun, runBefore), refused.Run)
				same(t, "the chunk in the error", only(tc.wantItem, before.chunk), refused.Item)
			}
			f.sameFamily("though refused", before, after)
		})
	}

	t.Run("a repair of the part that a split left has that range", func(t *testing.T) {
		f := f.in(t)
		run := f.claimed()
		_, err := table.Split(t.Context(), splitOf(run))
		f.must(err)
		got, err := table.Repair(t.Context(), run, task, gen, 2, late)
		f.must(err)
		same(t, "the range", done, got.Range)
		if c := f.chunk(run, task); c.Live() {
			t.Errorf("chunk %s still counts although %s replaces it", c.ID, got.ID)
		}
	})
}

func only[Item any](wanted bool, item *Item) *Item {
	if wanted {
		return item
	}
	return nil
}

func testFanin(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)
	run := f.running()
	for _, shard := range []int{0, 1, runstate.RootShard} {
		if _, err := table.GetFanin(ctx, run, shard); !errors.Is(err, runstate.ErrNotFound) {
			t.Fatalf("node %d before it was put: %v", shard, err)
		}
		if _, err := table.FaninAdd(ctx, run, shard, "x"); !errors.Is(err, runstate.ErrNotFound) {
			t.Fatalf("adding to node %d before it was put: %v", shard, err)
		}
		if _, err := table.GetFanin(ctx, run, shard); !errors.Is(err, runstate.ErrNotFound) {
			t.Fatalf("adding to node %d made it: %v", shard, err)
		}
	}
	f.leaves(run)
	for _, step := range []struct {
		shard  int
		member string
		want   runstate.Fanin
		full   bool
	}{
		{0, "000001", runstate.Fanin{RunID: run, Shard: 0, Expected: table.FaninK(), Done: []string{"000001"}}, false},
		{0, "000000", runstate.Fanin{RunID: run, Shard: 0, Expected: table.FaninK(), Done: []string{"000000", "000001"}}, table.FaninK() == 2},
		{0, "000001", runstate.Fanin{RunID: run, Shard: 0, Expected: table.FaninK(), Done: []string{"000000", "000001"}}, table.FaninK() == 2},
		{runstate.RootShard, "0", runstate.Fanin{RunID: run, Shard: runstate.RootShard, Expected: 2, Done: []string{"0"}}, false},
		{runstate.RootShard, "1", runstate.Fanin{RunID: run, Shard: runstate.RootShard, Expected: 2, Done: []string{"0", "1"}}, true},
	} {
		got, err := table.FaninAdd(ctx, run, step.shard, step.member)
		f.must(err)
		same(t, "the node returned", step.want, got)
		read, err := table.GetFanin(ctx, run, step.shard)
		f.must(err)
		same(t, "the node read", step.want, read)
		if got.Full() != step.full {
			t.Errorf("node %d with %v of %d: full is %v", step.shard, got.Done, got.Expected, got.Full())
		}
	}
	f.leaves(run) // a planner that comes again
	got, err := table.GetFanin(ctx, run, runstate.RootShard)
	f.must(err)
	if len(got.Done) != 2 {
		t.Errorf("putting an existing node again left it with %v", got.Done)
	}
}
