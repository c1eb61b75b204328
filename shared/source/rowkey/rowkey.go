// Package rowkey finds keys in the rows that a reader has delivered: where a
// range may be cut, and what lies on the edges of a window. Layer: L2
// (execution).
package rowkey

import (
	"slices"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Plan says where a reader finds the values of the key.
type Plan struct {
	Slots  []Slot
	Hidden []string // expressions selected in addition
	// Settled is true when two keys that the server takes for equal are told
	// to be equal here too, so that the end of a group of equal keys can be
	// seen in the rows.
	Settled bool
}

// Slot is the place of one column of the key.
type Slot struct {
	Index  int  // of the column, or of the hidden one
	Hidden bool // the value comes as text in a column of its own
	Padded bool // trailing spaces do not count
}

// Rows are those of a batch, with what was selected in addition.
type Rows struct{ Batch, Hidden *rowbatch.Batch }

func (r Rows) vector(s Slot) *rowbatch.Vector {
	if s.Hidden {
		return &r.Hidden.Columns[s.Index]
	}
	return &r.Batch.Columns[s.Index]
}

// Cuttable reports whether a read can be split.
func (p Plan) Cuttable(spec source.ReadSpec) bool {
	return spec.Ordered && !spec.Range.All && !spec.Range.Null && len(p.Slots) > 0 && (spec.Unique || p.Settled)
}

// Cut is [source.Reader.Cut] of a read that is cuttable. It returns no rows at
// the upper bound of the range, where nothing is left for another task. same is
// the server's equality of two values, text a value as the server reads it
// again.
func (p Plan) Cut(r Rows, spec source.ReadSpec, same func(s Slot, v *rowbatch.Vector, a, b int) bool, text func(v *rowbatch.Vector, row int) string) (rows int, at keyspace.Key) {
	rows = r.Batch.Rows
	if !spec.Unique { // the last group may go on in the next batch
		rows = p.lastGroup(r, same)
	}
	if rows == 0 {
		return 0, nil
	}
	at = p.At(r, rows-1, text)
	if slices.Equal(at, spec.Range.UpTo) {
		return 0, nil
	}
	return rows, at
}

// At is the key of a row. text is a value as the server reads it again.
func (p Plan) At(r Rows, row int, text func(v *rowbatch.Vector, row int) string) keyspace.Key {
	key := make(keyspace.Key, len(p.Slots))
	for i, s := range p.Slots {
		key[i] = text(r.vector(s), row)
	}
	return key
}

// lastGroup is where the last group of equal keys begins.
func (p Plan) lastGroup(r Rows, same func(s Slot, v *rowbatch.Vector, a, b int) bool) int {
	rows, last := r.Batch.Rows, r.Batch.Rows-1
	for rows > 0 && !slices.ContainsFunc(p.Slots, func(s Slot) bool { return !same(s, r.vector(s), rows-1, last) }) {
		rows--
	}
	return rows
}

// Edge is [source.Reader.Edge]: marks are the columns of the window's marks,
// atTo is true if they are the keys of rows at its upper bound.
func Edge(marks []rowbatch.Vector, rows int, atTo bool) source.Edge {
	var e source.Edge
	for i := range rows {
		switch {
		case marks[0].IsNull(i):
		case atTo:
			key := make(keyspace.Key, len(marks))
			for j := range marks {
				key[j] = string(marks[j].Slice(i))
			}
			e.AtTo = append(e.AtTo, key)
		default:
			e.AtFrom++
		}
	}
	return e
}
