package planner_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// A planner that works for hours keeps a short lease alive; one that was killed
// is known to be dead a lease later. A resume that has the run in between is
// left alone.
func TestPlannerAtWorkKeepsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(t, 10)
		s.Time = clock.System{}.Now()
		deps := (&stage.Process{Stage: s}).Planner()
		deps.Clock = clock.System{}
		deps.Settings.PlannerTimeout, deps.Settings.RunLease, deps.Settings.Heartbeat = 5*time.Minute, 5*time.Minute, time.Minute
		s.Around = func(op string, perform func() error) error {
			if strings.HasPrefix(op, "create "+contract.RunsDir("orders")) { // the plan is long in the making
				time.Sleep(2 * time.Hour)
				if left := s.Run(1).LeaseUntil.Sub(clock.System{}.Now()); left < 3*time.Minute || left > 5*time.Minute {
					t.Errorf("after two hours the lease lasts another %v", left)
				}
			}
			return perform()
		}
		if _, err := planner.Handle(t.Context(), deps, s.Trigger(1)); err != nil {
			t.Fatal(err)
		}
		until := s.Run(1).LeaseUntil
		time.Sleep(time.Hour)
		if got := s.Run(1).LeaseUntil; !got.Equal(until) {
			t.Errorf("a planner that has ended extends the lease from %v to %v", until, got)
		}
	})
}

func TestPlannerDoesNotExtendTheLeaseOfAResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(t, 10)
		deps := (&stage.Process{Stage: s}).Planner()
		deps.Clock = clock.System{}
		deps.Settings.PlannerTimeout, deps.Settings.RunLease, deps.Settings.Heartbeat = 5*time.Minute, 5*time.Minute, 10*time.Minute // it sleeps through its lease
		var claimed runstate.Run
		s.Around = func(op string, perform func() error) error {
			if strings.HasPrefix(op, "create "+contract.RunsDir("orders")) && claimed.RunID == "" {
				time.Sleep(6 * time.Minute)
				var err error
				if claimed, err = s.Table.ClaimResume(context.Background(), s.RunID(1), runstate.ResumeClaim{RequestID: "r", Now: clock.System{}.Now(), LeaseUntil: clock.System{}.Now().Add(time.Hour)}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(30 * time.Minute)
			}
			return perform()
		}
		_, _ = planner.Handle(t.Context(), deps, s.Trigger(1))
		if got := s.Run(1).LeaseUntil; claimed.RunID == "" || !got.Equal(claimed.LeaseUntil) {
			t.Errorf("the lease of the resume was changed from %v to %v", claimed.LeaseUntil, got)
		}
	})
}
