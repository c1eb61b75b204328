package commit

import (
	"errors"
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
