package csv

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// micros is how many digits of a second's fraction stand in a cell, always.
const micros rowbatch.Fraction = 6

// appendCell appends row i of v; nothing for NULL.
func appendCell(dst []byte, v *rowbatch.Vector, i int) []byte {
	if v.IsNull(i) {
		return dst
	}
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
		return rowbatch.AppendTime(dst, v.I64[i], micros)
	case rowtype.Timestamp:
		return rowbatch.AppendTimestamp(dst, v.Type, v.I64[i], micros)
	case rowtype.UUID:
		return rowbatch.AppendUUID(dst, v.Slice(i))
	case rowtype.Binary:
		if x := v.Slice(i); len(x) > 0 {
			return hex.AppendEncode(dst, x)
		}
		return append(dst, `""`...)
	}
	return appendText(dst, v.Slice(i))
}

// appendFloat appends the shortest digits that read back as x, never with an
// exponent.
func appendFloat(dst []byte, x float64, bits int) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "NaN"...)
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, bits)
}

func appendText(dst, text []byte) []byte {
	if !needsQuotes(text) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for {
		quote := bytes.IndexByte(text, '"')
		if quote < 0 {
			break
		}
		dst = append(append(dst, text[:quote+1]...), '"')
		text = text[quote+1:]
	}
	return append(append(dst, text...), '"')
}

func needsQuotes(text []byte) bool {
	for _, c := range text {
		switch c {
		case ',', '"', '\n', '\r':
			return true
		}
	}
	return len(text) == 0
}
