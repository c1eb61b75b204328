package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// extracted is a stage whose run 1 has completed all of its tasks.
func extracted(t *testing.T) *stage.Stage {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	for s.Deliver(stage.ChunkQueue, nil) {
	}
	return s
}

// published is a stage whose run 1 has succeeded.
func published(t *testing.T) *stage.Stage {
	s := extracted(t)
	s.Settle(1)
	s.WantPublished("at the beginning", 1)
	return s
}

// committed is a stage whose run 1 has committed and died before its pair was
// published.
func committed(t *testing.T) *stage.Stage {
	s := extracted(t)
	s.DrainDying(func(op string) (dies, landed bool) {
		return op == "create "+s.Sidecar(1), true
	})
	s.DropMessages()
	s.ExpireLeases()
	if m := s.Manifest(s.Sidecar(1)); m.Status != contract.StatusSuccess || s.Body("out/"+contract.ManifestName) != nil {
		t.Fatal("the run has not stopped between its commit point and its manifest")
	}
	return s
}

// A finalizer stalls before each of its writes from the commit point on, while
// a resume claims the run and fails for good before it has a generation of its
// own. The finalizer wakes up and commits: whatever the item said in between,
// the run has succeeded in the end, and its fence is committed.
func TestRunThatCommitsWhileItsResumeFailsHasSucceeded(t *testing.T) {
	for _, at := range []string{"create out/manifest-", "replace out/manifest.json", "replace out/_SUCCESS", "replace _lapstrake/orders/cursor.json", "SucceedRun"} {
		for _, failing := range []string{"before the claim", "after the claim"} {
			t.Run(fmt.Sprintf("stalled in %s, resume fails %s", at, failing), func(t *testing.T) {
				s := extracted(t)
				stalled := false
				s.Around = func(op string, perform func() error) error {
					if stalled || !strings.HasPrefix(op, at) {
						return perform()
					}
					stalled = true
					s.ExpireLeases()
					s.Around = func(op string, perform func() error) error {
						if failing == "after the claim" && strings.HasPrefix(op, "get _lapstrake/orders/runs/") {
							return fault.New(fault.Permanent, "LAPSTRAKE_DEST_DENIED", "access denied")
						}
						return perform()
					}
					_, err := s.Plan(s.Resume(1))
					s.Around = nil
					if at == "create out/manifest-" && failing == "after the claim" && (err == nil || s.Run(1).Status != runstate.RunFailed) {
						t.Fatalf("the resume does not fail: %v, the run is %s", err, s.Run(1).Status)
					}
					return perform()
				}
				_, err := s.Finalize(1)
				if !stalled {
					t.Fatal("the finalizer does not come there")
				}
				if failing == "after the claim" {
					if err != nil {
						t.Fatalf("the finalizer: %v", err)
					}
					if got := s.Run(1).Status; got != runstate.RunSucceeded {
						t.Fatalf("the run is %s after its finalizer", got)
					}
				}
				s.Settle(1)
				if got := s.Run(1); got.Status != runstate.RunSucceeded {
					t.Fatalf("the run is %s: %+v", got.Status, got.Error)
				}
				s.WantPublished("in the end", 1)
				if doc := s.Fence(); doc.State != contract.FenceCommitted {
					t.Fatalf("the fence is %s", doc.State)
				}
			})
		}
	}
}

