package chunk_test

import (
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const planMissing fault.Code = "LAPSTRAKE_RUN_PLAN_MISSING"

// The plan of a run is deleted. Its run fails at the next message, whichever it
// is, by a code of its own; it is not tried again until its time is over, and
// resumed only once the plan is back.
func TestRunThatHasLostItsPlanFails(t *testing.T) {
	plan := contract.PlanKey("orders", stage.New(t, 0).RunID(1))
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.Lose(plan)
	out, err := s.Extract(1, contract.BaseTaskID(0))
	if out.Kind != wire.Ack || fault.CodeOf(err) != planMissing {
		t.Fatalf("the worker answers %+v: %v", out, err)
	}
	if c := s.Task(1, contract.BaseTaskID(0)); c.Attempts != 0 {
		t.Fatalf("the task has used %d attempts", c.Attempts)
	}
	s.Drain()
	if got := s.Run(1); got.Status != runstate.RunFailed || got.Error.Code != planMissing {
		t.Fatalf("the run is %s: %+v", got.Status, got.Error)
	}
	if doc := s.Fence(); doc.State != contract.FenceReleased {
		t.Fatalf("the fence is %s", doc.State)
	}
	if _, err := s.Plan(s.Resume(1)); fault.CodeOf(err) != planMissing {
		t.Fatalf("the resume: %v", err)
	}
	s.Restore(plan)
	s.MustPlan(s.Resume(1))
	s.Settle(1)
	s.WantPublished("with its plan again", 1)
}

// A run that is frozen is never failed: it waits for its plan, or is sealed.
func TestFrozenRunWaitsForItsPlan(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	for s.Deliver(stage.ChunkQueue, nil) {
	}
	run := s.Run(1)
	if _, err := s.Table.BeginFinalize(t.Context(), run.RunID, run.Gen, s.Time); err != nil {
		t.Fatal(err)
	}
	plan := contract.PlanKey("orders", run.RunID)
	s.Lose(plan)
	if out, err := s.Finalize(1); out.Kind != wire.Fatal || fault.CodeOf(err) != planMissing {
		t.Fatalf("the finalizer answers %+v: %v", out, err)
	}
	if got := s.Run(1); got.Status != runstate.RunFinalizing || got.Error.Code != planMissing {
		t.Fatalf("the run is %s: %+v", got.Status, got.Error)
	}
	s.Restore(plan)
	s.Settle(1)
	s.WantPublished("with its plan again", 1)
}
