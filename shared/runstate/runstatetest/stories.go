package runstatetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// testLostAnswers does each operation twice, as a caller does whose answer was
// lost: what the second finds must tell it that the first was its own.
func testLostAnswers(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)

	r := f.newRun()
	f.must(table.CreateRun(ctx, r))
	found := refusedBy(t, table.CreateRun(ctx, r)).Run
	if found.Creation != r.Creation || found.Status != runstate.RunPlanning {
		t.Errorf("created twice: found %+v", found)
	}

	run := f.claimed()
	_, err := table.Claim(ctx, claimOf(run, task, gen, "mine", start))
	if item := refusedBy(t, err).Item; item.LeaseToken != "mine" || item.Status != runstate.ChunkRunning || item.Attempts != 1 {
		t.Errorf("claimed twice: found %+v", item)
	}
	f.must(table.Heartbeat(ctx, mine(run), late))
	f.must(table.Heartbeat(ctx, mine(run), late))

	_, err = table.Complete(ctx, mine(run), result, soon)
	f.must(err)
	_, err = table.Complete(ctx, mine(run), result, soon)
	if item := refusedBy(t, err).Item; item.LeaseToken != "mine" || item.Status != runstate.ChunkCompleted {
		t.Errorf("completed twice: found %+v", item)
	}

	run = f.claimed()
	_, err = table.Split(ctx, splitOf(run))
	f.must(err)
	_, err = table.Split(ctx, splitOf(run))
	if item := refusedBy(t, err).Item; item.LeaseToken != "mine" || item.SplitInto != task.SplitChild() {
		t.Errorf("split twice: found %+v", item)
	}

	run = f.failedChunk(false)
	_, err = table.Fail(ctx, mine(run), trouble, false, soon)
	if item := refusedBy(t, err).Item; item.LeaseToken != "mine" || item.Status != runstate.ChunkFailed {
		t.Errorf("failed twice: found %+v", item)
	}

	run = f.completed()
	_, err = table.Repair(ctx, run, task, gen, 2, soon)
	f.must(err)
	_, err = table.Repair(ctx, run, task, gen, 2, soon)
	if item := refusedBy(t, err).Item; item.SupersededBy != task.Repair() {
		t.Errorf("repaired twice: found %+v", item)
	}

	run = f.failed()
	claim := runstate.ResumeClaim{RequestID: "request-1", Now: soon, LeaseUntil: late}
	_, err = table.ClaimResume(ctx, run, claim)
	f.must(err)
	_, err = table.ClaimResume(ctx, run, claim)
	if got := refusedBy(t, err).Run; got.TriggerID != "request-1" || got.Status != runstate.RunPlanning || got.Intent != wire.ActionResume {
		t.Errorf("resume claimed twice: found %+v", got)
	}
	_, err = table.ResumeRun(ctx, run, gen+1, late)
	f.must(err)
	_, err = table.ResumeRun(ctx, run, gen+1, late)
	if got := refusedBy(t, err).Run; got.Gen != gen+1 || got.Status != runstate.RunPlanning {
		t.Errorf("resumed twice: found %+v", got)
	}
}

// testResume is R1a to R3 of architecture §2.7 over one task in each state.
func testResume(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)
	run := f.pending()
	for _, id := range []contract.TaskID{"000001", "000002", "000003"} {
		f.must(table.PutChunk(ctx, newChunk(run, id)))
		f.claim(run, id, "mine")
	}
	_, err := table.Fail(ctx, runstate.Lease{Run: run, Task: "000002", Token: "mine"}, trouble, true, soon)
	f.must(err)
	_, err = table.Complete(ctx, runstate.Lease{Run: run, Task: "000003", Token: "mine"}, result, soon)
	f.must(err)
	completed := f.chunk(run, "000003")

	f.resumedAt(run, gen+1)
	for _, tc := range []struct {
		task     contract.TaskID
		status   runstate.ChunkStatus
		attempts int
	}{
		{"000000", runstate.ChunkPending, 0},
		{"000001", runstate.ChunkFailed, 1},
		{"000002", runstate.ChunkFailed, 2},
	} {
		got, err := table.ResumeChunk(ctx, run, tc.task, gen+1, 2, late)
		f.must(err)
		if got.Status != tc.status || got.Attempts != tc.attempts || got.MaxAttempts != tc.attempts+2 || got.Gen != gen+1 || got.LeaseToken != "" {
			t.Errorf("task %s: %+v", tc.task, got)
		}
		// A duplicate of the same resume must not grant a second budget.
		_, err = table.ResumeChunk(ctx, run, tc.task, gen+1, 2, late)
		if item := refusedBy(t, err).Item; item.MaxAttempts != tc.attempts+2 {
			t.Errorf("task %s, resumed twice: %d attempts", tc.task, item.MaxAttempts)
		}
		// A message of the old generation is of no use any more.
		_, err = table.Claim(ctx, claimOf(run, tc.task, gen, "zombie", late))
		refusedBy(t, err)
	}
	_, err = table.ResumeChunk(ctx, run, "000003", gen+1, 2, late)
	same(t, "the completed chunk", completed, refusedBy(t, err).Item)
	same(t, "the completed chunk", completed, f.chunk(run, "000003"))

	// The attempt that was revoked is heard no more.
	old := runstate.Lease{Run: run, Task: "000001", Token: "mine"}
	refusedBy(t, table.Heartbeat(ctx, old, late))
	_, err = table.Complete(ctx, old, result, late)
	refusedBy(t, err)
	_, err = table.Fail(ctx, old, trouble, true, late)
	refusedBy(t, err)
	for _, id := range []contract.TaskID{"000000", "000001", "000002"} {
		_, err = table.Claim(ctx, claimOf(run, id, gen+1, "new", late))
		f.must(err)
	}
	// Nor while the lease of another one runs: the token decides, not the time.
	_, err = table.Complete(ctx, old, result, late)
	refusedBy(t, err)
}

