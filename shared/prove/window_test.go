package prove_test

import (
	"fmt"
	"testing"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/prove"
)

// at is a position of the cursor c, with the keys that were delivered at it.
func at(value string, keys ...string) *contract.Position {
	p := &contract.Position{Kind: contract.PositionIncremental, Column: "c", Type: "bigint", Relation: "orders", Value: value, KeyColumns: []string{"id"}}
	for _, k := range keys {
		p.DeliveredKeys = append(p.DeliveredKeys, []string{k})
	}
	return p
}

// windowed is run n of an incremental export, over (from, to]. The keys of to
// are what its last task delivers there; nothing is read when from is to.
func windowed(n int, from, to *contract.Position) commit.Frozen {
	f := planned(n, tiled(2)...)
	f.Plan.Strategy = chunkplan.Incremental
	cursor, id := keyspace.Column{Name: "c", Native: "bigint", Nullable: true}, keyspace.Column{Name: "id", Native: "bigint"}
	f.Plan.Key = []keyspace.Column{cursor, id}
	cut := keyspace.Key{fmt.Sprint(n), "5"}
	f.Chunks[0].Range.UpTo, f.Chunks[1].Range.After = cut, cut
	f.Plan.Window = &contract.PositionWindow{Kind: contract.PositionIncremental, Column: "c", Type: "bigint", From: from, To: to}
	if from.Equal(to) {
		f.Plan.Tasks, f.Chunks = nil, nil
		return f
	}
	within := keyspace.Window{Cursor: cursor, To: to.Value, Key: []keyspace.Column{id}}
	if from != nil {
		within.From, within.FromIncluded = &from.Value, true
	}
	delivered := *to
	f.Chunks[1].HiKeys, delivered.DeliveredKeys = to.DeliveredKeys, nil
	if from != nil && from.Value == to.Value {
		f.Chunks[1].HiKeys = to.DeliveredKeys[len(from.DeliveredKeys):]
	}
	f.Plan.Window.To, f.Plan.Within = &delivered, &within
	return f
}

// story publishes runs, and damages the one numbered damaged.
func story(t *testing.T, runs []commit.Frozen, damaged int, damage func(*contract.RunRecord, *contract.Manifest)) *world {
	w := newWorld(t.Context(), t)
	for i, f := range runs {
		w.fill(&f)
		if i+1 == damaged {
			w.publish(f, damage)
		} else {
			w.publish(f, nil)
		}
	}
	return w
}

func four() []commit.Frozen {
	first, late, second := at("10", "1", "2"), at("10", "1", "2", "3"), at("20", "7")
	return []commit.Frozen{windowed(1, nil, first), windowed(2, first, late), windowed(3, late, late), windowed(4, late, second)}
}

// Four windows: the first one, one of rows that came late to its last value, one
// without anything new, and one that goes on.
func TestWindowsFollowOneAnother(t *testing.T) {
	r := story(t, four(), 0, nil).prove(prove.Options{})
	want(t, r)
	if r.Windows != 4 {
		t.Errorf("%d windows were joined", r.Windows)
	}
}

func TestWindowsThatDoNotFollowOneAnother(t *testing.T) {
	without := func(n int) func() []commit.Frozen {
		return func() []commit.Frozen {
			runs := four()
			return append(runs[:n-1:n-1], runs[n:]...)
		}
	}
	for _, tc := range []struct {
		name   string
		runs   func() []commit.Frozen
		want   []string
		joined int
	}{
		{"the first manifest is gone", without(1), []string{"WINDOW_GAP"}, 2},
		{"the second is gone: its end has the same value", without(2), []string{"WINDOW_GAP"}, 2},
		{"one without anything new is gone", without(3), nil, 3},
		{"the last is gone", without(4), nil, 3},
		{"a value was skipped", func() []commit.Frozen {
			return append(four(), windowed(5, at("21"), at("30", "9")))
		}, []string{"WINDOW_GAP"}, 4},
		{"a window was read again", func() []commit.Frozen {
			return append(four(), windowed(5, at("10", "1", "2", "3"), at("30", "9")))
		}, []string{"WINDOW_OVERLAP"}, 4},
		{"the table was read from the beginning again", func() []commit.Frozen {
			return append(four(), windowed(5, nil, at("30", "9")))
		}, []string{"WINDOW_OVERLAP"}, 4},
		{"the cursor is another one", func() []commit.Frozen {
			other := at("20", "7")
			other.Type = "text"
			return append(four(), windowed(5, other, at("30", "9")))
		}, []string{"WINDOW_GAP"}, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := story(t, tc.runs(), 0, nil).prove(prove.Options{})
			want(t, r, tc.want...)
			if r.Windows != tc.joined {
				t.Errorf("%d windows were joined, want %d", r.Windows, tc.joined)
			}
		})
	}
	// One run alone says nothing of those before it.
	r := story(t, without(1)(), 0, nil).prove(prove.Options{Run: runID(2)})
	want(t, r)
	if r.Windows != -1 {
		t.Errorf("%d windows were joined", r.Windows)
	}
}

