package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// halfDone is a stage whose run 1 has a completed task, one that was split, whose
// child a worker holds, and one that is pending; its leases have ended, its
// messages are lost. The child is in no plan, so only R3 finds it.
func halfDone(t *testing.T) (s *stage.Stage, held runstate.Lease) {
	s = stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	if _, err := s.Extract(1, "000000"); err != nil {
		t.Fatal(err)
	}
	take := func(task contract.TaskID) runstate.Lease {
		l := runstate.Lease{Run: s.RunID(1), Task: task, Token: s.NewID()}
		if _, err := s.Table.Claim(t.Context(), runstate.ClaimRequest{Run: l.Run, Task: task, Gen: 1, Token: l.Token, Now: s.Time, LeaseUntil: s.Time.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		return l
	}
	whole := s.Task(1, "000001").Range
	begun, rest := whole, whole
	begun.UpTo, rest.After = keyspace.Key{"6"}, keyspace.Key{"6"}
	if _, err := s.Table.Split(t.Context(), runstate.SplitRequest{
		Lease: take("000001"), Gen: 1, Done: begun, Rest: rest, Result: delivered(s, "part-000002.csv", "5\n6\n"), ChildAttempts: 3, Now: s.Time,
	}); err != nil {
		t.Fatal(err)
	}
	held = take(child)
	s.DropMessages()
	s.ExpireLeases()
	return s, held
}

const child contract.TaskID = "000001.s01"

// delivered stores a part as a worker does, and is what it records of it.
func delivered(s *stage.Stage, name, body string) runstate.Result {
	s.Put("out/"+name, body)
	rows := int64(strings.Count(body, "\n"))
	return runstate.Result{Rows: rows, Bytes: int64(len(body)), Parts: []runstate.PartRecord{{
		Path: name, Rows: rows, SizeBytes: int64(len(body)), Fingerprint: contract.FingerprintOf([]byte(body)), MD5: contract.MD5Base64([]byte(body)),
	}}}
}

// zombieResult is what the worker of halfDone delivers when it wakes up.
func zombieResult(s *stage.Stage) runstate.Result {
	return delivered(s, "part-000002-s01.csv", "7\n8\n")
}

// When a resume lists the prefix, it has revoked every lease of an older
// generation, and what the table records then is all that it will ever record of
// one (R2 to R5).
func TestResumeRevokesBeforeItLists(t *testing.T) {
	s, held := halfDone(t)
	listed := false
	s.Around = func(op string, perform func() error) error {
		if op == "list out/" && !listed {
			listed = true
			if run := s.Run(1); run.Gen != 2 || run.Status != runstate.RunPlanning {
				t.Errorf("the run is %s at generation %d", run.Status, run.Gen)
			}
			for id, want := range map[contract.TaskID]runstate.ChunkStatus{"000000": runstate.ChunkCompleted, "000001": runstate.ChunkCompleted, child: runstate.ChunkFailed, "000002": runstate.ChunkPending} {
				c := s.Task(1, id)
				if c.Status != want || (c.Gen == 2) != (want != runstate.ChunkCompleted) {
					t.Errorf("task %s is %s at generation %d", id, c.Status, c.Gen)
				}
			}
			if _, err := s.Table.Complete(t.Context(), held, zombieResult(s), s.Time); err == nil {
				t.Error("the old worker completes its task")
			}
		}
		return perform()
	}
	s.MustPlan(s.Resume(1))
	if !listed {
		t.Fatal("the prefix was not listed")
	}
	s.Settle(1)
	s.WantPublished("in the end", 1)
}

// A worker completes its task between the first list of tasks and the moment
// that its lease is revoked: its part is recorded, and is not moved (R4).
func TestResumeReadsTheTasksAgainAfterItHasRevoked(t *testing.T) {
	s, held := halfDone(t)
	done := false
	s.Around = func(op string, perform func() error) error {
		if op == "ResumeChunk "+string(child) && !done {
			done = true
			if _, err := s.Table.Complete(t.Context(), held, zombieResult(s), s.Time); err != nil {
				t.Error(err)
			}
		}
		return perform()
	}
	s.MustPlan(s.Resume(1))
	if moved := s.Keys("out/_quarantine/"); !done || len(moved) > 0 {
		t.Fatalf("done %v, quarantined: %v", done, moved)
	}
	if c := s.Task(1, child); !c.Live() || c.Status != runstate.ChunkCompleted {
		t.Fatal("the completed task is done again")
	}
	s.Settle(1)
	s.WantPublished("in the end", 1)
}

// The first planner died while it put its tasks: the resume puts the others,
// before the run is started (R2b).
func TestResumePutsTheTasksThatAreMissing(t *testing.T) {
	for _, planned := range []bool{true, false} {
		s := stage.New(t, 10)
		dies := func(op string) (bool, bool) {
			return planned && op == "PutChunk 000001" || !planned && strings.HasPrefix(op, "create "+contract.RunsDir("orders")), false
		}
		_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: dies}).Planner(), s.Trigger(1))
		s.ExpireLeases()
		s.Around = func(op string, perform func() error) error {
			if op == "StartRun" {
				for _, id := range []contract.TaskID{"000000", "000001", "000002"} {
					if c := s.Task(1, id); c.Gen != 2 {
						t.Errorf("task %s is of generation %d", id, c.Gen)
					}
				}
			}
			return perform()
		}
		if answer := s.MustPlan(s.Resume(1)); answer.Chunks != 3 {
			t.Errorf("planned before: %v, the planner answers %+v", planned, answer)
		}
		s.Settle(1)
		s.WantPublished("in the end", 1)
	}
}

