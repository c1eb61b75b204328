package commit

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// frozen is what run publishes at generation g, with a record that lists a part.
func (w *world) frozen(t *testing.T, run contract.RunID, g contract.Generation) Publication {
	t.Helper()
	p := w.publication(w.store, run, g, nil, 10)
	m, err := contract.DecodeManifest(p.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	record := standing{RecordVersion: 1, RunID: run, Export: "orders", Generation: g}
	record.Tasks = append(record.Tasks, struct {
		Parts []string `json:"parts"`
	}{[]string{m.Parts[0].Path}})
	if p.Record, err = json.Marshal(record); err != nil {
		t.Fatal(err)
	}
	return p
}

func (w *world) revoke(t *testing.T, first, g contract.Generation) string {
	t.Helper()
	claimed, err := w.fence(w.store).Revoke(t.Context(), "r1", first, g)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(slices.Sorted(maps.Keys(claimed)), " ")
}

// One create-only write decides whether a generation may commit: the record of a
// later one that revokes it, or its own, and then its parts are claimed
// (ADR-0007).
func TestRecordDecidesWhetherAGenerationCommits(t *testing.T) {
	t.Run("revoked", func(t *testing.T) {
		w := newWorld(memory.LikeS3)
		g := w.mustAcquire(t, "r1").Generation()
		for range 2 { // a planner that is started again
			if got := w.revoke(t, g, g+1); got != "" {
				t.Fatalf("claimed: %s", got)
			}
		}
		done, err := w.frozen(t, "r1", g).Publish(t.Context())
		if err != nil || done.Ending != Stale || w.sidecarOf(t, "r1") != nil {
			t.Fatalf("%+v, %v, the sidecar is %q", done, err, w.sidecarOf(t, "r1"))
		}
	})
	t.Run("recorded", func(t *testing.T) {
		w := newWorld(memory.LikeS3)
		g := w.mustAcquire(t, "r1").Generation()
		p := w.frozen(t, "r1", g)
		w.create(t, p.RecordKey, p.Record) // and then it falls asleep
		if got := w.revoke(t, g, g+1); got != "part-g000001-000001.csv" {
			t.Fatalf("claimed: %q", got)
		}
		if done, err := p.Publish(t.Context()); err != nil || done.Ending != Committed {
			t.Fatalf("%+v, %v", done, err)
		}
	})
	t.Run("every generation before", func(t *testing.T) {
		w := newWorld(memory.LikeS3)
		p := w.frozen(t, "r1", 2)
		w.create(t, p.RecordKey, p.Record)
		if got := w.revoke(t, 2, 4); got != "part-g000002-000001.csv" {
			t.Fatalf("claimed: %q", got)
		}
		var records []string
		for g := range contract.Generation(5) {
			if body, _, err := read(t.Context(), w.store, contract.RecordKey("orders", "r1", g), contract.MaxManifestBytes); err != nil {
				t.Fatal(err)
			} else if body != nil {
				records = append(records, contract.RecordKey("orders", "r1", g))
			}
		}
		if want := []string{contract.RecordKey("orders", "r1", 2), contract.RecordKey("orders", "r1", 3)}; !slices.Equal(records, want) {
			t.Fatalf("records: %v", records)
		}
	})
}

// A record that says nothing of its generation stops whoever would move parts,
// and the finalizer.
func TestRecordThatSaysNothing(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		want       fault.Code
	}{
		{"damaged", "{", "LAPSTRAKE_DEST_RECORD_UNREADABLE"},
		{"of another run", `{"record_version":1,"run_id":"r2"}`, "LAPSTRAKE_DEST_RECORD_OF_OTHER_RUN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(memory.LikeS3)
			g := w.mustAcquire(t, "r1").Generation()
			w.create(t, contract.RecordKey("orders", "r1", g), []byte(tc.body))
			if _, err := w.fence(w.store).Revoke(t.Context(), "r1", g, g+1); fault.CodeOf(err) != tc.want {
				t.Errorf("a resume: %v", err)
			}
			if _, err := w.frozen(t, "r1", g).Publish(t.Context()); err == nil || w.sidecarOf(t, "r1") != nil {
				t.Errorf("a finalizer: %v", err)
			}
		})
	}
}
