package validator

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// A run is between its manifest and its marker, and the store does not show its
// sidecar just now: that is no sign that nobody publishes.
func TestASidecarThatIsNotShownDecidesNothing(t *testing.T) {
	w := newWorld(t)
	body := w.writeManifest(w.manifest(run2, 2))
	w.fence(run2, 2, contract.FenceOpen)
	w.faults = []faulty.Fault{faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Op == "get" && c.Key == prefix+contract.SidecarName(run2) {
			return &destination.OpError{Op: c.Op, Key: c.Key, Err: destination.ErrUnavailable}
		}
		return perform()
	})}
	if out, err := w.handle(prefix); out.Kind != wire.Retry || err == nil || len(w.verdicts()) != 0 {
		t.Fatalf("outcome %+v, error %v, stored %v", out, err, w.verdicts())
	}
	w.faults = nil
	w.put(prefix+"_SUCCESS", contract.SuccessBody(body))
	w.fence(run2, 2, contract.FenceCommitted)
	w.mustHandle(wire.Ack)
	if w.verdicts()[verdictKey(run2, body)].Verdict != verify.Passed {
		t.Errorf("after publication: %v", w.verdicts())
	}
}
