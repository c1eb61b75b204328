package chunk

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/lapstrake/lapstrake/shared/runstate"
)

// keepLease sends heartbeats (T7) while work runs. The returned context is
// cancelled when the lease is lost: another attempt has the task, and this one
// has to stop writing. stop ends the heartbeats and waits for them: a function
// that is frozen between two invocations must not wake up and act for an old
// attempt.
func (h *handler) keepLease(ctx context.Context, lease runstate.Lease) (work context.Context, lost func() bool, stop func()) {
	work, cancel := context.WithCancel(ctx)
	var gone atomic.Bool
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			select {
			case <-work.Done():
				return
			case <-h.Clock.After(h.Heartbeat):
			}
			err := h.State.Heartbeat(work, lease, h.Clock.Now().Add(h.Lease))
			switch {
			case errors.Is(err, runstate.ErrCondition):
				gone.Store(true)
				cancel()
				return
			case err != nil && work.Err() == nil:
				h.log.Warn("heartbeat failed; the lease may run out and another attempt start", "error", err)
			}
		}
	}()
	return work, gone.Load, func() { cancel(); wg.Wait() }
}