// The place of a completed task in the fan-in tree was lost with its worker: the
// resume puts it there, sends what is left to do, and nothing else (R6).
func TestResumeDrivesTheFanInAgain(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.Deliver(stage.ChunkQueue, func(op string) (bool, bool) { return strings.HasPrefix(op, "FaninAdd"), false })
	s.DropMessages()
	s.ExpireLeases()
	s.MustPlan(s.Resume(1))
	leaf, err := s.Table.GetFanin(t.Context(), s.RunID(1), 0)
	if err != nil || !slices.Equal(leaf.Done, []string{"000000"}) {
		t.Fatalf("the leaf holds %v (%v)", leaf.Done, err)
	}
	if n := len(s.Queues.Pending(stage.ChunkQueue)); n != 2 {
		t.Fatalf("%d tasks are sent", n)
	}
	s = abandoned(t, modes[0].set)
	s.MustPlan(s.Resume(1))
	if n, m := len(s.Queues.Pending(stage.ChunkQueue)), len(s.Queues.Pending(wire.FinalizeQueue)); n != 0 || m == 0 {
		t.Fatalf("nothing is left to do, and %d tasks and %d finalizations are sent", n, m)
	}
}

// R0 and the gate: what cannot be resumed is refused by name, and nothing
// changes.
func TestResumeIsRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		so   func(s *stage.Stage)
		want fault.Code
		exit int
	}{
		{"a complete run", func(s *stage.Stage) { s.Settle(1) }, planner.CodeComplete, fault.ExitRefused},
		{"a complete run whose marker is gone", func(s *stage.Stage) { s.Settle(1); s.Lose("out/_SUCCESS") }, planner.CodeComplete, fault.ExitRefused},
		{"a run that is live", func(*stage.Stage) {}, "LAPSTRAKE_RUN_ACTIVE", fault.ExitRetryable},
		{"a run that was superseded", func(s *stage.Stage) {
			next := s.Trigger(2)
			next.OnConflict = "supersede"
			s.MustPlan(next)
			s.Settle(1, 2)
		}, "LAPSTRAKE_RUN_NOT_RESUMABLE", fault.ExitRefused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			s.MustPlan(s.Trigger(1))
			tc.so(s)
			before, run := s.Keys(""), s.Run(1)
			_, err := s.Plan(s.Resume(1))
			if fault.CodeOf(err) != tc.want || fault.ExitCode(err) != tc.exit {
				t.Fatalf("the planner: %v, exit code %d", err, fault.ExitCode(err))
			}
			if after := s.Keys(""); !slices.Equal(before, after) || s.Run(1).Status != run.Status || s.Run(1).Gen != run.Gen {
				t.Fatalf("the bucket has changed from %v to %v, the run to %s", before, after, s.Run(1).Status)
			}
		})
	}
}