// The finalizer that has committed dies at once, and the run was failed before:
// any later step of anybody, here its message that comes again, settles it.
func TestCommittedRunThatWasFailedIsSettledByARedelivery(t *testing.T) {
	s := extracted(t)
	died := false
	s.DrainDying(func(op string) (dies, landed bool) {
		if died || op != "create "+s.Sidecar(1) {
			return false, false
		}
		died = true
		run := s.Run(1)
		s.ExpireLeases()
		if _, err := s.Table.ClaimResume(t.Context(), run.RunID, runstate.ResumeClaim{RequestID: "r", Now: s.Time, LeaseUntil: s.Time}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Table.FailRun(t.Context(), run.RunID, run.Gen, fault.Failure{Message: "denied"}, s.Time); err != nil {
			t.Fatal(err)
		}
		return true, true
	})
	s.ExpireLeases() // the message is visible again
	s.Drain()
	if got := s.Run(1); got.Status != runstate.RunSucceeded || !got.Notified {
		t.Fatalf("the run is %s", got.Status)
	}
	s.WantPublished("in the end", 1)
}

// The sweep's time limit comes to a run that has committed meanwhile.
func TestSweepDoesNotFailACommittedRun(t *testing.T) {
	s := committed(t)
	if _, err := s.Table.ClaimResume(t.Context(), s.RunID(1), runstate.ResumeClaim{RequestID: "r", Now: s.Time, LeaseUntil: s.Time}); err != nil {
		t.Fatal(err)
	}
	s.Time = s.Time.AddDate(0, 0, 3)
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if got := s.Run(1); got.Status != runstate.RunSucceeded {
		t.Fatalf("the run is %s: %+v", got.Status, got.Error)
	}
	s.Settle(1)
	s.WantPublished("in the end", 1)
}

// A plain resume of a run that has committed finishes its publication and reads
// nothing; if a part of it is damaged it refuses, and moves nothing.
func TestResumeOfACommittedRun(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(s *stage.Stage)
		want   fault.Code
	}{
		{"intact", func(*stage.Stage) {}, ""},
		{"a part is missing", func(s *stage.Stage) { s.Lose("out/part-000002.csv") }, "LAPSTRAKE_RUN_PUBLISH_INCOMPLETE"},
		{"a part is truncated", func(s *stage.Stage) { s.Put("out/part-000002.csv", "5") }, "LAPSTRAKE_RUN_PUBLISH_INCOMPLETE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := committed(t)
			tc.damage(s)
			before, reads, run := s.Keys("out/"), s.DB.Reads, s.Run(1)
			_, err := s.Plan(s.Resume(1))
			if fault.CodeOf(err) != tc.want {
				t.Fatalf("the resume: %v", err)
			}
			s.Drain()
			if s.DB.Reads != reads || len(s.Keys("out/_quarantine/")) > 0 {
				t.Fatalf("%d reads, quarantined: %v", s.DB.Reads-reads, s.Keys("out/_quarantine/"))
			}
			if tc.want == "" {
				if got := s.Run(1); got.Status != runstate.RunSucceeded || !got.Notified {
					t.Fatalf("the run is %s", got.Status)
				}
				s.WantPublished("after the resume", 1)
				return
			}
			if after := s.Keys("out/"); fmt.Sprint(after) != fmt.Sprint(before) || s.Run(1).Status != run.Status || s.Run(1).TriggerID != run.TriggerID {
				t.Fatalf("the prefix has changed from %v to %v, the run to %s", before, after, s.Run(1).Status)
			}
			s.MustPlan(s.Repair(1)) // the way out that the refusal names
			s.Settle(1)
			s.WantPublished("after the repair", 1)
		})
	}
}

// A finalizer of the generation before commits after the resume has looked, and
// a part that it lists is damaged: the resume moves nothing.
func TestResumeMovesNothingOfARunThatCommitsMeanwhile(t *testing.T) {
	s := extracted(t)
	stalled := false
	s.Around = func(op string, perform func() error) error {
		if stalled || op != "create "+s.Sidecar(1) {
			return perform()
		}
		stalled = true
		s.Put("out/part-000002.csv", "broken")
		s.ExpireLeases()
		commits := false
		s.Around = func(op string, again func() error) error {
			if !commits && op == "list out/" { // R5
				commits = true
				if err := perform(); err != nil {
					t.Fatal(err)
				}
			}
			return again()
		}
		_, err := s.Plan(s.Resume(1))
		s.Around = nil
		if !commits || fault.ClassOf(err) != fault.Integrity {
			t.Fatalf("the resume: %v", err)
		}
		return nil
	}
	_, _ = s.Finalize(1)
	if moved := s.Keys("out/_quarantine/"); len(moved) > 0 {
		t.Fatalf("quarantined: %v", moved)
	}
	s.Around = nil
	s.DropMessages()
	s.MustPlan(s.Repair(1))
	s.Settle(1)
	s.WantPublished("after the repair", 1)
}
