// Package thrift writes Thrift's compact protocol: the page headers, indexes
// and footer of Parquet. Layer: L2 (execution).
package thrift

import "encoding/binary"

// Types of the elements of a list.
const (
	I32    = 5
	I64    = 6
	Binary = 8
	Struct = 12

	boolTrue  = 1
	boolFalse = 2
	list      = 9
)

// Writer appends to a buffer. Fields of a struct are written in the order of
// their numbers. The zero value is ready; Reset keeps the memory.
type Writer struct {
	buf   []byte
	last  []int16 // field numbers of the open structs
	field int16
}

// Reset starts over.
func (w *Writer) Reset() { w.buf, w.last, w.field = w.buf[:0], w.last[:0], 0 }

// Bytes returns what was written since Reset: a view until the next call.
func (w *Writer) Bytes() []byte { return w.buf }

// Begin opens a struct: the outermost, or an element of a list.
func (w *Writer) Begin() {
	w.last = append(w.last, w.field)
	w.field = 0
}

// End closes the struct that was opened last.
func (w *Writer) End() {
	w.buf = append(w.buf, 0)
	w.field = w.last[len(w.last)-1]
	w.last = w.last[:len(w.last)-1]
}

func (w *Writer) header(id int16, kind byte) {
	if d := id - w.field; d > 0 && d <= 15 {
		w.buf = append(w.buf, byte(d)<<4|kind)
	} else {
		w.buf = binary.AppendVarint(append(w.buf, kind), int64(id))
	}
	w.field = id
}

// Bool writes a field.
func (w *Writer) Bool(id int16, x bool) {
	if x {
		w.header(id, boolTrue)
	} else {
		w.header(id, boolFalse)
	}
}

// Byte writes an i8 field.
func (w *Writer) Byte(id int16, x int8) {
	w.header(id, 3)
	w.buf = append(w.buf, byte(x))
}

// Int16 writes a field.
func (w *Writer) Int16(id int16, x int16) {
	w.header(id, 4)
	w.buf = binary.AppendVarint(w.buf, int64(x))
}

// Int32 writes a field.
func (w *Writer) Int32(id int16, x int32) {
	w.header(id, I32)
	w.buf = binary.AppendVarint(w.buf, int64(x))
}

// Int64 writes a field.
func (w *Writer) Int64(id int16, x int64) {
	w.header(id, I64)
	w.buf = binary.AppendVarint(w.buf, x)
}

// Blob writes a binary field.
func (w *Writer) Blob(id int16, x []byte) {
	w.header(id, Binary)
	w.BytesElement(x)
}

// Text writes a string field.
func (w *Writer) Text(id int16, x string) {
	w.header(id, Binary)
	w.TextElement(x)
}

// Open writes the header of a struct field and opens it; End closes it.
func (w *Writer) Open(id int16) {
	w.header(id, Struct)
	w.Begin()
}

// Empty writes a struct field without fields: a member of a union that says
// all by being there.
func (w *Writer) Empty(id int16) {
	w.Open(id)
	w.End()
}

// List writes the header of a list field of n elements, which follow.
func (w *Writer) List(id int16, kind byte, n int) {
	w.header(id, list)
	if n < 15 {
		w.buf = append(w.buf, byte(n)<<4|kind)
	} else {
		w.buf = binary.AppendUvarint(append(w.buf, 0xF0|kind), uint64(n))
	}
}

// Bools writes a list field of n booleans.
func (w *Writer) Bools(id int16, n int, at func(i int) bool) {
	w.List(id, boolTrue, n)
	for i := range n {
		if at(i) {
			w.buf = append(w.buf, boolTrue)
		} else {
			w.buf = append(w.buf, boolFalse)
		}
	}
}

// IntElement writes an element of a list of I32 or I64.
func (w *Writer) IntElement(x int64) { w.buf = binary.AppendVarint(w.buf, x) }

// BytesElement writes an element of a list of Binary.
func (w *Writer) BytesElement(x []byte) {
	w.buf = append(binary.AppendUvarint(w.buf, uint64(len(x))), x...)
}

// TextElement writes an element of a list of Binary.
func (w *Writer) TextElement(x string) {
	w.buf = append(binary.AppendUvarint(w.buf, uint64(len(x))), x...)
}
