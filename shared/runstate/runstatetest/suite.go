// Package runstatetest is what every runstate.Table has to pass: each operation
// with its condition true and with every reason for which it is false, races,
// and random sequences against a model. Layer: L3 (persistence).
package runstatetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Run exercises a driver. open returns an empty table of its own for each call
// and registers its clean-up with t. Two tasks a shard are best: then few tasks
// make several shards.
func Run(t *testing.T, open func(t *testing.T) runstate.Table) {
	t.Run("every operation on a run in every state", func(t *testing.T) { testRunOperations(t, open) })
	for _, tc := range []struct {
		name string
		test func(*testing.T, runstate.Table)
	}{
		{"every operation on a chunk in every state", testChunkOperations},
		{"a split needs its run, its lease and its leaf", testSplit},
		{"a repair needs its run and a chunk that is not repaired", testRepair},
		{"fan-in", testFanin},
		{"a caller whose answer was lost finds itself", testLostAnswers},
		{"a resume revokes what is not completed and nothing else", testResume},
		{"notes go where the run's status has a place for them", testNotes},
		{"chunks are listed by shard in ascending order", testListChunks},
		{"a run is listed as active until it ends", testActive},
		{"the runs of an export are listed newest first", testListRuns},
		{"what is stored is what was given", testRoundTrip},
		{"nobody can change an item from outside", testCopies},
		{"what does not fit is refused", testLimits},
		{"a cancelled call does nothing", testCancelled},
		{"of many who do the same, one wins", testRaces},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, open(t)) })
	}
}

// The cast of every test: generation 5, a lease of three minutes from start.
const gen = contract.Generation(5)

var (
	start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	lease = start.Add(3 * time.Minute)
	late  = start.Add(4 * time.Minute) // the lease has run out
	soon  = start.Add(time.Minute)     // it has not

	whole    = keyspace.Range{After: keyspace.Key{"0"}, UpTo: keyspace.Key{"100"}}
	done     = keyspace.Range{After: keyspace.Key{"0"}, UpTo: keyspace.Key{"40"}}
	rest     = keyspace.Range{After: keyspace.Key{"40"}, UpTo: keyspace.Key{"100"}}
	trouble  = fault.Failure{Class: fault.Retryable, Code: "LAPSTRAKE_SOURCE_GONE", Message: "the server closed the connection"}
	location = wire.Location{Kind: "s3", URI: "s3://bucket/exports", Region: "eu-central-1"}
	result   = runstate.Result{
		Parts: []runstate.PartRecord{
			{Path: "part-000001.parquet", Rows: 30, SizeBytes: 4096, Fingerprint: "xxh3:00112233445566aa", MD5: "1B2M2Y8AsgTpgAmY7PhCfg=="},
			{Path: "part-000001-002.parquet", Rows: 12, SizeBytes: 2048, Fingerprint: "xxh3:00112233445566bb"},
		},
		Rows: 42, Bytes: 6144, ReadPosition: "0/16B3748", Repeated: 2, HiKeys: [][]string{{"39", "b"}, {"40", "a"}}, StartedAt: start,
	}
)

// fixture makes runs and chunks in a wanted state, each with an id of its own.
type fixture struct {
	t     *testing.T
	table runstate.Table
	made  *int // how many runs there are, in all subtests
}

func newFixture(t *testing.T, table runstate.Table) *fixture {
	return &fixture{t: t, table: table, made: new(int)}
}

// in is the fixture for a subtest.
func (f *fixture) in(t *testing.T) *fixture {
	return &fixture{t: t, table: f.table, made: f.made}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatalf("preparing: %v", err)
	}
}

// newRun returns the run that CreateRun is given, and its id.
func (f *fixture) newRun() runstate.Run {
	*f.made++
	export := contract.ExportName("public.orders")
	at := start.Add(time.Duration(*f.made) * time.Second)
	return runstate.Run{
		RunID: contract.NewRunID(export, at), Export: export, TriggerID: "t1", Creation: creation,
		Status: runstate.RunPlanning, Intent: wire.ActionRun, Trigger: []byte(`{"action":"run","export":"public.orders"}`),
		Root: location, Callback: &wire.Callback{Kind: "sfn", Token: "t0ken"}, LeaseUntil: lease, CreatedAt: at,
	}
}

func (f *fixture) created() contract.RunID {
	f.t.Helper()
	r := f.newRun()
	f.must(f.table.CreateRun(f.t.Context(), r))
	return r.RunID
}

func (f *fixture) fenced() contract.RunID {
	f.t.Helper()
	run := f.created()
	f.must(f.table.RecordFence(f.t.Context(), run, fence(gen)))
	return run
}

func (f *fixture) running() contract.RunID {
	f.t.Helper()
	run := f.fenced()
	_, err := f.table.StartRun(f.t.Context(), run, plan(gen, f.table.FaninK()))
	f.must(err)
	return run
}

func (f *fixture) finalizing() contract.RunID {
	f.t.Helper()
	run := f.running()
	_, err := f.table.BeginFinalize(f.t.Context(), run, gen, start)
	f.must(err)
	return run
}

