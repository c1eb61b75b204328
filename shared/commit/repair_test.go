package commit

import (
	"bytes"
	"errors"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// sidecarOf returns the bytes of a run's sidecar.
func (w *world) sidecarOf(t *testing.T, run contract.RunID) []byte {
	t.Helper()
	_, body, err := ReadSidecar(t.Context(), destination.Prefixed(w.store, "out/"), run)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// A repair changes the generation of a committed fence and nothing else; of a
// run that has committed and not come to its cursor, it makes a committed one.
func TestRepairKeepsTheFenceCommitted(t *testing.T) {
	for _, published := range []bool{true, false} {
		w := newWorld(memory.LikeS3)
		opened, err := w.acquire(t.Context(), w.store, "r1")
		if err != nil {
			t.Fatal(err)
		}
		p := w.publication(w.store, "r1", opened.Generation(), nil, 10)
		if published {
			_, err = p.Publish(t.Context())
		} else {
			_, _, err = p.commitPoint(t.Context(), destination.Prefixed(w.store, "out/"))
		}
		if err != nil {
			t.Fatal(err)
		}
		held, err := w.fence(w.store).Repair(t.Context(), p.Me, w.sidecarOf(t, "r1"), anyDocument)
		if err != nil {
			t.Fatal(err)
		}
		doc := held.Doc
		if doc.Generation != 2 || doc.State != contract.FenceCommitted || !doc.Position.Equal(position(10)) || !doc.CommittedBy.Names(p.Manifest) {
			t.Fatalf("published %v: the fence is %+v at %+v", published, doc, doc.Position)
		}
		late, err := p.Publish(t.Context()) // the finalizer of the generation before wakes up
		if err != nil || late.Ending != Stale {
			t.Fatalf("published %v: the old finalizer ends with %+v, %v", published, late, err)
		}
	}
}

// A run that is not the owner cannot take a generation, whatever it has
// committed, and changes nothing.
func TestRepairByAnotherThanTheOwnerIsRefused(t *testing.T) {
	w := newWorld(memory.LikeS3)
	for i, run := range []contract.RunID{"r1", "r2"} {
		if _, err := w.life(t.Context(), w.store, run, 10*(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	before, err := w.fence(w.store).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.fence(w.store).Repair(t.Context(), Owner{RunID: "r1", Prefix: "out/"}, w.sidecarOf(t, "r1"), anyDocument)
	var lost *FenceLostError
	if !errors.As(err, &lost) || lost.OwnerRunID != "r2" {
		t.Fatalf("%v", err)
	}
	if after, err := w.fence(w.store).Read(t.Context()); err != nil || after.Version != before.Version {
		t.Fatalf("the fence has changed (%v)", err)
	}
}

// What replaces a sidecar: only the same run's success of an older generation.
func TestReplaceSidecar(t *testing.T) {
	for _, tc := range []struct {
		name   string
		there  func(w *world, mine Publication) []byte
		stale  bool
		code   fault.Code
		stands bool // what was there
	}{
		{name: "a success of an older generation", there: func(w *world, _ Publication) []byte { return w.publication(w.store, "r1", 1, nil, 10).Manifest }},
		{name: "these very bytes", there: func(_ *world, mine Publication) []byte { return mine.Manifest }},
		{name: "other bytes of this generation", there: func(w *world, _ Publication) []byte { return w.publication(w.store, "r1", 2, nil, 11).Manifest }, code: "LAPSTRAKE_INTERNAL_NOT_DETERMINISTIC", stands: true},
		{name: "a newer generation", there: func(w *world, _ Publication) []byte { return w.publication(w.store, "r1", 3, nil, 10).Manifest }, stale: true, stands: true},
		{name: "another run's", there: func(w *world, _ Publication) []byte { return w.publication(w.store, "r2", 1, nil, 10).Manifest }, code: "LAPSTRAKE_INTERNAL_REPAIR_OF_UNCOMMITTED", stands: true},
		{name: "nothing", there: func(*world, Publication) []byte { return nil }, code: "LAPSTRAKE_DEST_SIDECAR_GONE", stands: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			mine := w.publication(w.store, "r1", 2, nil, 10)
			mine.Repair = true
			prefix, name := destination.Prefixed(w.store, "out/"), contract.SidecarName("r1")
			there := tc.there(w, mine)
			if there != nil {
				if _, err := prefix.Create(t.Context(), name, there, metaOf(there)); err != nil {
					t.Fatal(err)
				}
			}
			_, ending, err := mine.replaceSidecar(t.Context(), prefix)
			if fault.CodeOf(err) != tc.code || (ending != nil && ending.Ending == Stale) != tc.stale {
				t.Fatalf("%+v %v", ending, err)
			}
			now, _, err := read(t.Context(), prefix, name, maxControlBytes)
			if err != nil || !bytes.Equal(now, map[bool][]byte{true: there, false: mine.Manifest}[tc.stands]) {
				t.Fatalf("%d bytes stand (%v)", len(now), err)
			}
		})
	}
}

// Damaged tells what is missing from what differs.
func TestDamaged(t *testing.T) {
	w := newWorld(memory.LikeS3)
	prefix := destination.Prefixed(w.store, "out/")
	m := contract.Manifest{}
	for i, name := range []string{"intact", "missing", "longer", "other"} {
		body := []byte(name)
		m.Parts = append(m.Parts, contract.Part{PartID: i + 1, Path: name, SizeBytes: int64(len(body)), ContentFingerprint: contract.FingerprintOf(body), Status: contract.PartCommitted})
		stored := map[string][]byte{"intact": body, "longer": []byte("longer!"), "other": []byte("OTHER")}[name]
		if stored == nil {
			continue
		}
		if _, err := prefix.Create(t.Context(), name, stored, destination.Meta{}); err != nil {
			t.Fatal(err)
		}
	}
	m.Parts = append(m.Parts, contract.Part{PartID: 9, Path: "quarantined before", Status: contract.PartQuarantined})
	found, err := Damaged(t.Context(), prefix, m)
	if err != nil || len(found) != 3 {
		t.Fatalf("%+v %v", found, err)
	}
	for i, want := range []struct {
		path    string
		missing bool
	}{{"missing", true}, {"longer", false}, {"other", false}} {
		if found[i].Path != want.path || found[i].Missing != want.missing {
			t.Errorf("found %+v, want %+v", found[i], want)
		}
	}
}

// Rows that have come to the end of a window since it was published belong to
// the next run; rows that are no longer there are no reason to refuse.
func TestRepairDeliversNoRowOfTheNextRun(t *testing.T) {
	end := func(keys ...string) *contract.Position {
		p := &contract.Position{Kind: contract.PositionIncremental, Column: "at", Type: "bigint", Value: "7", KeyColumns: []string{"id"}}
		for _, k := range keys {
			p.DeliveredKeys = append(p.DeliveredKeys, []string{k})
		}
		return p
	}
	for _, tc := range []struct {
		name     string
		read     []string // keys at the end of the window, by the repair
		position *contract.Position
		want     fault.Code
	}{
		{"the same rows", []string{"1", "2"}, end("1", "2"), ""},
		{"a row has left", []string{"1"}, end("1", "2"), ""},
		{"a row has come", []string{"1", "2", "3"}, end("1", "2"), "LAPSTRAKE_RUN_REPAIR_TIES"},
		{"the first row has come", []string{"3"}, end(), "LAPSTRAKE_RUN_REPAIR_TIES"},
		{"a mode without a position", nil, nil, ""},
	} {
		f := Frozen{Chunks: []runstate.Chunk{{ID: "000000", Status: runstate.ChunkCompleted}}}
		f.Plan.Window = &contract.PositionWindow{Kind: contract.PositionIncremental, Column: "at", Type: "bigint", To: end()}
		f.Plan.Within = &keyspace.Window{Key: []keyspace.Column{{Name: "id"}}}
		if tc.position == nil {
			f.Plan.Window = nil
		}
		for _, k := range tc.read {
			f.Chunks[0].HiKeys = append(f.Chunks[0].HiKeys, []string{k})
		}
		if err := f.CheckRepair(tc.position); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
