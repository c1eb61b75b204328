package taskqueue_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/taskqueue/inprocess"
)

// queues are a queue and its dead letters, as the test wants them to fail.
type queues struct {
	*inprocess.Queues
	send, ack func(n int) error // n counts the calls from 1
	deliver   func(taskqueue.Delivery)
	sooner    bool // letters come back before the receiver gives up waiting

	sends, acks int
}

func (q *queues) Send(ctx context.Context, queue string, messages ...taskqueue.Message) error {
	q.sends++
	if q.send != nil {
		if err := q.send(q.sends); err != nil {
			return err
		}
	}
	return q.Queues.Send(ctx, queue, messages...)
}

func (q *queues) Receive(ctx context.Context, queue string, most int, wait time.Duration) ([]taskqueue.Delivery, error) {
	got, err := q.Queues.Receive(ctx, queue, most, wait)
	for _, d := range got {
		if q.sooner {
			err = errors.Join(err, q.Nack(ctx, d, wait/2))
		}
	}
	return got, err
}

func (q *queues) Ack(ctx context.Context, d taskqueue.Delivery) error {
	q.acks++
	if q.ack != nil {
		if err := q.ack(q.acks); err != nil {
			return err
		}
	}
	err := q.Queues.Ack(ctx, d)
	if q.deliver != nil {
		q.deliver(d)
	}
	return err
}

func every(taskqueue.Delivery) bool { return true }

// inQueues runs a test with the given dead letters, in a time of its own.
func inQueues(t *testing.T, dead []string, test func(t *testing.T, q *queues)) {
	synctest.Test(t, func(t *testing.T) {
		q := &queues{Queues: inprocess.New(clock.System{}, inprocess.Settings{Visibility: 30 * time.Second}, "finalize", "dead")}
		for _, body := range dead {
			if err := q.Queues.Send(t.Context(), "dead", taskqueue.Message{Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
		test(t, q)
	})
}

func (q *queues) bodies(queue string) []string {
	var all []string
	for _, m := range q.Pending(queue) {
		all = append(all, string(m.Body))
	}
	slices.Sort(all)
	return all
}

func (q *queues) want(t *testing.T, queue string, want ...string) {
	t.Helper()
	if got := q.bodies(queue); !slices.Equal(got, want) {
		t.Errorf("queue %s holds %q, want %q", queue, got, want)
	}
}

func TestRedriveMovesEveryDeadLetter(t *testing.T) {
	var dead []string
	for i := range 25 { // three receives
		dead = append(dead, "message "+strconv.Itoa(100+i))
	}
	inQueues(t, dead, func(t *testing.T, q *queues) {
		got, err := taskqueue.Redrive(t.Context(), q, "dead", "finalize", every)
		if want := (taskqueue.Redriven{Moved: 25}); err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
		q.want(t, "dead")
		q.want(t, "finalize", dead...)
	})
}

func TestRedriveLeavesWhatIsNotAskedForVisible(t *testing.T) {
	inQueues(t, []string{"a", "b", "c"}, func(t *testing.T, q *queues) {
		got, err := taskqueue.Redrive(t.Context(), q, "dead", "finalize", func(d taskqueue.Delivery) bool { return string(d.Body) == "b" })
		if want := (taskqueue.Redriven{Moved: 1, Kept: 2}); err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
		q.want(t, "finalize", "b")
		seen, err := q.Receive(t.Context(), "dead", taskqueue.ReceiveMost, 0)
		if err != nil || len(seen) != 2 {
			t.Errorf("%d of the dead letters that were kept can be seen at once (%v), want 2", len(seen), err)
		}
	})
}

func TestAMessageThatFailsAgainIsMovedOnce(t *testing.T) {
	inQueues(t, []string{"poison", "good"}, func(t *testing.T, q *queues) {
		q.deliver = func(d taskqueue.Delivery) { // it is given up at once
			if string(d.Body) == "poison" {
				if err := q.Queues.Send(t.Context(), "dead", taskqueue.Message{Body: d.Body}); err != nil {
					t.Error(err)
				}
			}
		}
		got, err := taskqueue.Redrive(t.Context(), q, "dead", "finalize", every)
		if want := (taskqueue.Redriven{Moved: 2, Kept: 1}); err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
		q.want(t, "finalize", "good", "poison")
		q.want(t, "dead", "poison")
	})
}

func TestRedriveEndsAlthoughKeptLettersKeepComing(t *testing.T) {
	inQueues(t, []string{"a", "b"}, func(t *testing.T, q *queues) {
		q.sooner = true
		got, err := taskqueue.Redrive(t.Context(), q, "dead", "finalize", func(taskqueue.Delivery) bool { return false })
		if want := (taskqueue.Redriven{Kept: 2}); err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
	})
}

func TestNothingIsLostWhenARedriveFails(t *testing.T) {
	broken := errors.New("broken")
	at := func(n int) func(int) error {
		return func(call int) error {
			if call == n {
				return broken
			}
			return nil
		}
	}
	for _, tc := range []struct {
		name           string
		send, ack      func(int) error
		queue, dead    []string
		want           taskqueue.Redriven
		secondRedrives int
	}{
		{name: "the messages cannot be sent", send: at(1), queue: nil, dead: []string{"a", "b", "c"}, want: taskqueue.Redriven{Kept: 3}, secondRedrives: 3},
		{name: "the first delete is lost", ack: at(1), queue: []string{"a", "b", "c"}, dead: []string{"a", "b", "c"}, want: taskqueue.Redriven{Moved: 3}, secondRedrives: 3},
		{name: "the last delete is lost", ack: at(3), queue: []string{"a", "b", "c"}, dead: []string{"c"}, want: taskqueue.Redriven{Moved: 3}, secondRedrives: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inQueues(t, []string{"a", "b", "c"}, func(t *testing.T, q *queues) {
				q.send, q.ack = tc.send, tc.ack
				got, err := taskqueue.Redrive(t.Context(), q, "dead", "finalize", every)
				if !errors.Is(err, broken) || got != tc.want {
					t.Fatalf("got %+v, %v; want %+v and what went wrong", got, err, tc.want)
				}
				q.want(t, "finalize", tc.queue...)
				q.want(t, "dead", tc.dead...)
				q.send, q.ack = nil, nil
				time.Sleep(time.Minute) // until what was received can be seen again
				got, err = taskqueue.Redrive(t.Context(), q, "dead", "finalize", every)
				if err != nil || got.Moved != tc.secondRedrives {
					t.Fatalf("the second redrive: %+v, %v; want %d moved", got, err, tc.secondRedrives)
				}
				q.want(t, "dead")
			})
		})
	}
}
