package planner_test

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// A run was repaired, and its sidecar of before is put back: it lists what was
// damaged. While the run is the last one it is repaired again; after that the
// next run is the export's, whatever the sidecar says.
func TestOlderSidecarOfARepairedRun(t *testing.T) {
	for _, d := range damages {
		s := published(t)
		old := string(s.Body(s.Sidecar(1)))
		d.do(s)
		s.MustPlan(s.Repair(1))
		s.Settle(1)
		s.WantPublished("after the repair", 1)
		s.Put(s.Sidecar(1), old)
		s.MustPlan(s.Repair(1))
		s.Settle(1)
		s.WantPublished(d.name+", repaired again", 1)
		s.Put(s.Sidecar(1), old)
		s.MustPlan(s.Trigger(2))
		s.Settle(2)
		s.WantPublished(d.name+", the next run", 2)
		if _, err := s.Plan(s.Repair(1)); fault.CodeOf(err) != "LAPSTRAKE_RUN_NOT_LAST" {
			t.Fatalf("%s: %v", d.name, err)
		}
	}
}