func testNotes(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)
	run := f.running()
	enqueued, verdict := true, "passed"
	note := runstate.Note{LeaseUntil: &late, Enqueued: &enqueued, Callback: &wire.Callback{Kind: "sfn", Token: "second"}, Error: &trouble, Verdict: &verdict}

	want := *f.run(run)
	got, err := table.NoteRun(ctx, run, runstate.Note{})
	f.must(err)
	same(t, "nothing noted", want, got)
	got, err = table.NoteRun(ctx, run, runstate.Note{Verdict: &verdict})
	f.must(err)
	same(t, "a verdict before the run has succeeded", want, got)
	got, err = table.NoteRun(ctx, run, note)
	f.must(err)
	want.LeaseUntil, want.Enqueued, want.Callback, want.Error = late, true, note.Callback, &trouble
	same(t, "all noted while running", want, got)
	same(t, "all noted while running", &want, f.run(run))

	resumed := f.running()
	_, err = table.NoteRun(ctx, resumed, note)
	f.must(err)
	got, err = table.ClaimResume(ctx, resumed, runstate.ResumeClaim{RequestID: "request-1", Now: late.Add(time.Hour), LeaseUntil: late.Add(2 * time.Hour)})
	f.must(err)
	if got.Enqueued || got.Error != nil || got.Callback == nil {
		t.Errorf("what was noted before the run is resumed: enqueued %v, error %v, callback %v", got.Enqueued, got.Error, got.Callback)
	}

	_, err = table.BeginFinalize(ctx, run, gen, soon)
	f.must(err)
	_, err = table.NoteRun(ctx, run, runstate.Note{Error: &fault.Failure{Class: fault.Integrity, Message: "publish_incomplete"}})
	f.must(err)
	_, err = table.SucceedRun(ctx, run, success(gen))
	f.must(err)
	want = *f.run(run)
	got, err = table.NoteRun(ctx, run, runstate.Note{LeaseUntil: &start, Error: &trouble})
	f.must(err)
	same(t, "an error after the run has succeeded", want, got)
	got, err = table.NoteRun(ctx, run, note)
	f.must(err)
	want.Verdict = "passed"
	same(t, "all noted after the run has succeeded", want, got)

	failed := f.failed()
	for _, n := range []runstate.Note{{}, {Verdict: &verdict}, {LeaseUntil: &late}, note} {
		_, err := table.NoteRun(ctx, failed, n)
		same(t, "the run in the error", f.run(failed), refusedBy(t, err).Run)
	}
	for _, n := range []runstate.Note{{}, note} {
		_, err := table.NoteRun(ctx, "public.orders_20000101T000000.000", n)
		if e := refusedBy(t, err); e.Run != nil {
			t.Errorf("no such run: %+v", e.Run)
		}
	}
}

func testLimits(t *testing.T, table runstate.Table) {
	ctx := t.Context()
	f := newFixture(t, table)
	run := f.claimed()
	tooMany := runstate.Result{Parts: make([]runstate.PartRecord, runstate.MaxParts+1)}
	tooLarge := runstate.Result{HiKeys: [][]string{{string(make([]byte, runstate.MaxHiKeyBytes))}, {"1"}}}
	for _, r := range []runstate.Result{tooMany, tooLarge} {
		_, err := table.Complete(ctx, mine(run), r, soon)
		isBug(t, err)
		s := splitOf(run)
		s.Result = r
		_, err = table.Split(ctx, s)
		isBug(t, err)
	}
	r := runstate.Result{Parts: slices.Repeat(result.Parts[:1], runstate.MaxParts), Rows: 1}
	got, err := table.Complete(ctx, mine(run), r, soon)
	f.must(err)
	if len(got.Parts) != runstate.MaxParts {
		t.Errorf("%d parts were kept", len(got.Parts))
	}

	run = f.fenced()
	s := plan(gen, table.FaninK()+1)
	_, err = table.StartRun(ctx, run, s)
	isBug(t, err)
	if r := f.run(run); r.Status != runstate.RunPlanning {
		t.Errorf("a plan with other shards: the run is %s", r.Status)
	}
}

func isBug(t *testing.T, err error) {
	t.Helper()
	if fault.ClassOf(err) != fault.Bug || fault.CodeOf(err) == "" {
		t.Errorf("got %v, want a bug with a code", err)
	}
}

func testCancelled(t *testing.T, table runstate.Table) {
	f := newFixture(t, table)
	run := f.claimed()
	before := f.chunk(run, task)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"Complete": second(table.Complete(ctx, mine(run), result, soon)),
		"Split":    second(table.Split(ctx, splitOf(run))),
		"GetRun":   second(table.GetRun(ctx, run)),
		"FaninAdd": second(table.FaninAdd(ctx, run, 0, "000000")),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want context.Canceled", name, err)
		}
	}
	same(t, "the chunk", before, f.chunk(run, task))
}

func second[T any](_ T, err error) error { return err }
