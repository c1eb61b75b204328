package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// newCursorWorld has an incremental export of a table with rows at these values.
func newCursorWorld(at ...int64) *world {
	w := newWorld(0, 0)
	w.db.changes = &changes{pieces: 1}
	w.db.changes.add(at...)
	e := &w.config.Exports[0]
	e.Mode, e.ChunkColumn, e.ChunkSize = exportconfig.Incremental, "", estimatedRows
	e.CursorColumn = "at"
	return w
}

// runExport runs the export from its trigger to its end.
func (w *world) runExport(t *testing.T, id int) {
	t.Helper()
	triggerUntilPlanned(t, w, id)
	w.settle(t, w.runID(id))
}

// successes returns the Success manifests of the prefix, and how often each row
// is in one of them.
func (w *world) successes(t *testing.T) (all []contract.Manifest, rows map[string]int) {
	t.Helper()
	prefix := destination.Prefixed(w.bucket, "out/")
	rows = make(map[string]int)
	if err := prefix.List(t.Context(), "manifest-", func(o destination.Object) error {
		body, _, err := prefix.Get(t.Context(), o.Key, contract.MaxManifestBytes)
		if err != nil {
			return err
		}
		if m, err := contract.DecodeManifest(body); err != nil || m.Status != contract.StatusSuccess {
			return err
		}
		m, in := w.rowsOf(t, body)
		all = append(all, m)
		for row, n := range in {
			rows[row] += n
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all, rows
}

// position is that of the export.
func (w *world) position(t *testing.T) *contract.Position {
	t.Helper()
	body, _, err := w.bucket.Get(t.Context(), contract.CursorKey("orders"), contract.MaxCursorBytes)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := contract.DecodeCursor(body)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Position
}

// wantEachOnce fails the test unless every row with a cursor is in exactly one
// Success manifest (V10).
func (w *world) wantEachOnce(t *testing.T, when string) {
	t.Helper()
	_, got := w.successes(t)
	want := make(map[string]int)
	for _, r := range w.db.changes.sorted() {
		want[strconv.FormatInt(r.id, 10)] = 1
	}
	if !maps.Equal(got, want) {
		t.Fatalf("%s: rows %v, want each of %v once (position %+v)", when, got, slices.Sorted(maps.Keys(want)), w.position(t))
	}
}

// Rows come between the runs with greater values, with the value that the last
// run ended at, and without any (CUR-01, CUR-03, CUR-10, CUR-14).
func TestIncrementalRunsDeliverEveryRowOnce(t *testing.T) {
	for _, pieces := range []int{1, 3} {
		for _, splits := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d tasks, that split %t", pieces, splits), func(t *testing.T) {
				w := newCursorWorld()
				w.db.changes.pieces = pieces
				if splits {
					w.budget = 60e9
					w.db.fail = func(keyspace.Range) error {
						w.now = w.now.Add(13e9)
						return nil
					}
				}
				steps := []struct {
					add  []int64
					want string // the position, and how many keys are delivered at it
				}{
					{nil, "none"}, // an empty table
					{[]int64{-5, 0, 5, 5, 5, 2, 1, 0}, "5 3"}, // ties
					{nil, "5 3"},           // nothing new
					{[]int64{5, 5}, "5 5"}, // late equals alone
					{[]int64{5, 7, 7, 8, 9, 9, 6, 8, 8, 5}, "9 2"},       // late equals and more
					{[]int64{9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 10}, "10 2"}, // more late equals than a batch
				}
				for i, step := range steps {
					w.db.changes.add(step.add...)
					w.runExport(t, i+1)
					when := fmt.Sprintf("after run %d", i+1)
					w.wantEachOnce(t, when)
					if n := len(w.chunks(t, i+1)); n < pieces && len(step.add) > 2 {
						t.Fatalf("%s: %d tasks: the test no longer tests anything", when, n)
					}
					got := "none"
					if p := w.position(t); p != nil {
						got = fmt.Sprintf("%s %d", p.Value, len(p.DeliveredKeys))
					}
					if got != step.want {
						t.Fatalf("%s: position %s, want %s", when, got, step.want)
					}
				}
				if n := len(steps); n != 6 {
					t.Fatal(n)
				}
			})
		}
	}
}

// Rows that come between the plan of a run and its reads are in the window or
// not, but are delivered once all the same: equals at its end that were read
// are told from those that were not.
func TestRowsThatComeWhileARunReads(t *testing.T) {
	w := newCursorWorld(1, 2, 3, 3, 4, 4)
	w.db.changes.pieces = 2
	n, top := 0, int64(4)
	w.before = func(string) {
		if n++; n%3 == 0 && n < 200 {
			w.db.changes.add(top, top, top+1)
			top++
		}
	}
	w.runExport(t, 1)
	w.runExport(t, 2)
	w.before = nil
	w.runExport(t, 3)
	w.wantEachOnce(t, "in the end")
}

func TestRowsWithoutACursorAreCounted(t *testing.T) {
	w := newCursorWorld(1, 2)
	w.db.changes.addNull()
	w.db.changes.addNull()
	w.runExport(t, 1)
	w.wantEachOnce(t, "after a run")
	m, _ := w.read(t)
	if x := m.Source.Extraction; x.NullRows != 2 || x.Strategy != "incremental" || x.CursorColumn != "at" || x.CursorLow != "" || x.CursorHigh != "2" {
		t.Fatalf("extraction %+v", x)
	}
	if p := m.Position; p == nil || p.From != nil || p.To.Value != "2" || len(p.To.DeliveredKeys) != 1 || p.SourceIdentity == nil {
		t.Fatalf("position %+v", p)
	}
}

