package finalizer_test

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// extracted is a stage whose run 1 has completed its tasks; messages are lost.
func extracted(t *testing.T) *stage.Stage {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	for s.Deliver(stage.ChunkQueue, nil) {
	}
	s.DropMessages()
	return s
}

// nothingPublished fails the test if a reader could see anything of run 1.
func nothingPublished(t *testing.T, s *stage.Stage) {
	t.Helper()
	for _, key := range []string{s.Sidecar(1), "out/manifest.json", "out/_SUCCESS"} {
		if body := s.Body(key); body != nil && !s.Manifest(s.Sidecar(1)).Tombstone() {
			t.Fatalf("%s stands: %s", key, body)
		}
	}
}

// F1: a run that is not to be finalized is left as it is.
func TestRunsThatAreNotToBeFinalized(t *testing.T) {
	for _, tc := range []struct {
		name string
		so   func(s *stage.Stage)
		want runstate.RunStatus
	}{
		{"planning", func(s *stage.Stage) {
			s.ExpireLeases()
			_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return op == "StartRun", false }}).Planner(), s.Resume(1))
		}, runstate.RunPlanning},
		{"failed", func(s *stage.Stage) {
			if _, err := s.Table.FailRun(t.Context(), s.RunID(1), 1, fault.Failure{Message: "x"}, s.Time); err != nil {
				t.Fatal(err)
			}
		}, runstate.RunFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := extracted(t)
			tc.so(s)
			if out, err := s.Finalize(1); err != nil || out.Kind != wire.Ack {
				t.Fatalf("%+v %v", out, err)
			}
			if got := s.Run(1).Status; got != tc.want {
				t.Fatalf("the run is %s", got)
			}
			nothingPublished(t, s)
		})
	}
	s := extracted(t)
	s.Table.DropAll()
	out, err := finalizer.Handle(t.Context(), (&stage.Process{Stage: s}).Finalizer(), wire.FinalizeTask{Version: wire.Version, Run: wire.RunRef{Export: "orders", RunID: s.RunID(1), Generation: 1}})
	if err != nil || out.Kind != wire.Ack {
		t.Fatalf("a run that the table has lost: %+v %v", out, err)
	}
}

// F2: a run is not frozen as long as a planned task is missing, open, or has
// failed for good; then it fails.
func TestRunsThatAreNotComplete(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(t *testing.T) *stage.Stage
		want runstate.RunStatus
	}{
		{"a planned task was never put", func(t *testing.T) *stage.Stage { // QUE-12
			s := stage.New(t, 10)
			_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return op == "PutChunk 000002", false }}).Planner(), s.Trigger(1))
			run := s.Run(1)
			if _, err := s.Table.StartRun(t.Context(), run.RunID, runstate.StartRecord{
				Gen: 1, TriggerID: run.TriggerID, PlanFingerprint: contract.FingerprintOf(s.Body(contract.PlanKey("orders", run.RunID))), TaskCount: 3, Shards: 2, FaninK: 2, MaxAttempts: 3, LeaseUntil: s.Time,
			}); err != nil {
				t.Fatal(err)
			}
			for _, id := range []contract.TaskID{"000000", "000001"} {
				if _, err := s.Extract(1, id); err != nil {
					t.Fatal(err)
				}
			}
			return s
		}, runstate.RunRunning},
		{"a task is pending", func(t *testing.T) *stage.Stage {
			s := stage.New(t, 10)
			s.MustPlan(s.Trigger(1))
			_, _ = s.Extract(1, "000000")
			return s
		}, runstate.RunRunning},
		{"a task has failed for good", func(t *testing.T) *stage.Stage {
			s := stage.New(t, 10)
			s.MustPlan(s.Trigger(1))
			claimed, err := s.Table.Claim(t.Context(), runstate.ClaimRequest{Run: s.RunID(1), Task: "000000", Gen: 1, Token: "t", Now: s.Time, LeaseUntil: s.Time})
			if err == nil {
				_, err = s.Table.Fail(t.Context(), runstate.Lease{Run: s.RunID(1), Task: claimed.ID, Token: "t"}, fault.Failure{Class: fault.Permanent, Code: "LAPSTRAKE_SOURCE_X", Message: "no"}, true, s.Time)
			}
			if err != nil {
				t.Fatal(err)
			}
			return s
		}, runstate.RunFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := tc.make(t)
			s.Around = func(op string, perform func() error) error {
				if op == "BeginFinalize" {
					t.Error("the run is frozen")
				}
				return perform()
			}
			if out, err := s.Finalize(1); err != nil || out.Kind != wire.Ack {
				t.Fatalf("%+v %v", out, err)
			}
			if got := s.Run(1).Status; got != tc.want {
				t.Fatalf("the run is %s, want %s", got, tc.want)
			}
			nothingPublished(t, s)
		})
	}
}

