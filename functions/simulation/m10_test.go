package simulation

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// M10: two runs of one export overlap, wherever one of them stalls. Either the
// second is refused, or the generation of the first is invalid from then on. What
// Success manifests list is the source, each row once, and no older generation
// comes after a newer one (QUE-10).
func TestM10OverlappingRunsOfOneExport(t *testing.T) {
	t.Run("the second is refused", theSecondIsRefused)
	t.Run("the generation of the first is invalidated", theFirstIsInvalidated)
	t.Run("the second stalls while it rolls the first one forward", theSecondStallsInARollForward)
}

func theSecondIsRefused(t *testing.T) {
	refused := 0
	for n := int64(1); ; n++ {
		w := newWorld(10, 0)
		s := w.stallAt(t, n, func() {
			live := w.holdsFence(t, 1)
			answer, err := w.planner(t.Context(), w.trigger(2))
			switch {
			case err != nil:
				t.Fatal(err)
			case live != (answer.Status == wire.RefusedTrigger):
				t.Fatalf("stalled in call %d: the first run holds the fence: %v; the second is answered %+v", n, live, answer)
			case live:
				refused++
			default:
				w.settle(t, w.runID(2))
			}
		})
		triggerUntilPlanned(t, w, 1)
		w.settle(t, w.runID(1))
		s.look()
		w.wantUnion(t, fmt.Sprintf("stalled in call %d", n))
		if !s.happened() {
			break
		}
	}
	if refused < 30 {
		t.Errorf("%d runs were refused: the test no longer tests anything", refused)
	}
}

func theFirstIsInvalidated(t *testing.T) {
	ended := map[runstate.RunStatus]int{}
	for n := int64(1); ; n++ {
		w := newWorld(10, 0)
		s := w.stallAt(t, n, func() {
			second := w.trigger(2)
			second.OnConflict = "supersede"
			if _, err := w.planner(t.Context(), second); err != nil {
				t.Fatal(err)
			}
			w.settle(t, w.runID(2))
			w.wantUnion(t, fmt.Sprintf("the first is stalled in call %d", n))
		})
		triggerUntilPlanned(t, w, 1)
		w.settle(t, w.runID(1))
		s.look()
		w.wantUnion(t, fmt.Sprintf("the first has woken up in call %d", n))
		ended[w.run(t, 1).Status]++
		if !s.happened() {
			break
		}
	}
	if ended[runstate.RunSuperseded] < 30 || ended[runstate.RunSucceeded] < 10 {
		t.Errorf("the first run ended as %v: the test no longer tests anything", ended)
	}
}

// The first run has committed and died. A planner of the second stalls, and a
// duplicate of it goes on: until the run has published its manifest and no more,
// or until a third run has published.
func theSecondStallsInARollForward(t *testing.T) {
	for _, third := range []bool{false, true} {
		for n := int64(1); ; n++ {
			w := newWorld(10, 0)
			w.dieIn("finalize: create sidecar", func(m *mortality) {
				triggerUntilPlanned(t, w, 1)
				m.deliverAll(t, chunkQueue)
				m.deliverAll(t, wire.FinalizeQueue)
			})
			w.dropMessages(t)
			w.now = w.now.Add(planTimeout)
			s := w.stallAt(t, n, func() {
				triggerUntilPlanned(t, w, 2)
				if third {
					w.settle(t, w.runID(2))
					triggerUntilPlanned(t, w, 3)
					w.settle(t, w.runID(3))
					return
				}
				w.dieIn("finalize: replace manifest.json", func(m *mortality) {
					m.deliverAll(t, chunkQueue)
					m.deliverAll(t, wire.FinalizeQueue)
				})
			})
			_, _ = w.planner(t.Context(), w.trigger(2)) // it may find that it has ended
			happened := s.happened()
			if !happened {
				w.before = nil // the planner has no such call
			}
			w.settle(t, w.runID(1), w.runID(2))
			s.look()
			w.wantUnion(t, fmt.Sprintf("the second has woken up in call %d", n))
			if !happened {
				if n < 20 {
					t.Errorf("a planner has %d calls: the test no longer tests anything", n)
				}
				break
			}
		}
	}
}

// dieIn lets the next process die that takes a step, when it has taken effect.
func (w *world) dieIn(step string, work func(m *mortality)) {
	m := &mortality{w: w}
	m.haunt()
	m.kill(step, true, func() { work(m) })
	w.gate = nil
}

// stall is a call of a process that is on its way while others go on.
type stall struct {
	t     *testing.T
	w     *world
	n     int64
	calls atomic.Int64

	mu     sync.Mutex
	newest contract.Generation // that manifest.json has had
}

// stallAt lets something else happen before the n-th call of the world's
// processes.
func (w *world) stallAt(t *testing.T, n int64, meanwhile func()) *stall {
	s := &stall{t: t, w: w, n: n}
	w.before = func(string) {
		if s.calls.Load() < n && s.calls.Add(1) == n {
			meanwhile()
		}
		s.look()
	}
	return s
}

// happened reports whether there was such a call.
func (s *stall) happened() bool { return s.calls.Load() >= s.n }

// look fails the test when manifest.json is of an older generation than before.
func (s *stall) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _, err := destination.Prefixed(s.w.bucket, "out/").Get(s.t.Context(), contract.ManifestName, contract.MaxManifestBytes)
	if errors.Is(err, destination.ErrNotFound) && s.newest == 0 {
		return
	}
	m, decodeErr := contract.DecodeManifest(body)
	if err = errors.Join(err, decodeErr); err != nil || m.Generation < s.newest {
		s.t.Errorf("stalled in call %d: generation %d stands, and %d stood before (%v)", s.n, m.Generation, s.newest, err)
	}
	s.newest = m.Generation
}

// holdsFence reports whether a run has the fence and has not published: no other
// may start.
func (w *world) holdsFence(t *testing.T, id int) bool {
	t.Helper()
	body, _, err := w.bucket.Get(t.Context(), contract.CursorKey("orders"), contract.MaxCursorBytes)
	if err != nil {
		return false
	}
	doc, err := contract.DecodeCursor(body)
	if err != nil {
		t.Fatal(err)
	}
	return doc.OwnerRunID == w.runID(id) && doc.State != contract.FenceCommitted
}

// wantUnion fails the test unless a reader finds the source, each row once, in
// the manifest and in every other success.
func (w *world) wantUnion(t *testing.T, when string) {
	t.Helper()
	_, rows := w.read(t)
	w.wantTable(t, when, rows)
	w.wantHistory(t, when)
}
