package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// moveTo puts the position of the export to a value.
func moveTo(t *testing.T, s *stage.Stage, value string) {
	t.Helper()
	doc := s.Fence()
	doc.Position = at7()
	doc.Position.Value = value
	body, err := doc.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.Put(cursorKey, string(body))
}

// publishedUpTo7 is a published run that has a part to repair, and a window that
// ends at 7, where the position is.
func publishedUpTo7(t *testing.T) *stage.Stage {
	t.Helper()
	s := published(t)
	key := contract.PlanKey("orders", s.RunID(1))
	plan, err := chunkplan.Decode(s.Body(key))
	if err != nil {
		t.Fatal(err)
	}
	plan.Window = &contract.PositionWindow{Kind: contract.PositionIncremental, Column: "at", Type: "bigint", To: at7()}
	planned, err := plan.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.Put(key, string(planned))
	m := s.Manifest(s.Sidecar(1))
	m.Position = plan.Window
	body, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.Put(s.Sidecar(1), string(body))
	moveTo(t, s, "7")
	s.Lose(second)
	return s
}

// A run is repaired only while the position is where its window ends, in the
// very document that the repair replaces: else nobody knows which rows are its
// own (R0).
func TestRepairFromAnotherPositionIsRefused(t *testing.T) {
	for _, tc := range []struct{ name, at string }{
		{"before it starts", ""},
		{"after it has claimed the run", "ClaimResume"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := publishedUpTo7(t)
			if tc.at == "" {
				moveTo(t, s, "3")
			}
			s.Around = func(op string, perform func() error) error {
				err := perform()
				if tc.at != "" && strings.HasPrefix(op, tc.at) {
					moveTo(t, s, "3")
				}
				return err
			}
			if _, err := s.Plan(s.Repair(1)); fault.CodeOf(err) != "LAPSTRAKE_PLAN_STALE" || s.Fence().Generation != 1 {
				t.Fatalf("the planner: %v, the fence is at generation %d", err, s.Fence().Generation)
			}
		})
	}
}

// The planner of a repair sleeps after its claim, until another one has claimed
// the run: it takes no generation, which that one would not know of (ADR-0006).
func TestRepairThatIsClaimedByAnotherTakesNoGeneration(t *testing.T) {
	s := published(t)
	s.Lose(second)
	s.Around = func(op string, perform func() error) error {
		err := perform()
		if strings.HasPrefix(op, "ClaimResume") {
			s.Around = nil
			s.ExpireLeases()
			if _, err := s.Table.ClaimResume(t.Context(), s.RunID(1), runstate.ResumeClaim{RequestID: "another", Force: true, Now: s.Time, LeaseUntil: s.Time}); err != nil {
				t.Fatal(err)
			}
		}
		return err
	}
	_, err := s.Plan(s.Repair(1))
	if s.Around != nil || s.Fence().Generation != 1 || s.Run(1).TriggerID != "another" {
		t.Fatalf("the fence is at generation %d (%v)", s.Fence().Generation, err)
	}
}

// The planner of a repair dies before the table knows of its generation, or
// right after: a finalizer that comes then leaves the tasks to the planner that
// goes on.
func TestFinalizerLeavesAPlannedRepairAlone(t *testing.T) {
	for _, landed := range []bool{false, true} {
		t.Run(fmt.Sprintf("known to the table %t", landed), func(t *testing.T) {
			s := published(t)
			s.Lose(second)
			d := (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return strings.HasPrefix(op, "ResumeRun"), landed }}).Planner()
			_, _ = planner.Handle(t.Context(), d, s.Repair(1))
			if run := s.Run(1); s.Fence().Generation != 2 || run.Status != runstate.RunPlanning || landed != (run.Gen == 2) {
				t.Fatalf("the fence is at generation %d, the run is %s at %d: the test no longer tests anything", s.Fence().Generation, run.Status, run.Gen)
			}
			tasks := s.Tasks(1)
			if _, err := s.Finalize(1); err != nil || s.Run(1).Status != runstate.RunPlanning {
				t.Fatalf("the run is %s (%v)", s.Run(1).Status, err)
			}
			if d := cmp.Diff(tasks, s.Tasks(1)); d != "" {
				t.Fatalf("tasks were changed (-before +after):\n%s", d)
			}
			s.ExpireLeases()
			s.Settle(1)
			s.WantPublished("in the end", 1)
		})
	}
}

// The planner of a repair dies, before or after it has taken a generation, and
// another run takes the export over: the next sweep ends the repair with what
// was published before. It does not wait until the run is too old.
func TestSweepEndsARepairThatWasOvertaken(t *testing.T) {
	for _, dies := range []string{"replace " + cursorKey, "ResumeRun"} {
		t.Run("at "+dies, func(t *testing.T) {
			s := published(t)
			s.Lose(second)
			d := (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return strings.HasPrefix(op, dies), false }}).Planner()
			_, _ = planner.Handle(t.Context(), d, s.Repair(1))
			if run := s.Run(1); run.Status != runstate.RunPlanning || run.Intent != wire.ActionRepair {
				t.Fatalf("the run is %s, to %s: the test no longer tests anything", run.Status, run.Intent)
			}
			s.ExpireLeases()
			s.MustPlan(s.Trigger(2))
			s.Drain()
			s.ExpireLeases()
			_ = s.Sweep() // it says that the run cannot be repaired any more
			if got := s.Run(1).Status; got != runstate.RunSucceeded {
				t.Fatalf("the run is %s", got)
			}
			s.Settle(1, 2)
			s.WantPublished("in the end", 2)
		})
	}
}
