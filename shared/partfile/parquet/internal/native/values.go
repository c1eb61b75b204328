package native

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// form is what the values of a column look like before they are encoded.
type form int

const (
	formBool  form = iota // values.bits
	form32                // values.i32, floats by their bits
	form64                // values.i64, likewise
	formBytes             // values.data between values.offsets
	formFixed             // the same, all of storage.length
)

// order is how bounds of a column compare (the file says TypeDefinedOrder).
type order int

const (
	orderBool order = iota
	orderSigned
	orderUnsigned // 64 bits
	orderFloat    // without NaN, -0 before 0
	orderBytes    // unsigned, byte by byte
	orderDecimal  // two's complement, most significant byte first
)

// storage is how the values of a type that is not a list are stored.
type storage struct {
	physical int32 // the type's number in a file
	form     form
	order    order
	length   int  // of fixed-length values
	text     bool // UTF-8
}

// storageOf returns the storage of a type; ok is false for one that this
// writer does not know.
func storageOf(t rowtype.Type, length int) (s storage, ok bool) {
	switch t.Kind {
	case rowtype.Bool:
		return storage{0, formBool, orderBool, 0, false}, true
	case rowtype.Int16, rowtype.Int32, rowtype.Date:
		return storage{1, form32, orderSigned, 0, false}, true
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
		return storage{2, form64, orderSigned, 0, false}, true
	case rowtype.UInt64:
		return storage{2, form64, orderUnsigned, 0, false}, true
	case rowtype.Float32:
		return storage{4, form32, orderFloat, 0, false}, true
	case rowtype.Float64:
		return storage{5, form64, orderFloat, 0, false}, true
	case rowtype.Decimal:
		switch {
		case t.Precision <= 9:
			return storage{1, form32, orderSigned, 0, false}, true
		case t.Precision <= 18:
			return storage{2, form64, orderSigned, 0, false}, true
		}
		return storage{7, formFixed, orderDecimal, length, false}, true
	case rowtype.UUID:
		return storage{7, formFixed, orderBytes, length, false}, true
	case rowtype.Text, rowtype.JSON, rowtype.Enum, rowtype.Interval:
		return storage{6, formBytes, orderBytes, 0, true}, true
	case rowtype.Binary:
		return storage{6, formBytes, orderBytes, 0, false}, true
	}
	return storage{}, false
}

// values are the values of a page that are not NULL. They are views of the
// vector where its memory has the form already, and of a gatherer's otherwise.
type values struct {
	n       int
	bits    []byte
	i32     []int32
	i64     []int64
	data    []byte
	offsets []int32
}

// gatherer holds memory for values, reused from page to page.
type gatherer struct {
	bits, data []byte
	i32        []int32
	i64        []int64
	offsets    []int32
}

func (g *gatherer) gather(v *rowbatch.Vector, s storage) values {
	out := values{n: v.Len - v.Nulls}
	switch s.form {
	case formBool:
		out.bits = g.booleans(v)
	case form32:
		out.i32 = g.words32(v)
	case form64:
		out.i64 = g.words64(v)
	case formBytes:
		out.data = v.Data // NULL has no bytes
		out.offsets = g.ends(v)
	case formFixed:
		out.data = g.fixed(v, s)
		g.offsets = slices.Grow(g.offsets[:0], out.n+1)
		for i := range out.n + 1 {
			g.offsets = append(g.offsets, int32(i*s.length))
		}
		out.offsets = g.offsets
	}
	return out
}

// compact returns the values that are not NULL: those of the vector itself if
// none is.
func compact[T any](scratch *[]T, from []T, v *rowbatch.Vector) []T {
	if v.Nulls == 0 {
		return from[:v.Len]
	}
	out := slices.Grow((*scratch)[:0], v.Len-v.Nulls)
	for i, x := range from[:v.Len] {
		if !v.IsNull(i) {
			out = append(out, x)
		}
	}
	*scratch = out
	return out
}

func (g *gatherer) booleans(v *rowbatch.Vector) []byte {
	if v.Nulls == 0 {
		return v.Bits
	}
	g.bits = g.bits[:0]
	n := 0
	for i := range v.Len {
		if v.IsNull(i) {
			continue
		}
		if n&7 == 0 {
			g.bits = append(g.bits, 0)
		}
		if v.Bool(i) {
			g.bits[n>>3] |= 1 << (n & 7)
		}
		n++
	}
	return g.bits
}

func (g *gatherer) words32(v *rowbatch.Vector) []int32 {
	switch v.Type.Kind {
	case rowtype.Float32:
		return compact(&g.i32, as[int32](v.F32), v)
	case rowtype.Int32, rowtype.Date:
		return compact(&g.i32, v.I32, v)
	}
	g.i32 = slices.Grow(g.i32[:0], v.Len)
	for i := range v.Len {
		switch {
		case v.Nulls > 0 && v.IsNull(i):
		case v.Type.Kind == rowtype.Decimal:
			g.i32 = append(g.i32, int32(binary.LittleEndian.Uint32(v.Data[16*i:])))
		default:
			g.i32 = append(g.i32, int32(v.I16[i]))
		}
	}
	return g.i32
}

func (g *gatherer) words64(v *rowbatch.Vector) []int64 {
	switch v.Type.Kind {
	case rowtype.Float64:
		return compact(&g.i64, as[int64](v.F64), v)
	case rowtype.UInt64:
		return compact(&g.i64, as[int64](v.U64), v)
	case rowtype.Decimal:
		g.i64 = slices.Grow(g.i64[:0], v.Len)
		for i := range v.Len {
			if v.Nulls == 0 || !v.IsNull(i) {
				g.i64 = append(g.i64, int64(binary.LittleEndian.Uint64(v.Data[16*i:])))
			}
		}
		return g.i64
	}
	return compact(&g.i64, v.I64, v)
}

// as returns the same memory as values of another type of the same size.
func as[T, F any](from []F) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(from))), len(from))
}

// ends returns the offsets of the values that are not NULL.
func (g *gatherer) ends(v *rowbatch.Vector) []int32 {
	if v.Nulls == 0 {
		return v.Offsets[:v.Len+1]
	}
	g.offsets = append(slices.Grow(g.offsets[:0], v.Len-v.Nulls+1), 0)
	for i, end := range v.Offsets[1 : v.Len+1] {
		if !v.IsNull(i) {
			g.offsets = append(g.offsets, end)
		}
	}
	return g.offsets
}

// fixed returns fixed-length values, decimals with the most significant byte
// first and without the bytes that their precision does not need.
func (g *gatherer) fixed(v *rowbatch.Vector, s storage) []byte {
	width := v.Type.Width()
	if v.Nulls == 0 && s.order != orderDecimal {
		return v.Data[:v.Len*width]
	}
	g.data = slices.Grow(g.data[:0], (v.Len-v.Nulls)*s.length)
	var big [32]byte
	for i := range v.Len {
		if v.Nulls > 0 && v.IsNull(i) {
			continue
		}
		value := v.Data[i*width : (i+1)*width]
		if s.order == orderDecimal {
			for at := 0; at < width; at += 8 {
				binary.BigEndian.PutUint64(big[width-8-at:], binary.LittleEndian.Uint64(value[at:]))
			}
			value = big[width-s.length : width]
		}
		g.data = append(g.data, value...)
	}
	return g.data
}
