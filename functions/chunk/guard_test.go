package chunk_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Guards of the worker that another one stands behind, each in the one state in
// which the other does not help.

// beating is a clock whose waits end when the test says so.
type beating struct {
	*stage.Stage
	beats chan time.Time
}

func (b beating) After(time.Duration) <-chan time.Time { return b.beats }

// work calls a worker whose heartbeats the test sends.
func work(s *stage.Stage, beats chan time.Time) (wire.Outcome, error) {
	deps := (&stage.Process{Stage: s}).Chunk()
	deps.Clock = beating{s, beats}
	return chunk.Handle(s.T.Context(), deps, wire.ChunkTask{Version: wire.Version, Run: s.Ref(1), Task: first})
}

// A worker's heartbeat extends its lease, and none is sent after its end.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, beats, heartbeats := planned(t), make(chan time.Time), 0
		s.Around = func(op string, perform func() error) error {
			if strings.HasPrefix(op, "Heartbeat") {
				heartbeats++
			}
			return perform()
		}
		s.DB.Fail = func(keyspace.Range) error {
			if heartbeats == 0 {
				s.Time = s.Time.Add(2 * time.Minute)
				beats <- s.Time
				synctest.Wait()
				if c := s.Task(1, first); !c.LeaseUntil.Equal(s.Time.Add(3 * time.Minute)) {
					t.Errorf("the lease ends at %s, it is %s", c.LeaseUntil, s.Time)
				}
			}
			return nil
		}
		if _, err := work(s, beats); err != nil {
			t.Fatal(err)
		}
		select {
		case beats <- s.Time:
			t.Error("somebody waits for the next heartbeat")
		default:
		}
		if heartbeats != 1 {
			t.Errorf("%d heartbeats", heartbeats)
		}
	})
}

// A worker that learns that its lease is lost stops: it stores no part, and
// tells the table nothing (T7).
func TestWorkerWithoutItsLeaseStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, beats := planned(t), make(chan time.Time)
		var after []string
		lost := false
		s.Around = func(op string, perform func() error) error {
			if lost {
				after = append(after, op)
			}
			return perform()
		}
		s.DB.Fail = func(keyspace.Range) error {
			if !lost {
				s.Time = s.Time.Add(4 * time.Minute)
				claim(s, time.Hour) // another attempt
				beats <- s.Time
				synctest.Wait()
				lost = true
			}
			return nil
		}
		out, err := work(s, beats)
		if err != nil || out.Kind != wire.Ack || !strings.Contains(out.Detail, "lease") {
			t.Errorf("the worker answers %+v: %v", out, err)
		}
		if len(after) > 0 {
			t.Errorf("after its lease was lost it calls %v", after)
		}
	})
}

// A leaf that is full calls no finalizer while another is not.
func TestFinalizerIsCalledByTheLastLeaf(t *testing.T) {
	s := planned(t)
	for id, want := range map[contract.TaskID]int{"000002": 0} {
		if _, err := s.Extract(1, id); err != nil {
			t.Fatal(err)
		}
		if got := len(s.Queues.Pending(wire.FinalizeQueue)); got != want {
			t.Fatalf("after task %s %d finalizations are sent", id, got)
		}
	}
	for _, id := range []contract.TaskID{"000000", "000001"} {
		if _, err := s.Extract(1, id); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(s.Queues.Pending(wire.FinalizeQueue)); got != 1 {
		t.Fatalf("in the end %d finalizations are sent", got)
	}
}

// split is a stage whose first task was split depth times; it returns the last
// of the chain, completed, and its child.
func split(t *testing.T, depth int) (*stage.Stage, runstate.Chunk) {
	s := stage.New(t, 100)
	s.Config.Exports[0].ChunkSize = 1000
	s.MustPlan(s.Trigger(1))
	s.DropMessages()
	id, last := first, runstate.Chunk{}
	for n := range depth {
		done, rest, err := s.Task(1, id).Range.CutAt(keyspace.Key{string([]byte{'1' + byte(n/10), '0' + byte(n%10)})})
		if err != nil {
			t.Fatal(err)
		}
		l := runstate.Lease{Run: s.RunID(1), Task: id, Token: s.NewID()}
		if _, err := s.Table.Claim(t.Context(), runstate.ClaimRequest{Run: l.Run, Task: id, Gen: 1, Token: l.Token, Now: s.Time, LeaseUntil: s.Time}); err != nil {
			t.Fatal(err)
		}
		if last, err = s.Table.Split(t.Context(), runstate.SplitRequest{Lease: l, Gen: 1, Done: done, Rest: rest, ChildAttempts: 3, Now: s.Time}); err != nil {
			t.Fatal(err)
		}
		id = id.SplitChild()
	}
	return s, last
}

// Who sends the child of a split: the parent at once, until the chain is long;
// the parent's message again, once the child has waited for long; nobody twice.
func TestChildOfASplitIsSent(t *testing.T) {
	for _, tc := range []struct {
		name  string
		depth int
		after time.Duration // since the split; 0 is at once, by the parent itself
		done  bool          // the child is completed already
		want  int
	}{
		{name: "at once", depth: 1, want: 1},
		{name: "at once, but the chain is long", depth: dispatch.MaxSplitDepth, want: 0},
		{name: "a moment later, by the parent's message", depth: 1, after: time.Second, want: 0},
		{name: "much later, by the parent's message", depth: 1, after: 2 * time.Minute, want: 1},
		{name: "much later, and the child is completed", depth: 1, after: 2 * time.Minute, done: true, want: 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, parent := split(t, tc.depth)
			if tc.done {
				if _, err := s.Extract(1, parent.SplitInto); err != nil {
					t.Fatal(err)
				}
				s.DropMessages()
			}
			s.Time = s.Time.Add(tc.after)
			if tc.after > 0 {
				if _, err := s.Extract(1, parent.ID); err != nil {
					t.Fatal(err)
				}
			} else {
				d := dispatch.Dispatcher{State: s.Table, Queue: s.Queues}
				if err := d.Completed(t.Context(), s.Ref(1), stage.ChunkQueue, parent); err != nil {
					t.Fatal(err)
				}
			}
			if got := len(s.Queues.Pending(stage.ChunkQueue)); got != tc.want {
				t.Fatalf("%d messages are sent, want %d", got, tc.want)
			}
		})
	}
}
