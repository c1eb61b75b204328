package wiring

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// consume is a function's event source in a process of one's own: it takes one
// message at a time, hands it to the handler, and deletes it or hands it back
// as the outcome says. It returns when ctx ends.
//
// after is told of every message that was handled.
func consume[M wire.ChunkTask | wire.FinalizeTask | wire.ValidateTask](ctx context.Context, q taskqueue.Consumer, queue string, log *slog.Logger,
	handle func(context.Context, M) (wire.Outcome, error), after func(M, wire.Outcome, error)) error {
	for {
		deliveries, err := q.Receive(ctx, queue, 1, time.Hour)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		for _, d := range deliveries {
			m, err := wire.Decode[M](d.Body)
			if err != nil {
				log.Error("message refused", "queue", queue, "error", err)
				if err := q.Ack(ctx, d); err != nil {
					return err
				}
				continue
			}
			outcome, err := handle(ctx, m)
			settle := q.Ack
			if outcome.Kind == wire.Retry {
				settle = func(ctx context.Context, d taskqueue.Delivery) error {
					return q.Nack(ctx, d, time.Duration(outcome.AfterSeconds)*time.Second)
				}
			}
			if settleErr := settle(context.WithoutCancel(ctx), d); settleErr != nil {
				return errors.Join(err, settleErr)
			}
			after(m, outcome, err)
		}
	}
}
