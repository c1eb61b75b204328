package simulation

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

var keysetIncremental = shape{name: "keyset_incremental", shared: true, world: func(*testing.T) *world {
	w := newCursorWorld(1, 2, 3, 3)
	e := &w.config.Exports[0]
	e.Mode, e.CursorColumn, e.ChunkByKey, e.KeysetIncremental = "chunked", "", "id", true
	return w
}}

// growAfter adds rows to the source after run n, at or above every position that
// the runs so far can have come to.
func (s shape) growAfter(w *world, n int64) {
	if !s.shared {
		s.grow(w)
		return
	}
	w.db.changes.add(10*n, 10*n, 10*(n+1))
}

// stored returns what stands below a prefix, by key.
func (w *world) stored(t *testing.T, prefix string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	if err := w.bucket.List(t.Context(), prefix, func(o destination.Object) error {
		body, _, err := w.bucket.Get(t.Context(), o.Key, contract.MaxManifestBytes)
		all[o.Key] = string(body)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// listed returns how often each row is in what the success sidecars of all
// folders list, or, with a run, in what the sidecar of that one lists.
func (w *world) listed(t *testing.T, run contract.RunID) map[string]int {
	t.Helper()
	rows := make(map[string]int)
	all := w.stored(t, "out/")
	for key, body := range all {
		if !contract.IsSidecarName(path.Base(key)) || run != "" && path.Base(key) != contract.SidecarName(run) {
			continue
		}
		m, err := contract.DecodeManifest([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Parts {
			for line := range strings.Lines(all[path.Join(path.Dir(key), p.Path)]) {
				rows[strings.TrimSpace(line)]++
			}
		}
	}
	return rows
}

// An operator puts back the cursor.json of the first of three runs. Whoever would
// go on from it is refused, and nothing of what stands is changed. Then the newest
// one is put back, or a new one is made, and a reader of Success manifests has
// each row once.
func TestOlderCursorIsPutBack(t *testing.T) {
	for _, s := range append(slices.Clone(modes), keysetIncremental) {
		for _, prefix := range []string{"out/", "out/{run_id}/"} {
			for _, cure := range []string{"the newest is put back", "a new one is made"} {
				t.Run(s.name+", "+prefix+", "+cure, func(t *testing.T) {
					w := s.world(t)
					w.config.Exports[0].PrefixTemplate = prefix
					key := contract.CursorKey("orders")
					cursor := func() string { return w.stored(t, key)[key] }
					var first string
					for id := 1; id <= 3; id++ {
						w.runExport(t, id)
						if first == "" {
							first = cursor()
						}
						s.growAfter(w, int64(id))
					}
					newest := cursor()
					w.write(t, key, first)
					before := w.stored(t, "")
					refused := func(what string, trigger wire.Trigger) {
						t.Helper()
						if _, err := w.planner(t.Context(), trigger); fault.CodeOf(err) != commit.CodeCursorOld || fault.ExitCode(err) != fault.ExitRefused {
							t.Fatalf("%s: %v", what, err)
						}
						if now := w.stored(t, ""); !maps.Equal(now, before) {
							t.Fatalf("%s has changed %v", what, slices.Sorted(maps.Keys(now)))
						}
					}
					refused("a run", w.trigger(4))
					refused("a repair", wire.Trigger{Version: wire.Version, Action: wire.ActionRepair, RunID: w.runID(1)})
					if run := w.run(t, 4); run.Status != runstate.RunFailed || run.Gen != 0 {
						t.Fatalf("the run is %s at generation %d", run.Status, run.Gen)
					}
					next := w.trigger(5)
					if cure == "a new one is made" {
						next.RunID, next.Reanchor = w.runID(5), true
					} else {
						w.write(t, key, newest)
					}
					if _, err := w.planner(t.Context(), next); err != nil {
						t.Fatal(err)
					}
					w.settle(t, w.runID(5))
					s.growAfter(w, 5)
					w.runExport(t, 6)
					read := w.runID(6)
					if s.shared {
						read = ""
					}
					if got, want := w.listed(t, read), s.rows(w); !maps.Equal(got, want) {
						t.Fatalf("rows %v, want %v", got, want)
					}
				})
			}
		}
	}
}

// A run has failed, and before it is resumed an older cursor.json is put back, of
// another run or of its own earlier life: the resume is refused, and once the
// newest is back it goes on.
func TestResumeUnderAnOlderCursor(t *testing.T) {
	for _, s := range append(slices.Clone(modes), keysetIncremental) {
		for _, own := range []bool{false, true} {
			w := s.world(t)
			key := contract.CursorKey("orders")
			cursor := func() string { return w.stored(t, key)[key] }
			w.runExport(t, 1)
			old := cursor()
			s.growAfter(w, 1)
			triggerUntilPlanned(t, w, 2)
			resume := wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(2)}
			abandon := func() {
				w.dropMessages(t)
				w.now = w.now.Add(planTimeout)
			}
			abandon()
			if own {
				old = cursor()
				if _, err := w.planner(t.Context(), resume); err != nil {
					t.Fatal(err)
				}
				abandon()
			}
			newest := cursor()
			w.write(t, key, old)
			if _, err := w.planner(t.Context(), resume); fault.CodeOf(err) != commit.CodeCursorOld {
				t.Fatalf("%s, own %v: %v", s.name, own, err)
			}
			w.write(t, key, newest)
			if _, err := w.planner(t.Context(), resume); err != nil {
				t.Fatalf("%s, own %v: %v", s.name, own, err)
			}
			w.settle(t, w.runID(2))
			read := w.runID(2)
			if s.shared {
				read = ""
			}
			if got, want := w.listed(t, read), s.rows(w); !maps.Equal(got, want) {
				t.Fatalf("%s, own %v: rows %v, want %v", s.name, own, got, want)
			}
		}
	}
}

// Older copies of manifest.json and _SUCCESS decide nothing: the next run goes on
// from the cursor and publishes its own, and a repair of the last run puts its
// pair back.
func TestOlderPairIsPutBack(t *testing.T) {
	for _, s := range append(slices.Clone(modes), keysetIncremental) {
		for _, names := range [][]string{{contract.ManifestName}, {contract.SuccessName}, {contract.ManifestName, contract.SuccessName}} {
			w := s.world(t)
			w.runExport(t, 1)
			old := w.stored(t, "out/")
			s.growAfter(w, 1)
			w.runExport(t, 2)
			newest := w.stored(t, "out/")
			putBack := func() {
				for _, name := range names {
					w.write(t, "out/"+name, old["out/"+name])
				}
			}
			putBack()
			if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionRepair, RunID: w.runID(2)}); err != nil {
				t.Fatalf("%s, %v: %v", s.name, names, err)
			}
			if !maps.Equal(w.stored(t, "out/"), newest) {
				t.Fatalf("%s, %v: the repair has not put back what was there", s.name, names)
			}
			putBack()
			s.growAfter(w, 2)
			w.runExport(t, 3)
			if err := s.delivered(w, w.look(t)); err != nil {
				t.Fatalf("%s, %v: %v", s.name, names, err)
			}
		}
	}
}
