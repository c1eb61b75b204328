package taskqueue

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"
)

// Redriven is what a Redrive has done.
type Redriven struct {
	// Moved messages are on the queue that they came from, Kept ones are still
	// dead letters.
	Moved, Kept int
}

// redrivePatience is how long a Redrive waits for one more dead letter.
const redrivePatience = 2 * time.Second

// Redrive moves the messages of the queue dead that are wanted to the queue to,
// without their groups. The others stay dead letters, and so does one whose body
// this Redrive has moved before: it is a duplicate, or it has failed once more,
// and moving it for ever would help nobody.
//
// A message is deleted after it has been sent. When the process ends in
// between, or a delete is not answered, the message is in both places: receivers
// ask the run's table, so moving it again is harmless. After an error the counts
// are those of what is known to have been sent.
func Redrive[Q interface {
	Queue
	Consumer
}](ctx context.Context, q Q, dead, to string, wanted func(Delivery) bool) (Redriven, error) {
	r := redrive[Q]{queues: q, moved: make(map[[sha256.Size]byte]bool), kept: make(map[string]Delivery)}
	defer r.show(context.WithoutCancel(ctx))
	for {
		got, err := q.Receive(ctx, dead, ReceiveMost, redrivePatience)
		if err != nil {
			return r.done(), err
		}
		move, messages, news := r.choose(got, wanted)
		if !news {
			return r.done(), nil
		}
		if err := q.Send(ctx, to, messages...); err != nil {
			for _, d := range move {
				r.kept[d.ID] = d
			}
			return r.done(), err
		}
		r.count += len(move)
		for _, d := range move {
			if err := q.Ack(ctx, d); err != nil {
				return r.done(), fmt.Errorf("%d messages are on queue %q again, yet at least one of them is also still a dead letter (redriving it once more is harmless): %w", r.count, to, err)
			}
		}
	}
}

type redrive[Q Consumer] struct {
	queues Q
	moved  map[[sha256.Size]byte]bool // by body
	kept   map[string]Delivery        // by message id, the last delivery of each
	count  int
}

// choose sorts deliveries into those to move and those to keep. news is false
// when all of them have been seen before, or there is none.
func (r *redrive[Q]) choose(got []Delivery, wanted func(Delivery) bool) (move []Delivery, messages []Message, news bool) {
	for _, d := range got {
		if _, seen := r.kept[d.ID]; seen {
			r.kept[d.ID] = d
			continue
		}
		news = true
		body := sha256.Sum256(d.Body)
		if !wanted(d) || r.moved[body] {
			r.kept[d.ID] = d
			continue
		}
		r.moved[body] = true
		move, messages = append(move, d), append(messages, Message{Body: d.Body})
	}
	return move, messages, news
}

func (r *redrive[Q]) done() Redriven { return Redriven{Moved: r.count, Kept: len(r.kept)} }

// show hands back what stays a dead letter. When that fails, its visibility
// time does it later.
func (r *redrive[Q]) show(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, redrivePatience)
	defer cancel()
	for _, d := range r.kept {
		if r.queues.Nack(ctx, d, 0) != nil {
			return
		}
	}
}
