package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

var cursorKey = contract.CursorKey("orders")

// reanchor starts run n with a new fence document.
func reanchor(s *stage.Stage, n int) wire.Trigger {
	t := s.Trigger(n)
	t.RunID, t.Reanchor = s.RunID(n), true
	return t
}

// An export whose fence document is gone, or cannot be read, is refused unless
// the trigger asks for a new one; then it goes on above every generation that
// has left a trace, and what could not be read is kept.
func TestReanchor(t *testing.T) {
	for _, tc := range []struct {
		name string
		lose func(s *stage.Stage)
		code fault.Code
	}{
		{"the document is gone", func(s *stage.Stage) { s.Lose(cursorKey) }, "LAPSTRAKE_STATE_CURSOR_MISSING"},
		{"the document is truncated", func(s *stage.Stage) { s.Put(cursorKey, `{"cursor_version":1,`) }, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := published(t)
			s.MustPlan(s.Trigger(2))
			s.Settle(2)
			tc.lose(s)
			if _, err := s.Plan(s.Trigger(3)); fault.CodeOf(err) != tc.code || fault.ExitCode(err) != fault.ExitRefused {
				t.Fatalf("without asking: %v", err)
			}
			unnamed := reanchor(s, 4)
			unnamed.RunID = ""
			if _, err := s.Plan(unnamed); fault.CodeOf(err) != "LAPSTRAKE_RUN_NO_RUN_ID" {
				t.Fatalf("by a schedule: %v", err)
			}
			s.MustPlan(reanchor(s, 5))
			if doc := s.Fence(); doc.Generation != 3 || doc.OwnerRunID != s.RunID(5) || !doc.CommittedBy.Names(s.Body(s.Sidecar(2))) {
				t.Fatalf("the new document is %+v", doc)
			}
			s.Settle(5)
			s.WantPublished("the run that re-anchored", 5)
			if kept := len(s.Keys("_lapstrake/orders/cursor-unreadable-")); (kept == 1) != (tc.code == "LAPSTRAKE_STATE_CURSOR_UNREADABLE") {
				t.Fatalf("%d copies of the document are kept", kept)
			}
			s.MustPlan(s.Trigger(6))
			s.Settle(6)
			s.WantPublished("the next run", 6)
		})
	}
}

// A document that is there is never replaced, and a first run needs none.
func TestReanchorOfWhatIsNotLost(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(reanchor(s, 1))
	s.Settle(1)
	if m := s.WantPublished("a first run", 1); m.Generation != 1 {
		t.Fatalf("generation %d", m.Generation)
	}
	s.MustPlan(s.Trigger(2))
	if answer := s.MustPlan(reanchor(s, 3)); answer.Status != wire.RefusedTrigger {
		t.Fatalf("a live run is answered with %+v", answer)
	}
}

// The document is deleted, and a run makes a new one, before every call that a
// finalizer of the lost document makes. The old run has committed before, or
// never does; what it could overwrite stays.
func TestZombieOfALostDocument(t *testing.T) {
	for n := 1; ; n++ {
		s := extracted(t)
		calls, last := 0, ""
		s.Around = func(op string, perform func() error) error {
			if calls++; calls != n {
				return perform()
			}
			last, s.Around = op, nil
			s.ExpireLeases()
			if s.Body(cursorKey) != nil {
				s.Lose(cursorKey)
			}
			s.MustPlan(reanchor(s, 2))
			for s.Deliver(stage.ChunkQueue, nil) {
			}
			if _, err := s.Finalize(2); err != nil {
				t.Fatalf("before call %d (%s): %v", n, op, err)
			}
			return perform()
		}
		_, _ = s.Finalize(1)
		s.Around = nil
		if calls < n {
			if n < 15 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n)
			}
			return
		}
		when := fmt.Sprintf("a document made anew before call %d (%s)", n, last)
		s.Settle(1, 2)
		if m := s.WantPublished(when, 2); m.Generation != 2 {
			t.Fatalf("%s: generation %d", when, m.Generation)
		}
		want := runstate.RunSuperseded
		if m := s.Manifest(s.Sidecar(1)); m.Status == contract.StatusSuccess {
			want = runstate.RunSucceeded
		} else if !m.Tombstone() {
			t.Fatalf("%s: the old run is not decided", when)
		}
		if got := s.Run(1).Status; got != want {
			t.Fatalf("%s: the old run is %s, want %s", when, got, want)
		}
	}
}

// The runs that are sealed are settled by their finalizers, without a sweep.
func TestReanchorSettlesWhatItSeals(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.DropMessages()
	s.ExpireLeases()
	s.Lose(cursorKey)
	s.MustPlan(reanchor(s, 2))
	s.Drain()
	if got := s.Run(1).Status; got != runstate.RunSuperseded {
		t.Fatalf("the sealed run is %s", got)
	}
}

// A planner that resumed the old run, to a generation that nothing tells of any
// more, wakes up after the new run has stored its parts: it moves none of them.
func TestSleepingResumeOfALostDocumentMovesNothing(t *testing.T) {
	s := stage.New(t, 10)
	broken := true
	s.DB.Fail = func(r keyspace.Range) error {
		if broken && r.UpTo == nil {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_TABLE_MISSING", "gone")
		}
		return nil
	}
	s.MustPlan(s.Trigger(1))
	s.Settle(1)
	broken = false
	for range 2 { // two resumes that die before they leave a trace
		_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) { return strings.HasPrefix(op, "ResumeChunk"), false }}).Planner(), s.Resume(1))
		s.ExpireLeases()
	}
	slept := false
	s.Around = func(op string, perform func() error) error {
		if slept || !strings.HasPrefix(op, "create "+contract.RecordKey("orders", s.RunID(1), 1)) { // its records would tell of its generation
			return perform()
		}
		slept, s.Around = true, nil
		s.ExpireLeases()
		s.Lose(cursorKey)
		for _, trace := range s.Keys(contract.GenerationsDir("orders")) {
			s.Lose(trace)
		}
		s.MustPlan(reanchor(s, 2))
		for s.Deliver(stage.ChunkQueue, nil) {
		}
		return perform()
	}
	_, _ = s.Plan(s.Resume(1))
	s.Around = nil
	for _, key := range s.Keys("out/_quarantine/") {
		if strings.Contains(key, "part-g") {
			t.Errorf("a part of the new run was moved to %s", key)
		}
	}
	s.Settle(2)
	s.WantPublished("in the end", 2)
	if !slept {
		t.Fatal("the resume does not come to what it moves: the test no longer tests anything")
	}
}

// The re-anchoring planner dies at every call in turn, with the call landed or
// not; its trigger comes again.
func TestCrashAtEveryCallOfAReanchor(t *testing.T) {
	for n := 1; ; n++ {
		s := extracted(t)
		s.DropMessages()
		s.ExpireLeases()
		s.Lose(cursorKey)
		calls := 0
		_, _ = planner.Handle(t.Context(), (&stage.Process{Stage: s, Dies: func(string) (bool, bool) { calls++; return calls == n, n%2 == 0 }}).Planner(), reanchor(s, 2))
		for range 3 {
			if _, err := s.Plan(reanchor(s, 2)); err == nil {
				break
			}
		}
		s.Settle(2)
		s.WantPublished(fmt.Sprintf("after a crash in call %d", n), 2)
		s.Settle(1)
		if got := s.Run(1).Status; got != runstate.RunSuperseded {
			t.Fatalf("after a crash in call %d the old run is %s", n, got)
		}
		if calls < n {
			if n < 20 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n)
			}
			return
		}
	}
}
