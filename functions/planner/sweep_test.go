package planner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// claim takes a task of run 1 as a worker does, with a lease of so long.
func claim(s *stage.Stage, task contract.TaskID, lease time.Duration) runstate.Lease {
	s.T.Helper()
	l := runstate.Lease{Run: s.RunID(1), Task: task, Token: "t-" + string(task) + s.NewID()}
	if _, err := s.Table.Claim(s.T.Context(), runstate.ClaimRequest{Run: l.Run, Task: task, Gen: s.Run(1).Gen, Token: l.Token, Now: s.Time, LeaseUntil: s.Time.Add(lease)}); err != nil {
		s.T.Fatal(err)
	}
	return l
}

func failTask(s *stage.Stage, task contract.TaskID, permanent bool) {
	s.T.Helper()
	if _, err := s.Table.Fail(s.T.Context(), claim(s, task, time.Minute), fault.Failure{Class: fault.Retryable, Message: "reset"}, permanent, s.Time); err != nil {
		s.T.Fatal(err)
	}
}

// sent lists what a sweep has sent: tasks by id, and "finalize".
func sent(s *stage.Stage) []string {
	var out []string
	for _, m := range s.Queues.Pending(stage.ChunkQueue) {
		task, err := wire.Decode[wire.ChunkTask](m.Body)
		if err != nil {
			s.T.Fatal(err)
		}
		out = append(out, string(task.Task))
	}
	slices.Sort(out)
	for range s.Queues.Pending(wire.FinalizeQueue) {
		out = append(out, "finalize")
	}
	return out
}

// One sweep over a run in each of its states sends what got lost, and nothing
// else (architecture §2.8, a to d, g).
func TestSweepOfARunningRun(t *testing.T) {
	for _, tc := range []struct {
		name   string
		so     func(s *stage.Stage)
		after  time.Duration
		sends  []string
		leased bool // the run's lease is extended
	}{
		{"(a) a worker's lease has ended", func(s *stage.Stage) {
			claim(s, "000000", time.Minute)
			claim(s, "000001", time.Hour)
			claim(s, "000002", time.Hour)
		}, 90 * time.Second, []string{"000000"}, true},
		{"a worker's lease is live", func(s *stage.Stage) { claim(s, "000000", time.Hour) }, 30 * time.Minute, nil, true},
		{"(b) pending tasks, and nothing has changed for long", func(*stage.Stage) {}, 3 * time.Minute, []string{"000000", "000001", "000002"}, true},
		{"pending tasks, while others change", func(s *stage.Stage) { _, _ = s.Extract(1, "000000") }, time.Minute, nil, true},
		{"(b2) a failed task whose message is overdue", func(s *stage.Stage) {
			failTask(s, "000000", false)
			claim(s, "000001", time.Hour)
			claim(s, "000002", time.Hour)
		}, 3 * time.Minute, []string{"000000"}, true},
		{"a failed task whose message is on its way", func(s *stage.Stage) { failTask(s, "000000", false); claim(s, "000001", time.Hour) }, time.Minute, nil, true},
		{"(c) a task that has failed for good", func(s *stage.Stage) { failTask(s, "000000", true); claim(s, "000001", time.Hour) }, time.Second, []string{"finalize"}, true},
		{"(c) a task whose last worker died", func(s *stage.Stage) {
			failTask(s, "000000", false)
			failTask(s, "000000", false)
			claim(s, "000000", time.Second)
			claim(s, "000001", time.Hour)
		}, 2 * time.Second, []string{"finalize"}, true},
		{"(d) completed, and nobody finalizes", complete, 3 * time.Minute, []string{"finalize"}, true},
		{"completed a moment ago", complete, time.Minute, nil, true},
		{"a completed task without its place in the tree", func(s *stage.Stage) {
			s.Deliver(stage.ChunkQueue, func(op string) (bool, bool) { return strings.HasPrefix(op, "FaninAdd"), false })
			claim(s, "000001", time.Hour)
			claim(s, "000002", time.Hour)
		}, 3 * time.Minute, []string{"000000"}, true},
		{"nothing moves for long: the lease runs out", func(*stage.Stage) {}, 16 * time.Minute, []string{"000000", "000001", "000002"}, false}, // QUE-24
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			s.MustPlan(s.Trigger(1))
			tc.so(s)
			s.DropMessages()
			s.Time = s.Time.Add(tc.after)
			if err := s.Sweep(); err != nil {
				t.Fatal(err)
			}
			if got := sent(s); !slices.Equal(got, tc.sends) {
				t.Errorf("sent: %v, want %v", got, tc.sends)
			}
			if live := s.Run(1).LeaseUntil.Equal(s.Time.Add(planner.DefaultSettings().RunLease)); live != tc.leased {
				t.Errorf("the lease is extended: %v, want %v", live, tc.leased)
			}
		})
	}
}