func (f *fixture) succeeded() contract.RunID {
	f.t.Helper()
	run := f.finalizing()
	_, err := f.table.SucceedRun(f.t.Context(), run, success(gen))
	f.must(err)
	return run
}

func (f *fixture) failed() contract.RunID {
	f.t.Helper()
	run := f.running()
	_, err := f.table.FailRun(f.t.Context(), run, gen, trouble, soon)
	f.must(err)
	return run
}

func plan(g contract.Generation, k int) runstate.StartRecord {
	return runstate.StartRecord{
		Gen: g, TriggerID: "t1", PlanFingerprint: "xxh3:0123456789abcdef", TaskCount: 2 * k, Shards: 2, FaninK: k, MaxAttempts: 3, LeaseUntil: lease,
	}
}

// creation is that of every run of the suite.
const creation = "call-1"

func fence(g contract.Generation) runstate.FenceRecord {
	return runstate.FenceRecord{Gen: g, Creation: creation, LeaseUntil: lease, Root: location, Prefix: "orders/", Queue: "chunk-default"}
}

func success(g contract.Generation) runstate.SuccessRecord {
	return runstate.SuccessRecord{Gen: g, Now: soon, Outcome: runstate.RunOutcome{ManifestFingerprint: "xxh3:fedcba9876543210", Rows: 42, Bytes: 6144, Parts: 2}}
}

// Chunks: task 0 of a running run with both leaves and the root.
const task = contract.TaskID("000000")

func (f *fixture) leaves(run contract.RunID) {
	f.t.Helper()
	for shard := range 2 {
		f.must(f.table.PutFanin(f.t.Context(), runstate.Fanin{RunID: run, Shard: shard, Expected: f.table.FaninK()}))
	}
	f.must(f.table.PutFanin(f.t.Context(), runstate.Fanin{RunID: run, Shard: runstate.RootShard, Expected: 2}))
}

func (f *fixture) pending() contract.RunID {
	f.t.Helper()
	run := f.running()
	f.leaves(run)
	f.must(f.table.PutChunk(f.t.Context(), newChunk(run, task)))
	return run
}

func newChunk(run contract.RunID, id contract.TaskID) runstate.Chunk {
	return runstate.Chunk{RunID: run, ID: id, Status: runstate.ChunkPending, Gen: gen, Range: whole, MaxAttempts: 2, CreatedAt: start, ChangedAt: start}
}

func (f *fixture) claimed() contract.RunID {
	f.t.Helper()
	run := f.pending()
	f.claim(run, task, "mine")
	return run
}

func (f *fixture) claim(run contract.RunID, id contract.TaskID, token string) {
	f.t.Helper()
	_, err := f.table.Claim(f.t.Context(), claimOf(run, id, gen, token, start))
	f.must(err)
}

func claimOf(run contract.RunID, id contract.TaskID, g contract.Generation, token string, now time.Time) runstate.ClaimRequest {
	return runstate.ClaimRequest{Run: run, Task: id, Gen: g, Token: token, Worker: "worker-1", Now: now, LeaseUntil: now.Add(3 * time.Minute)}
}

func (f *fixture) completed() contract.RunID {
	f.t.Helper()
	run := f.claimed()
	_, err := f.table.Complete(f.t.Context(), mine(run), result, soon)
	f.must(err)
	return run
}

func mine(run contract.RunID) runstate.Lease {
	return runstate.Lease{Run: run, Task: task, Token: "mine"}
}

func splitOf(run contract.RunID) runstate.SplitRequest {
	return runstate.SplitRequest{Lease: mine(run), Gen: gen, Done: done, Rest: rest, Result: result, ChildAttempts: 3, Now: soon}
}

// run and chunk read an item, nil if it is not there.
func (f *fixture) run(id contract.RunID) *runstate.Run {
	f.t.Helper()
	r, err := f.table.GetRun(f.t.Context(), id)
	return orNil(f, r, err)
}

func (f *fixture) chunk(run contract.RunID, id contract.TaskID) *runstate.Chunk {
	f.t.Helper()
	c, err := f.table.GetChunk(f.t.Context(), run, id)
	return orNil(f, c, err)
}

func orNil[Item any](f *fixture, item Item, err error) *Item {
	f.t.Helper()
	if errors.Is(err, runstate.ErrNotFound) {
		return nil
	}
	f.must(err)
	return &item
}

func (f *fixture) isActive(run contract.RunID) bool {
	f.t.Helper()
	list, err := f.table.ListActive(f.t.Context())
	f.must(err)
	for _, a := range list {
		if a.RunID == run {
			return true
		}
	}
	return false
}

// refusedBy returns the ConditionError in err, or fails the test.
func refusedBy(t *testing.T, err error) *runstate.ConditionError {
	t.Helper()
	var refused *runstate.ConditionError
	if !errors.As(err, &refused) || !errors.Is(err, runstate.ErrCondition) {
		t.Fatalf("got error %v, want a *runstate.ConditionError", err)
	}
	return refused
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