// F3: a recorded part that is gone or truncated has its task done again before
// the run is frozen; afterwards nothing is repaired and nothing fails.
func TestPartsThatAreGone(t *testing.T) {
	for name, damage := range map[string]func(s *stage.Stage){
		"missing":   func(s *stage.Stage) { s.Lose("out/part-000002.csv") },
		"truncated": func(s *stage.Stage) { s.Put("out/part-000002.csv", "5\n") },
	} {
		t.Run(name, func(t *testing.T) {
			s := extracted(t)
			damage(s)
			if out, err := s.Finalize(1); err != nil || out.Kind != wire.Ack {
				t.Fatalf("%+v %v", out, err)
			}
			if c := s.Task(1, "000001"); c.Live() || s.Run(1).Status != runstate.RunRunning || len(s.Queues.Pending(stage.ChunkQueue)) != 1 {
				t.Fatalf("the task is live: %v, the run %s, %d messages", c.Live(), s.Run(1).Status, len(s.Queues.Pending(stage.ChunkQueue)))
			}
			nothingPublished(t, s)
			s.Settle(1)
			s.WantPublished("made again", 1)

			s = extracted(t)
			if _, err := s.Table.BeginFinalize(t.Context(), s.RunID(1), 1, s.Time); err != nil {
				t.Fatal(err)
			}
			damage(s)
			if _, err := s.Finalize(1); fault.CodeOf(err) != "LAPSTRAKE_RUN_PART_LOST" {
				t.Fatalf("after the run was frozen: %v", err)
			}
			if c := s.Task(1, "000001"); !c.Live() || s.Run(1).Status != runstate.RunFinalizing || s.Run(1).Error.Code != "LAPSTRAKE_RUN_PART_LOST" {
				t.Fatalf("the task is live: %v, the run %s", c.Live(), s.Run(1).Status)
			}
			nothingPublished(t, s)
		})
	}
}

// F4: what is published comes from the second query. A task that another
// finalizer has begun to repair before the freeze keeps this one from
// publishing, though its first query saw everything completed.
func TestBytesComeFromTheSecondQuery(t *testing.T) {
	s := extracted(t)
	s.Around = func(op string, perform func() error) error {
		if op == "BeginFinalize" {
			if _, err := s.Table.Repair(t.Context(), s.RunID(1), "000001", 1, 3, s.Time); err != nil {
				t.Error(err)
			}
		}
		return perform()
	}
	if out, err := s.Finalize(1); err != nil || out.Kind != wire.Ack {
		t.Fatalf("%+v %v", out, err)
	}
	nothingPublished(t, s)
}

// Between the freeze and the fence a resume claims the run, fails and gives the
// fence back: the finalizer commits nothing, and says so without an alarm.
func TestFinalizerOfARunThatWasFailedCommitsNothing(t *testing.T) {
	s := extracted(t)
	done := false
	s.Around = func(op string, perform func() error) error {
		if done || op != "get "+contract.CursorKey("orders") {
			return perform()
		}
		done, s.Around = true, nil
		s.ExpireLeases()
		s.Around = func(op string, perform func() error) error {
			if strings.HasPrefix(op, "get "+contract.RunsDir("orders")) {
				return fault.New(fault.Permanent, "LAPSTRAKE_DEST_DENIED", "access denied")
			}
			return perform()
		}
		_, _ = s.Plan(s.Resume(1))
		s.Around = nil
		if s.Run(1).Status != runstate.RunFailed || s.Fence().State != contract.FenceReleased {
			t.Errorf("the run is %s, the fence %s", s.Run(1).Status, s.Fence().State)
		}
		return perform()
	}
	if out, err := s.Finalize(1); err != nil || out.Kind != wire.Ack || !done {
		t.Fatalf("%+v %v", out, err)
	}
	nothingPublished(t, s)
	if got := s.Run(1); got.Status != runstate.RunFailed {
		t.Fatalf("the run is %s", got.Status)
	}
}

// The message and the table name a plan, and plan.json is another one.
func TestPlanOfAnotherRunIsRefused(t *testing.T) {
	s := extracted(t)
	key := contract.PlanKey("orders", s.RunID(1))
	s.Put(key, strings.Replace(string(s.Body(key)), `"chunk_size"`, `  "chunk_size"`, 1)+"\n")
	if _, err := s.Finalize(1); fault.CodeOf(err) != "LAPSTRAKE_RUN_PLAN_MISMATCH" {
		t.Fatalf("%v", err)
	}
	nothingPublished(t, s)
}

// The steps of I8 come in their order: manifest, cursor, item, verdict, report,
// notification.
func TestOrderOfPublication(t *testing.T) {
	s := extracted(t)
	var order []string
	s.Around = func(op string, perform func() error) error {
		for _, step := range []string{"create " + s.Sidecar(1), "replace out/manifest.json", "replace out/_SUCCESS", "replace " + contract.CursorKey("orders"), "SucceedRun", "NoteRun", "MarkNotified"} {
			if op == step {
				order = append(order, step)
			}
		}
		if strings.Contains(op, "/summary.json") && strings.HasPrefix(op, "replace") {
			order = append(order, "report")
		}
		return perform()
	}
	if _, err := s.Finalize(1); err != nil {
		t.Fatal(err)
	}
	want := []string{"create " + s.Sidecar(1), "replace out/manifest.json", "replace out/_SUCCESS", "replace " + contract.CursorKey("orders"), "SucceedRun", "NoteRun", "report", "MarkNotified"}
	if strings.Join(order, ", ") != strings.Join(want, ", ") {
		t.Fatalf("the order is %v", order)
	}
	if len(s.Events) != 1 || s.Events[0].Verdict != "passed" {
		t.Fatalf("told: %+v", s.Events)
	}
}
