// Package taskqueuetest is the suite that every driver of package taskqueue
// passes. Layer: L3 (persistence), for tests.
package taskqueuetest

import (
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

// Driver is a driver under test: both ends of the same queues.
type Driver struct {
	taskqueue.Queue
	taskqueue.Consumer
}

// Options says how a driver is tested.
type Options struct {
	// Open returns a driver with empty queues of the given names. A delivered
	// message is hidden for the visibility time, which is in whole seconds.
	Open func(t *testing.T, visibility time.Duration, names ...string) Driver
	// In runs a case in a time of its own, as synctest.Test does. Nil is real
	// time, and then the clean-up of Open may use the network.
	In func(t *testing.T, test func(t *testing.T))
	// Early is how much before its time a message may come, for servers that
	// count time in a coarser unit than they are asked in.
	Early time.Duration
}

// Run exercises a driver.
func Run(t *testing.T, o Options) {
	if o.In == nil {
		o.In = func(t *testing.T, test func(t *testing.T)) { test(t) }
	}
	for _, tc := range []struct {
		name string
		test func(c *bench)
	}{
		{"every message of a long send arrives as it was sent", sendMany},
		{"sending nothing does nothing", sendNothing},
		{"a message that is dealt with does not come back", ackDeletes},
		{"a message that is not dealt with is hidden, then comes back", redelivery},
		{"a message is delivered after its delay", delay},
		{"a message that is handed back comes back after the time asked for", nackShorter},
		{"a message can be kept longer than the visibility time", nackLonger},
		{"a delivery that is out of date can be settled without harm", lateSettling},
		{"a receiver wakes up when a message is sent", wakesUp},
		{"a receiver stops when its context ends", stops},
		{"receivers at the same time share the messages", manyReceivers},
		{"queues are apart", queuesApart},
		{"an unknown queue is refused by name", unknownQueue},
		{"messages that no queue takes are refused before any is sent", refused},
		{"messages as large as they may be arrive", large},
		{"any export can be a group", groups},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o.In(t, func(t *testing.T) { tc.test(&bench{T: t, options: o, clock: clock.System{}}) })
		})
	}
}

// bench is what a case works with.
type bench struct {
	*testing.T
	options Options
	clock   clock.Clock
}

const (
	queueName  = "chunk-default"
	otherQueue = "finalize"
	visibility = 2 * time.Second
	// longVisibility is for cases that want no redelivery. A server whose answer
	// is lost gives one nevertheless, and within patience.
	longVisibility = 12 * time.Second
	// slack is how much later than its time a message may come.
	slack = 8 * time.Second
	// patience is how long the suite waits for a message.
	patience = 40 * time.Second
)

func (b *bench) open(visibility time.Duration) Driver {
	b.Helper()
	return b.options.Open(b.T, visibility, queueName, otherQueue)
}

func (b *bench) send(d Driver, messages ...taskqueue.Message) {
	b.Helper()
	if err := d.Send(b.Context(), queueName, messages...); err != nil {
		b.Fatalf("send %d messages: %v", len(messages), err)
	}
}

// next receives one message, within patience.
func (b *bench) next(d Driver) taskqueue.Delivery {
	b.Helper()
	for start := b.clock.Now(); b.clock.Now().Sub(start) < patience; {
		if got := b.receive(d, queueName, 1, patience); len(got) == 1 {
			return got[0]
		}
	}
	b.Fatalf("no message within %v", patience)
	return taskqueue.Delivery{}
}

func (b *bench) receive(d Driver, queue string, most int, wait time.Duration) []taskqueue.Delivery {
	b.Helper()
	got, err := d.Receive(b.Context(), queue, most, wait)
	if err != nil {
		b.Fatalf("receive from %s: %v", queue, err)
	}
	if len(got) > most {
		b.Fatalf("%d messages received, %d asked for", len(got), most)
	}
	return got
}

// none checks that nothing is due now.
func (b *bench) none(d Driver, queue, why string) {
	b.Helper()
	for _, got := range b.receive(d, queue, 1, 0) {
		b.Fatalf("%s: received %q for the %d. time", why, got.Body, got.Receives)
	}
}

func (b *bench) ack(d Driver, got taskqueue.Delivery) {
	b.Helper()
	if err := d.Ack(b.Context(), got); err != nil {
		b.Fatalf("ack %s: %v", got.ID, err)
	}
}

func (b *bench) nack(d Driver, got taskqueue.Delivery, hidden time.Duration) {
	b.Helper()
	if err := d.Nack(b.Context(), got, hidden); err != nil {
		b.Fatalf("nack %s: %v", got.ID, err)
	}
}

// notBefore checks that at least d has passed since start.
func (b *bench) notBefore(start time.Time, d time.Duration, what string) {
	b.Helper()
	if passed := b.clock.Now().Sub(start); passed < d-b.options.Early {
		b.Errorf("%s came back after %v, want at least %v", what, passed, d)
	}
}

// soon checks that at most d has passed since start.
func (b *bench) soon(start time.Time, d time.Duration, what string) {
	b.Helper()
	if passed := b.clock.Now().Sub(start); passed > d {
		b.Fatalf("%s came after %v, want at most %v", what, passed, d)
	}
}

func message(body string) taskqueue.Message {
	return taskqueue.Message{Body: []byte(body), Group: "orders"}
}
