package rowbatch_test

import (
	"slices"
	"testing"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"pgregory.net/rapid"
)

// A vector that is pushed to, rewound and completed is the one that had its
// values appended.
func TestPushedRowsAreAppendedRows(t *testing.T) {
	columns := []rowtype.Column{
		{Type: rowtype.Type{Kind: rowtype.Int64}}, {Type: rowtype.Type{Kind: rowtype.Text}}, {Type: rowtype.Type{Kind: rowtype.Decimal, Precision: 9, Scale: 2}},
	}
	rapid.Check(t, func(rt *rapid.T) {
		pushed, appended := rowbatch.New(columns), rowbatch.New(columns)
		for row := range rapid.IntRange(0, 40).Draw(rt, "rows") {
			for range rapid.IntRange(0, 2).Draw(rt, "attempts that are taken back") {
				push(rt, pushed, row)
				if rapid.Bool().Draw(rt, "completed") {
					for i := range pushed.Columns {
						pushed.Columns[i].Complete(row + 1)
					}
				}
				for i := range pushed.Columns {
					pushed.Columns[i].Rewind(row)
				}
			}
			for i, x := range push(rt, pushed, row) {
				v := &appended.Columns[i]
				switch {
				case x < 0:
					v.AppendNull()
				case i == 0:
					v.AppendInt64(x)
				case i == 1:
					v.AppendBytes(slices.Repeat([]byte{'x'}, int(x)))
				default:
					word := make([]byte, 16)
					word[0] = byte(x)
					v.AppendBytes(word)
				}
			}
			pushed.Rows, appended.Rows = row+1, row+1
		}
		for i := range columns {
			got, want := &pushed.Columns[i], &appended.Columns[i]
			got.Complete(pushed.Rows)
			if got.Len != want.Len || got.Nulls != want.Nulls || !slices.Equal(got.Valid, want.Valid) || !slices.Equal(got.I64, want.I64) ||
				!slices.Equal(got.Data, want.Data) || !slices.Equal(got.Offsets, want.Offsets) {
				rt.Fatalf("column %d: %+v\nwant %+v", i, *got, *want)
			}
		}
	})
}

// push gives a batch of so many rows one more and returns its values, -1 for
// NULL.
func push(rt *rapid.T, b *rowbatch.Batch, rows int) (values [3]int64) {
	for i := range values {
		v := &b.Columns[i]
		values[i] = rapid.Int64Range(-1, 9).Draw(rt, "value")
		switch x := values[i]; {
		case x < 0:
			v.Complete(rows)
			v.AppendNull()
		case i == 0:
			v.I64 = append(v.I64, x)
		case i == 1:
			v.PushVarying(slices.Repeat([]byte{'x'}, int(x)))
		default:
			v.PushWord(x)
		}
	}
	return values
}
