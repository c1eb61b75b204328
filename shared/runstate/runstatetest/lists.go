package runstatetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func testListChunks(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)
	run, other := f.running(), f.running()
	f.leaves(run)
	k := table.FaninK()
	first, last, next := contract.BaseTaskID(0), contract.BaseTaskID(k-1), contract.BaseTaskID(k)
	for _, id := range []contract.TaskID{next, last, first} {
		f.must(table.PutChunk(ctx, newChunk(run, id)))
	}
	f.must(table.PutChunk(ctx, newChunk(other, first)))
	f.claim(run, first, "mine")
	_, err := table.Split(ctx, splitOf(run)) // 000000.s01
	f.must(err)
	_, err = table.Repair(ctx, run, first, gen, 2, soon) // 000000.r1, 000000 superseded
	f.must(err)

	want := []contract.TaskID{first, "000000.r1", "000000.s01"}
	if last != first {
		want = append(want, last)
	}
	for shard, want := range [][]contract.TaskID{want, {next}, {}} {
		list, err := table.ListChunks(ctx, run, shard)
		f.must(err)
		ids := []contract.TaskID{}
		for _, c := range list {
			ids = append(ids, c.ID)
			same(t, "a listed chunk", f.chunk(run, c.ID), &c)
		}
		same(t, fmt.Sprintf("shard %d", shard), want, ids)
	}

	// More than one page of a table that pages: 12 items of more than 100 KB.
	long, id := f.pending(), task
	big := runstate.Result{Parts: slices.Repeat(result.Parts[:1], 800)}
	for range 12 {
		f.claim(long, id, "mine")
		s := splitOf(long)
		s.Lease.Task, s.Result = id, big
		c, err := table.Split(ctx, s)
		f.must(err)
		id = c.SplitInto
	}
	list, err := table.ListChunks(ctx, long, 0)
	f.must(err)
	ids := make([]contract.TaskID, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	if !slices.IsSorted(ids) || len(ids) != 13 {
		t.Errorf("a long shard lists %d tasks: %v", len(ids), ids)
	}
}

func testActive(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)
	younger, older := f.newRun(), f.newRun()
	older.CreatedAt = start.Add(-time.Hour)
	f.must(table.CreateRun(ctx, younger))
	f.must(table.CreateRun(ctx, older))
	want := []runstate.Active{
		{RunID: older.RunID, Export: older.Export, CreatedAt: older.CreatedAt},
		{RunID: younger.RunID, Export: younger.Export, CreatedAt: younger.CreatedAt},
	}
	listed := func(what string, want []runstate.Active) {
		t.Helper()
		got, err := table.ListActive(ctx)
		f.must(err)
		same(t, what, want, got)
	}
	listed("oldest first", want)

	f.must(table.DropActive(ctx, older.RunID))
	listed("a live run cannot be dropped", want)
	f.must(table.DropActive(ctx, "public.orders_20000101T000000.000"))
	listed("a run that is gone is none of the others", want)

	_, err := table.FailRun(ctx, older.RunID, gen, trouble, soon)
	f.must(err)
	listed("a failed run is not active", want[1:])
	f.must(table.DropActive(ctx, older.RunID))
	_, err = table.ClaimResume(ctx, older.RunID, runstate.ResumeClaim{RequestID: "again", Now: soon, LeaseUntil: late})
	f.must(err)
	listed("a resumed run is", want)
	f.must(table.DropActive(ctx, older.RunID))
	listed("and cannot be dropped", want)
}

func testListRuns(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)
	var all []contract.RunID
	for range 5 {
		all = append([]contract.RunID{f.created()}, all...)
	}
	other := f.newRun()
	other.Export, other.RunID = "public.orders_archive", contract.NewRunID("public.orders_archive", start)
	f.must(table.CreateRun(ctx, other))
	for _, limit := range []int{0, 1, 3, 5, 100} {
		list, err := table.ListRuns(ctx, "public.orders", limit)
		f.must(err)
		var ids []contract.RunID
		for _, r := range list {
			ids = append(ids, r.RunID)
			same(t, "a listed run", f.run(r.RunID), &r)
		}
		same(t, fmt.Sprintf("at most %d", limit), all[:min(limit, len(all))], ids)
	}
	list, err := table.ListRuns(ctx, "public.unknown", 10)
	f.must(err)
	if len(list) != 0 {
		t.Errorf("an export without runs lists %v", list)
	}
}

