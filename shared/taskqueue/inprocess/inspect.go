package inprocess

import (
	"slices"
	"time"

	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

// Stored is a message as a simulation sees it.
type Stored struct {
	ID       string
	Group    string
	Body     []byte // not to be changed
	Due      time.Time
	Receives int
}

// Pending returns every message of a queue that is not a dead letter, oldest
// first: waiting, hidden and due ones. With Deliver and Drop it gives a
// simulation all that a queue may do to a message: any order, twice, never.
func (q *Queues) Pending(queue string) []Stored {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := q.queues[queue]
	if from == nil {
		return nil
	}
	found := slices.Clone(from.byDue)
	slices.SortFunc(found, func(a, b *message) int { return int(a.seq - b.seq) })
	return stored(found)
}

// Dead returns the dead letters of a queue, in the order in which they died.
func (q *Queues) Dead(queue string) []Stored {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := q.queues[queue]
	if from == nil {
		return nil
	}
	return stored(from.dead)
}

// Deliver delivers a pending message now, whatever its time and however often
// it has been delivered. While an earlier delivery of it is being worked on,
// that makes a duplicate. It returns false if there is no such message.
func (q *Queues) Deliver(queue, id string) (taskqueue.Delivery, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := q.queues[queue]
	if from == nil || from.byID[id] == nil {
		return taskqueue.Delivery{}, false
	}
	return q.deliver(queue, from, from.byID[id], q.clock.Now()), true
}

// Drop loses a pending message, as a queue does when the retention time ends.
// It returns false if there is no such message.
func (q *Queues) Drop(queue, id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	from := q.queues[queue]
	if from == nil || from.byID[id] == nil {
		return false
	}
	from.remove(from.byID[id])
	return true
}

func stored(messages []*message) []Stored {
	out := make([]Stored, len(messages))
	for i, m := range messages {
		out[i] = Stored{ID: m.id, Group: m.group, Body: m.body, Due: m.due, Receives: m.receives}
	}
	return out
}