// complete completes every task, and loses what follows from it.
func complete(s *stage.Stage) {
	s.T.Helper()
	for _, id := range []contract.TaskID{"000000", "000001", "000002"} {
		if _, err := s.Extract(1, id); err != nil {
			s.T.Fatal(err)
		}
	}
	leaf, err := s.Table.GetFanin(s.T.Context(), s.RunID(1), 1)
	if err != nil || !leaf.Full() {
		s.T.Fatalf("the leaf holds %v (%v)", leaf, err)
	}
}

// (e) A planner that died is replaced, in the same invocation, by what it was
// doing: a run, a resume or a repair.
func TestSweepOfAPlanningRun(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(t *testing.T) (*stage.Stage, wire.Trigger)
		gen  contract.Generation
	}{
		{"a run", func(t *testing.T) (*stage.Stage, wire.Trigger) { s := stage.New(t, 10); return s, s.Trigger(1) }, 1},
		{"a resume", func(t *testing.T) (*stage.Stage, wire.Trigger) {
			s := abandoned(t, modes[0].set)
			return s, s.Resume(1)
		}, 3},
		{"a repair", func(t *testing.T) (*stage.Stage, wire.Trigger) {
			s := published(t)
			s.Lose(second)
			return s, s.Repair(1)
		}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, trigger := tc.make(t)
			_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return op == "StartRun", false }}).Planner(), trigger)
			intent := s.Run(1).Intent
			if err := s.Sweep(); err != nil {
				t.Fatal(err)
			}
			if got := s.Run(1); got.Status != runstate.RunPlanning {
				t.Fatalf("while its lease is live the run becomes %s", got.Status)
			}
			s.ExpireLeases()
			if err := s.Sweep(); err != nil {
				t.Fatal(err)
			}
			if got := s.Run(1); got.Status != runstate.RunRunning || got.Gen != tc.gen || got.Intent != intent {
				t.Fatalf("the run is %s at generation %d with intent %s, want running at %d with %s", got.Status, got.Gen, got.Intent, tc.gen, intent)
			}
			s.Settle(1)
			s.WantPublished("in the end", 1)
		})
	}
}

// (f) A run that has not ended in its time fails, unless it is frozen: that one
// is sent again. A run that has ended leaves the list of active ones.
func TestSweepOfAnOldRun(t *testing.T) {
	const day = 25 * time.Hour
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.Time = s.Time.Add(day)
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if got := s.Run(1); got.Status != runstate.RunFailed || got.Error.Code != "LAPSTRAKE_RUN_TIMEOUT" || s.Fence().State != contract.FenceReleased {
		t.Fatalf("the run is %s, the fence %s", got.Status, s.Fence().State)
	}

	s = stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	complete(s)
	s.DropMessages()
	if _, err := s.Table.BeginFinalize(t.Context(), s.RunID(1), 1, s.Time); err != nil {
		t.Fatal(err)
	}
	if err := s.Sweep(); err != nil || len(sent(s)) != 0 {
		t.Fatalf("a finalization that has begun is sent again at once: %v (%v)", sent(s), err)
	}
	s.Time = s.Time.Add(day)
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if got := s.Run(1).Status; got != runstate.RunFinalizing || !slices.Equal(sent(s), []string{"finalize"}) {
		t.Fatalf("the frozen run is %s, sent: %v", got, sent(s))
	}
	s.Settle(1)
	if active, err := s.Table.ListActive(t.Context()); err != nil || len(active) != 0 {
		t.Fatalf("active: %v (%v)", active, err)
	}
}

// A task of an older generation that its resume has not seen is brought to the
// run's, and sent with it.
func TestSweepResumesATaskOfAnOlderGeneration(t *testing.T) {
	s, _ := halfDone(t)
	if _, err := planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return strings.HasPrefix(op, "ResumeChunk"), false }}).Planner(), s.Resume(1)); err == nil {
		t.Fatal("the planner lives")
	}
	run := s.Run(1)
	if _, err := s.Table.StartRun(t.Context(), run.RunID, runstate.StartRecord{
		Gen: 2, TriggerID: run.TriggerID, PlanFingerprint: run.PlanFingerprint, TaskCount: 3, Shards: 2, FaninK: 2, MaxAttempts: 3, LeaseUntil: s.Time,
	}); err != nil {
		t.Fatal(err)
	}
	s.Time = s.Time.Add(3 * time.Minute)
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []contract.TaskID{child, "000002"} {
		if c := s.Task(1, id); c.Gen != 2 {
			t.Errorf("task %s is of generation %d", id, c.Gen)
		}
	}
	s.Settle(1)
	s.WantPublished("in the end", 1)
}
