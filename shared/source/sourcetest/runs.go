package sourcetest

import (
	"io"
	"slices"
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
