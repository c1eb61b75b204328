package finalizer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Guards of the finalizer that another one stands behind, each in the one state
// in which the other does not help.

// allExtracted is a stage whose run 1 has completed its tasks; no finalizer has
// been called.
func allExtracted(t *testing.T) *stage.Stage {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	for s.Deliver(stage.ChunkQueue, nil) {
	}
	s.DropMessages()
	return s
}

// A finalizer sleeps before it commits, while another one comes an hour later
// and publishes: both have made the same bytes (D10, V18) (QUE-06).
func TestFinalizersAnHourApartMakeTheSameBytes(t *testing.T) {
	for _, at := range []string{"create _lapstrake/", "create out/manifest-", "replace out/manifest.json", "replace out/_SUCCESS"} {
		s := allExtracted(t)
		slept := false
		s.Around = func(op string, perform func() error) error {
			if !slept && strings.HasPrefix(op, at) {
				slept = true
				s.Time = s.Time.Add(time.Hour)
				if _, err := s.Finalize(1); err != nil {
					t.Errorf("%s: the second finalizer: %v", at, err)
				}
			}
			return perform()
		}
		if _, err := s.Finalize(1); err != nil || !slept {
			t.Errorf("%s: the first finalizer: %v", at, err)
		}
		s.WantPublished(at, 1)
	}
}

// A run is told once, whatever its finalizer is sent.
func TestFinishedRunIsToldOnce(t *testing.T) {
	s := allExtracted(t)
	for range 2 {
		if _, err := s.Finalize(1); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Events) != 1 {
		t.Fatalf("told: %+v", s.Events)
	}
}

// A run whose planner has not stored its plan yet is left to it.
func TestRunThatIsBeingPlannedIsLeftAlone(t *testing.T) {
	s := stage.New(t, 10)
	_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) {
		return strings.HasPrefix(op, "create "+contract.RunsDir("orders")), false
	}}).Planner(), s.Trigger(1))
	if _, err := s.Finalize(1); err != nil {
		t.Fatal(err)
	}
	if got := s.Run(1); got.Status != runstate.RunPlanning || s.Fence().State != contract.FenceOpen {
		t.Fatalf("the run is %s, the fence %s", got.Status, s.Fence().State)
	}
}

// A task that reports other rows than its parts hold is a defect of ours:
// nothing is published (V19).
func TestRowsThatDoNotAddUp(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.DropMessages()
	for _, id := range []contract.TaskID{"000001", "000002"} {
		if _, err := s.Extract(1, id); err != nil {
			t.Fatal(err)
		}
	}
	lease := runstate.Lease{Run: s.RunID(1), Task: "000000", Token: "t"}
	if _, err := s.Table.Claim(t.Context(), runstate.ClaimRequest{Run: lease.Run, Task: lease.Task, Gen: 1, Token: lease.Token, Now: s.Time, LeaseUntil: s.Time}); err != nil {
		t.Fatal(err)
	}
	body := "1\n2\n3\n"
	s.Put("out/part-000001.csv", body)
	if _, err := s.Table.Complete(t.Context(), lease, runstate.Result{Rows: 4, Parts: []runstate.PartRecord{{
		Path: "part-000001.csv", Rows: 3, SizeBytes: int64(len(body)), Fingerprint: contract.FingerprintOf([]byte(body)), MD5: contract.MD5Base64([]byte(body)),
	}}}, s.Time); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finalize(1); fault.CodeOf(err) != "LAPSTRAKE_INTERNAL_ROW_COUNT" || s.Body(s.Sidecar(1)) != nil {
		t.Fatalf("%v, the sidecar is %q", err, s.Body(s.Sidecar(1)))
	}
}

// A successor has published before the run's verdict was given: no verdict on
// its manifest is taken for one on the run's own (F13).
func TestVerdictIsOnTheRunsOwnManifest(t *testing.T) {
	s := allExtracted(t)
	s.Around = func(op string, perform func() error) error {
		err := perform()
		if op == "SucceedRun" {
			return stage.ErrDead
		}
		return err
	}
	_, _ = s.Finalize(1)
	s.Around = nil
	s.DropMessages()
	s.MustPlan(s.Trigger(2))
	s.Settle(2)
	if _, err := s.Finalize(1); err != nil {
		t.Fatal(err)
	}
	if got := s.Run(1); got.Verdict != "" || !got.Notified {
		t.Fatalf("the verdict is %q, told: %v", got.Verdict, got.Notified)
	}
}

// A report that cannot be stored keeps nothing from being told (I7).
func TestReportThatFailsStopsNothing(t *testing.T) {
	s := allExtracted(t)
	s.Around = func(op string, perform func() error) error {
		if strings.Contains(op, "/summary.") {
			return fault.New(fault.Permanent, "LAPSTRAKE_DEST_DENIED", "access denied")
		}
		return perform()
	}
	out, err := s.Finalize(1)
	if err != nil || out.Kind != wire.Ack || !s.Run(1).Notified || len(s.Events) != 1 {
		t.Fatalf("%+v, %v, told: %+v", out, err, s.Events)
	}
}

// verify: content is asked for, and the store vouches for sizes only: the run
// fails, and nothing is published (M5).
func TestContentThatCannotBeVerifiedIsNotPublished(t *testing.T) {
	s := stage.New(t, 10)
	s.Bucket = memory.New("memory://bucket", destination.Capabilities{CommitProtocol: "FinalizeOnClose", KeepsMeta: true})
	s.Config.Exports[0].Verify = "content"
	s.MustPlan(s.Trigger(1))
	for s.Deliver(stage.ChunkQueue, nil) {
	}
	if _, err := s.Finalize(1); err != nil {
		t.Fatal(err)
	}
	if got := s.Run(1); got.Status != runstate.RunFailed || got.Error.Code != "LAPSTRAKE_DEST_CONTENT_UNMET" || s.Body(s.Sidecar(1)) != nil {
		t.Fatalf("the run is %s: %+v", got.Status, got.Error)
	}
}

// A completed task that no plan has made is in the table: nothing is published,
// since nobody knows whose rows it has (F2, V3).
func TestTaskOfNoPlanIsNotPublished(t *testing.T) {
	s := allExtracted(t)
	lease := runstate.Lease{Run: s.RunID(1), Task: "000003", Token: "t"}
	if err := s.Table.PutChunk(t.Context(), runstate.Chunk{RunID: lease.Run, ID: lease.Task, Status: runstate.ChunkPending, Gen: 1, MaxAttempts: 3, CreatedAt: s.Time, ChangedAt: s.Time}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Table.Claim(t.Context(), runstate.ClaimRequest{Run: lease.Run, Task: lease.Task, Gen: 1, Token: lease.Token, Now: s.Time, LeaseUntil: s.Time}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Table.Complete(t.Context(), lease, runstate.Result{}, s.Time); err != nil {
		t.Fatal(err)
	}
	out, err := s.Finalize(1)
	if err != nil || s.Body(s.Sidecar(1)) != nil || !strings.Contains(out.Detail, "not of this plan") {
		t.Fatalf("%+v, %v, the sidecar is %q", out, err, s.Body(s.Sidecar(1)))
	}
}