func testRoundTrip(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)
	if _, err := table.GetRun(ctx, "nobody"); !errors.Is(err, runstate.ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
	if _, err := table.GetChunk(ctx, "nobody", task); !errors.Is(err, runstate.ErrNotFound) {
		t.Errorf("a chunk that is not there: %v", err)
	}

	r := f.newRun()
	r.Prefix, r.Queue = "orders/", "chunk-default"
	r.Root = wire.Location{Kind: "s3", URI: "s3://b/ü", Region: "r", Endpoint: "http://e", AccessKeyEnv: "A", SecretKeyEnv: "S", SessionTokenEnv: "T", Profile: "p", AllowAnonymous: true}
	given := r
	given.Gen, given.Status = 9, runstate.RunRunning // T1 decides both
	f.must(table.CreateRun(ctx, given))
	same(t, "the run", &r, f.run(r.RunID))

	bare := runstate.Run{RunID: "bare_20261129T120000.000", Export: "bare", Status: runstate.RunPlanning}
	f.must(table.CreateRun(ctx, bare))
	same(t, "a run with nothing in it", &bare, f.run(bare.RunID))

	fine := f.newRun()
	fine.CreatedAt = time.Date(2026, 3, 29, 2, 30, 0, 123_456_789, time.FixedZone("CEST", 7200))
	f.must(table.CreateRun(ctx, fine))
	if got := f.run(fine.RunID).CreatedAt; !got.Equal(time.Date(2026, 3, 29, 0, 30, 0, 123_000_000, time.UTC)) || got.Location() != time.UTC {
		t.Errorf("a time with nanoseconds and a zone became %v", got)
	}

	c := newChunk(r.RunID, "000001.s01.r1")
	c.Range = keyRange([]string{"", "a,b", "\x00ü"}, nil)
	c.SplitOf, c.RepairOf = "000001", "000001.s01"
	f.must(table.PutChunk(ctx, c))
	same(t, "the chunk", &c, f.chunk(r.RunID, c.ID))
	null := newChunk(r.RunID, "000002")
	null.Range.After, null.Range.UpTo, null.Range.Null = nil, nil, true
	f.must(table.PutChunk(ctx, null))
	same(t, "the chunk of NULL keys", &null, f.chunk(r.RunID, null.ID))

	dirty := newChunk(r.RunID, "000003")
	clean := dirty
	dirty.Status, dirty.Attempts, dirty.LeaseToken, dirty.Result = runstate.ChunkCompleted, 7, "mine", result
	f.must(table.PutChunk(ctx, dirty))
	same(t, "a planned chunk is pending and nothing more", &clean, f.chunk(r.RunID, dirty.ID))

	f.must(table.PutFanin(ctx, runstate.Fanin{RunID: r.RunID, Shard: runstate.RootShard}))
	root, err := table.GetFanin(ctx, r.RunID, runstate.RootShard)
	f.must(err)
	if !root.Full() {
		t.Errorf("a root that expects nothing is not full: %+v", root)
	}

	f.claim(r.RunID, null.ID, "mine")
	got, err := table.Complete(ctx, runstate.Lease{Run: r.RunID, Task: null.ID, Token: "mine"}, runstate.Result{}, soon)
	f.must(err)
	same(t, "a completion without rows", runstate.Result{}, got.Result)
}

func keyRange(after, upTo []string) (r keyspace.Range) {
	r.After, r.UpTo = after, upTo
	return r
}

// testCopies changes everything that was handed in and out.
func testCopies(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)
	r := f.newRun()
	f.must(table.CreateRun(ctx, r))
	want := f.run(r.RunID)
	r.Trigger[2], r.Callback.Token = 'X', "changed"
	same(t, "the run after its maker changed what it gave", want, f.run(r.RunID))

	run := f.pending()
	f.claim(run, task, "mine")
	given := result
	given.Parts, given.HiKeys = slices.Clone(result.Parts), [][]string{{"1"}, {"2"}}
	c, err := table.Complete(ctx, mine(run), given, soon)
	f.must(err)
	kept := f.chunk(run, task)
	c.Parts[0].Rows, c.HiKeys[0][0], c.Range.UpTo[0] = 1, "changed", "changed"
	given.Parts[1].Rows, given.HiKeys[1][0] = 1, "changed"
	same(t, "the chunk after its worker changed what it gave and got", kept, f.chunk(run, task))
	read := f.chunk(run, task)
	read.Parts[0].Rows, read.HiKeys[0][0], read.Range.After[0] = 1, "changed", "changed"
	same(t, "the chunk after a reader changed what it got", kept, f.chunk(run, task))
	list, err := table.ListChunks(ctx, run, 0)
	f.must(err)
	list[0].Parts[0].Rows = 1
	same(t, "the chunk after a reader changed a list", kept, f.chunk(run, task))

	node, err := table.FaninAdd(ctx, run, 0, "000000")
	f.must(err)
	node.Done[0] = "changed"
	again, err := table.GetFanin(ctx, run, 0)
	f.must(err)
	same(t, "the members of a node", []string{"000000"}, again.Done)

	failed, err := table.FailRun(ctx, run, gen, trouble, soon)
	f.must(err)
	failed.Error.Message = "changed"
	same(t, "the failure", &trouble, f.run(run).Error)
	refused := refusedBy(t, second(table.FailRun(ctx, run, gen, trouble, soon)))
	refused.Run.Error.Message = "changed"
	same(t, "the failure", &trouble, f.run(run).Error)
}
