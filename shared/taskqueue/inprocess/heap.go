package inprocess

import (
	"cmp"
	"container/heap"
	"time"
)

// message is one message. It is due at a time: after its delay, after the
// visibility time of its last delivery, or when it was handed back for. There
// is no other state, so one heap holds waiting, hidden and due messages.
type message struct {
	seq      int64
	id       string
	group    string
	body     []byte
	due      time.Time
	receives int
	receipt  string // of the last delivery
	at       int    // its place in the heap
}

// queue is one queue. Its owner's lock guards it.
type queue struct {
	byDue   messageHeap
	byID    map[string]*message
	dead    []*message
	changed chan struct{} // closed and replaced by wake
}

func newQueue() *queue {
	return &queue{byID: map[string]*message{}, changed: make(chan struct{})}
}

func (q *queue) add(m *message) {
	q.byID[m.id] = m
	heap.Push(&q.byDue, m)
}

// first returns the message that is due first, or nil.
func (q *queue) first() *message {
	if len(q.byDue) == 0 {
		return nil
	}
	return q.byDue[0]
}

func (q *queue) move(m *message, due time.Time) {
	m.due = due
	heap.Fix(&q.byDue, m.at)
}

func (q *queue) remove(m *message) {
	heap.Remove(&q.byDue, m.at)
	delete(q.byID, m.id)
}

// bury makes m a dead letter.
func (q *queue) bury(m *message) {
	q.remove(m)
	q.dead = append(q.dead, m)
}

// wake lets every waiting receiver look again.
func (q *queue) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// messageHeap orders messages by the time at which they are due, then by age.
type messageHeap []*message

func (h messageHeap) Len() int { return len(h) }

func (h messageHeap) Less(i, j int) bool {
	return cmp.Or(h[i].due.Compare(h[j].due), cmp.Compare(h[i].seq, h[j].seq)) < 0
}

func (h messageHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push is for container/heap.
func (h *messageHeap) Push(x any) {
	m := x.(*message)
	m.at = len(*h)
	*h = append(*h, m)
}

// Pop is for container/heap.
func (h *messageHeap) Pop() any {
	old := *h
	m := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return m
}
