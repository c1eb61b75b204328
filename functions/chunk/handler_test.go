package chunk_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const first contract.TaskID = "000000"

// planned is a stage whose run 1 is running; its messages are lost.
func planned(t *testing.T) *stage.Stage {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.DropMessages()
	return s
}

func claim(s *stage.Stage, lease time.Duration) runstate.Lease {
	s.T.Helper()
	l := runstate.Lease{Run: s.RunID(1), Task: first, Token: s.NewID()}
	if _, err := s.Table.Claim(s.T.Context(), runstate.ClaimRequest{Run: l.Run, Task: first, Gen: 1, Token: l.Token, Now: s.Time, LeaseUntil: s.Time.Add(lease)}); err != nil {
		s.T.Fatal(err)
	}
	return l
}

// T6: what a worker makes of a task in each of its states. A task is read only
// by an attempt that has claimed it.
func TestClaim(t *testing.T) {
	for _, tc := range []struct {
		name     string
		so       func(s *stage.Stage)
		kind     wire.OutcomeKind
		after    int // seconds
		reads    int
		attempts int
		sends    int // finalizations
	}{
		{name: "pending", so: func(*stage.Stage) {}, reads: 1, attempts: 1},
		{name: "held by a live worker", so: func(s *stage.Stage) { claim(s, 90*time.Second) }, kind: wire.Retry, after: 91, attempts: 1},   // QUE-15
		{name: "held by a dead worker", so: func(s *stage.Stage) { claim(s, 0); s.Time = s.Time.Add(time.Second) }, reads: 1, attempts: 2}, // QUE-08
		{name: "failed, with attempts left", so: func(s *stage.Stage) { fail(s, false) }, reads: 1, attempts: 2},
		{name: "failed for good", so: func(s *stage.Stage) { fail(s, true) }, attempts: 3, sends: 1},
		{name: "its last worker died", so: func(s *stage.Stage) { fail(s, false); fail(s, false); claim(s, 0); s.Time = s.Time.Add(time.Second) }, attempts: 3, sends: 1},
		{name: "completed", so: func(s *stage.Stage) { _, _ = s.Extract(1, first); s.DB.Reads = 0 }, attempts: 1},
		{name: "of a newer generation", so: func(s *stage.Stage) {
			if _, err := s.Table.ResumeChunk(s.T.Context(), s.RunID(1), first, 2, 3, s.Time); err != nil {
				s.T.Fatal(err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := planned(t)
			tc.so(s)
			s.DropMessages()
			out, err := s.Extract(1, first)
			if err != nil || out.Kind != tc.kind || out.AfterSeconds != tc.after {
				t.Errorf("the worker answers %+v: %v", out, err)
			}
			if s.DB.Reads != tc.reads || s.Task(1, first).Attempts != tc.attempts || len(s.Queues.Pending(wire.FinalizeQueue)) != tc.sends {
				t.Errorf("%d reads, %d attempts, %d finalizations", s.DB.Reads, s.Task(1, first).Attempts, len(s.Queues.Pending(wire.FinalizeQueue)))
			}
		})
	}
}

func fail(s *stage.Stage, permanent bool) {
	s.T.Helper()
	c, err := s.Table.Fail(s.T.Context(), claim(s, time.Minute), fault.Failure{Message: "x"}, permanent, s.Time)
	if err != nil || permanent && !c.Exhausted() {
		s.T.Fatal(c, err)
	}
}

// Messages that are nobody's, or of a run that has no need of them any more.
func TestMessagesInVain(t *testing.T) {
	for _, tc := range []struct {
		name string
		so   func(s *stage.Stage)
		kind wire.OutcomeKind
	}{
		{"the table has lost the run", func(s *stage.Stage) { s.Table.DropAll() }, wire.Ack},
		{"the run has failed", func(s *stage.Stage) {
			if _, err := s.Table.FailRun(t.Context(), s.RunID(1), 1, fault.Failure{Message: "x"}, s.Time); err != nil {
				t.Fatal(err)
			}
		}, wire.Ack},
		{"another plan stands", func(s *stage.Stage) { // SEC-09
			key := contract.PlanKey("orders", s.RunID(1))
			s.Put(key, string(s.Body(key))+"\n")
		}, wire.Fatal},
		{"the plan says what this version does not know (QUE-21)", func(s *stage.Stage) {
			key := contract.PlanKey("orders", s.RunID(1))
			s.Put(key, strings.Replace(string(s.Body(key)), "{", `{"only_every":7,`, 1))
		}, wire.Retry},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := planned(t)
			m := wire.ChunkTask{Version: wire.Version, Run: s.Ref(1), Task: first}
			tc.so(s)
			out, _ := chunk.Handle(t.Context(), (&stage.Process{Stage: s}).Chunk(), m)
			if out.Kind != tc.kind || s.DB.Reads != 0 {
				t.Errorf("the worker answers %+v, %d reads", out, s.DB.Reads)
			}
		})
	}
}

