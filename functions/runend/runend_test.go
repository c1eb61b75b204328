package runend_test

import (
	"log/slog"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

func ender(s *stage.Stage) runend.Ender {
	d := (&stage.Process{Stage: s}).Finalizer()
	return runend.Ender{Destinations: d.Destinations, State: d.State, Notifier: d.Notifier, Clock: d.Clock, IDs: d.IDs, Log: slog.New(slog.DiscardHandler)}
}

// atCommitPoint is a stage whose run 1 is frozen and about to commit, with what
// makes it commit; its item was claimed by a resume meanwhile.
func atCommitPoint(t *testing.T) (s *stage.Stage, commits func()) {
	var create func() error
	s = stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	for s.Deliver(stage.ChunkQueue, nil) {
	}
	s.Around = func(op string, perform func() error) error {
		if op == "create "+s.Sidecar(1) {
			create = perform
			return stage.ErrDead
		}
		return perform()
	}
	_, _ = s.Finalize(1)
	s.Around = nil
	s.DropMessages()
	s.ExpireLeases()
	if _, err := s.Table.ClaimResume(t.Context(), s.RunID(1), runstate.ResumeClaim{RequestID: "r", Now: s.Time, LeaseUntil: s.Time}); err != nil {
		t.Fatal(err)
	}
	return s, func() {
		if err := create(); err != nil {
			t.Fatal(err)
		}
	}
}

var denied = fault.Failure{Class: fault.Permanent, Code: "LAPSTRAKE_DEST_DENIED", Message: "access denied"}

// A run is failed while it commits, before, within or after any step of that:
// its item says succeeded whenever its sidecar stood at the last look, it is
// never told to be failed then, and its fence is committed.
func TestFailLooksAtTheSidecar(t *testing.T) {
	for _, tc := range []struct {
		name      string
		at        string // the call before which the run commits; "" for never
		committed bool
	}{
		{"before the call", "now", true},
		{"between the first look and T15", "FailRun", true},
		{"never", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, commits := atCommitPoint(t)
			if tc.at == "now" {
				commits()
			}
			failed := 0
			s.Around = func(op string, perform func() error) error {
				if op == "FailRun" {
					failed++
				}
				if op == tc.at {
					commits()
				}
				return perform()
			}
			committed, err := ender(s).Fail(t.Context(), s.Run(1), denied)
			if err != nil || committed != tc.committed {
				t.Fatalf("committed %v, %v", committed, err)
			}
			run, fence := s.Run(1), s.Fence()
			if !tc.committed {
				if run.Status != runstate.RunFailed || fence.State != contract.FenceReleased || len(s.Events) != 1 {
					t.Fatalf("the run is %s, the fence %s, told: %v", run.Status, fence.State, s.Events)
				}
				return
			}
			if run.Status != runstate.RunSucceeded || fence.State != contract.FenceCommitted || len(s.Events) != 0 {
				t.Fatalf("the run is %s, the fence %s, told: %v", run.Status, fence.State, s.Events)
			}
			if tc.at == "now" && failed > 0 {
				t.Error("a run that has committed was failed")
			}
			s.WantPublished("afterwards", 1)
		})
	}
}

// A run that commits after it was failed, and after its fence was given back, is
// settled by whoever comes next.
func TestSettleOfAFailedRunThatCommits(t *testing.T) {
	s, commits := atCommitPoint(t)
	if committed, err := ender(s).Fail(t.Context(), s.Run(1), denied); err != nil || committed {
		t.Fatal(committed, err)
	}
	commits()
	settled, err := ender(s).Settle(t.Context(), s.Run(1), 1)
	if err != nil || settled.Ending != runend.Succeeded || settled.Run.Status != runstate.RunSucceeded {
		t.Fatalf("%+v %v", settled, err)
	}
	s.WantPublished("afterwards", 1)
	if got := s.Fence().State; got != contract.FenceCommitted {
		t.Fatalf("the fence is %s", got)
	}
}

// A run that has committed is not superseded, whoever holds the fence.
func TestSupersedeLooksAtTheSidecar(t *testing.T) {
	for _, committed := range []bool{true, false} {
		s, commits := atCommitPoint(t)
		if committed {
			commits()
		}
		got, err := ender(s).Supersede(t.Context(), s.Run(1), &commit.FenceLostError{Export: "orders", RunID: s.RunID(1), OwnerRunID: "other", OwnerGen: 9})
		want := map[bool]runstate.RunStatus{true: runstate.RunSucceeded, false: runstate.RunSuperseded}[committed]
		if err != nil || got != committed || s.Run(1).Status != want {
			t.Errorf("committed %v: %v, %v, the run is %s", committed, got, err, s.Run(1).Status)
		}
	}
}

// A store that does not answer leaves the run as it is: nobody knows whether it
// has committed.
func TestFailWithoutAnAnswerChangesNothing(t *testing.T) {
	s, _ := atCommitPoint(t)
	s.Around = func(op string, perform func() error) error {
		if op == "get "+s.Sidecar(1) {
			return fault.New(fault.Retryable, "LAPSTRAKE_DEST_UNREACHABLE", "timeout")
		}
		return perform()
	}
	if _, err := ender(s).Fail(t.Context(), s.Run(1), denied); err == nil || s.Run(1).Status != runstate.RunPlanning {
		t.Fatalf("%v, the run is %s", err, s.Run(1).Status)
	}
}

// A run is superseded by an owner of a higher generation. Its own tombstone needs
// no such proof: it was sealed for ever, at whatever generation, which is its own
// when the fence document was deleted and generations began again.
func TestSupersedeOfOneGeneration(t *testing.T) {
	for _, tc := range []struct {
		name   string
		sealed bool
		gen    contract.Generation
		want   runstate.RunStatus
	}{
		{"sealed at its own generation", true, 1, runstate.RunSuperseded},
		{"another owner of its generation", false, 1, runstate.RunPlanning},
		{"an owner of a higher generation", false, 2, runstate.RunSuperseded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _ := atCommitPoint(t)
			by := contract.SealedBy{RunID: "other", Generation: tc.gen}
			if tc.sealed {
				tombstone := commit.TombstoneOf(s.RunID(1), s.Config.Exports[0], "postgres", s.Time)
				if _, err := commit.Seal(t.Context(), destination.Prefixed(s.Bucket, "out/"), tombstone, by); err != nil {
					t.Fatal(err)
				}
			}
			lost := &commit.FenceLostError{Export: "orders", RunID: s.RunID(1), OwnerRunID: by.RunID, OwnerGen: by.Generation}
			if _, err := ender(s).Supersede(t.Context(), s.Run(1), lost); err != nil || s.Run(1).Status != tc.want {
				t.Fatalf("%v; the run is %s, want %s", err, s.Run(1).Status, tc.want)
			}
		})
	}
}

// A run that holds its fence itself, or whose fence is nobody's, has no
// successor.
func TestRunIsNotSupersededByItself(t *testing.T) {
	for _, owner := range []string{"", "itself"} {
		s, _ := atCommitPoint(t)
		lost := &commit.FenceLostError{Export: "orders", RunID: s.RunID(1), OwnerGen: 2}
		if owner != "" {
			lost.OwnerRunID = s.RunID(1)
		}
		if _, err := ender(s).Supersede(t.Context(), s.Run(1), lost); err == nil || s.Run(1).Status == runstate.RunSuperseded {
			t.Errorf("by %q: %v, the run is %s", owner, err, s.Run(1).Status)
		}
	}
}
