package commit

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// create puts an object that is not there.
func (w *world) create(t *testing.T, key string, body []byte) {
	t.Helper()
	if _, err := w.store.Create(t.Context(), key, body, destination.Meta{}); err != nil {
		t.Fatal(err)
	}
}

func encoded(t *testing.T, m contract.Manifest) []byte {
	t.Helper()
	body, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// What tells of a generation or of a position, and what does not: plans and
// tombstones do, sidecars of other writers and other exports do not.
func TestTracesOfALostDocument(t *testing.T) {
	for _, tc := range []struct {
		name string
		left func(t *testing.T, w *world)
		want contract.Generation
	}{
		{"a plan of a run that stored nothing", func(t *testing.T, w *world) {
			if _, _, err := StorePlan(t.Context(), w.store, planOf("r8", 7)); err != nil {
				t.Fatal(err)
			}
		}, 8},
		{"a run that was sealed by one of which nothing else is left", func(t *testing.T, w *world) {
			m := tombstone("r8")
			m.Status, m.SealedBy = contract.StatusInterrupted, &contract.SealedBy{RunID: "r9", Generation: 7}
			w.create(t, "out/"+contract.SidecarName("r8"), encoded(t, m))
		}, 8},
		{"a success without rows, whose record is gone", func(t *testing.T, w *world) {
			m, err := contract.DecodeManifest(w.publication(w.store, "r8", 7, position(20), 20).Manifest)
			if err != nil {
				t.Fatal(err)
			}
			m.Parts, m.PartCount, m.RowCount = []contract.Part{}, 0, 0
			w.create(t, "out/"+contract.SidecarName("r8"), encoded(t, m))
		}, 8},
		{"a generation of which nothing else is left", func(t *testing.T, w *world) {
			w.create(t, contract.GenerationKey("orders", 7), []byte("{}"))
		}, 8},
		{"a success of another export", func(t *testing.T, w *world) {
			m, err := contract.DecodeManifest(w.publication(w.store, "r8", 7, nil, 70).Manifest)
			if err != nil {
				t.Fatal(err)
			}
			m.ExportName = "customers"
			m.Parts[0].Path = "customers.csv"
			w.create(t, "out/"+contract.SidecarName("r8"), encoded(t, m))
		}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			lives(t, w, "r1", 10)
			lives(t, w, "r2", 20)
			tc.left(t, w)
			w.lose(t, contract.CursorKey("orders"))
			opened, err := w.anew(t, w.store, "r3")
			if err != nil || opened.Generation() != tc.want || !opened.Held.Doc.Position.Equal(position(20)) {
				t.Fatalf("generation %d at %+v (%v), want %d", opened.Generation(), opened.Held.Doc.Position, err, tc.want)
			}
		})
	}
}

// A success of the upstream is nothing that a document was committed by.
func TestReanchorBesideTheUpstreamsOutput(t *testing.T) {
	w := newWorld(memory.LikeS3)
	m, err := contract.DecodeManifest(w.publication(w.store, "r1", 0, nil, 10).Manifest)
	if err != nil {
		t.Fatal(err)
	}
	w.create(t, "out/"+contract.SidecarName("r1"), encoded(t, m))
	w.create(t, contract.RecordKey("orders", "r2", 1), []byte("{}"))
	opened, err := w.anew(t, w.store, "r3")
	if doc := opened.Held.Doc; err != nil || doc.CommittedBy != nil || doc.Position != nil || doc.Generation != 2 {
		t.Fatalf("the document is %+v at %+v (%v)", doc, doc.Position, err)
	}
}

// What cannot be gone on from is refused, and no document is made.
func TestReanchorRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, w *world, a *Acquisition)
		want   fault.Code
	}{
		{"a run that was planned under the lost document", func(t *testing.T, w *world, a *Acquisition) {
			if _, _, err := StorePlan(t.Context(), w.store, planOf("r3", 2)); err != nil {
				t.Fatal(err)
			}
		}, "LAPSTRAKE_RUN_REANCHOR_OLD_RUN"},
		{"another cursor than the last success's", func(t *testing.T, w *world, a *Acquisition) {
			a.Position = &contract.Position{Kind: "incremental", Column: "updated_at", Type: "bigint"}
		}, "LAPSTRAKE_STATE_CURSOR_SHAPE_CHANGED"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			lives(t, w, "r1", 10)
			w.lose(t, contract.CursorKey("orders"))
			a := w.acquisition(w.store, "r3")
			a.Reanchor = true
			tc.change(t, w, &a)
			if _, err := a.Acquire(t.Context()); fault.CodeOf(err) != tc.want {
				t.Fatalf("%v", err)
			}
			if held, err := w.fence(w.store).Read(t.Context()); err != nil || !held.Absent() {
				t.Fatalf("a document stands: %+v (%v)", held.Doc, err)
			}
		})
	}
}

// The document is put back while a run is about to make a new one: it is taken
// over, as it is.
func TestReanchorFindsTheDocumentPutBack(t *testing.T) {
	for n := 2; n <= 3; n++ {
		w := newWorld(memory.LikeS3)
		lives(t, w, "r1", 10)
		body, _, err := read(t.Context(), w.store, contract.CursorKey("orders"), contract.MaxCursorBytes)
		if err != nil {
			t.Fatal(err)
		}
		w.lose(t, contract.CursorKey("orders"))
		back := false
		store := faulty.Wrap(w.store, atGet(n, func() {
			back = true
			w.create(t, contract.CursorKey("orders"), body)
		}))
		opened, err := w.anew(t, store, "r2")
		if doc := opened.Held.Doc; err != nil || !back || doc.Generation != 2 || doc.CommittedBy == nil || !doc.Position.Equal(position(10)) {
			t.Fatalf("at read %d: %+v at %+v (%v)", n, doc, doc.Position, err)
		}
		if err := w.store.List(t.Context(), contract.ExportDir("orders")+"/cursor-unreadable", func(o destination.Object) error {
			t.Errorf("at read %d: the document was taken for one that cannot be read: %s", n, o.Key)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