// Without a key the rows at the position come again, are counted, and nothing
// is lost.
func TestWithoutAKeyRepeatsAreCounted(t *testing.T) {
	w := newCursorWorld(1, 3, 3)
	w.db.changes.keyless = true
	w.runExport(t, 1)
	w.db.changes.add(3, 4)
	w.runExport(t, 2)
	m, rows := w.read(t)
	if m.Source.Extraction.RepeatedRows != 3 || len(rows) != 4 {
		t.Fatalf("%d repeated rows of %v", m.Source.Extraction.RepeatedRows, rows)
	}
	w.runExport(t, 3)
	_, all := w.successes(t)
	for _, r := range w.db.changes.sorted() {
		if all[strconv.FormatInt(r.id, 10)] == 0 {
			t.Fatalf("row %d is lost: %v", r.id, all)
		}
	}
}

// The greatest value goes down: the position does not (CUR-11).
func TestASourceBelowThePosition(t *testing.T) {
	w := newCursorWorld(1, 80)
	w.runExport(t, 1)
	w.db.changes.mu.Lock()
	w.db.changes.rows = []change{{id: 1, at: 1}, {id: 3, at: 50}}
	w.db.changes.mu.Unlock()
	w.runExport(t, 2)
	if m, rows := w.read(t); w.position(t).Value != "80" || len(rows) != 0 || m.Position.To.Value != "80" {
		t.Fatalf("position %+v, rows %v", w.position(t), rows)
	}
}

// A position that somebody has changed by hand is not gone on from, to whichever
// side: the run that committed last says where it ended (CUR-09). Once it is put
// back, each row comes once.
func TestAPositionThatWasChangedByHand(t *testing.T) {
	for name, value := range map[string]string{"ahead of what was delivered": "100", "behind it": "1"} {
		for _, skip := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, skip_empty %v", name, skip), func(t *testing.T) {
				w := newCursorWorld(1, 80)
				w.config.Exports[0].SkipEmpty = skip
				w.runExport(t, 1)
				w.runExport(t, 2) // with nothing to read
				key := contract.CursorKey("orders")
				stood := w.stored(t, key)[key]
				w.write(t, key, strings.Replace(stood, `"value": "80"`, `"value": "`+value+`"`, 1))
				if w.position(t).Value != value {
					t.Fatalf("the test has changed nothing of %s", stood)
				}
				w.db.changes.mu.Lock()
				w.db.changes.rows = append(w.db.changes.rows, change{id: 9, at: 90})
				w.db.changes.mu.Unlock()
				if _, err := w.planner(t.Context(), w.trigger(3)); fault.CodeOf(err) != "LAPSTRAKE_STATE_CURSOR_EDITED" || fault.ExitCode(err) != fault.ExitRefused {
					t.Fatal(err)
				}
				w.write(t, key, stood)
				w.runExport(t, 4)
				if _, rows := w.read(t); w.position(t).Value != "90" || len(rows) != 1 {
					t.Fatalf("position %+v, rows %v", w.position(t), rows)
				}
			})
		}
	}
}

// Another cursor under the same export is refused, whatever of it changed
// (CUR-06, CUR-07, CUR-08).
func TestAnotherCursorIsRefused(t *testing.T) {
	for name, change := range map[string]func(e *exportconfig.Export){
		"another column": func(e *exportconfig.Export) { e.CursorColumn = "id" },
		"another table":  func(e *exportconfig.Export) { e.Table = "customers" },
		"a query":        func(e *exportconfig.Export) { e.Table, e.Query = "", "select 1" },
		"no cursor":      func(e *exportconfig.Export) { e.Mode, e.CursorColumn = "full", "" },
		"a key as a cursor": func(e *exportconfig.Export) {
			e.Mode, e.CursorColumn, e.ChunkByKey, e.KeysetIncremental = "chunked", "", "id", true
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newCursorWorld(1, 2)
			w.runExport(t, 1)
			before := w.position(t)
			change(&w.config.Exports[0])
			_, err := w.planner(t.Context(), w.trigger(2))
			if fault.CodeOf(err) != "LAPSTRAKE_STATE_CURSOR_SHAPE_CHANGED" || !before.Equal(w.position(t)) {
				t.Fatalf("%v, position %+v", err, w.position(t))
			}
		})
	}
}

func TestKeysetIncremental(t *testing.T) {
	w := newCursorWorld(1, 1, 1)
	e := &w.config.Exports[0]
	e.Mode, e.CursorColumn, e.ChunkByKey, e.KeysetIncremental = "chunked", "", "id", true
	for i := range 3 {
		w.runExport(t, i+1)
		w.wantEachOnce(t, fmt.Sprintf("after run %d", i+1))
		if i == 0 {
			w.db.changes.add(1, 1)
		}
	}
	if p := w.position(t); p.Kind != "keyset" || p.Value != "5" || len(p.DeliveredKeys) != 0 {
		t.Fatalf("position %+v", p)
	}
}
