package commit

import (
	"errors"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// What was refused is made anew when a run asks for it: above all generations,
// from the end of the last success, and the copy is kept.
func TestReanchorOverAnOldDocument(t *testing.T) {
	for name, old := range map[string]func(c copies) []byte{
		"of an earlier generation": func(c copies) []byte { return c.first },
		"of the same, opening":     func(c copies) []byte { return c.opening },
	} {
		t.Run(name, func(t *testing.T) {
			w, c := history(t)
			w.putBack(t, cursorKey, old(c))
			opened, err := w.anew(t, w.store, "r4")
			if doc := opened.Held.Doc; err != nil || doc.Generation != 4 || !doc.Position.Equal(position(30)) {
				t.Fatalf("the document is %+v at %+v (%v)", doc, doc.Position, err)
			}
			if kept := w.copyOf(t, contract.ExportDir("orders")+"/cursor-old-"+contract.FingerprintOf(old(c)).Hex()+".json"); string(kept) != string(old(c)) {
				t.Fatalf("kept: %s", kept)
			}
			if _, err := w.finish(t.Context(), w.store, "r4", opened, 40); err != nil {
				t.Fatal(err)
			}
			lives(t, w, "r5", 50)
			w.settled(t, "in the end")
			w.putBack(t, cursorKey, old(c))
			if _, err := w.acquire(t.Context(), w.store, "r6"); fault.CodeOf(err) != CodeCursorOld {
				t.Fatalf("put back once more: %v", err)
			}
		})
	}
}

// The newest document is put back before the run that re-anchors writes its own:
// it is taken over as it is.
func TestReanchorFindsTheNewestDocumentPutBack(t *testing.T) {
	for n := 2; n <= 4; n++ { // reads of the document
		w, c := history(t)
		newest := w.copyOf(t, cursorKey)
		w.putBack(t, cursorKey, c.first)
		opened, err := w.anew(t, before(w.store, "get", cursorKey, n, func() { w.putBack(t, cursorKey, newest) }), "r4")
		if doc := opened.Held.Doc; err != nil || doc.Generation != 4 || doc.CommittedBy == nil || doc.CommittedBy.RunID != "r3" {
			t.Fatalf("before read %d: %+v (%v)", n, doc, err)
		}
	}
}

// A resume of the lost document has taken a generation and sleeps before it
// leaves its trace, which stands when the run that re-anchors is about to leave its
// own there: that one takes the next generation, and nobody is refused for what the
// sleeper leaves.
func TestSleeperOfALostDocumentLeavesItsTraceLate(t *testing.T) {
	w := newWorld(memory.LikeS3)
	lives(t, w, "r1", 10)
	w.mustAcquire(t, "r2")
	var anew Opened
	_, err := w.fence(before(w.store, "create", contract.GenerationKey("orders", 3), 1, func() {
		w.lose(t, cursorKey)
		var err error
		if anew, err = w.anew(t, before(w.store, "create", contract.GenerationKey("orders", 3), 1, func() {
			w.create(t, contract.GenerationKey("orders", 3), []byte(`{"run_id":"r2"}`))
		}), "r3"); err != nil {
			t.Fatal(err)
		}
	})).Resume(t.Context(), Owner{RunID: "r2", Prefix: "out/"}, anyDocument)
	if !isFenced(err) {
		t.Fatalf("the sleeper: %v", err)
	}
	if anew.Generation() != 4 {
		t.Fatalf("generation %d: the test no longer tests anything", anew.Generation())
	}
	again, err := w.anew(t, w.store, "r3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.finish(t.Context(), w.store, "r3", again, 30); err != nil {
		t.Fatal(err)
	}
	lives(t, w, "r4", 40)
	w.settled(t, "in the end")
}

// A planner dies after each swap, before its generation leaves a trace: the next
// one makes up for it, so that every generation but the newest has left one.
func TestEveryGenerationButTheNewestHasLeftItsTrace(t *testing.T) {
	w := newWorld(memory.LikeS3)
	for g := contract.Generation(1); g <= 5; g++ {
		dying := dyingAt("create", contract.GenerationKey("orders", g), w.store)
		me := Owner{RunID: "r2", Prefix: "out/", Creation: "first life"}
		var err error
		switch g {
		case 1:
			_, err = w.acquire(t.Context(), dying, "r1")
		case 2:
			if _, err = w.acquire(t.Context(), dying, "r2"); errors.Is(err, faulty.ErrCrashed) {
				w.mustAcquire(t, "r2") // or it could not be resumed
			}
		case 3, 4:
			_, err = w.fence(dying).Resume(t.Context(), me, anyDocument)
		case 5:
			lives(t, w, "r2", 10)
			_, err = w.fence(dying).Repair(t.Context(), me, nil, anyDocument)
		}
		if held, readErr := w.fence(w.store).Read(t.Context()); !errors.Is(err, faulty.ErrCrashed) || readErr != nil || held.Doc.Generation != g {
			t.Fatalf("generation %d: the fence is at %d (%v, %v)", g, held.Doc.Generation, err, readErr)
		}
		for h := contract.Generation(1); h < g; h++ {
			w.copyOf(t, contract.GenerationKey("orders", h))
		}
	}
}

// A pair of a newer generation is not published over, by a run that an older copy
// of the document names, nor by its successor.
func TestOldDocumentPublishesNothing(t *testing.T) {
	t.Run("the finalizer of a run that it names", func(t *testing.T) {
		w := newWorld(memory.LikeS3)
		opened := w.mustAcquire(t, "r1")
		old := w.copyOf(t, cursorKey)
		p := w.publication(w.store, "r1", opened.Generation(), nil, 10)
		if _, err := p.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		lives(t, w, "r2", 20)
		w.putBack(t, cursorKey, old)
		p.Record = nil // it settles its own sidecar
		if _, err := p.Publish(t.Context()); fault.CodeOf(err) != CodeCursorOld {
			t.Fatalf("%v", err)
		}
		if m, err := CheckPrefix(t.Context(), destination.Prefixed(w.store, "out/"), "orders"); err != nil || m.RunID != "r2" {
			t.Fatalf("the manifest is of %s (%v)", m.RunID, err)
		}
	})
	t.Run("the finalizer of a run that it says is opening", func(t *testing.T) {
		w := newWorld(memory.LikeS3)
		_, err := w.acquire(t.Context(), dyingAt("create", contract.GenerationKey("orders", 1), w.store), "r1")
		if !errors.Is(err, faulty.ErrCrashed) {
			t.Fatal(err)
		}
		old := w.copyOf(t, cursorKey)
		opened := w.mustAcquire(t, "r1")
		w.putBack(t, cursorKey, old)
		if _, err := w.publication(w.store, "r1", opened.Generation(), nil, 10).Publish(t.Context()); fault.CodeOf(err) != CodeCursorOld {
			t.Fatalf("%v", err)
		}
	})
	t.Run("the finalizer of a later life of a run that it names", func(t *testing.T) {
		w := newWorld(memory.LikeS3)
		w.mustAcquire(t, "r1")
		old := w.copyOf(t, cursorKey)
		if _, err := w.fence(w.store).Resume(t.Context(), Owner{RunID: "r1", Prefix: "out/"}, anyDocument); err != nil {
			t.Fatal(err)
		}
		w.putBack(t, cursorKey, old)
		if _, err := w.publication(w.store, "r1", 2, nil, 10).Publish(t.Context()); fault.CodeOf(err) != CodeCursorOld {
			t.Fatalf("%v", err)
		}
	})
}

// dyingAt is a store whose process dies when it calls op on a key below prefix.
func dyingAt(op, prefix string, store destination.Store) destination.Store {
	return faulty.Wrap(store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Op == op && strings.HasPrefix(c.Key, prefix) {
			return faulty.ErrCrashed
		}
		return perform()
	}))
}
