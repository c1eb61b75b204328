package sourcetest

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Runs reads a table as run after run of an incremental export does: by its
// column c, with the key id, an integer that is its first column.
type Runs struct {
	Source   source.Source
	Relation source.Relation
	// Position is where the last run has ended, nil before the first one.
	Position *string

	keys []keyspace.Key
}

// Follow makes runs while rows come to a table t(id, c) with the ids 1 and 2 and
// one without a c: more at the last value, spelled equal, and at one after it.
// add inserts rows, as SQL writes their values.
func (r *Runs) Follow(t *testing.T, equal, different string, add func(values string)) {
	t.Helper()
	for i, step := range []struct{ add, want string }{
		{"", "1 2"},
		{"", ""},
		{"(4, '" + equal + "')", "4"},
		{"(5, '" + equal + "'), (6, '" + different + "')", "5 6"},
		{"", ""},
		{"(0, '" + different + "')", "0"}, // a key below those that were delivered
	} {
		if step.add != "" {
			add(step.add)
		}
		if got := strings.Join(r.Next(t), " "); got != step.want {
			t.Fatalf("run %d has rows %q, want %q (position %q)", i+1, got, step.want, *r.Position)
		}
	}
}

// Next returns the ids of one run, sorted as text, and moves the position.
func (r *Runs) Next(t *testing.T) (ids []string) {
	t.Helper()
	table, err := r.Source.Describe(t.Context(), r.Relation)
	if err != nil {
		t.Fatal(err)
	}
	cursor, key := table.KeyColumns["c"], []keyspace.Column{table.KeyColumns["id"]}
	end, err := r.Source.CursorEnd(t.Context(), r.Relation, source.CursorQuery{Cursor: cursor, Key: key, From: r.Position, Delivered: r.keys})
	if err != nil {
		t.Fatal(err)
	}
	w := keyspace.Window{Cursor: cursor, Key: key, From: r.Position, FromIncluded: r.Position != nil, Except: r.keys, To: end.Value}
	if end.Order == 0 {
		w.To = *r.Position
	} else {
		r.keys = nil
	}
	reader, err := r.Source.Read(t.Context(), source.ReadSpec{Relation: r.Relation, Columns: table.Columns, Key: []keyspace.Column{cursor, key[0]}, Window: &w, Ordered: true, Unique: true, BatchRows: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close(t.Context())
	for {
		b, err := reader.Next(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			ids = append(ids, cell(&b.Columns[0], i))
		}
		r.keys = append(r.keys, reader.Edge(b.Rows).AtTo...)
	}
	r.Position = &w.To
	slices.Sort(ids)
	return ids
}
