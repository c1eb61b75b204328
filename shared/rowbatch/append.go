package rowbatch

import (
	"math/bits"

	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// AppendRows adds the rows of from, from first to last exclusive. Both batches
// have the same columns. The values are copied: from may be reset afterwards.
func (b *Batch) AppendRows(from *Batch, first, last int) {
	for i := range b.Columns {
		b.Columns[i].AppendRows(&from.Columns[i], first, last)
	}
	b.Rows += last - first
}

// AppendRows adds the rows of from, from first to last exclusive.
func (v *Vector) AppendRows(from *Vector, first, last int) {
	n := last - first
	v.Valid = appendBits(v.Valid, v.Len, from.Valid, first, n)
	if from.Nulls > 0 {
		v.Nulls += n - countBits(from.Valid, first, n)
	}
	switch v.Type.Kind {
	case rowtype.Bool:
		v.Bits = appendBits(v.Bits, v.Len, from.Bits, first, n)
	case rowtype.Int16:
		v.I16 = append(v.I16, from.I16[first:last]...)
	case rowtype.Int32, rowtype.Date:
		v.I32 = append(v.I32, from.I32[first:last]...)
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
		v.I64 = append(v.I64, from.I64[first:last]...)
	case rowtype.UInt64:
		v.U64 = append(v.U64, from.U64[first:last]...)
	case rowtype.Float32:
		v.F32 = append(v.F32, from.F32[first:last]...)
	case rowtype.Float64:
		v.F64 = append(v.F64, from.F64[first:last]...)
	case rowtype.UUID, rowtype.Decimal:
		w := v.Type.Width()
		v.Data = append(v.Data, from.Data[first*w:last*w]...)
	case rowtype.List:
		lo, hi := from.Offsets[first], from.Offsets[last]
		v.appendOffsets(from.Offsets[first+1:last+1], int32(v.Items.Len)-lo)
		v.Items.AppendRows(from.Items, int(lo), int(hi))
	default:
		lo, hi := from.Offsets[first], from.Offsets[last]
		v.appendOffsets(from.Offsets[first+1:last+1], int32(len(v.Data))-lo)
		v.Data = append(v.Data, from.Data[lo:hi]...)
	}
	v.Len += n
}

func (v *Vector) appendOffsets(offsets []int32, shift int32) {
	for _, o := range offsets {
		v.Offsets = append(v.Offsets, o+shift)
	}
}

// appendBits adds n bits of src, from bit first on, to a bitmap of have bits.
// Bits after the last one stay zero.
func appendBits(dst []byte, have int, src []byte, first, n int) []byte {
	total := have + n
	for ; n > 0 && have&7 != 0; have, first, n = have+1, first+1, n-1 {
		dst = appendBit(dst, have, src[first>>3]>>(first&7)&1 == 1)
	}
	for ; n > 0; first, n = first+8, n-8 {
		i, shift := first>>3, first&7
		x := src[i] >> shift
		if shift > 0 && n > 8-shift {
			x |= src[i+1] << (8 - shift)
		}
		dst = append(dst, x)
	}
	return cutBits(dst, total)
}

// countBits counts the ones among n bits from bit first on.
func countBits(bitmap []byte, first, n int) int {
	ones := 0
	for ; n > 0 && first&7 != 0; first, n = first+1, n-1 {
		ones += int(bitmap[first>>3] >> (first & 7) & 1)
	}
	for ; n >= 8; first, n = first+8, n-8 {
		ones += bits.OnesCount8(bitmap[first>>3])
	}
	if n > 0 {
		ones += bits.OnesCount8(bitmap[first>>3] & (1<<n - 1))
	}
	return ones
}
