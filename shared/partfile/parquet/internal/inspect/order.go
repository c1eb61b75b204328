package inspect

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

const (
	byNumber = iota // *big.Int
	byFloat         // float64
	byBytes         // []byte
)

// order is how values of a type compare, and how they are stored.
type order struct {
	kind int
	t    rowtype.Type
}

func orderOf(t rowtype.Type) order {
	if t.Kind == rowtype.List {
		t = *t.Elem
	}
	switch t.Kind {
	case rowtype.Float32, rowtype.Float64:
		return order{byFloat, t}
	case rowtype.Text, rowtype.JSON, rowtype.Enum, rowtype.Interval, rowtype.Binary, rowtype.UUID:
		return order{byBytes, t}
	}
	return order{byNumber, t}
}

func (o order) compare(a, b any) int {
	switch o.kind {
	case byNumber:
		return a.(*big.Int).Cmp(b.(*big.Int))
	case byFloat:
		x, y := a.(float64), b.(float64)
		if x == y { // the sign of a zero counts here
			return int(bits(y)>>63) - int(bits(x)>>63)
		}
		return map[bool]int{true: -1, false: 1}[x < y]
	}
	return bytes.Compare(a.([]byte), b.([]byte))
}

func bits(x float64) uint64 { return math.Float64bits(x) }

// read returns a stored bound.
func (o order) read(b []byte) any {
	switch {
	case o.kind == byFloat && len(b) == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case o.kind == byFloat:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case o.kind == byBytes:
		return b
	case o.t.Kind != rowtype.Decimal || o.t.Precision <= 18: // little-endian
		b = slices.Clone(b)
		slices.Reverse(b)
	}
	x := new(big.Int).SetBytes(b)
	if o.t.Kind != rowtype.UInt64 && o.t.Kind != rowtype.Bool && b[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

// value returns row i of v, which is not NULL and not NaN.
func (o order) value(v *rowbatch.Vector, i int) (x any, ok bool) {
	switch o.t.Kind {
	case rowtype.Bool:
		return big.NewInt(map[bool]int64{true: 1}[v.Bool(i)]), true
	case rowtype.Int16:
		return big.NewInt(int64(v.I16[i])), true
	case rowtype.Int32, rowtype.Date:
		return big.NewInt(int64(v.I32[i])), true
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
		return big.NewInt(v.I64[i]), true
	case rowtype.UInt64:
		return new(big.Int).SetUint64(v.U64[i]), true
	case rowtype.Float32:
		return float64(v.F32[i]), v.F32[i] == v.F32[i]
	case rowtype.Float64:
		return v.F64[i], v.F64[i] == v.F64[i]
	case rowtype.Decimal:
		x, _ := new(big.Int).SetString(string(rowbatch.AppendDecimal(nil, v.Slice(i), 0)), 10)
		return x, true
	}
	return v.Slice(i), true
}

// summary is what there is in some rows.
type summary struct {
	order         order
	levels, nulls int64 // values, those that are NULL or belong to a list without items included
	low, high     any
	some          bool
}

func (s *summary) addRows(v *rowbatch.Vector, first, last int) {
	for row := first; row < last; row++ {
		if v.Items == nil {
			s.add(v, row)
			continue
		}
		lo, hi := v.ItemRange(row)
		if lo == hi {
			s.levels, s.nulls = s.levels+1, s.nulls+1
		}
		for item := lo; item < hi; item++ {
			s.add(v.Items, item)
		}
	}
}

func (s *summary) add(v *rowbatch.Vector, i int) {
	s.levels++
	if v.IsNull(i) {
		s.nulls++
		return
	}
	if x, ok := s.order.value(v, i); ok {
		s.merge(summary{low: x, high: x, some: true})
	}
}

func (s *summary) merge(other summary) {
	s.levels, s.nulls = s.levels+other.levels, s.nulls+other.nulls
	switch {
	case !other.some:
	case !s.some:
		s.low, s.high, s.some = other.low, other.high, true
	default:
		if s.order.compare(other.low, s.low) < 0 {
			s.low = other.low
		}
		if s.order.compare(other.high, s.high) > 0 {
			s.high = other.high
		}
	}
}
