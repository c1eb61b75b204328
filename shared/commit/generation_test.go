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

var cursorKey = contract.CursorKey("orders")

// copyOf is what is stored at key now.
func (w *world) copyOf(t *testing.T, key string) []byte {
	t.Helper()
	body, _, err := read(t.Context(), w.store, key, 1<<20)
	if err != nil || body == nil {
		t.Fatalf("%s: %v", key, err)
	}
	return body
}

// putBack stores a copy over whatever is there, as an operator does.
func (w *world) putBack(t *testing.T, key string, body []byte) {
	t.Helper()
	_, v, err := read(t.Context(), w.store, key, 1<<20)
	if err == nil {
		_, err = w.store.Replace(t.Context(), key, v, body, destination.Meta{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// loseTraces takes the traces of generations away.
func (w *world) loseTraces(t *testing.T) {
	t.Helper()
	var keys []string
	if err := w.store.List(t.Context(), contract.GenerationsDir("orders"), func(o destination.Object) error {
		keys = append(keys, o.Key)
		return nil
	}); err != nil || len(keys) == 0 {
		t.Fatalf("%d generations have left a trace: %v", len(keys), err)
	}
	for _, key := range keys {
		w.lose(t, key)
	}
}

// copies of the document as it was at the points of a history of three runs,
// the third of which has committed.
type copies struct{ first, opening, open []byte }

func history(t *testing.T) (*world, copies) {
	t.Helper()
	w := newWorld(memory.LikeS3)
	var c copies
	lives(t, w, "r1", 10)
	c.first = w.copyOf(t, cursorKey)
	lives(t, w, "r2", 20)
	opened, err := w.acquire(t.Context(), before(w.store, "replace", cursorKey, 2, func() { c.opening = w.copyOf(t, cursorKey) }), "r3")
	if err != nil || c.opening == nil {
		t.Fatal(err)
	}
	c.open = w.copyOf(t, cursorKey)
	if _, _, err := StorePlan(t.Context(), w.store, planOf("r3", opened.Generation())); err != nil {
		t.Fatal(err)
	}
	if _, err := w.finish(t.Context(), w.store, "r3", opened, 30); err != nil {
		t.Fatal(err)
	}
	return w, c
}

// An older copy of the document is believed by nobody who would take a
// generation from it, whatever tells of the newer one, and it stays as it is.
func TestOldDocumentIsRefused(t *testing.T) {
	for _, evidence := range []struct {
		name string
		old  func(c copies) []byte
		seen contract.Generation
		left func(t *testing.T, w *world)
		says []string
	}{
		{"the traces of generations", func(c copies) []byte { return c.first }, 0, func(*testing.T, *world) {}, []string{"generation 1 (committed, run r1)", "g000003.json tells of generation 3", "--reanchor"}},
		{"the trace of the newest alone", func(c copies) []byte { return c.first }, 0, func(t *testing.T, w *world) { w.lose(t, contract.GenerationKey("orders", 2)) }, []string{"g000003.json"}},
		{"the manifest of the prefix alone", func(c copies) []byte { return c.first }, 3, func(t *testing.T, w *world) { w.loseTraces(t) }, []string{"manifest.json tells of generation 3"}},
		{"the plan of a run that is said to be opening", func(c copies) []byte { return c.opening }, 0, func(*testing.T, *world) {}, []string{"generation 3 (opening, run r3)", "plan.json"}},
		{"another owner's trace of the generation", func(c copies) []byte { return c.opening }, 0, func(t *testing.T, w *world) {
			w.lose(t, contract.PlanKey("orders", "r3"))
			w.putBack(t, contract.GenerationKey("orders", 3), []byte(`{"run_id":"another"}`))
		}, []string{"g000003.json tells of generation 3"}},
	} {
		for name, attempt := range map[string]func(w *world, f Fence, owner contract.RunID) error{
			"take": func(w *world, f Fence, _ contract.RunID) error {
				a := w.acquisition(f.Root, "r4")
				a.Fence = f
				_, err := a.Acquire(t.Context())
				return err
			},
			"resume by another": func(_ *world, f Fence, _ contract.RunID) error {
				_, err := f.Resume(t.Context(), Owner{RunID: "r9", Prefix: "out/"}, anyDocument)
				return err
			},
			"resume": func(_ *world, f Fence, owner contract.RunID) error {
				_, err := f.Resume(t.Context(), Owner{RunID: owner, Prefix: "out/"}, anyDocument)
				return err
			},
			"repair": func(_ *world, f Fence, owner contract.RunID) error {
				_, err := f.Repair(t.Context(), Owner{RunID: owner, Prefix: "out/"}, nil, anyDocument)
				return err
			},
			"read": func(_ *world, f Fence, _ contract.RunID) error {
				_, err := f.ReadNewest(t.Context())
				return err
			},
		} {
			t.Run(evidence.name+", "+name, func(t *testing.T) {
				w, c := history(t)
				w.putBack(t, cursorKey, evidence.old(c))
				evidence.left(t, w)
				doc, err := contract.DecodeCursor(evidence.old(c))
				if err != nil {
					t.Fatal(err)
				}
				f := w.fence(w.store)
				f.Seen = evidence.seen
				if err := attempt(w, f, doc.OwnerRunID); fault.CodeOf(err) != CodeCursorOld || fault.ClassOf(err) != fault.Refused || !mentions(err, evidence.says...) {
					t.Fatalf("%v", err)
				}
				if now := w.copyOf(t, cursorKey); string(now) != string(evidence.old(c)) {
					t.Fatalf("the document is %s", now)
				}
			})
		}
	}
}

// The document of the generation that is the newest is taken for what it is, in
// each state that it has been in but the one that hides what its owner did.
func TestDocumentOfTheNewestGenerationIsBelieved(t *testing.T) {
	for name, putBack := range map[string]bool{"committed, as it is": false, "open, put back": true} {
		w, c := history(t)
		if putBack {
			w.putBack(t, cursorKey, c.open)
		}
		lives(t, w, "r4", 40)
		w.settled(t, name)
	}
}

// A rival takes the fence, and ends its run or dies, before any call of a run
// that takes it too: what it leaves is the reason to read the document again,
// and no reason to refuse it.
func TestRivalIsNoReasonToRefuse(t *testing.T) {
	for name, rival := range map[string]func(t *testing.T, w *world){
		"a run that ends": func(t *testing.T, w *world) { lives(t, w, "rival", 20) },
		"a run that dies open": func(t *testing.T, w *world) {
			if _, err := w.acquire(t.Context(), w.store, "rival"); err != nil && !isFenced(err) {
				t.Fatal(err)
			}
		},
		"a run that dies before its generation leaves a trace": func(t *testing.T, w *world) {
			if _, err := w.acquire(t.Context(), dyingAt("create", contract.GenerationsDir("orders"), w.store), "rival"); !errors.Is(err, faulty.ErrCrashed) {
				t.Fatalf("the rival: %v", err)
			}
		},
	} {
		for _, first := range []bool{true, false} {
			for n := 1; ; n++ {
				w := newWorld(memory.LikeS3)
				if !first {
					lives(t, w, "r1", 10)
				}
				calls := 0
				_, err := w.life(t.Context(), faulty.Wrap(w.store, faulty.FaultFunc(func(_ faulty.Call, perform func() error) error {
					if calls++; calls == n {
						rival(t, w)
					}
					return perform()
				})), "r2", 30)
				if err != nil && !isFenced(err) {
					t.Fatalf("%s, before call %d, first %v: %v", name, n, first, err)
				}
				lives(t, w, "r3", 40)
				lives(t, w, "r4", 50)
				w.settled(t, name)
				if calls < n {
					if n < 15 {
						t.Fatalf("only %d calls seen: the test no longer tests anything", n)
					}
					break
				}
			}
		}
	}
}

// A process has looked at the document and sleeps before its swap; another run
// follows, and the very bytes that the first has read are put back. The swap
// holds, and the trace of the generation tells the sleeper that this was an older
// copy, and every later run too.
func TestOlderCopyUnderASleeper(t *testing.T) {
	me := Owner{RunID: "r1", Prefix: "out/"}
	for _, tc := range []struct {
		name    string
		begin   func(t *testing.T, w *world)
		sleeper func(t *testing.T, w *world, store destination.Store) error
	}{
		{
			name:  "in front of TAKE",
			begin: func(t *testing.T, w *world) { lives(t, w, "r1", 10) },
			sleeper: func(t *testing.T, w *world, store destination.Store) error {
				_, err := w.acquire(t.Context(), store, "r3")
				return err
			},
		},
		{
			name:  "in front of RESUME",
			begin: func(t *testing.T, w *world) { w.mustAcquire(t, "r1") },
			sleeper: func(t *testing.T, w *world, store destination.Store) error {
				_, err := w.fence(store).Resume(t.Context(), me, anyDocument)
				return err
			},
		},
		{
			name:  "in front of a repair",
			begin: func(t *testing.T, w *world) { lives(t, w, "r1", 10) },
			sleeper: func(t *testing.T, w *world, store destination.Store) error {
				_, err := w.fence(store).Repair(t.Context(), me, w.copyOf(t, "out/"+contract.SidecarName("r1")), anyDocument)
				return err
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			tc.begin(t, w)
			old := w.copyOf(t, cursorKey)
			err := tc.sleeper(t, w, before(w.store, "replace", cursorKey, 1, func() {
				w.mustAcquire(t, "r2")
				w.putBack(t, cursorKey, old)
			}))
			if fault.CodeOf(err) != CodeCursorOld {
				t.Fatalf("the sleeper: %v", err)
			}
			for _, run := range []contract.RunID{"r3", "r4"} {
				if _, err := w.acquire(t.Context(), w.store, run); fault.CodeOf(err) != CodeCursorOld {
					t.Fatalf("%s: %v", run, err)
				}
			}
		})
	}
}

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
