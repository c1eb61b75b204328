// Package taskqueue is the seam to the queues between the functions. Layer: L3
// (persistence).
//
// Delivery is at least once and unordered: every receiver decides by the run's
// table whether there is still something to do. Drivers live below this
// package and pass taskqueuetest.
package taskqueue

import (
	"context"
	"time"
)

// Queue sends messages. It is safe for concurrent use.
type Queue interface {
	// Send puts every message on the queue, to be delivered after at least the
	// message's delay. A nil error means that all of them are stored. After an
	// error any of them may be: sending again is harmless. Messages that Check
	// refuses and a queue that is not known are refused before anything is
	// stored.
	Send(ctx context.Context, queue string, messages ...Message) error
}

// Message is one JSON message of package wire.
type Message struct {
	// Body is at most 256 KiB.
	Body []byte
	// Group is the export, for queues that keep one sender from starving
	// others (SQS fair queues).
	Group string
	// DelaySeconds is at most 900.
	DelaySeconds int
}

// Consumer receives what a Queue sent. It is safe for concurrent use. Where a
// transport delivers by itself, as Lambda does for SQS, nothing needs one.
type Consumer interface {
	// Receive returns up to most messages, 1 to 10, and hides each of
	// them for the queue's visibility time. When there is none it waits for
	// one, at most the given time and perhaps less, and then returns nothing
	// and no error. It returns ctx's error when ctx ends.
	Receive(ctx context.Context, queue string, most int, wait time.Duration) ([]Delivery, error)

	// Ack deletes a message that is dealt with. When its visibility time has
	// passed this may do nothing, and the message is delivered again.
	Ack(ctx context.Context, d Delivery) error

	// Nack hides a message for the given time from now on, however much of its
	// visibility time is left: shorter to hand it back, longer to keep it. At
	// most 12 hours. When its visibility time has passed this may do nothing.
	Nack(ctx context.Context, d Delivery, hidden time.Duration) error
}

// Delivery is one delivery of a message.
type Delivery struct {
	Queue string
	// ID is the same each time a message is delivered, Receipt is not.
	ID, Receipt string
	Body        []byte
	// Receives counts the deliveries of the message so far, this one too.
	Receives int
}

// ReceiveMost is the most messages that one Receive returns.
const ReceiveMost = 10

// HiddenMost is the longest that a message is hidden at a time.
const HiddenMost = 12 * time.Hour
