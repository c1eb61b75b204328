package prove_test

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/prove"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// usual is a run whose key may be NULL, with a split, a repair, and a repair
// that was split.
func usual(n int) commit.Frozen {
	f := planned(n, append(tiled(4), keyspace.Range{Null: true})...)
	f.Plan.Key[0].Nullable = true
	cut(&f, 1, "15")
	repair(&f, 2)
	repair(&f, 0)
	cut(&f, len(f.Chunks)-1, "5")
	return f
}

func TestRunsAreProven(t *testing.T) {
	for _, tc := range []struct {
		name string
		run  func() commit.Frozen
		rows int64
	}{
		{"one task of all rows", func() commit.Frozen {
			f := planned(1, keyspace.Range{All: true})
			f.Plan.Key = nil
			return f
		}, 2},
		{"one open range", func() commit.Frozen { return planned(1, keyspace.Range{}) }, 2},
		{"ranges and nothing else", func() commit.Frozen { return planned(1, tiled(5)...) }, 10},
		{"NULL keys, splits and repairs", func() commit.Frozen { return usual(1) }, 14},
		{"keys of two columns", func() commit.Frozen {
			f := planned(1, keyspace.Range{UpTo: keyspace.Key{"1", "2"}}, keyspace.Range{After: keyspace.Key{"1", "2"}})
			f.Plan.Key = append(f.Plan.Key, keyspace.Column{Name: "line", Native: "bigint"})
			return f
		}, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, f := newWorld(t.Context(), t), tc.run()
			w.fill(&f)
			w.publish(f, nil)
			r := w.prove(prove.Options{Deep: true})
			want(t, r)
			if len(r.Runs) != 1 || r.Runs[0].Rows != tc.rows || r.Runs[0].ReadPositions != r.Runs[0].Tasks || !r.Runs[0].Proven {
				t.Errorf("%+v, want %d rows", r.Runs, tc.rows)
			}
		})
	}
}

