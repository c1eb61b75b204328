package contract

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// AppendCell appends the canonical form of row i of v: a tag byte, 0 for NULL;
// for a value 1, the length of its text as four bytes, least significant
// first, and the text. A list has the number of its items there and the
// canonical form of each. So no two different rows have the same bytes
// (reference §5.8, WRT-22).
func AppendCell(dst []byte, v *rowbatch.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	if v.Type.Kind == rowtype.List {
		first, last := v.ItemRange(i)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(last-first))
		for item := first; item < last; item++ {
			dst = AppendCell(dst, v.Items, item)
		}
		return dst
	}
	length := len(dst)
	dst = appendDisplay(append(dst, 0, 0, 0, 0), v, i)
	binary.LittleEndian.PutUint32(dst[length:], uint32(len(dst)-length-4))
	return dst
}

// appendDisplay appends the text that Arrow's formatter prints for a value
// with its default options (reference, Appendix A). Instants beyond the
// calendar of the upstream's library, past the year 262142, are printed too.
func appendDisplay(dst []byte, v *rowbatch.Vector, i int) []byte {
	switch v.Type.Kind {
	case rowtype.Bool:
		return strconv.AppendBool(dst, v.Bool(i))
	case rowtype.Int16:
		return strconv.AppendInt(dst, int64(v.I16[i]), 10)
	case rowtype.Int32:
		return strconv.AppendInt(dst, int64(v.I32[i]), 10)
	case rowtype.Int64:
		return strconv.AppendInt(dst, v.I64[i], 10)
	case rowtype.UInt64:
		return strconv.AppendUint(dst, v.U64[i], 10)
	case rowtype.Float32:
		return appendFloat(dst, float64(v.F32[i]), 32)
	case rowtype.Float64:
		return appendFloat(dst, v.F64[i], 64)
	case rowtype.Decimal:
		return rowbatch.AppendDecimal(dst, v.Slice(i), v.Type.Scale)
	case rowtype.Date:
		return rowbatch.AppendDate(dst, int64(v.I32[i]))
	case rowtype.Time:
		return rowbatch.AppendTime(dst, v.I64[i], rowbatch.ShortestFraction)
	case rowtype.Timestamp:
		return rowbatch.AppendTimestamp(dst, v.Type, v.I64[i], rowbatch.ShortestFraction)
	case rowtype.UUID, rowtype.Binary:
		return hex.AppendEncode(dst, v.Slice(i))
	}
	return append(dst, v.Slice(i)...)
}

// appendFloat appends the shortest digits that read back as x, with a point or
// an exponent: 1.0, 0.00001, 1e16. Up to 16 digits before the point and 4
// zeros behind it are written out for 64 bits, 13 and 5 for 32.
func appendFloat(dst []byte, x float64, bits int) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "NaN"...)
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	case x == 0 && math.Signbit(x):
		return append(dst, "-0.0"...)
	case x == 0:
		return append(dst, "0.0"...)
	}
	before, zeros := 16, 4
	if bits == 32 {
		before, zeros = 13, 5
	}
	var scratch [32]byte
	digits, exponent := scientific(strconv.AppendFloat(scratch[:0], x, 'e', -1, bits))
	switch point := exponent + 1; {
	case point > before || point <= -zeros-1:
		dst = append(dst, digits...)
		return strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
	default:
		start := len(dst)
		dst = strconv.AppendFloat(dst, x, 'f', -1, bits)
		for _, c := range dst[start:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, ".0"...)
	}
}

// scientific splits d.ddde±dd into d.ddd and the exponent.
func scientific(text []byte) (digits []byte, exponent int) {
	e := len(text) - 1
	for text[e] != 'e' {
		e--
	}
	exponent, _ = strconv.Atoi(string(text[e+1:]))
	return text[:e], exponent
}
