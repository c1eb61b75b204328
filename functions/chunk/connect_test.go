package chunk_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// OPS-06: more workers than a server has places for. Whoever gets none waits
// for one inside its attempt, for a while that ends well before its deadline;
// every other failure ends the attempt at once.
func TestAServerWithoutAPlaceIsAskedAgain(t *testing.T) {
	for _, tc := range []struct {
		name     string
		code     fault.Code
		refusals int // before there is a place
		deadline time.Duration
		status   runstate.ChunkStatus
		least    time.Duration // that the worker waited
		most     time.Duration
	}{
		{name: "there is a place after a while", code: source.CodeOverloaded, refusals: 4, status: runstate.ChunkCompleted, least: 7 * time.Second, most: 15 * time.Second},
		{name: "there is none for long", code: source.CodeOverloaded, refusals: 1000, status: runstate.ChunkFailed, least: 4 * time.Minute, most: 5 * time.Minute},
		{name: "half of the time until the deadline is kept", code: source.CodeOverloaded, refusals: 1000, deadline: 40 * time.Second, status: runstate.ChunkFailed, least: 7 * time.Second, most: 20 * time.Second},
		{name: "nobody listens", code: "LAPSTRAKE_SOURCE_UNREACHABLE", refusals: 1, status: runstate.ChunkFailed},
		{name: "a wrong password", code: "LAPSTRAKE_SOURCE_AUTH", refusals: 1, status: runstate.ChunkFailed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, opened := planned(t), 0
				deps := (&stage.Process{Stage: s}).Chunk()
				deps.Clock = clock.System{}
				deps.Sources = source.OpenerFunc(func(ctx context.Context, cfg exportconfig.Source) (source.Source, error) {
					if opened++; opened <= tc.refusals {
						return nil, fault.New(fault.Retryable, tc.code, "no")
					}
					return s.DB.Open(ctx, cfg)
				})
				ctx := t.Context()
				if tc.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.deadline)
					defer cancel()
				}
				began := clock.System{}.Now()
				_, err := chunk.Handle(ctx, deps, wire.ChunkTask{Version: wire.Version, Run: s.Ref(1), Task: first})
				waited := clock.System{}.Now().Sub(began)
				c := s.Task(1, first)
				if c.Status != tc.status || c.Attempts != 1 || (err == nil) != (tc.status == runstate.ChunkCompleted) {
					t.Errorf("the task is %s after %d attempts: %v", c.Status, c.Attempts, err)
				}
				if waited < tc.least || waited > tc.most {
					t.Errorf("the worker waited %s", waited)
				}
			})
		})
	}
}

// A worker that has lost its task no longer waits for a place.
func TestAWorkerThatWasOvertakenDoesNotWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := planned(t)
		deps := (&stage.Process{Stage: s}).Chunk()
		deps.Clock, deps.Lease, deps.Heartbeat = clock.System{}, 20*time.Second, 10*time.Second
		deps.Sources = source.OpenerFunc(func(context.Context, exportconfig.Source) (source.Source, error) {
			if c := s.Task(1, first); c.Attempts == 1 { // somebody else claims the task
				s.Time = c.LeaseUntil.Add(time.Second)
				claim(s, time.Hour)
			}
			return nil, fault.New(fault.Retryable, source.CodeOverloaded, "no")
		})
		began := clock.System{}.Now()
		out, err := chunk.Handle(t.Context(), deps, wire.ChunkTask{Version: wire.Version, Run: s.Ref(1), Task: first})
		if waited := (clock.System{}).Now().Sub(began); err != nil || out.Kind != wire.Ack || waited > 10*time.Second {
			t.Errorf("%+v: %v, after %s", out, err, waited)
		}
		if c := s.Task(1, first); c.Status != runstate.ChunkRunning || c.Attempts != 2 {
			t.Errorf("the task is %s after %d attempts", c.Status, c.Attempts)
		}
	})
}