// Each fault is planted alone, with every fingerprint as it has to be.
func TestPlantedFaultsAreNamed(t *testing.T) {
	drop := func(id contract.TaskID) func(*contract.RunRecord, *contract.Manifest) {
		return func(r *contract.RunRecord, m *contract.Manifest) {
			for i, task := range r.Tasks {
				if task.Task == id {
					r.Tasks = append(r.Tasks[:i:i], r.Tasks[i+1:]...)
					unlist(m, task)
					return
				}
			}
			t.Fatalf("there is no task %s", id)
		}
	}
	of := func(r *contract.RunRecord, id contract.TaskID) *contract.TaskRecord {
		for i := range r.Tasks {
			if r.Tasks[i].Task == id {
				return &r.Tasks[i]
			}
		}
		t.Fatalf("there is no task %s", id)
		return nil
	}
	for _, tc := range []struct {
		name   string
		damage func(r *contract.RunRecord, m *contract.Manifest)
		want   []string
	}{
		{"a task in the middle is dropped", drop("000002.r1"), []string{"KEY_GAP", "TASK_LINEAGE"}},
		{"the first task is dropped", drop("000000.r1"), []string{"KEY_GAP", "TASK_LINEAGE", "TASK_LINEAGE"}},
		{"the last task is dropped", drop("000003"), []string{"KEY_GAP"}},
		{"the rest of a split is dropped", drop("000001.s01"), []string{"KEY_GAP"}},
		{"the task of the NULL keys is dropped", drop("000004"), []string{"NULL_KEYS_GAP"}},
		{"a task that was done again is dropped", drop("000002"), []string{"TASK_LINEAGE"}},
		{"every task is dropped", func(r *contract.RunRecord, m *contract.Manifest) {
			r.Tasks, m.Parts, m.PartCount, m.RowCount = nil, nil, 0, 0
		}, []string{"NULL_KEYS_GAP", "KEY_GAP"}},
		{"a repair is counted beside what it repairs", func(r *contract.RunRecord, m *contract.Manifest) {
			list(m, *of(r, "000002"))
			of(r, "000002").SupersededBy = ""
		}, []string{"KEY_OVERLAP", "TASK_LINEAGE"}},
		{"a task reaches into the next one", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000001.s01").Predicate.Upper = of(r, "000002.r1").Predicate.Upper
		}, []string{"KEY_OVERLAP"}},
		{"a task begins before the one before it ends", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000003").Predicate.Lower = &contract.Bound{Key: keyspace.Key{"25"}}
		}, []string{"KEY_GAP"}},
		{"a task has no upper bound", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000001.s01").Predicate.Upper = nil
		}, []string{"KEY_OVERLAP", "KEY_OVERLAP"}},
		{"a task goes back to where another began", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000003").Predicate.Upper = of(r, "000001").Predicate.Lower
		}, []string{"KEY_OVERLAP"}},
		{"the bound between two tasks is in both", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000003").Predicate.Lower.Inclusive = true
		}, []string{"KEY_OVERLAP"}},
		{"the bound between two tasks is in neither", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000001").Predicate.Upper.Inclusive = false
		}, []string{"KEY_GAP"}},
		{"two tasks have the NULL keys", func(r *contract.RunRecord, m *contract.Manifest) {
			twin := contract.TaskRecord{Task: "000005", Predicate: contract.Predicate{Kind: contract.NullKey}}
			r.Tasks = append(r.Tasks, twin)
		}, []string{"NULL_KEYS_OVERLAP"}},
		{"a task has all rows beside the others", func(r *contract.RunRecord, _ *contract.Manifest) {
			r.Tasks = append(r.Tasks, contract.TaskRecord{Task: "000005", Predicate: contract.Predicate{Kind: contract.AllRows}})
		}, []string{"KEY_OVERLAP"}},
		{"a bound of two values for a key of one column", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000003").Predicate.Lower.Key = keyspace.Key{"30", "1"}
		}, []string{"BOUND_SHAPE"}},
		{"ranges of no key", func(r *contract.RunRecord, _ *contract.Manifest) {
			r.Key = nil
			r.Tasks = r.Tasks[:0:0]
			r.Tasks = append(r.Tasks, contract.TaskRecord{Task: "000000", Predicate: contract.Predicate{Kind: contract.KeyRange}})
		}, []string{"KEY_GAP", "BOUND_SHAPE", "PART_LIST", "PART_LIST", "PART_LIST", "PART_LIST", "PART_LIST", "PART_LIST", "PART_LIST", "ROW_COUNT"}},
		{"a task that stands twice", func(r *contract.RunRecord, _ *contract.Manifest) {
			r.Tasks = append(r.Tasks, *of(r, "000004"))
		}, []string{"NULL_KEYS_OVERLAP", "TASK_LINEAGE", "PART_LIST", "ROW_COUNT"}},
		{"a rest that does not begin where its parent ends", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000001.s01").SplitOf = "000003"
		}, []string{"TASK_LINEAGE"}},
		{"a task has read one row more", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000003").Rows++
		}, []string{"ROW_COUNT", "ROW_COUNT"}},
		{"one row has gone from one task to another", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000003").Rows++
			of(r, "000004").Rows--
		}, []string{"ROW_COUNT", "ROW_COUNT"}},
		{"the manifest has one row less", func(r *contract.RunRecord, m *contract.Manifest) {
			m.Parts[0].Rows--
			m.RowCount--
		}, []string{"ROW_COUNT", "ROW_COUNT"}},
		{"the manifest leaves a part out", func(r *contract.RunRecord, m *contract.Manifest) {
			m.RowCount -= m.Parts[0].Rows
			m.Parts, m.PartCount = m.Parts[1:], m.PartCount-1
		}, []string{"PART_LIST", "ROW_COUNT"}},
		{"a part is of two tasks", func(r *contract.RunRecord, _ *contract.Manifest) {
			of(r, "000003").Parts = append(of(r, "000003").Parts, of(r, "000004").Parts...)
		}, []string{"ROW_COUNT", "PART_LIST"}},
		{"the record is of another run", func(r *contract.RunRecord, _ *contract.Manifest) { r.RunID = runID(2) }, []string{"RECORD_OF_OTHER"}},
		{"the record is of another export", func(r *contract.RunRecord, _ *contract.Manifest) { r.Export = "others" }, []string{"RECORD_OF_OTHER"}},
		{"the record is of another generation", func(r *contract.RunRecord, _ *contract.Manifest) { r.Generation = 2 }, []string{"RECORD_OF_OTHER"}},
		{"the record revokes the generation", func(r *contract.RunRecord, _ *contract.Manifest) { r.RevokedBy = 2 }, []string{"RECORD_REVOKED"}},
		{"the record is of a version before", func(r *contract.RunRecord, _ *contract.Manifest) { r.RecordVersion = 1 }, []string{"RECORD_UNREADABLE"}},
		{"the manifest names the record of another run", func(_ *contract.RunRecord, m *contract.Manifest) {
			m.RunRecord = &contract.RunRecordRef{Key: contract.RecordKey("orders", runID(2), 1), Fingerprint: m.RunRecord.Fingerprint}
		}, []string{"RECORD_OF_OTHER"}},
		{"the manifest has another fingerprint", func(_ *contract.RunRecord, m *contract.Manifest) {
			m.RunRecord = &contract.RunRecordRef{Key: m.RunRecord.Key, Fingerprint: contract.FingerprintOf(nil)}
		}, []string{"RECORD_CHANGED"}},
		{"the manifest names no record", func(_ *contract.RunRecord, m *contract.Manifest) { m.RunRecord = nil }, []string{"NO_RECORD"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, f := newWorld(t.Context(), t), usual(1)
			w.fill(&f)
			w.publish(f, tc.damage)
			want(t, w.prove(prove.Options{}), tc.want...)
		})
	}
}

