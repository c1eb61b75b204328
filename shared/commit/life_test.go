package commit

import (
	"context"
	"errors"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

// document is the fence as it is now.
func (w *world) document(t *testing.T) contract.CursorDocument {
	t.Helper()
	held, err := w.fence(w.store).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return held.Doc
}

// atGet runs do before the nth get of the fence document.
func atGet(n int, do func()) faulty.Fault {
	gets := 0
	return faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Op == "get" && c.Key == contract.CursorKey("orders") {
			if gets++; gets == n {
				do()
			}
		}
		return perform()
	})
}

// A fence names the item that its generation was taken for, however it was
// taken: by that a planner tells its own life from one that the table has lost.
func TestFenceNamesTheLifeThatTookIt(t *testing.T) {
	me := Owner{RunID: "r1", Prefix: "out/", Creation: "the life"}
	for _, tc := range []struct {
		name string
		take func(t *testing.T, w *world) error
		want contract.Generation // one that does not name its life is taken again at once
	}{
		{"a first run", func(t *testing.T, w *world) error {
			a := w.acquisition(w.store, "r1")
			a.Me = me
			_, err := a.Acquire(t.Context())
			return err
		}, 1},
		{"a new document", func(t *testing.T, w *world) error {
			lives(t, w, "r0", 2)
			w.lose(t, contract.CursorKey("orders"))
			a := w.acquisition(w.store, "r1")
			a.Me, a.Reanchor = me, true
			_, err := a.Acquire(t.Context())
			return err
		}, 2},
		{"a repair", func(t *testing.T, w *world) error {
			lives(t, w, "r1", 2)
			_, err := w.fence(w.store).Repair(t.Context(), me, w.sidecarOf(t, "r1"), anyDocument)
			return err
		}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			if err := tc.take(t, w); err != nil {
				t.Fatal(err)
			}
			if got := w.document(t); got.OwnerCreation != me.Creation || got.OwnerPrefix != me.Prefix || got.Generation != tc.want {
				t.Fatalf("the fence is of life %q at %q, generation %d", got.OwnerCreation, got.OwnerPrefix, got.Generation)
			}
		})
	}
}

// A fence that was given back is not held: its run takes it again, under a new
// generation.
func TestReleasedFenceIsTakenAgain(t *testing.T) {
	w := newWorld(memory.LikeS3)
	opened := w.mustAcquire(t, "first")
	if err := w.fence(w.store).Release(t.Context(), "first", opened.Generation()); err != nil {
		t.Fatal(err)
	}
	again := w.mustAcquire(t, "first")
	if doc := w.document(t); again.Generation() != 2 || doc.State != contract.FenceOpen || doc.Generation != 2 {
		t.Fatalf("generation %d, the fence is %+v", again.Generation(), doc)
	}
}

// Two planners of one life find the fence of the life before: one of them takes
// a generation, the other one goes on under it.
func TestOneLifeTakesOneGeneration(t *testing.T) {
	w := newWorld(memory.LikeS3)
	w.mustAcquire(t, "first")
	a := w.reborn("first")
	a.Fence = w.fence(faulty.Wrap(w.store, atGet(2, func() {
		if _, err := w.reborn("first").Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	})))
	if opened, err := a.Acquire(t.Context()); err != nil || opened.Generation() != 2 || w.document(t).Generation != 2 {
		t.Fatalf("generation %d of %d (%v)", opened.Generation(), w.document(t).Generation, err)
	}
}

// A planner whose run has moved on while it was asleep leaves the fence as it is.
func TestFenceOfALifeThatIsOverIsLeftAlone(t *testing.T) {
	w := newWorld(memory.LikeS3)
	w.mustAcquire(t, "first")
	before, over := w.document(t), errors.New("the item was created anew")
	a := w.reborn("first")
	a.StillPlanned = func(context.Context) error { return over }
	if _, err := a.Acquire(t.Context()); !errors.Is(err, over) || w.document(t).Generation != before.Generation {
		t.Fatalf("%v, generation %d", err, w.document(t).Generation)
	}
}

// So does one that finds the fence in the hands of another run, or in nobody's.
func TestRunThatHasMovedOnDoesNotTakeTheFence(t *testing.T) {
	for _, before := range []bool{false, true} {
		w := newWorld(memory.LikeS3)
		if before {
			lives(t, w, "first", 2)
		}
		was, over := w.document(t), errors.New("the item was created anew")
		a := w.acquisition(w.store, "second")
		a.StillPlanned = func(context.Context) error { return over }
		if _, err := a.Acquire(t.Context()); !errors.Is(err, over) || w.document(t).Generation != was.Generation {
			t.Fatalf("%v, generation %d", err, w.document(t).Generation)
		}
	}
}

// A repair that another one overtakes between its read and its write replaces
// nothing.
func TestRepairReplacesWhatItHasRead(t *testing.T) {
	w := newWorld(memory.LikeS3)
	lives(t, w, "r1", 10)
	name := contract.SidecarName("r1")
	newer := w.publication(w.store, "r1", 3, nil, 10).Manifest
	gets := 0
	store := faulty.Wrap(w.store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Key == "out/"+name {
			if gets++; gets == 2 {
				prefix := destination.Prefixed(w.store, "out/")
				o, err := prefix.Head(t.Context(), name)
				if err == nil {
					_, err = prefix.Replace(t.Context(), name, o.Version, newer, metaOf(newer))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		return perform()
	}))
	mine := w.publication(store, "r1", 2, nil, 10)
	mine.Repair = true
	if _, _, err := mine.replaceSidecar(t.Context(), destination.Prefixed(store, "out/")); !errors.Is(err, destination.ErrMoved) {
		t.Errorf("%v", err)
	}
	if string(w.sidecarOf(t, "r1")) != string(newer) {
		t.Error("the newer repair's manifest is gone")
	}
}

// A repair delivers its window again: the position stays, and the document names
// the new manifest.
func TestRepairLeavesThePosition(t *testing.T) {
	w := newWorld(memory.LikeS3)
	lives(t, w, "r1", 10)
	held, err := w.fence(w.store).Repair(t.Context(), Owner{RunID: "r1", Prefix: "out/"}, w.sidecarOf(t, "r1"), anyDocument)
	if err != nil {
		t.Fatal(err)
	}
	p := w.publication(w.store, "r1", held.Doc.Generation, nil, 10)
	p.Repair = true
	if done, err := p.Publish(t.Context()); err != nil || done.Manifest == nil {
		t.Fatalf("%+v (%v)", done, err)
	}
	if doc := w.document(t); !doc.Position.Equal(position(10)) || !doc.CommittedBy.Names(p.Manifest) {
		t.Fatalf("the fence is %+v at %+v", doc, doc.Position)
	}
	w.settled(t, "after the repair")
}
