package commit

import (
	"context"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
)

// A planner of a run sleeps before any of its calls, while the run commits by
// way of another planner of it and a later run publishes. When it wakes up, the
// fence and the pair stay those of the later run (V8).
func TestPlannerSleepsWhileItsRunIsFollowed(t *testing.T) {
	for kind, like := range stores {
		for n := 1; ; n++ {
			w := newWorld(like)
			calls := 0
			woken := faulty.Wrap(w.store, faulty.FaultFunc(func(_ faulty.Call, perform func() error) error {
				if calls++; calls == n {
					lives(t, w, "first", 2)
					lives(t, w, "second", 4)
				}
				return perform()
			}))
			_, err := w.acquire(context.Background(), woken, "first")
			if calls < n {
				if n < 4 {
					t.Fatalf("%s: %d calls: the test no longer tests anything", kind, calls)
				}
				break
			}
			if err != nil && !isCommitted(err) && !isFenced(err) {
				t.Errorf("%s, asleep before call %d: %v", kind, n, err)
			}
			held, err := w.fence(w.store).Read(t.Context())
			if err != nil || held.Doc.OwnerRunID != "second" {
				t.Errorf("%s, asleep before call %d: the fence is held by %q at generation %d (%v)", kind, n, held.Doc.OwnerRunID, held.Doc.Generation, err)
			}
			body, _, err := w.store.Get(t.Context(), "out/"+contract.ManifestName, contract.MaxManifestBytes)
			if err != nil {
				t.Fatal(err)
			}
			if m, err := contract.DecodeManifest(body); err != nil || m.RunID != "second" {
				t.Errorf("%s, asleep before call %d: the manifest is that of %q (%v)", kind, n, m.RunID, err)
			}
		}
	}
}