// unlist takes the parts of a task out of the manifest, and list adds them.
func unlist(m *contract.Manifest, task contract.TaskRecord) {
	var kept []contract.Part
	for _, p := range m.Parts {
		if len(task.Parts) == 1 && p.Path == task.Parts[0] {
			m.RowCount -= p.Rows
			m.PartCount--
			continue
		}
		kept = append(kept, p)
	}
	m.Parts = kept
}

func list(m *contract.Manifest, task contract.TaskRecord) {
	p := m.Parts[2]
	p.PartID, p.Path = len(m.Parts)+1, task.Parts[0]
	p.Rows = task.Rows
	m.Parts, m.PartCount, m.RowCount = append(m.Parts, p), m.PartCount+1, m.RowCount+task.Rows
}

func TestObjectsThatAreGoneOrDiffer(t *testing.T) {
	record := contract.RecordKey("orders", runID(1), 1)
	for _, tc := range []struct {
		name string
		so   func(w *world, f commit.Frozen)
		deep bool
		want []string
	}{
		{"the record is gone", func(w *world, _ commit.Frozen) { w.lose(record) }, false, []string{"RECORD_MISSING"}},
		{"the record has other bytes", func(w *world, _ commit.Frozen) { w.put(record, []byte("{}")) }, false, []string{"RECORD_CHANGED"}},
		{"the plan is gone", func(w *world, _ commit.Frozen) { w.lose(contract.PlanKey("orders", runID(1))) }, false, nil},
		{"a plan of another run cannot be read", func(w *world, _ commit.Frozen) {
			w.put(contract.PlanKey("orders", runID(2)), []byte("{}"))
		}, false, []string{"PLAN_UNREADABLE"}},
		{"a part is gone", func(w *world, f commit.Frozen) { w.lose(prefix + f.Chunks[3].Parts[0].Path) }, false, []string{"PART_MISSING"}},
		{"a part has another size", func(w *world, f commit.Frozen) { w.put(prefix+f.Chunks[3].Parts[0].Path, []byte("id\n")) }, false, []string{"PART_SIZE_MISMATCH"}},
		{"the manifest is gone", func(w *world, _ commit.Frozen) { w.lose(prefix + contract.SidecarName(runID(1))) }, false, []string{"NO_MANIFEST"}},
		{"a manifest cannot be read", func(w *world, _ commit.Frozen) { w.put(prefix+"manifest-x.json", []byte("{")) }, false, []string{"MANIFEST_UNREADABLE"}},
		{"the manifest stands under another name too", func(w *world, _ commit.Frozen) {
			body, _, err := w.store.Get(w.ctx, prefix+contract.SidecarName(runID(1)), 1<<20)
			if err != nil {
				w.Fatal(err)
			}
			w.put(prefix+"manifest-x.json", body)
		}, false, []string{"MANIFEST_INCONSISTENT", "RUN_TWICE"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w, f := newWorld(t.Context(), t), usual(1)
			w.fill(&f)
			w.publish(f, nil)
			tc.so(w, f)
			want(t, w.prove(prove.Options{Deep: tc.deep}), tc.want...)
		})
	}
}