// An answer of the table is lost, the call has happened: the worker recognises
// its own claim, completion or split, and the task is extracted once.
func TestLostAnswers(t *testing.T) {
	for _, op := range []string{"Claim", "Complete"} {
		t.Run(op, func(t *testing.T) {
			s := planned(t)
			lost := false
			s.Around = func(now string, perform func() error) error {
				err := perform()
				if !lost && strings.HasPrefix(now, op+" ") && err == nil {
					lost = true
					return s.Around(now, perform) // a driver asks again, and learns what the table holds
				}
				return err
			}
			out, err := s.Extract(1, first)
			if err != nil || out.Kind != wire.Ack || !lost {
				t.Fatalf("%+v: %v", out, err)
			}
			if c := s.Task(1, first); c.Status != runstate.ChunkCompleted || c.Attempts != 1 || s.DB.Reads != 1 {
				t.Fatalf("the task is %s after %d attempts, %d reads", c.Status, c.Attempts, s.DB.Reads)
			}
			leaf, err := s.Table.GetFanin(t.Context(), s.RunID(1), 0)
			if err != nil || len(leaf.Done) != 1 {
				t.Fatalf("the leaf holds %v (%v)", leaf.Done, err)
			}
		})
	}
}

// A worker that has lost its task completes nothing, whoever has it; its part
// stays unlisted (QUE-09).
func TestWorkerThatWasOvertaken(t *testing.T) {
	s := planned(t)
	overtaken := false
	s.Around = func(op string, perform func() error) error {
		if overtaken || op != "Complete 000000" {
			return perform()
		}
		overtaken = true
		s.Time = s.Time.Add(10 * time.Minute)
		s.DB.Rows, s.Around = 3, nil // the second attempt reads other rows
		if out, err := s.Extract(1, first); err != nil || out.Kind != wire.Ack {
			t.Errorf("%+v: %v", out, err)
		}
		return perform()
	}
	if out, err := s.Extract(1, first); err != nil || out.Kind != wire.Ack {
		t.Fatalf("%+v: %v", out, err)
	}
	c := s.Task(1, first)
	if c.Rows != 3 || c.Attempts != 2 || len(c.Parts) != 1 || string(s.Body("out/"+c.Parts[0].Path)) != "1\n2\n3\n" {
		t.Fatalf("the task is %+v", c)
	}
}

// T10: a failure that may pass comes back after a while, one that cannot sends
// the finalization; a store that does not answer is no attempt.
func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		name     string
		class    fault.Class
		kind     wire.OutcomeKind
		attempts int
		sends    int
	}{
		{"passing", fault.Retryable, wire.Retry, 1, 0},
		{"permanent", fault.Permanent, wire.Ack, 3, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := planned(t)
			s.DB.Fail = func(keyspace.Range) error { return fault.New(tc.class, "LAPSTRAKE_SOURCE_X", "no") }
			out, err := s.Extract(1, first)
			c := s.Task(1, first)
			if err == nil || out.Kind != tc.kind || c.Status != runstate.ChunkFailed || c.Attempts != tc.attempts || c.Error.Code != "LAPSTRAKE_SOURCE_X" || len(s.Queues.Pending(wire.FinalizeQueue)) != tc.sends {
				t.Errorf("%+v: %v; the task is %+v", out, err, c)
			}
		})
	}
	s := planned(t)
	s.Around = func(op string, perform func() error) error {
		if strings.HasPrefix(op, "get ") {
			return errors.New("timeout")
		}
		return perform()
	}
	if out, err := s.Extract(1, first); err == nil || out.Kind != wire.Retry || s.Task(1, first).Attempts != 0 {
		t.Errorf("a store that does not answer: %+v, %d attempts", out, s.Task(1, first).Attempts)
	}
}

// The database behind the reference is another one than was planned from.
func TestAnotherDatabaseIsNotRead(t *testing.T) {
	s := planned(t)
	s.DB.System = "2"
	if _, err := s.Extract(1, first); fault.CodeOf(err) != "LAPSTRAKE_STATE_SOURCE_CHANGED" || s.DB.Reads != 0 {
		t.Fatalf("%v, %d reads", err, s.DB.Reads)
	}
}

// A worker died between the completion of its task and its place in the fan-in
// tree: the message that comes again puts it there, and reads nothing.
func TestRedeliveryOfACompletedTaskDrivesTheFanIn(t *testing.T) {
	s := stage.New(t, 10)
	s.MustPlan(s.Trigger(1))
	s.Deliver(stage.ChunkQueue, func(op string) (bool, bool) { return strings.HasPrefix(op, "FaninAdd"), false })
	reads := s.DB.Reads
	if out, err := s.Extract(1, first); err != nil || out.Kind != wire.Ack || s.DB.Reads != reads {
		t.Fatalf("%+v: %v, %d reads", out, err, s.DB.Reads-reads)
	}
	leaf, err := s.Table.GetFanin(t.Context(), s.RunID(1), 0)
	if err != nil || len(leaf.Done) != 1 || leaf.Done[0] != string(first) {
		t.Fatalf("the leaf holds %v (%v)", leaf.Done, err)
	}
}
