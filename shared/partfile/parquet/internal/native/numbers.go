package native

import (
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/dictionary"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/encoding"
)

// numbering is the dictionary of a column chunk.
type numbering interface {
	reset()
	// lookup appends the numbers of the values of v from first to last.
	lookup(to []uint32, v *values, first, last int) []uint32
	len() int
	// bytes is how many bytes the values have as PLAIN.
	bytes() int
	// truncate drops the values after the first n; nothing is looked up
	// afterwards.
	truncate(n int)
	// appendPlain appends the values from number first on as PLAIN.
	appendPlain(dst []byte, first int) []byte
}

func newNumbering(s storage) numbering {
	switch s.form {
	case form32:
		return &numbers32{}
	case form64:
		return &numbers64{}
	case formBytes, formFixed:
		return &numbersBytes{fixed: s.form == formFixed}
	}
	return nil // booleans have none
}

type numbers32 struct{ words dictionary.Words[int32] }

func (d *numbers32) reset()         { d.words.Reset() }
func (d *numbers32) len() int       { return len(d.words.Values) }
func (d *numbers32) bytes() int     { return 4 * len(d.words.Values) }
func (d *numbers32) truncate(n int) { d.words.Values = d.words.Values[:n] }
func (d *numbers32) lookup(to []uint32, v *values, first, last int) []uint32 {
	return d.words.Lookup(to, v.i32[first:last])
}
func (d *numbers32) appendPlain(dst []byte, first int) []byte {
	return encoding.AppendPlain32(dst, d.words.Values[first:])
}

type numbers64 struct{ words dictionary.Words[int64] }

func (d *numbers64) reset()         { d.words.Reset() }
func (d *numbers64) len() int       { return len(d.words.Values) }
func (d *numbers64) bytes() int     { return 8 * len(d.words.Values) }
func (d *numbers64) truncate(n int) { d.words.Values = d.words.Values[:n] }
func (d *numbers64) lookup(to []uint32, v *values, first, last int) []uint32 {
	return d.words.Lookup(to, v.i64[first:last])
}
func (d *numbers64) appendPlain(dst []byte, first int) []byte {
	return encoding.AppendPlain64(dst, d.words.Values[first:])
}

type numbersBytes struct {
	strings dictionary.Bytes
	fixed   bool // without lengths as PLAIN
}

func (d *numbersBytes) reset()   { d.strings.Reset() }
func (d *numbersBytes) len() int { return d.strings.Len() }

func (d *numbersBytes) bytes() int {
	if d.fixed {
		return len(d.strings.Data)
	}
	return encoding.PlainBytes(d.strings.Offsets)
}

func (d *numbersBytes) truncate(n int) {
	d.strings.Offsets = d.strings.Offsets[:n+1]
	d.strings.Data = d.strings.Data[:d.strings.Offsets[n]]
}

func (d *numbersBytes) lookup(to []uint32, v *values, first, last int) []uint32 {
	return d.strings.Lookup(to, v.data, v.offsets[first:last+1])
}

func (d *numbersBytes) appendPlain(dst []byte, first int) []byte {
	if d.fixed {
		return append(dst, d.strings.Data[d.strings.Offsets[first]:]...)
	}
	return encoding.AppendPlainBytes(dst, d.strings.Data, d.strings.Offsets[first:])
}