// The rows of a part are counted only by looking into it.
func TestDeepCountsTheRowsOfParts(t *testing.T) {
	w, f := newWorld(t.Context(), t), usual(1)
	w.fill(&f)
	f.Chunks[3].Rows++
	f.Chunks[3].Parts[0].Rows++ // so say table, record and manifest
	w.publish(f, nil)
	want(t, w.prove(prove.Options{}))
	want(t, w.prove(prove.Options{Deep: true}), "PART_ROW_COUNT")
}

// A store that does not answer leaves nothing proven, whatever it was asked.
func TestStoreThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t.Context(), t)
	for n, at := range []string{prefix, "elsewhere/"} { // what is left without one is a proof of the other
		f := usual(n + 1)
		f.Plan.Prefix = at
		w.fill(&f)
		w.publish(f, nil)
	}
	failing := func(n int) (r prove.Result, calls int) {
		store := faulty.Wrap(w.store, faulty.FaultFunc(func(_ faulty.Call, perform func() error) error {
			if calls++; calls == n {
				return destination.ErrUnavailable
			}
			return perform()
		}))
		r, err := prove.Prove(t.Context(), store, prove.Options{Export: "orders", Prefix: prefix, Deep: true, Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r, calls
	}
	_, calls := failing(0)
	for n := 1; n <= calls; n++ {
		if r, _ := failing(n); r.Proven || r.Class() != contract.VerdictUnverified {
			t.Errorf("call %d fails, and proven is %t, the class %s: %v", n, r.Proven, r.Class(), codes(r))
		}
	}
	if calls < 10 {
		t.Fatalf("only %d calls were seen to fail: the test no longer tests anything", calls)
	}
}

// Runs with prefixes of their own are found by their plans, and one of them can
// be asked for alone.
func TestRunsInPrefixesOfTheirOwn(t *testing.T) {
	w := newWorld(t.Context(), t)
	for n := 1; n <= 3; n++ {
		f := usual(n)
		f.Plan.Prefix = "runs/" + string(runID(n)) + "/"
		w.fill(&f)
		w.publish(f, func(r *contract.RunRecord, _ *contract.Manifest) {
			if n == 2 {
				r.Key[0].Nullable, r.Tasks[3].Rows = false, 7
			}
		})
	}
	r := w.prove(prove.Options{})
	want(t, r, "ROW_COUNT", "ROW_COUNT")
	if len(r.Runs) != 3 || !r.Runs[0].Proven || r.Runs[1].Proven || !r.Runs[2].Proven {
		t.Errorf("%+v", r.Runs)
	}
	want(t, w.prove(prove.Options{Run: runID(1)}))
	want(t, w.prove(prove.Options{Run: runID(2)}), "ROW_COUNT", "ROW_COUNT")
	want(t, w.prove(prove.Options{Run: "orders_4"}), "NO_MANIFEST")
}

// Runs that were sealed or failed have no rows for a reader, and a part belongs
// to one manifest.
func TestOtherManifestsOfThePrefix(t *testing.T) {
	w := newWorld(t.Context(), t)
	sealed := usual(1)
	w.publish(sealed, func(_ *contract.RunRecord, m *contract.Manifest) {
		m.Status, m.SealedBy = contract.StatusInterrupted, &contract.SealedBy{RunID: runID(2), Generation: 2}
	})
	f := usual(2)
	w.fill(&f)
	w.publish(f, nil)
	r := w.prove(prove.Options{})
	want(t, r)
	if len(r.Runs) != 1 {
		t.Errorf("%d runs have committed: %+v", len(r.Runs), r.Runs)
	}

	twin := usual(3)
	twin.Chunks[3].Result = runstate.Result{Parts: f.Chunks[3].Parts, Rows: f.Chunks[3].Rows}
	w.fill(&twin)
	w.publish(twin, nil)
	want(t, w.prove(prove.Options{}), "PART_TWICE")
}
