// Package rowbatch is the typed column batch between sources and part writers.
// Layer: leaf.
//
// A batch is filled by a source, read by a writer, and filled again: its
// buffers grow to the size of the widest batch and are then reused, so the hot
// path allocates nothing a row or value. Buffers have Arrow's layout, so that
// a writer can hand them to Arrow without a copy.
package rowbatch

import "github.com/lapstrake/lapstrake/shared/rowtype"

// Batch holds the same number of rows in every column.
type Batch struct {
	Columns []Vector
	Rows    int
}

// Vector is one column of a batch, or the items of a list column. Exactly one
// of the value buffers is in use, by the type's kind:
//
//	Bool                        Bits, one bit a row, least significant first
//	Int16                       I16
//	Int32, Date                 I32
//	Int64, Time, Timestamp      I64
//	UInt64                      U64
//	Float32, Float64            F32, F64
//	UUID                        Data, 16 bytes a row
//	Decimal                     Data, 16 or 32 bytes a row, two's complement, little-endian
//	Text, JSON, Enum, Interval  Data and Offsets
//	Binary                      Data and Offsets
//	List                        Items and Offsets, which count items
//
// A NULL row has a zero value in its slot (an empty one where there are
// Offsets). Valid has one bit a row, least significant first: 1 for a value, 0
// for NULL.
type Vector struct {
	Type    rowtype.Type
	Len     int // rows
	Nulls   int
	Valid   []byte
	Bits    []byte
	I16     []int16
	I32     []int32
	I64     []int64
	U64     []uint64
	F32     []float32
	F64     []float64
	Data    []byte
	Offsets []int32 // Len+1 of them, the first 0
	Items   *Vector
}

// New returns an empty batch for these columns.
func New(columns []rowtype.Column) *Batch {
	b := &Batch{Columns: make([]Vector, len(columns))}
	for i, c := range columns {
		b.Columns[i] = newVector(c.Type)
	}
	return b
}

func newVector(t rowtype.Type) Vector {
	v := Vector{Type: t}
	if t.Kind == rowtype.List {
		items := newVector(*t.Elem)
		v.Items = &items
	}
	v.Reset()
	return v
}

// Reset empties the batch and keeps its buffers.
func (b *Batch) Reset() {
	b.Rows = 0
	for i := range b.Columns {
		b.Columns[i].Reset()
	}
}

// Bytes returns how many bytes of values the batch holds, without validity.
func (b *Batch) Bytes() int64 {
	var n int64
	for i := range b.Columns {
		n += b.Columns[i].Bytes()
	}
	return n
}

// Truncate drops all rows after the first n.
func (b *Batch) Truncate(n int) {
	if n >= b.Rows {
		return
	}
	b.Rows = n
	for i := range b.Columns {
		b.Columns[i].truncate(n)
	}
}

// Reset empties the vector and keeps its buffers.
func (v *Vector) Reset() {
	v.Len, v.Nulls = 0, 0
	v.Valid, v.Bits = v.Valid[:0], v.Bits[:0]
	v.I16, v.I32, v.I64, v.U64 = v.I16[:0], v.I32[:0], v.I64[:0], v.U64[:0]
	v.F32, v.F64, v.Data = v.F32[:0], v.F64[:0], v.Data[:0]
	switch v.Type.Kind {
	case rowtype.Text, rowtype.JSON, rowtype.Enum, rowtype.Interval, rowtype.Binary, rowtype.List:
		v.Offsets = append(v.Offsets[:0], 0)
	}
	if v.Items != nil {
		v.Items.Reset()
	}
}

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Valid[i>>3]>>(i&7)&1 == 0 }

// Bool returns row i of a Bool vector.
func (v *Vector) Bool(i int) bool { return v.Bits[i>>3]>>(i&7)&1 == 1 }

// Slice returns the bytes of row i of a vector with Data: a view that is valid
// until the batch is reset.
func (v *Vector) Slice(i int) []byte {
	if w := v.Type.Width(); w > 0 {
		return v.Data[i*w : (i+1)*w]
	}
	return v.Data[v.Offsets[i]:v.Offsets[i+1]]
}

// ItemRange returns the items of row i of a List vector: Items rows from
// first to last, exclusive.
func (v *Vector) ItemRange(i int) (first, last int) {
	return int(v.Offsets[i]), int(v.Offsets[i+1])
}

// Bytes returns how many bytes of values the vector holds.
func (v *Vector) Bytes() int64 {
	n := int64(len(v.Bits) + 2*len(v.I16) + 4*len(v.I32) + 8*len(v.I64) + 8*len(v.U64) + 4*len(v.F32) + 8*len(v.F64) + len(v.Data) + 4*len(v.Offsets))
	if v.Items != nil {
		n += v.Items.Bytes()
	}
	return n
}

var zeros [32]byte

// AppendNull adds a NULL row.
func (v *Vector) AppendNull() {
	v.appendValidity(false)
	v.Nulls++
	switch v.Type.Kind {
	case rowtype.Bool:
		v.appendBit(false)
	case rowtype.Int16:
		v.I16 = append(v.I16, 0)
	case rowtype.Int32, rowtype.Date:
		v.I32 = append(v.I32, 0)
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
		v.I64 = append(v.I64, 0)
	case rowtype.UInt64:
		v.U64 = append(v.U64, 0)
	case rowtype.Float32:
		v.F32 = append(v.F32, 0)
	case rowtype.Float64:
		v.F64 = append(v.F64, 0)
	case rowtype.UUID, rowtype.Decimal:
		v.Data = append(v.Data, zeros[:v.Type.Width()]...)
	case rowtype.List:
		v.Offsets = append(v.Offsets, int32(v.Items.Len))
	default:
		v.Offsets = append(v.Offsets, int32(len(v.Data)))
	}
	v.Len++
}

