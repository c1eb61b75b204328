package rowbatch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"pgregory.net/rapid"
)

var kinds = []rowtype.Type{
	{Kind: rowtype.Bool}, {Kind: rowtype.Int16}, {Kind: rowtype.Int32}, {Kind: rowtype.Int64}, {Kind: rowtype.UInt64},
	{Kind: rowtype.Float32}, {Kind: rowtype.Float64}, {Kind: rowtype.Decimal, Precision: 40, Scale: 2},
	{Kind: rowtype.Timestamp}, {Kind: rowtype.UUID}, {Kind: rowtype.Text}, {Kind: rowtype.Binary},
	{Kind: rowtype.List, Elem: &rowtype.Type{Kind: rowtype.Text}},
}

func appendAny(rt *rapid.T, v *Vector) {
	if rapid.Bool().Draw(rt, "null") {
		v.AppendNull()
		return
	}
	n := rapid.IntRange(0, 200).Draw(rt, "value")
	switch v.Type.Kind {
	case rowtype.Bool:
		v.AppendBool(n%2 == 0)
	case rowtype.Int16:
		v.AppendInt16(int16(n))
	case rowtype.Int32:
		v.AppendInt32(int32(n))
	case rowtype.Int64, rowtype.Timestamp:
		v.AppendInt64(int64(n))
	case rowtype.UInt64:
		v.AppendUint64(uint64(n))
	case rowtype.Float32:
		v.AppendFloat32(float32(n))
	case rowtype.Float64:
		v.AppendFloat64(float64(n))
	case rowtype.List:
		for range n % 4 {
			appendAny(rt, v.Items)
		}
		v.EndList()
	default:
		x := make([]byte, n)
		if w := v.Type.Width(); w > 0 {
			x = make([]byte, w)
			x[0] = byte(n)
		}
		v.AppendBytes(x)
	}
}

// A truncated batch equals one that never had the dropped rows, bit for bit:
// a writer must not see the tail of a batch that a split cut off.
func TestTruncateForgetsTheTail(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ := rapid.SampledFrom(kinds).Draw(rt, "type")
		cols := []rowtype.Column{{Name: "c", Type: typ}}
		rows := rapid.IntRange(0, 40).Draw(rt, "rows")
		keep := rapid.IntRange(0, rows).Draw(rt, "keep")
		b, want := New(cols), New(cols)
		for i := range rows {
			appendAny(rt, &b.Columns[0])
			b.Rows++
			if i == keep-1 {
				want = New(cols)
				copyRows(b, want)
			}
		}
		b.Truncate(keep)
		if diff := cmp.Diff(want, b, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// copyRows deep-copies the buffers of from into to.
func copyRows(from, to *Batch) {
	to.Rows = from.Rows
	for i := range from.Columns {
		copyVector(&from.Columns[i], &to.Columns[i])
	}
}

func copyVector(f, t *Vector) {
	t.Len, t.Nulls = f.Len, f.Nulls
	t.Valid, t.Bits, t.Data = append(t.Valid[:0], f.Valid...), append(t.Bits[:0], f.Bits...), append(t.Data[:0], f.Data...)
	t.I16, t.I32, t.I64, t.U64 = append(t.I16, f.I16...), append(t.I32, f.I32...), append(t.I64, f.I64...), append(t.U64, f.U64...)
	t.F32, t.F64 = append(t.F32, f.F32...), append(t.F64, f.F64...)
	t.Offsets = append(t.Offsets[:0], f.Offsets...)
	if f.Items != nil {
		copyVector(f.Items, t.Items)
	}
}

func TestResetKeepsBuffers(t *testing.T) {
	b := New([]rowtype.Column{{Type: rowtype.Type{Kind: rowtype.Int64}}, {Type: rowtype.Type{Kind: rowtype.Text}}})
	fill := func() {
		b.Reset()
		for i := range 1000 {
			b.Columns[0].AppendInt64(int64(i))
			b.Columns[1].AppendBytes([]byte("value"))
			b.Rows++
		}
	}
	fill()
	if n := testing.AllocsPerRun(10, fill); n > 0 {
		t.Fatalf("%v allocations to fill a used batch again", n)
	}
}
