package planner_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// waiting is run 1 of a workflow that waits for a token.
func waiting(s *stage.Stage, token string) wire.Trigger {
	t := s.Trigger(1)
	t.Callback = &wire.Callback{Kind: wire.StepFunctions, Token: token}
	return t
}

// told lists what callbacks were told, once each: answers may come twice.
func told(s *stage.Stage) []string {
	var all []string
	for _, e := range s.Events {
		if e.Callback != nil && e.Kind != notify.AtWork {
			all = append(all, e.Callback.Token+" "+e.Status)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func wantTold(t *testing.T, s *stage.Stage, want ...string) {
	t.Helper()
	if got := told(s); !slices.Equal(got, want) {
		t.Errorf("callbacks were told %q, want %q", got, want)
	}
}

func TestTheCallbackOfARunThatSucceeds(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(waiting(s, "a"))
	s.Settle(1)
	wantTold(t, s, "a success")
	e := s.Events[len(s.Events)-1]
	if e.Rows != 10 || e.Verdict != "passed" || e.Manifest != "memory://bucket/"+s.Sidecar(1) || e.ManifestFingerprint == "" {
		t.Errorf("told %+v", e)
	}
}

func TestTheCallbackOfARunThatFails(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(waiting(s, "a"))
	failTask(s, "000001", true)
	s.DropMessages()
	s.Settle(1)
	wantTold(t, s, "a failed")
	if e := s.Events[len(s.Events)-1]; e.Failure == nil || e.Failure.Message == "" {
		t.Errorf("told %+v", e)
	}
}

func TestATriggerThatComesAgain(t *testing.T) {
	for _, tc := range []struct {
		name string
		so   func(s *stage.Stage)
		want []string
	}{
		{"while the run is at work: the new token is answered at its end", func(s *stage.Stage) {
			s.MustPlan(waiting(s, "b"))
			s.Settle(1)
		}, []string{"b success"}},
		{"after the run has succeeded: at once", func(s *stage.Stage) {
			s.Settle(1)
			s.MustPlan(waiting(s, "b"))
		}, []string{"a success", "b success"}},
		{"after the run has failed: at once", func(s *stage.Stage) {
			failTask(s, "000001", true)
			s.Settle(1)
			s.MustPlan(waiting(s, "b"))
		}, []string{"a failed", "b failed"}},
		{"while another run is active: the other is refused", func(s *stage.Stage) {
			other := s.Trigger(2)
			other.Callback = &wire.Callback{Kind: wire.StepFunctions, Token: "b"}
			if answer := s.MustPlan(other); !answer.Skipped {
				s.T.Fatalf("answered %+v", answer)
			}
		}, []string{"b refused"}},
		{"with an order that cannot be followed", func(s *stage.Stage) {
			wrong := waiting(s, "b")
			wrong.Export = "nothing"
			if _, err := s.Plan(wrong); err == nil {
				s.T.Fatal("no error")
			}
		}, []string{"b failed"}},
		{"from another run that takes the export over", func(s *stage.Stage) {
			other := s.Trigger(2)
			other.OnConflict = "supersede"
			s.MustPlan(other)
			s.Settle(1, 2)
		}, []string{"a superseded"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			s.MustPlan(waiting(s, "a"))
			tc.so(s)
			wantTold(t, s, tc.want...)
		})
	}
}

// The process that ends the run dies in any of its calls: queue and sweep tell
// the callback in the end.
func TestNoCrashLeavesACallbackWaiting(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		ends       func(s *stage.Stage, dies func(op string) (dies, landed bool))
	}{
		{"a finalizer that publishes", "a success", func(s *stage.Stage, dies func(string) (bool, bool)) {
			for s.Deliver(stage.ChunkQueue, nil) {
			}
			s.DrainDying(dies)
		}},
		{"a finalizer that fails its run", "a failed", func(s *stage.Stage, dies func(string) (bool, bool)) {
			failTask(s, "000001", true)
			s.DropMessages()
			if err := s.Sweep(); err != nil {
				s.T.Fatal(err)
			}
			s.DrainDying(dies)
		}},
		{"a sweep that fails a run that is too old", "a failed", func(s *stage.Stage, dies func(string) (bool, bool)) {
			s.DropMessages()
			s.Time = s.Time.Add(48 * time.Hour)
			p := &stage.Process{Stage: s, Dies: dies}
			_, _ = planner.Handle(s.T.Context(), p.Planner(), wire.Trigger{Version: wire.Version, Action: wire.ActionSweep})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for dying := 1; ; dying++ {
				s := stage.New(t, 6)
				s.MustPlan(waiting(s, "a"))
				calls := 0
				tc.ends(s, func(string) (bool, bool) { calls++; return calls == dying, true })
				for range 10 {
					s.Time = s.Time.Add(10 * time.Minute)
					s.Drain()
					if err := s.Sweep(); err != nil {
						t.Log(err)
					}
				}
				if got := told(s); !slices.Equal(got, []string{tc.want}) {
					t.Fatalf("death in call %d: told %q, the run is %s", dying, got, s.Run(1).Status)
				}
				if calls < dying {
					if dying < 4 {
						t.Fatalf("only %d calls: the test tests nothing", calls)
					}
					return
				}
			}
		})
	}
}

type notifierFunc func(context.Context, notify.Event) error

func (f notifierFunc) Notify(ctx context.Context, e notify.Event) error { return f(ctx, e) }

func TestAnErrorThatMayPassAnswersNothing(t *testing.T) {
	s := stage.New(t, 10)
	s.Around = func(op string, perform func() error) error {
		if op == "StartRun" {
			return fault.New(fault.Retryable, "LAPSTRAKE_STATE_THROTTLED", "too many requests")
		}
		return perform()
	}
	if _, err := s.Plan(waiting(s, "a")); err == nil {
		t.Fatal("no error")
	}
	wantTold(t, s)
	s.Around = nil
	s.ExpireLeases()
	s.Settle(1)
	wantTold(t, s, "a success")
}

func TestASweepSaysThatARunIsAtWork(t *testing.T) {
	for _, tc := range []struct {
		name  string
		token bool
		so    func(s *stage.Stage)
		want  int
	}{
		{"a run whose worker is alive", true, func(s *stage.Stage) { claim(s, "000000", time.Hour); s.Time = s.Time.Add(10 * time.Minute) }, 1},
		{"a run in which nothing moves", true, func(s *stage.Stage) { s.Time = s.Time.Add(20 * time.Minute) }, 0},
		{"a run without a callback", false, func(s *stage.Stage) { claim(s, "000000", time.Hour) }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			trigger := s.Trigger(1)
			if tc.token {
				trigger = waiting(s, "a")
			}
			s.MustPlan(trigger)
			tc.so(s)
			if err := s.Sweep(); err != nil {
				t.Fatal(err)
			}
			beats := 0
			for _, e := range s.Events {
				if e.Kind == notify.AtWork && e.Callback.Token == "a" {
					beats++
				}
			}
			if beats != tc.want {
				t.Errorf("%d heartbeats, want %d", beats, tc.want)
			}
			wantTold(t, s)
		})
	}
}

// A callback that is not reached keeps the finalizer's message until it is.
func TestACallbackThatIsNotReachedIsToldLater(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(waiting(s, "a"))
	for s.Deliver(stage.ChunkQueue, nil) {
	}
	p := &stage.Process{Stage: s}
	deps := p.Finalizer()
	deps.Notifier = notifierFunc(func(context.Context, notify.Event) error { return notify.ErrOwed })
	out, err := finalizer.Handle(t.Context(), deps, wire.FinalizeTask{Version: wire.Version, Run: s.Ref(1)})
	if out.Kind != wire.Retry || !errors.Is(err, notify.ErrOwed) {
		t.Fatalf("%+v, %v", out, err)
	}
	if r := s.Run(1); r.Status != runstate.RunSucceeded || r.Notified {
		t.Fatalf("the run is %s, notified %v", r.Status, r.Notified)
	}
	s.Settle(1)
	wantTold(t, s, "a success")
}