// AppendBool adds a row to a Bool vector.
func (v *Vector) AppendBool(x bool) {
	v.appendValidity(true)
	v.appendBit(x)
	v.Len++
}

// AppendInt16 adds a row to an Int16 vector.
func (v *Vector) AppendInt16(x int16) { v.appendValidity(true); v.I16 = append(v.I16, x); v.Len++ }

// AppendInt32 adds a row to an Int32 or Date vector.
func (v *Vector) AppendInt32(x int32) { v.appendValidity(true); v.I32 = append(v.I32, x); v.Len++ }

// AppendInt64 adds a row to an Int64, Time or Timestamp vector.
func (v *Vector) AppendInt64(x int64) { v.appendValidity(true); v.I64 = append(v.I64, x); v.Len++ }

// AppendUint64 adds a row to a UInt64 vector.
func (v *Vector) AppendUint64(x uint64) { v.appendValidity(true); v.U64 = append(v.U64, x); v.Len++ }

// AppendFloat32 adds a row to a Float32 vector.
func (v *Vector) AppendFloat32(x float32) { v.appendValidity(true); v.F32 = append(v.F32, x); v.Len++ }

// AppendFloat64 adds a row to a Float64 vector.
func (v *Vector) AppendFloat64(x float64) { v.appendValidity(true); v.F64 = append(v.F64, x); v.Len++ }

// AppendBytes adds a row to a vector with Data. For a UUID or Decimal, x has
// exactly Width bytes. Data stays below 2 GiB: a source ends its batch by
// bytes long before.
func (v *Vector) AppendBytes(x []byte) {
	v.appendValidity(true)
	v.Data = append(v.Data, x...)
	if v.Type.Width() == 0 {
		v.Offsets = append(v.Offsets, int32(len(v.Data)))
	}
	v.Len++
}

// AppendFixed is AppendBytes for a UUID or Decimal, for callers in a hurry.
func (v *Vector) AppendFixed(x []byte) {
	v.appendValidity(true)
	v.Data = append(v.Data, x...)
	v.Len++
}

// AppendVarying is AppendBytes for a vector with Data and Offsets.
func (v *Vector) AppendVarying(x []byte) {
	v.appendValidity(true)
	v.Data = append(v.Data, x...)
	v.Offsets = append(v.Offsets, int32(len(v.Data)))
	v.Len++
}

// EndList ends a row of a List vector: its items are those appended to Items
// since the row before.
func (v *Vector) EndList() {
	v.appendValidity(true)
	v.Offsets = append(v.Offsets, int32(v.Items.Len))
	v.Len++
}

func (v *Vector) appendValidity(ok bool) { v.Valid = appendBit(v.Valid, v.Len, ok) }

func (v *Vector) appendBit(x bool) { v.Bits = appendBit(v.Bits, v.Len, x) }

func appendBit(bits []byte, i int, x bool) []byte {
	if i&7 == 0 {
		bits = append(bits, 0)
	}
	if x {
		bits[i>>3] |= 1 << (i & 7)
	}
	return bits
}

func (v *Vector) truncate(n int) {
	for i := n; i < v.Len; i++ {
		if v.IsNull(i) {
			v.Nulls--
		}
	}
	v.Len = n
	v.Valid = cutBits(v.Valid, n)
	v.cutValues(n)
}

func (v *Vector) cutValues(n int) {
	switch v.Type.Kind {
	case rowtype.Bool:
		v.Bits = cutBits(v.Bits, n)
	case rowtype.Int16:
		v.I16 = v.I16[:n]
	case rowtype.Int32, rowtype.Date:
		v.I32 = v.I32[:n]
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
		v.I64 = v.I64[:n]
	case rowtype.UInt64:
		v.U64 = v.U64[:n]
	case rowtype.Float32:
		v.F32 = v.F32[:n]
	case rowtype.Float64:
		v.F64 = v.F64[:n]
	case rowtype.UUID, rowtype.Decimal:
		v.Data = v.Data[:n*v.Type.Width()]
	case rowtype.List:
		v.Offsets = v.Offsets[:n+1]
		v.Items.truncate(int(v.Offsets[n]))
	default:
		v.Offsets = v.Offsets[:n+1]
		v.Data = v.Data[:v.Offsets[n]]
	}
}

// cutBits keeps the first n bits and clears those after them in the last byte.
func cutBits(bits []byte, n int) []byte {
	bits = bits[:(n+7)/8]
	if n&7 != 0 {
		bits[n>>3] &= 1<<(n&7) - 1
	}
	return bits
}

// FixedSize is how many bytes a value takes in a batch apart from those of its
// text, if it has any.
func FixedSize(t rowtype.Type) int64 {
	switch t.Kind {
	case rowtype.Bool:
		return 1
	case rowtype.Int16:
		return 2
	case rowtype.Int64, rowtype.UInt64, rowtype.Time, rowtype.Timestamp, rowtype.Float64:
		return 8
	case rowtype.UUID, rowtype.Decimal:
		return int64(t.Width())
	}
	return 4
}
