package commit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
)

// anew acquires the fence for run with a new document, through store.
func (w *world) anew(t *testing.T, store destination.Store, run contract.RunID) (Opened, error) {
	t.Helper()
	a := Acquisition{
		Fence: w.fence(store), Me: Owner{RunID: run, Prefix: "out/"}, SourceIdentity: identity, Position: position(1),
		MayTake:      func(context.Context, contract.CursorDocument) error { return nil },
		StillPlanned: func(context.Context) error { return nil },
		CheckParts:   func(context.Context, destination.Store, contract.Manifest) error { return nil },
		Tombstone:    func(p contract.Predecessor) contract.Manifest { return tombstone(p.RunID) },
		Reanchor:     true,
	}
	return a.Acquire(t.Context())
}

func (w *world) lose(t *testing.T, key string) {
	t.Helper()
	o, err := w.store.Head(t.Context(), key)
	if err == nil {
		err = w.store.Move(t.Context(), key, "lost/"+o.Key, o.Version)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The position of a document that is made anew is the end of the last success,
// whole, and its generation is above everything that tells of one: sidecars,
// tombstones, records, plans and parts, in the prefix, in another one and in
// quarantine.
func TestReanchorGoesOnFromTheLastSuccess(t *testing.T) {
	for _, tc := range []struct {
		name, key string
		want      contract.Generation
	}{
		{"the sidecars alone", "", 3},
		{"a part", "out/part-g000007-000001.csv", 8},
		{"a part in quarantine", "out/_quarantine/r1/part-g000007-000001.csv", 8},
		{"a part of another day's prefix", "2026-11-29/part-g000007-000001.csv", 8},
		{"a record", contract.RecordKey("orders", "r9", 7), 8},
		{"a file that looks like a part and is none", "out/part-g000007.csv", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			for i, run := range []contract.RunID{"r1", "r2"} {
				if _, err := w.life(t.Context(), w.store, run, 10*(i+1)); err != nil {
					t.Fatal(err)
				}
			}
			if tc.key != "" {
				if _, err := w.store.Create(t.Context(), tc.key, []byte("x"), destination.Meta{}); err != nil {
					t.Fatal(err)
				}
			}
			w.lose(t, contract.CursorKey("orders"))
			opened, err := w.anew(t, w.store, "r3")
			if err != nil {
				t.Fatal(err)
			}
			doc := opened.Held.Doc
			if doc.Generation != tc.want || !doc.Position.Equal(position(20)) || doc.CommittedBy.RunID != "r2" || doc.State != contract.FenceOpen {
				t.Fatalf("the document is %+v at %+v", doc, doc.Position)
			}
			if _, err := w.finish(t.Context(), w.store, "r3", opened, 30); err != nil {
				t.Fatal(err)
			}
			w.check(t, "in the end")
		})
	}
}

// A run of the lost document commits before any call of the one that makes a new
// one, or is sealed: each row is in one success, whatever comes first.
func TestReanchorWhileAnOldRunCommits(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(memory.LikeS3)
		if _, err := w.life(t.Context(), w.store, "r1", 10); err != nil {
			t.Fatal(err)
		}
		opened, err := w.acquire(t.Context(), w.store, "r2")
		if err != nil {
			t.Fatal(err)
		}
		old := w.publication(w.store, "r2", opened.Generation(), opened.Held.Doc.Position, 20)
		plan := planOf("r2", opened.Generation())
		if _, _, err := StorePlan(t.Context(), w.store, plan); err != nil {
			t.Fatal(err)
		}
		w.lose(t, contract.CursorKey("orders"))
		calls := 0
		_, err = w.anew(t, faulty.Wrap(w.store, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
			if calls++; calls == n { // it was past the fence
				if _, ending, err := old.commitPoint(t.Context(), destination.Prefixed(w.store, "out/")); err != nil || ending != nil && ending.Ending != Superseded {
					t.Fatalf("the old run: %+v %v", ending, err)
				}
			}
			return perform()
		})), "r3")
		if err != nil {
			t.Fatal(err)
		}
		now, err := w.fence(w.store).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.finish(t.Context(), w.store, "r3", Opened{Held: now}, 30); err != nil {
			t.Fatal(err)
		}
		w.check(t, "in the end")
		if now.Doc.Generation <= opened.Generation() {
			t.Fatalf("the old run and the new document are of generation %d and %d", opened.Generation(), now.Doc.Generation)
		}
		if calls < n {
			if n < 10 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n)
			}
			return
		}
	}
}

// What is not understood is not sealed over.
func TestReanchorRefusesAPlanItCannotRead(t *testing.T) {
	w := newWorld(memory.LikeS3)
	if _, err := w.life(t.Context(), w.store, "r1", 10); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Create(t.Context(), contract.PlanKey("orders", "r2"), []byte("{"), destination.Meta{}); err != nil {
		t.Fatal(err)
	}
	w.lose(t, contract.CursorKey("orders"))
	if _, err := w.anew(t, w.store, "r3"); err == nil || !strings.Contains(err.Error(), contract.PlanKey("orders", "r2")) {
		t.Fatalf("re-anchored: %v", err)
	}
	if _, err := w.store.Head(t.Context(), contract.CursorKey("orders")); !errors.Is(err, destination.ErrNotFound) {
		t.Fatal("a document stands")
	}
}

func planOf(run contract.RunID, g contract.Generation) chunkplan.Plan {
	return chunkplan.Plan{PlanVersion: chunkplan.PlanVersion, RunID: run, Export: testExport, Engine: "postgres", Prefix: "out/", FirstGeneration: g}
}
