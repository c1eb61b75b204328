package simulation

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// deliverSome delivers n messages, those of the finalizer when no chunk is due.
func (w *world) deliverSome(t *testing.T, n int) {
	t.Helper()
	for range n {
		if ok, err := w.deliver(t.Context(), chunkQueue); err != nil {
			t.Fatal(err)
		} else if !ok {
			_, _ = w.deliver(t.Context(), wire.FinalizeQueue)
		}
	}
}

// deliverChunks delivers chunk messages until none is left, and keeps the
// finalizer away.
func (w *world) deliverChunks(t *testing.T) {
	t.Helper()
	for {
		if ok, err := w.deliver(t.Context(), chunkQueue); err != nil {
			t.Fatal(err)
		} else if !ok {
			return
		}
	}
}

// dieAtTheSidecar plans the first run and delivers what is due until its
// finalizer dies, as soon as its sidecar stands: it has committed, and published
// nothing.
func (w *world) dieAtTheSidecar(t *testing.T) {
	t.Helper()
	prefix := destination.Prefixed(w.bucket, "out/")
	sidecar := contract.SidecarName(w.runID(1))
	w.before = func(string) {
		if _, err := prefix.Head(t.Context(), sidecar); err == nil && w.death.at == 0 {
			w.death.at = w.calls + 1
		}
	}
	triggerUntilPlanned(t, w, 1)
	w.drainUntilDead(t)
	w.before = nil
}
