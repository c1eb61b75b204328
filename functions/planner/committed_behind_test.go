package planner_test

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// A finalizer sleeps before each of its calls while the table is lost and the
// run lives again, and fails; whoever fails it dies before it gives the fence
// back. If the sleeper then commits, the run has succeeded: nobody else comes.
func TestFinalizerThatCommitsBehindAFailedLifeSettlesTheRun(t *testing.T) {
	outcomes := make(map[runstate.RunStatus]int)
	for n := 1; ; n++ {
		s := extracted(t)
		failed := false
		came := asleepAt(s, n, func() { _, _ = s.Finalize(1) }, func() {
			if s.Body(s.Sidecar(1)) != nil {
				return
			}
			s.DropMessages()
			s.Table.DropAll()
			s.MustPlan(s.Trigger(1))
			s.DB.Fail = func(keyspace.Range) error {
				return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_TABLE_MISSING", "gone")
			}
			s.DrainDying(func(op string) (dies, landed bool) {
				release := strings.HasPrefix(op, "replace _lapstrake/orders/cursor.json")
				failed = failed || release
				return release, false
			})
			s.DropMessages()
		})
		if !came {
			break
		}
		if !failed {
			continue
		}
		run, committed := s.Run(1), s.Body(s.Sidecar(1)) != nil
		outcomes[run.Status]++
		if committed != (run.Status == runstate.RunSucceeded) || committed != (s.Fence().State == contract.FenceCommitted) {
			t.Fatalf("asleep before call %d: committed %v, the run is %s, the fence %s", n, committed, run.Status, s.Fence().State)
		}
		if committed {
			s.WantPublished("when the sleeper has ended", 1)
		}
	}
	if outcomes[runstate.RunSucceeded] == 0 || outcomes[runstate.RunFailed] == 0 {
		t.Fatalf("ended: %v: the test no longer tests anything", outcomes)
	}
}