// The position moves over exactly what the tasks have read.
func TestWindowOfARunIsWhatItsTasksHaveRead(t *testing.T) {
	value := "11"
	for _, tc := range []struct {
		name   string
		damage func(r *contract.RunRecord, m *contract.Manifest)
		want   []string
	}{
		{"the manifest moves further", func(_ *contract.RunRecord, m *contract.Manifest) {
			w := *m.Position
			w.To = at("25")
			m.Position = &w
		}, []string{"WINDOW_DIFFERS"}},
		{"the tasks end earlier", func(r *contract.RunRecord, _ *contract.Manifest) { r.Within.To = "19" }, []string{"WINDOW_DIFFERS"}},
		{"the tasks begin later", func(r *contract.RunRecord, _ *contract.Manifest) { r.Within.From = &value }, []string{"WINDOW_DIFFERS"}},
		{"the tasks leave the first value out", func(r *contract.RunRecord, _ *contract.Manifest) { r.Within.FromIncluded = false }, []string{"WINDOW_DIFFERS"}},
		{"the tasks leave the last value out, whose keys are kept", func(r *contract.RunRecord, _ *contract.Manifest) { r.Within.ToExcluded = true }, []string{"WINDOW_DIFFERS"}},
		{"the tasks have read another column", func(r *contract.RunRecord, _ *contract.Manifest) { r.Within.Cursor.Name = "d" }, []string{"WINDOW_DIFFERS"}},
		{"the tasks have read no window", func(r *contract.RunRecord, _ *contract.Manifest) { r.Within = nil }, []string{"NULL_KEYS_GAP", "WINDOW_DIFFERS"}},
		{"a key was delivered that is not kept", func(r *contract.RunRecord, _ *contract.Manifest) { r.Tasks[1].EndKeys++ }, []string{"KEPT_KEYS"}},
		{"rows at the start may have come before", func(r *contract.RunRecord, _ *contract.Manifest) { r.Tasks[0].RepeatedRows = 3 }, nil},
		{"rows without a cursor", func(_ *contract.RunRecord, m *contract.Manifest) { m.Source.Extraction.NullRows = 3 }, nil},
		{"no task, and the window moves", func(r *contract.RunRecord, m *contract.Manifest) {
			r.Tasks, m.Parts, m.PartCount, m.RowCount = nil, nil, 0, 0
		}, []string{"KEY_GAP", "KEPT_KEYS"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want(t, story(t, four(), 4, tc.damage).prove(prove.Options{Run: runID(4)}), tc.want...)
		})
	}
}

// A key that only grows is left out at the start, and whole at the end.
func TestWindowOfAKeyThatGrows(t *testing.T) {
	grows := func(p *contract.Position) *contract.Position {
		if p != nil {
			p.Kind, p.Column, p.KeyColumns, p.DeliveredKeys = contract.PositionKeyset, "id", nil, nil
		}
		return p
	}
	run := func(n int, from, to *contract.Position) commit.Frozen {
		f := windowed(n, grows(from), grows(to))
		f.Plan.Strategy, f.Plan.Key = chunkplan.Keyset, f.Plan.Key[1:]
		cut := keyspace.Key{fmt.Sprint(n)}
		f.Chunks[0].Range.UpTo, f.Chunks[1].Range.After = cut, cut
		f.Plan.Window.Kind, f.Plan.Window.Column = contract.PositionKeyset, "id"
		f.Plan.Within.Cursor, f.Plan.Within.Key, f.Plan.Within.FromIncluded = f.Plan.Key[0], nil, false
		return f
	}
	runs := func() []commit.Frozen { return []commit.Frozen{run(1, nil, at("10")), run(2, at("10"), at("20"))} }
	want(t, story(t, runs(), 0, nil).prove(prove.Options{}))
	for name, damage := range map[string]func(r *contract.RunRecord, m *contract.Manifest){
		"its first value is read again": func(r *contract.RunRecord, _ *contract.Manifest) { r.Within.FromIncluded = true },
		"its last value is left out":    func(r *contract.RunRecord, _ *contract.Manifest) { r.Within.ToExcluded = true },
	} {
		t.Run(name, func(t *testing.T) {
			want(t, story(t, runs(), 2, damage).prove(prove.Options{}), "WINDOW_DIFFERS")
		})
	}
}
