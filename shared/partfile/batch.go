package partfile

import (
	"encoding/binary"
	"math/big"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// CheckBatch refuses a batch that a writer could only write wrongly: vectors
// with other rows or types than planned, a NULL where there is none, text that
// is not UTF-8, and decimals beyond their precision. The message names the
// column. It is cheap, so that every writer calls it for every batch.
func CheckBatch(columns []rowtype.Column, b *rowbatch.Batch) error {
	bug := func(format string, args ...any) error {
		return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_BATCH_MISMATCH", format, args...)
	}
	if len(b.Columns) != len(columns) {
		return bug("batch has %d columns and the file %d", len(b.Columns), len(columns))
	}
	for i := range b.Columns {
		v, c := &b.Columns[i], columns[i]
		switch {
		case v.Len != b.Rows:
			return bug("column %q has %d values in a batch of %d rows", c.Name, v.Len, b.Rows)
		case !sameType(v.Type, c.Type):
			return bug("column %q is %s in the batch and %s in the plan", c.Name, v.Type, c.Type)
		case c.NotNull && v.Nulls > 0:
			return bug("column %q is never NULL and %d of %d values are", c.Name, v.Nulls, v.Len)
		}
		if v.Type.Kind == rowtype.List {
			v = v.Items
		}
		if v.Type.IsText() && !allUTF8(v) {
			return fault.New(fault.Permanent, "LAPSTRAKE_TYPE_TEXT_NOT_UTF8",
				"column %q has text that is not UTF-8, nothing was written in its place: read it as binary by an override, or mend it at the source", c.Name)
		}
		if v.Type.Kind == rowtype.Decimal && !allWithin(v) {
			return fault.New(fault.Permanent, "LAPSTRAKE_TYPE_DECIMAL_OUT_OF_RANGE",
				"column %q has a value that does not fit into %s, nothing was written in its place: override the type with a larger precision", c.Name, v.Type)
		}
	}
	return nil
}

func sameType(a, b rowtype.Type) bool {
	if a.Elem != nil && b.Elem != nil {
		return a.Kind == b.Kind && sameType(*a.Elem, *b.Elem)
	}
	return a == b
}

// allUTF8 looks at all text at once, and then that no value starts inside a
// character of the one before.
func allUTF8(v *rowbatch.Vector) bool {
	if !utf8.Valid(v.Data) {
		return false
	}
	for _, start := range v.Offsets {
		if int(start) < len(v.Data) && !utf8.RuneStart(v.Data[start]) {
			return false
		}
	}
	return true
}

// allWithin reports whether every decimal has at most the digits of its type.
func allWithin(v *rowbatch.Vector) bool {
	limit := &limits[v.Type.Precision]
	if v.Type.Precision <= 18 { // most are, and fit into one word
		return allWithinWord(v.Data, int64(limit[0]))
	}
	width := v.Type.Width()
	for data := v.Data; len(data) >= width; data = data[width:] {
		if !below(data[:width], limit) {
			return false
		}
	}
	return true
}

// allWithinWord is allWithin for decimals whose limit is less than a word: the
// upper word says no more than the sign.
func allWithinWord(data []byte, limit int64) bool {
	for ; len(data) >= 16; data = data[16:] {
		low, high := int64(binary.LittleEndian.Uint64(data)), int64(binary.LittleEndian.Uint64(data[8:]))
		if high != low>>63 || low >= limit || low <= -limit {
			return false
		}
	}
	return true
}

// words is an unsigned number of 256 bits, least significant word first.
type words [4]uint64

// limits[p] is 10^p.
var limits = func() (out [77]words) {
	ten, x := big.NewInt(10), big.NewInt(1)
	for p := range out {
		var bytes [32]byte
		x.FillBytes(bytes[:])
		for i := range out[p] {
			out[p][i] = binary.BigEndian.Uint64(bytes[24-8*i:])
		}
		x = new(big.Int).Mul(x, ten)
	}
	return out
}()

// below reports whether the magnitude of a stored decimal is below limit.
func below(stored []byte, limit *words) bool {
	var x words
	for i := 0; 8*i < len(stored); i++ {
		x[i] = binary.LittleEndian.Uint64(stored[8*i:])
	}
	if stored[len(stored)-1]&0x80 != 0 { // negative: complement and add one
		carry := uint64(1)
		for i := 0; 8*i < len(stored); i++ {
			x[i] = ^x[i] + carry
			if x[i] != 0 {
				carry = 0
			}
		}
	}
	for i := 3; i > 0; i-- {
		if x[i] != limit[i] {
			return x[i] < limit[i]
		}
	}
	return x[0] < limit[0]
}
