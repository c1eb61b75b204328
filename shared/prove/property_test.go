package prove_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/prove"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// anyRun draws a run: any number of ranges, cut at texts that are in no order
// but the plan's, with splits and repairs of any task, and parts of any size.
func anyRun(rt *rapid.T, w *world) commit.Frozen {
	keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zÄß"\\]{0,3}`), 0, 8, rapid.ID).Draw(rt, "cuts")
	ranges := []keyspace.Range{{}}
	for _, k := range keys {
		ranges[len(ranges)-1].UpTo = keyspace.Key{k}
		ranges = append(ranges, keyspace.Range{After: keyspace.Key{k}})
	}
	nullable := rapid.Bool().Draw(rt, "nullable")
	if nullable {
		ranges = append(ranges, keyspace.Range{Null: true})
	}
	f := planned(1, ranges...)
	f.Plan.Key[0].Nullable = nullable
	for n := range rapid.IntRange(0, 8).Draw(rt, "events") {
		i := rapid.IntRange(0, len(f.Chunks)-1).Draw(rt, "task")
		switch c := f.Chunks[i]; {
		case !c.Live():
		case rapid.Bool().Draw(rt, "repair"):
			repair(&f, i)
		case !c.Range.Null && c.SplitInto == "":
			cut(&f, i, fmt.Sprintf("at %d", n))
		}
	}
	for i := range f.Chunks {
		c := &f.Chunks[i]
		for part := range rapid.IntRange(0, 3).Draw(rt, "parts") {
			name := contract.PartNaming{Plain: true, Ext: "csv"}.Name(c.ID, part)
			w.part(c, prefix, contract.Distinct(name, contract.FingerprintOf([]byte(c.ID))), rapid.Int64Range(1, 3).Draw(rt, "rows"))
		}
	}
	f.Chunks = rapid.Permutation(f.Chunks).Draw(rt, "order of the table")
	return f
}

// Whatever a run has gone through, what it publishes is proven.
func TestAnyRunIsProven(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t.Context(), rt)
		w.publish(anyRun(rt, w), nil)
		if r := w.prove(prove.Options{Deep: true}); !r.Proven || len(codes(r)) > 0 {
			rt.Fatalf("%v: %+v", codes(r), r)
		}
	})
}

// Any one damage of what is recorded is seen, though every fingerprint fits.
func TestAnyDamageIsNotProven(t *testing.T) {
	damages := map[string]func(rt *rapid.T, r *contract.RunRecord, t *contract.TaskRecord){
		"task dropped": func(_ *rapid.T, r *contract.RunRecord, t *contract.TaskRecord) {
			r.Tasks = slices.DeleteFunc(r.Tasks, func(other contract.TaskRecord) bool { return other.Task == t.Task })
		},
		"task doubled": func(_ *rapid.T, r *contract.RunRecord, t *contract.TaskRecord) {
			twin := *t
			twin.Task, twin.Parts, twin.Rows = "000099", nil, 0
			r.Tasks = append(r.Tasks, twin)
		},
		"bound moved": func(rt *rapid.T, _ *contract.RunRecord, t *contract.TaskRecord) {
			moved := &contract.Bound{Key: keyspace.Key{"elsewhere"}, Inclusive: rapid.Bool().Draw(rt, "inclusive")}
			if t.Predicate.Kind = contract.KeyRange; rapid.Bool().Draw(rt, "lower") {
				t.Predicate.Lower = moved
			} else {
				t.Predicate.Upper = moved
			}
		},
		"inclusion turned": func(_ *rapid.T, r *contract.RunRecord, t *contract.TaskRecord) {
			b := t.Predicate.Lower
			if b == nil {
				b = t.Predicate.Upper
			}
			if b == nil {
				r.RevokedBy = 9 // no bound to be turned
				return
			}
			b.Inclusive = !b.Inclusive
		},
		"row more": func(_ *rapid.T, _ *contract.RunRecord, t *contract.TaskRecord) { t.Rows++ },
		"part more": func(_ *rapid.T, _ *contract.RunRecord, t *contract.TaskRecord) {
			t.Parts = append(t.Parts, "part-999999.csv")
		},
		"another kind": func(rt *rapid.T, _ *contract.RunRecord, t *contract.TaskRecord) {
			kinds := []contract.Predicate{{Kind: contract.AllRows}, {Kind: contract.NullKey}, {Kind: contract.KeyRange}}
			kinds = slices.DeleteFunc(kinds, func(p contract.Predicate) bool { return p.Kind == t.Predicate.Kind })
			t.Predicate = rapid.SampledFrom(kinds).Draw(rt, "kind")
		},
		"done again by nobody": func(_ *rapid.T, _ *contract.RunRecord, t *contract.TaskRecord) { t.SupersededBy = "000099" },
	}
	names := make([]string, 0, len(damages))
	for name := range damages {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t.Context(), rt)
		f := anyRun(rt, w)
		f.Chunks = withRows(w, f.Chunks)
		kind := rapid.SampledFrom(names).Draw(rt, "damage")
		w.publish(f, func(r *contract.RunRecord, _ *contract.Manifest) {
			var live []int
			for i, task := range r.Tasks {
				if task.Live() {
					live = append(live, i)
				}
			}
			damages[kind](rt, r, &r.Tasks[rapid.SampledFrom(live).Draw(rt, "damaged")])
		})
		if r := w.prove(prove.Options{}); r.Proven || len(codes(r)) == 0 {
			rt.Fatalf("proven with a %s: %+v", kind, r)
		}
	})
}

// withRows gives tasks without parts one.
func withRows(w *world, chunks []runstate.Chunk) []runstate.Chunk {
	for i, c := range chunks {
		if len(c.Parts) == 0 {
			w.part(&chunks[i], prefix, "part-of-"+string(c.ID)+".csv", 1)
		}
	}
	return chunks
}
