package inprocess_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/taskqueue/inprocess"
	"github.com/lapstrake/lapstrake/shared/taskqueue/taskqueuetest"
)

func TestInProcess(t *testing.T) {
	taskqueuetest.Run(t, taskqueuetest.Options{
		In: synctest.Test,
		Open: func(_ *testing.T, visibility time.Duration, names ...string) taskqueuetest.Driver {
			q := inprocess.New(clock.System{}, inprocess.Settings{Visibility: visibility}, names...)
			return taskqueuetest.Driver{Queue: q, Consumer: q}
		},
	})
}

func send(t *testing.T, q *inprocess.Queues, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if err := q.Send(t.Context(), "q", taskqueue.Message{Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
}

func tryReceive(t *testing.T, q *inprocess.Queues) string {
	t.Helper()
	d, ok, err := q.TryReceive("q")
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return ""
	}
	return string(d.Body)
}

func TestMessageBecomesADeadLetterAfterItsLastReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := inprocess.New(clock.System{}, inprocess.Settings{Visibility: time.Minute, MaxReceives: 2}, "q")
		send(t, q, "poison", "good")
		for range 2 {
			for _, want := range []string{"poison", "good"} {
				if got := tryReceive(t, q); got != want {
					t.Fatalf("received %q, want %q", got, want)
				}
			}
			<-clock.System{}.After(time.Minute)
		}
		if got := tryReceive(t, q); got != "" {
			t.Fatalf("received %q a third time", got)
		}
		dead := q.Dead("q")
		if len(dead) != 2 || string(dead[0].Body) != "poison" || dead[0].Receives != 2 || len(q.Pending("q")) != 0 {
			t.Fatalf("dead letters %+v, pending %+v", dead, q.Pending("q"))
		}
	})
}

func TestIdleReceiversUseNoTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := inprocess.New(clock.System{}, inprocess.Settings{}, "q")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var mu sync.Mutex
		var got []string
		for range 3 {
			wg.Go(func() {
				for {
					d, err := q.Receive(ctx, "q", 1, math.MaxInt64)
					if err != nil {
						return
					}
					mu.Lock()
					got = append(got, string(d[0].Body))
					mu.Unlock()
				}
			})
		}
		synctest.Wait() // all of them wait: no timer is due before the year 2300
		send(t, q, "a", "b", "c")
		synctest.Wait()
		cancel()
		wg.Wait()
		slices.Sort(got)
		if !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Fatalf("received %q", got)
		}
	})
}

func TestSimulationDeliversInAnyOrderTwiceOrNever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := inprocess.New(clock.System{}, inprocess.Settings{Visibility: time.Minute}, "q")
		send(t, q, "a", "b", "c")
		pending := q.Pending("q")
		if len(pending) != 3 || string(pending[2].Body) != "c" {
			t.Fatalf("pending %+v", pending)
		}
		c, ok := q.Deliver("q", pending[2].ID) // overtakes
		if !ok || string(c.Body) != "c" {
			t.Fatalf("delivered %+v", c)
		}
		again, ok := q.Deliver("q", c.ID) // while it is being worked on
		if !ok || again.Receives != 2 || again.Receipt == c.Receipt {
			t.Fatalf("delivered again %+v", again)
		}
		if !q.Drop("q", pending[0].ID) || q.Drop("q", pending[0].ID) {
			t.Fatal("a message can be dropped once")
		}
		if got := tryReceive(t, q); got != "b" {
			t.Fatalf("received %q, want what is left", got)
		}
		if err := q.Ack(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if len(q.Pending("q")) != 2 {
			t.Fatal("an outdated receipt deleted a message that another receiver works on")
		}
		if err := q.Ack(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if left := q.Pending("q"); len(left) != 1 || string(left[0].Body) != "b" {
			t.Fatalf("left %+v", left)
		}
		if _, ok := q.Deliver("q", again.ID); ok {
			t.Fatal("a deleted message was delivered")
		}
	})
}
