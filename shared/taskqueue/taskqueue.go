// Package taskqueue is the seam to the queues between the functions. Layer: L3
// (persistence).
//
// Delivery is at least once and unordered: every receiver decides by the run's
// table whether there is still something to do. Drivers live below this
// package and pass taskqueuetest.
package taskqueue

import "context"

// Queue sends messages. It is safe for concurrent use.
type Queue interface {
	// Send puts every message on the queue, to be delivered after at least the
	// message's delay. A nil error means that all of them are stored. After an
	// error any of them may be: sending again is harmless.
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
