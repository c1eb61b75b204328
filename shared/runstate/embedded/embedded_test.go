package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/runstate/runstatetest"
)

func open(t *testing.T) runstate.Table {
	return reopen(t, filepath.Join(t.TempDir(), ".lapstrake", "state.db"), Options{FaninK: 2, noSync: true})
}

func reopen(t *testing.T, path string, o Options) *Table {
	t.Helper()
	table, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

func TestTable(t *testing.T) { runstatetest.Run(t, open) }

func TestTableIsWhatTheModelSays(t *testing.T) { runstatetest.RunModel(t, open, 30) }

func TestTableAnswersLikeMemory(t *testing.T) {
	runstatetest.Compare(t, func(*testing.T) runstate.Table { return memory.NewSharded(2) }, open, 100)
}

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func TestOnlyTheOwnerMayReadTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "state.db")
	reopen(t, path, Options{})
	for path, want := range map[string]os.FileMode{path: 0o600, path + ".pid": 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(path), info.Mode(), want)
		}
	}
}

func TestASecondOpenerIsToldWhoHoldsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	first, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{LockWait: time.Millisecond})
	if fault.ClassOf(err) != fault.Busy || fault.CodeOf(err) != "LAPSTRAKE_STATE_LOCKED" {
		t.Fatalf("got %v, want LAPSTRAKE_STATE_LOCKED", err)
	}
	want := "process " + strconv.Itoa(os.Getpid()) + " has the state file " + path + " open; " +
		"nothing was started. Wait until it ends, or give this run a file of its own with --state"
	if err.Error() != want {
		t.Errorf("got  %q\nwant %q", err, want)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".pid"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Close the holder's file is there: %v", err)
	}
	reopen(t, path, Options{})
}

func TestWhatIsNotAStateFileIsRefused(t *testing.T) {
	garbage := filepath.Join(t.TempDir(), "garbage.db")
	if err := os.WriteFile(garbage, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(garbage, Options{}); fault.CodeOf(err) != "LAPSTRAKE_STATE_UNUSABLE" {
		t.Errorf("garbage: %v", err)
	}
	if _, err := Open(filepath.Join(garbage, "below-a-file.db"), Options{}); fault.CodeOf(err) != "LAPSTRAKE_STATE_UNUSABLE" {
		t.Errorf("a folder that cannot be made: %v", err)
	}

	newer := filepath.Join(t.TempDir(), "newer.db")
	table, err := Open(newer, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = table.db.Update(func(tx *bbolt.Tx) error { return putNumber(tx.Bucket(metaBucket), "version", 2) })
	if err := errors.Join(err, table.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(newer, Options{}); fault.CodeOf(err) != "LAPSTRAKE_STATE_LAYOUT" {
		t.Errorf("a file of a newer program: %v", err)
	}
}

func TestAFileKeepsItsShardSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	for _, o := range []Options{{FaninK: 7}, {}, {FaninK: 9}} {
		table, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.FaninK(); got != 7 {
			t.Errorf("opened with %d: %d tasks in a shard, want 7", o.FaninK, got)
		}
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// started returns a running run with one claimed task, both leased until the
// end of the day.
func started(t *testing.T, table *Table, export contract.ExportName) contract.RunID {
	t.Helper()
	ctx, until := t.Context(), noon.Add(12*time.Hour)
	run := contract.NewRunID(export, noon)
	err := errors.Join(
		table.CreateRun(ctx, runstate.Run{RunID: run, Export: export, CreatedAt: noon, LeaseUntil: until}),
		table.RecordFence(ctx, run, runstate.FenceRecord{Gen: 1, LeaseUntil: until}),
		table.PutFanin(ctx, runstate.Fanin{RunID: run, Expected: 1}),
		table.PutChunk(ctx, runstate.Chunk{RunID: run, ID: "000000", Gen: 1, MaxAttempts: 3, CreatedAt: noon}),
	)
	_, claimErr := table.Claim(ctx, runstate.ClaimRequest{Run: run, Task: "000000", Gen: 1, Token: "before", Now: noon, LeaseUntil: until})
	if err := errors.Join(err, claimErr); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestOpeningMarksEveryLeaseExpired(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	table, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := started(t, table, "a")
	claim := runstate.ClaimRequest{Run: run, Task: "000000", Gen: 1, Token: "after", Now: noon, LeaseUntil: noon.Add(time.Minute)}
	if _, err := table.Claim(t.Context(), claim); !errors.Is(err, runstate.ErrCondition) {
		t.Fatalf("claimed while the lease is live: %v", err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}

	table = reopen(t, path, Options{})
	c, err := table.GetChunk(t.Context(), run, "000000")
	if err != nil || c.Status != runstate.ChunkRunning || c.LeaseToken != "before" || c.Attempts != 1 {
		t.Errorf("opening changed more than the lease: %+v %v", c, err)
	}
	c, err = table.Claim(t.Context(), claim)
	if err != nil || c.Attempts != 2 {
		t.Errorf("claim after opening: attempt %d, %v", c.Attempts, err)
	}
	if _, err := table.ClaimResume(t.Context(), run, runstate.ResumeClaim{RequestID: "r", Now: noon, LeaseUntil: noon.Add(time.Minute)}); err != nil {
		t.Errorf("resume after opening: %v", err)
	}
}

func TestOpeningForgetsRunsThatEndedLongAgo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	table, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	old, kept, live := started(t, table, "old"), started(t, table, "kept"), started(t, table, "live")
	_, err1 := table.FailRun(t.Context(), old, 1, fault.Failure{}, noon)
	_, err2 := table.FailRun(t.Context(), kept, 1, fault.Failure{}, noon.Add(time.Millisecond))
	if err := errors.Join(err1, err2, table.Close()); err != nil {
		t.Fatal(err)
	}
	table = reopen(t, path, Options{Now: noon.Add(KeepRuns + time.Millisecond)})
	for run, there := range map[contract.RunID]bool{old: false, kept: true, live: true} {
		_, runErr := table.GetRun(t.Context(), run)
		_, chunkErr := table.GetChunk(t.Context(), run, "000000")
		_, faninErr := table.GetFanin(t.Context(), run, 0)
		for _, err := range []error{runErr, chunkErr, faninErr} {
			if got := !errors.Is(err, runstate.ErrNotFound); got != there {
				t.Errorf("%s: there is %v, want %v: %v", run, got, there, err)
			}
		}
	}
	if list, err := table.ListRuns(t.Context(), "old", 10); err != nil || len(list) != 0 {
		t.Errorf("the export of a forgotten run lists %v, %v", list, err)
	}
}
