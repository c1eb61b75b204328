package planner_test

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// wantRepairedPartsThere fails the test if run 1 has been repaired and a part
// that its sidecar lists is not in the bucket.
func wantRepairedPartsThere(t *testing.T, s *stage.Stage, when string) (repaired bool) {
	t.Helper()
	m := s.Manifest(s.Sidecar(1))
	for _, part := range m.Parts {
		if m.Generation == 2 && s.Body("out/"+part.Path) == nil {
			t.Fatalf("%s: the repaired sidecar lists %s, which is gone", when, part.Path)
		}
	}
	return m.Generation == 2
}

// The finalizer of a forced repair sleeps before each of its calls while the
// next run of the export takes the fence and is resumed, which moves what no
// manifest lists. Whichever of the two comes first, the sidecar of the repaired
// run lists no part that was moved.
func TestResumeMovesNothingThatARepairOfTheRunBeforeCommits(t *testing.T) {
	for _, lost := range []struct {
		name string
		lose func(s *stage.Stage)
	}{
		{"the table is as it was", func(*stage.Stage) {}},
		{"the table is lost", func(s *stage.Stage) { s.Table.DropAll() }},
	} {
		t.Run(lost.name, func(t *testing.T) {
			outcomes, moved := make(map[bool]int), 0
			for n := 1; ; n++ {
				s := published(t)
				s.Lose(second)
				s.MustPlan(s.Repair(1))
				for s.Deliver(stage.ChunkQueue, nil) {
				}
				came := asleepAt(s, n, func() { _, _ = s.Finalize(1) }, func() {
					lost.lose(s)
					s.ExpireLeases()
					next := s.Trigger(2)
					next.OnConflict = "supersede"
					s.MustPlan(next)
					s.ExpireLeases()
					s.MustPlan(s.Resume(2))
				})
				if !came {
					break
				}
				outcomes[wantRepairedPartsThere(t, s, "when the sleeper has ended")]++
				for _, key := range s.Keys("out/_quarantine/") {
					if strings.Contains(key, "part-g000002-") {
						moved++
					}
				}
				s.Settle(2)
				s.WantPublished("in the end", 2)
				wantRepairedPartsThere(t, s, "in the end")
				if run := s.Run(2); run.Status != runstate.RunSucceeded {
					t.Fatalf("asleep before call %d: run 2 is %s", n, run.Status)
				}
			}
			if outcomes[true] == 0 || outcomes[false] == 0 || moved == 0 {
				t.Fatalf("repaired: %v, parts moved: %d: the test no longer tests anything", outcomes, moved)
			}
		})
	}
}
