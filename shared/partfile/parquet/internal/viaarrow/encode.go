package viaarrow

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// encoder feeds vectors to the column writers of arrow-go. Its scratch memory
// is reused from span to span and column to column.
type encoder struct {
	defs, reps []int16
	bools      []bool
	i32        []int32
	i64        []int64
	f32        []float32
	f64        []float64
	texts      []parquet.ByteArray
	fixed      []parquet.FixedLenByteArray
	big        []byte // decimals, most significant byte first
}

// column writes all of v. A column that is not required has definition levels:
// 1 for a value and 0 for NULL; a list has 3 for an item, 2 for a NULL item, 1
// for a list without items and 0 for NULL.
func (e *encoder) column(chunk file.ColumnChunkWriter, v *rowbatch.Vector, required bool) error {
	for first := 0; first < v.Len; {
		last := span(v, first)
		var err error
		switch {
		case v.Type.Kind == rowtype.List:
			items, lo, hi := e.listLevels(v, first, last, required)
			err = e.values(chunk, items, lo, hi, e.defs, e.reps)
		case required:
			err = e.values(chunk, v, first, last, nil, nil)
		default:
			e.levels(v, first, last)
			err = e.values(chunk, v, first, last, e.defs, nil)
		}
		if err != nil {
			return err
		}
		first = last
	}
	return nil
}

// levels fills in the definition levels of rows that are not lists.
func (e *encoder) levels(v *rowbatch.Vector, first, last int) {
	e.defs = slices.Grow(e.defs[:0], last-first)[:last-first]
	for i := range e.defs {
		e.defs[i] = int16(v.Valid[(first+i)>>3] >> ((first + i) & 7) & 1)
	}
}

// listLevels fills in the levels of rows that are lists and returns their
// items.
func (e *encoder) listLevels(v *rowbatch.Vector, first, last int, required bool) (items *rowbatch.Vector, lo, hi int) {
	e.defs, e.reps = e.defs[:0], e.reps[:0]
	empty := int16(1)
	if required {
		empty = 0
	}
	for row := first; row < last; row++ {
		lo, hi := v.ItemRange(row)
		switch {
		case v.IsNull(row):
			e.defs, e.reps = append(e.defs, 0), append(e.reps, 0)
		case lo == hi:
			e.defs, e.reps = append(e.defs, empty), append(e.reps, 0)
		}
		for item := lo; item < hi; item++ {
			def, rep := empty+2, int16(1)
			if v.Items.IsNull(item) {
				def = empty + 1
			}
			if item == lo {
				rep = 0
			}
			e.defs, e.reps = append(e.defs, def), append(e.reps, rep)
		}
	}
	return v.Items, int(v.Offsets[first]), int(v.Offsets[last])
}

// values writes the values of v from first to last that are not NULL.
func (e *encoder) values(chunk file.ColumnChunkWriter, v *rowbatch.Vector, first, last int, defs, reps []int16) error {
	var err error
	switch w := chunk.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(e.booleans(v, first, last), defs, reps)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(e.int32s(v, first, last), defs, reps)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(e.int64s(v, first, last), defs, reps)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(dense(&e.f32, v.F32, v, first, last), defs, reps)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(dense(&e.f64, v.F64, v, first, last), defs, reps)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(e.byteArrays(v, first, last), defs, reps)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(e.fixedArrays(v, first, last, w.Descr().TypeLength()), defs, reps)
	default:
		err = fmt.Errorf("no values of type %s can be written as %s", v.Type, chunk.Type())
	}
	return err
}

// dense returns the values from first to last that are not NULL: those of the
// vector itself if none is, otherwise in scratch.
func dense[T any](scratch *[]T, values []T, v *rowbatch.Vector, first, last int) []T {
	if v.Nulls == 0 {
		return values[first:last]
	}
	out := (*scratch)[:0]
	for i := first; i < last; i++ {
		if !v.IsNull(i) {
			out = append(out, values[i])
		}
	}
	*scratch = out
	return out
}

func (e *encoder) booleans(v *rowbatch.Vector, first, last int) []bool {
	e.bools = e.bools[:0]
	for i := first; i < last; i++ {
		if !v.IsNull(i) {
			e.bools = append(e.bools, v.Bool(i))
		}
	}
	return e.bools
}

func (e *encoder) int32s(v *rowbatch.Vector, first, last int) []int32 {
	if v.Type.Kind == rowtype.Int32 || v.Type.Kind == rowtype.Date {
		return dense(&e.i32, v.I32, v, first, last)
	}
	e.i32 = e.i32[:0]
	for i := first; i < last; i++ {
		switch {
		case v.IsNull(i):
		case v.Type.Kind == rowtype.Decimal:
			e.i32 = append(e.i32, int32(binary.LittleEndian.Uint32(v.Slice(i))))
		default:
			e.i32 = append(e.i32, int32(v.I16[i]))
		}
	}
	return e.i32
}

func (e *encoder) int64s(v *rowbatch.Vector, first, last int) []int64 {
	switch v.Type.Kind {
	case rowtype.UInt64:
		signed := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(v.U64))), len(v.U64)) // same bits, other sign
		return dense(&e.i64, signed, v, first, last)
	case rowtype.Decimal:
		e.i64 = e.i64[:0]
		for i := first; i < last; i++ {
			if !v.IsNull(i) {
				e.i64 = append(e.i64, int64(binary.LittleEndian.Uint64(v.Slice(i))))
			}
		}
		return e.i64
	}
	return dense(&e.i64, v.I64, v, first, last)
}

func (e *encoder) byteArrays(v *rowbatch.Vector, first, last int) []parquet.ByteArray {
	e.texts = e.texts[:0]
	for i := first; i < last; i++ {
		if !v.IsNull(i) {
			e.texts = append(e.texts, v.Data[v.Offsets[i]:v.Offsets[i+1]])
		}
	}
	return e.texts
}

func (e *encoder) fixedArrays(v *rowbatch.Vector, first, last, length int) []parquet.FixedLenByteArray {
	e.fixed, e.big = e.fixed[:0], slices.Grow(e.big[:0], (last-first)*length)
	for i := first; i < last; i++ {
		switch {
		case v.IsNull(i):
		case v.Type.Kind == rowtype.Decimal:
			at := len(e.big)
			e.big = append(e.big, v.Slice(i)[:length]...)
			slices.Reverse(e.big[at:])
			e.fixed = append(e.fixed, e.big[at:])
		default:
			e.fixed = append(e.fixed, v.Slice(i))
		}
	}
	return e.fixed
}
