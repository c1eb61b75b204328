// Package inprocess keeps queues in memory, for the embedded runtime, whose
// functions are goroutines, and for simulations. Layer: L3 (persistence).
//
// What is in the queues is lost with the process. The run's table is not: the
// sweep sends again what it finds undone.
package inprocess

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

// DefaultVisibility is the time that a delivered message stays hidden, unless
// Settings says otherwise: six times a function's 15 minutes (architecture
// §3.5).
const DefaultVisibility = 90 * time.Minute

// Settings are those of every queue.
type Settings struct {
	// Visibility is how long a delivered message stays hidden; 0 is
	// DefaultVisibility.
	Visibility time.Duration
	// MaxReceives is how often a message is delivered before it becomes a dead
	// letter; 0 is for ever.
	MaxReceives int
}

// Queues are named queues in memory. They are safe for concurrent use, and
// deterministic when they are not used concurrently: ids and receipts are
// counted, and messages that are due are delivered in the order in which they
// became due.
type Queues struct {
	clock    clock.Clock
	settings Settings

	mu      sync.Mutex
	queues  map[string]*queue
	counter int64
}

var (
	_ taskqueue.Queue    = (*Queues)(nil)
	_ taskqueue.Consumer = (*Queues)(nil)
)

// New returns empty queues with the given names. No other queue is known.
func New(c clock.Clock, s Settings, names ...string) *Queues {
	if s.Visibility == 0 {
		s.Visibility = DefaultVisibility
	}
	q := &Queues{clock: c, settings: s, queues: make(map[string]*queue, len(names))}
	for _, name := range names {
		q.queues[name] = newQueue()
	}
	return q
}

// Send stores all messages or none.
func (q *Queues) Send(ctx context.Context, queue string, messages ...taskqueue.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	to, err := q.named(queue)
	if err != nil {
		return err
	}
	if err := taskqueue.Check(queue, messages); err != nil {
		return err
	}
	now := q.clock.Now()
	for _, m := range messages {
		q.counter++
		to.add(&message{
			seq: q.counter, id: strconv.FormatInt(q.counter, 10), group: m.Group, body: bytes.Clone(m.Body),
			due: now.Add(time.Duration(m.DelaySeconds) * time.Second),
		})
	}
	to.wake()
	return nil
}

// Receive waits for the full time. It wakes up when a message is sent or
// becomes due, and never polls.
func (q *Queues) Receive(ctx context.Context, queue string, most int, wait time.Duration) ([]taskqueue.Delivery, error) {
	end := q.clock.Now().Add(wait)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		got, idle, err := q.take(queue, most)
		if err != nil || len(got) > 0 {
			return got, err
		}
		left := end.Sub(q.clock.Now())
		if left <= 0 {
			return nil, nil
		}
		if idle.due > 0 {
			left = min(left, idle.due)
		}
		select {
		case <-ctx.Done():
		case <-idle.changed:
		case <-q.clock.After(left):
		}
	}
}

// TryReceive delivers the first message that is due, if there is one.
func (q *Queues) TryReceive(queue string) (taskqueue.Delivery, bool, error) {
	got, _, err := q.take(queue, 1)
	if err != nil || len(got) == 0 {
		return taskqueue.Delivery{}, false, err
	}
	return got[0], true, nil
}

// idle says what may end the idleness of a queue: changed is closed when a
// message is sent or its time changes; due is how long until the next message
// is due, 0 if there is none.
type idle struct {
	changed <-chan struct{}
	due     time.Duration
}

func (q *Queues) take(queue string, most int) ([]taskqueue.Delivery, idle, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	from, err := q.named(queue)
	if err != nil {
		return nil, idle{}, err
	}
	most = min(max(most, 1), taskqueue.ReceiveMost)
	now := q.clock.Now()
	var got []taskqueue.Delivery
	for len(got) < most {
		m := from.first()
		if m == nil || now.Before(m.due) {
			break
		}
		if q.settings.MaxReceives > 0 && m.receives >= q.settings.MaxReceives {
			from.bury(m)
			continue
		}
		got = append(got, q.deliver(queue, from, m, now))
	}
	rest := idle{changed: from.changed}
	if m := from.first(); m != nil {
		rest.due = m.due.Sub(now)
	}
	return got, rest, nil
}

func (q *Queues) deliver(name string, from *queue, m *message, now time.Time) taskqueue.Delivery {
	q.counter++
	m.receives++
	m.receipt = strconv.FormatInt(q.counter, 10)
	from.move(m, now.Add(q.settings.Visibility))
	return taskqueue.Delivery{Queue: name, ID: m.id, Receipt: m.receipt, Body: bytes.Clone(m.body), Receives: m.receives}
}

// Ack deletes the message, unless it has been delivered again since.
func (q *Queues) Ack(_ context.Context, d taskqueue.Delivery) error {
	return q.settle(d, func(from *queue, m *message) { from.remove(m) })
}

// Nack changes when the message is due, unless it has been delivered again
// since.
func (q *Queues) Nack(_ context.Context, d taskqueue.Delivery, hidden time.Duration) error {
	if hidden < 0 || hidden > taskqueue.HiddenMost {
		return fault.New(fault.Bug, taskqueue.CodeInvalid, "message %s of queue %q cannot be hidden for %v", d.ID, d.Queue, hidden)
	}
	return q.settle(d, func(from *queue, m *message) {
		from.move(m, q.clock.Now().Add(hidden))
		from.wake()
	})
}

func (q *Queues) settle(d taskqueue.Delivery, do func(*queue, *message)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	from, err := q.named(d.Queue)
	if err != nil {
		return err
	}
	if m := from.byID[d.ID]; m != nil && m.receipt == d.Receipt {
		do(from, m)
	}
	return nil
}

// named returns a queue. The caller holds the lock.
func (q *Queues) named(name string) (*queue, error) {
	if found := q.queues[name]; found != nil {
		return found, nil
	}
	return nil, taskqueue.UnknownQueue(name, slices.Collect(maps.Keys(q.queues)))
}
