package planner_test

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// lostTables are the ways in which a table forgets what a finalizer that has
// read it is about to publish; each is followed by a resume of the run. early is
// the table as it was before a task was done.
var lostTables = []struct {
	name string
	lose func(t *testing.T, s *stage.Stage, early func())
}{
	{"the table is dropped, the run triggered again and its planner killed", func(t *testing.T, s *stage.Stage, _ func()) {
		s.Table.DropAll()
		_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return op == "StartRun", true }}).Planner(), s.Trigger(1))
	}},
	{"the table is dropped, the run triggered again and a worker killed at its part", func(t *testing.T, s *stage.Stage, _ func()) {
		s.Table.DropAll()
		_, _ = s.Plan(s.Trigger(1))
		s.Deliver(stage.ChunkQueue, func(op string) (bool, bool) { return strings.HasPrefix(op, "create out/part"), true })
	}},
	{"the table is restored to a backup", func(_ *testing.T, _ *stage.Stage, early func()) { early() }},
	{"the table is dropped and then restored to a backup", func(_ *testing.T, s *stage.Stage, early func()) {
		s.Table.DropAll()
		early()
	}},
}

// A finalizer sleeps before each of its calls while the table is lost or put
// back, and the run is resumed. Whether it commits or the resume does, every row
// that is listed is there, and none is listed twice.
func TestResumeMovesNothingThatAnOlderGenerationCommits(t *testing.T) {
	for _, lost := range lostTables {
		t.Run(lost.name, func(t *testing.T) {
			zombies := make(map[contract.Generation]int)
			for n := 1; ; n++ {
				s := stage.New(t, 10)
				s.MustPlan(s.Trigger(1))
				early := s.Table.Snapshot()
				for s.Deliver(stage.ChunkQueue, nil) {
				}
				came := asleepAt(s, n, func() { _, _ = s.Finalize(1) }, func() {
					lost.lose(t, s, early)
					s.ExpireLeases()
					_, _ = s.Plan(s.Resume(1)) // refused once the run has ended
				})
				if !came {
					break
				}
				if s.Body("out/"+contract.SuccessName) != nil {
					s.WantPublished("when the sleeper has ended", 1)
				}
				s.Settle(1)
				m := s.WantPublished("in the end", 1)
				zombies[m.Generation]++
				if run := s.Run(1); run.Status != runstate.RunSucceeded || s.Fence().State != contract.FenceCommitted {
					t.Fatalf("asleep before call %d: the run is %s, the fence %s", n, run.Status, s.Fence().State)
				}
			}
			if zombies[1] == 0 || len(zombies) < 2 {
				t.Fatalf("committed, by generation: %v: the test no longer tests anything", zombies)
			}
		})
	}
}
