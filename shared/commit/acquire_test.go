package commit

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// A run that a successor is sealing, or has sealed, never takes the fence
// again: it would extract everything and could not commit.
func TestSealedRunDoesNotTakeTheFence(t *testing.T) {
	ctx := t.Context()
	for name, dies := range map[string]string{
		"while it is being sealed": contract.SidecarName("first"),
		"once it is sealed":        contract.CursorKey("orders"), // the successor dies in OPEN
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			if _, err := w.acquire(ctx, w.store, "first"); err != nil {
				t.Fatal(err)
			}
			seen := 0
			_, err := w.acquire(ctx, faulty.Wrap(w.store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
				if c.Op == "replace" && c.Key == contract.CursorKey("orders") {
					seen++
				}
				if c.Key == "out/"+dies && c.Write > 0 || c.Key == dies && seen == 2 {
					return faulty.ErrCrashed
				}
				return perform()
			})), "second")
			if err == nil {
				t.Fatal("the successor did not die where it was to")
			}
			if _, err := w.acquire(ctx, w.store, "first"); !isFenced(err) {
				t.Fatalf("the sealed run gets %v, want the fence lost", err)
			}
			held, err := w.fence(w.store).Read(ctx)
			if err != nil || held.Doc.OwnerRunID != "second" {
				t.Fatalf("the fence is held by %q (%v)", held.Doc.OwnerRunID, err)
			}
			lives(t, w, "second", 4)
			w.settled(t, "in the end")
		})
	}
}

// Nor does it when its successor has ended long ago: its tombstone says so. The
// same goes for a run that has committed. The fence is not touched: a run that
// took it would be rolled forward over its successor.
func TestDecidedRunLeavesTheFenceAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		begin   func(t *testing.T, w *world)
		refused func(error) bool
	}{
		"sealed": {func(t *testing.T, w *world) {
			if _, err := w.acquire(t.Context(), w.store, "first"); err != nil {
				t.Fatal(err)
			}
		}, isFenced},
		"committed": {func(t *testing.T, w *world) { lives(t, w, "first", 2) }, isCommitted},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			tc.begin(t, w)
			lives(t, w, "second", 4)
			before, err := w.fence(w.store).Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.acquire(t.Context(), w.store, "first"); !tc.refused(err) {
				t.Errorf("the run gets %v", err)
			}
			after, err := w.fence(w.store).Read(t.Context())
			if err != nil || after.Version != before.Version {
				t.Errorf("the fence went from %+v to %+v (%v)", before.Doc, after.Doc, err)
			}
		})
	}
}

// A fence that was taken and never opened is not resumed: what its predecessor
// has committed may not have been published yet.
func TestUnopenedFenceIsNotResumed(t *testing.T) {
	w := newWorld(memory.LikeS3)
	if _, err := w.acquire(t.Context(), w.store, "first"); err != nil {
		t.Fatal(err)
	}
	replaced := 0
	dying := faulty.Wrap(w.store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		if c.Op == "replace" && c.Key == contract.CursorKey("orders") {
			if replaced++; replaced == 2 { // TAKE, then OPEN
				return faulty.ErrCrashed
			}
		}
		return perform()
	}))
	if _, err := w.acquire(t.Context(), dying, "second"); err == nil {
		t.Fatal("the run did not die in OPEN")
	}
	_, err := w.fence(w.store).Resume(t.Context(), Owner{RunID: "second", Prefix: "out/"}, func(contract.CursorDocument) error { return nil })
	if fault.CodeOf(err) != "LAPSTRAKE_RUN_NOT_OPEN" {
		t.Fatalf("the resume ends with %v", err)
	}
	held, err := w.fence(w.store).Read(t.Context())
	if err != nil || held.Doc.State != contract.FenceOpening || held.Doc.Generation != 2 {
		t.Fatalf("the fence is %+v (%v)", held.Doc, err)
	}
}

// The table was lost while a run held the fence open: the run's old workers and
// finalizers may still be alive, so it takes a new generation.
func TestForgottenRunIsResumedUnderANewGeneration(t *testing.T) {
	w := newWorld(memory.LikeS3)
	if _, err := w.acquire(t.Context(), w.store, "first"); err != nil {
		t.Fatal(err)
	}
	again, err := w.reborn("first").Acquire(t.Context())
	if err != nil || again.Generation() != 2 {
		t.Fatalf("generation %d (%v), want 2", again.Generation(), err)
	}
	retried, err := w.reborn("first").Acquire(t.Context())
	if err != nil || retried.Generation() != 2 {
		t.Fatalf("generation %d (%v) for a retried trigger, want 2", retried.Generation(), err)
	}
}

