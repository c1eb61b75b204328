package chunk

import (
	"context"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
)

// patience is how long an attempt waits for a place at a server that has none
// left, unless half of the time until its deadline is less.
const patience = 5 * time.Minute

// connect opens the source and asks which database it is. A server that is out
// of connections is asked again, with growing waits that differ from worker to
// worker: many chunks that start together take their turns within their
// attempts, which none of them has done anything wrong to lose (OPS-06). Every
// other failure is one at once.
func (h *handler) connect(ctx context.Context) (source.Source, contract.SourceIdentity, error) {
	end := h.patient(ctx)
	for n := 1; ; n++ {
		src, identity, err := h.dial(ctx)
		wait := fault.Backoff(time.Second, n, h.IDs.Jitter())
		if fault.CodeOf(err) != source.CodeOverloaded || h.Clock.Now().Add(wait).After(end) {
			return src, identity, err
		}
		h.log.Info("the source has no connection left; asking again", "after", wait, "error", err)
		select {
		case <-ctx.Done():
			return nil, contract.SourceIdentity{}, err
		case <-h.Clock.After(wait):
		}
	}
}

func (h *handler) patient(ctx context.Context) time.Time {
	now := h.Clock.Now()
	end := now.Add(patience)
	if deadline, ok := ctx.Deadline(); ok {
		if half := now.Add(deadline.Sub(now) / 2); half.Before(end) {
			return half
		}
	}
	return end
}

func (h *handler) dial(ctx context.Context) (source.Source, contract.SourceIdentity, error) {
	src, err := h.Sources.Open(ctx, h.plan.Source)
	if err != nil {
		return nil, contract.SourceIdentity{}, err
	}
	identity, err := src.Identity(ctx)
	if err != nil {
		_ = src.Close(context.WithoutCancel(ctx))
		return nil, contract.SourceIdentity{}, err
	}
	return src, identity, nil
}