// A finalizer of an older generation of its own run writes nothing, wherever it
// was when the run was resumed; the resumed run then publishes once.
func TestStaleFinalizerAfterResume(t *testing.T) {
	ctx := t.Context()
	for n := 1; ; n++ {
		w := newWorld(memory.LikeS3)
		opened, err := w.acquire(ctx, w.store, "first")
		if err != nil {
			t.Fatal(err)
		}
		var resumed Held
		stale := faulty.Wrap(w.store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
			if c.N == n {
				if m, _, err := ReadSidecar(ctx, destination.Prefixed(w.store, "out/"), "first"); err != nil || m == nil {
					if resumed, err = w.fence(w.store).Resume(ctx, Owner{RunID: "first", Prefix: "out/"}, func(contract.CursorDocument) error { return nil }); err != nil {
						t.Fatal(err)
					}
				}
			}
			return perform()
		}))
		done, err := w.publication(stale, "first", opened.Generation(), nil, 2).Publish(ctx)
		if err != nil {
			t.Fatalf("resumed before call %d: %v", n, err)
		}
		if resumed.Absent() {
			if n < 5 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n)
			}
			return
		}
		if done.Ending != Stale {
			t.Fatalf("resumed before call %d: the stale finalizer ends %q", n, done.Ending)
		}
		last, err := w.publication(w.store, "first", resumed.Doc.Generation, nil, 2).Publish(ctx)
		if err != nil || last.Ending != Committed {
			t.Fatalf("resumed before call %d: the resumed run ends %q: %v", n, last.Ending, err)
		}
		w.settled(t, "in the end")
	}
}

func TestRefusals(t *testing.T) {
	ctx := t.Context()
	put := func(t *testing.T, w *world, key, body string) {
		t.Helper()
		old, v, err := read(ctx, w.store, key, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		_ = old
		if _, err := w.store.Replace(ctx, key, v, []byte(body), destination.Meta{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name  string
		spoil func(t *testing.T, w *world)
		code  fault.Code
		says  string
	}{
		{"a cursor that is cut off", func(t *testing.T, w *world) {
			put(t, w, contract.CursorKey("orders"), `{"cursor_version":1,"export":"ord`)
		}, "LAPSTRAKE_STATE_CURSOR_UNREADABLE", "cursor.json"},
		{"a cursor that was deleted", func(t *testing.T, w *world) {
			body, v, err := read(ctx, w.store, contract.CursorKey("orders"), 1<<20)
			if err != nil || body == nil {
				t.Fatal(err)
			}
			if err := w.store.Move(ctx, contract.CursorKey("orders"), "elsewhere.json", v); err != nil {
				t.Fatal(err)
			}
		}, "LAPSTRAKE_STATE_CURSOR_MISSING", "cursor.json is gone"},
		{"another export in the prefix", func(t *testing.T, w *world) {
			m := tombstone("x")
			m.ExportName, m.Status = "customers", contract.StatusSuccess
			body, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			put(t, w, "out/"+contract.ManifestName, string(body))
		}, "LAPSTRAKE_DEST_PREFIX_OF_OTHER_EXPORT", "customers"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			lives(t, w, "first", 2)
			tc.spoil(t, w)
			before := takeSnapshot(t, w)
			_, err := w.life(ctx, w.store, "second", 4)
			if fault.CodeOf(err) != tc.code || !mentions(err, tc.says) {
				t.Fatalf("error %v (%s), want %s and %q", err, fault.CodeOf(err), tc.code, tc.says)
			}
			if after := takeSnapshot(t, w); after.manifest != before.manifest || after.success != before.success {
				t.Fatalf("something was published: before %+v, after %+v", before, after)
			}
		})
	}
}

func TestAnotherDatabaseIsRefused(t *testing.T) {
	w := newWorld(memory.LikeS3)
	lives(t, w, "first", 2)
	a := w.acquisition(w.store, "second")
	a.SourceIdentity.SystemIdentifier = "2"
	if _, err := a.Acquire(t.Context()); fault.CodeOf(err) != "LAPSTRAKE_STATE_SOURCE_CHANGED" {
		t.Fatalf("error %v, want LAPSTRAKE_STATE_SOURCE_CHANGED", err)
	}
}

// A released fence is taken at once, and the released run is sealed.
func TestReleasedRunIsSealedByItsSuccessor(t *testing.T) {
	ctx := t.Context()
	w := newWorld(memory.LikeS3)
	opened, err := w.acquire(ctx, w.store, "first")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.fence(w.store).Release(ctx, "first", opened.Generation()); err != nil {
		t.Fatal(err)
	}
	lives(t, w, "second", 4)
	m, _, err := ReadSidecar(ctx, destination.Prefixed(w.store, "out/"), "first")
	if err != nil || m == nil || !m.Tombstone() || m.SealedBy.RunID != "second" {
		t.Fatalf("the released run's sidecar is %+v (%v), want a tombstone by second", m, err)
	}
	w.settled(t, "in the end")
}
