package native

import (
	"fmt"
	"math"

	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/codec"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/encoding"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/layout"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// A page ends before the row that would bring it beyond one of these limits.
// Small pages let a reader skip more, large ones compress better.
const (
	pageRows  = 20 << 10
	pageBytes = 1 << 20 // of values, before they are encoded
)

// column gathers the values of one column, a page at a time, and holds the
// encoded pages of the open row group.
type column struct {
	rowtype.Column
	storage
	direct int32       // encoding of pages without a dictionary
	codec  codec.Codec // of byte arrays; nil until it is chosen

	pending      rowbatch.Vector // the rows of the open page
	pendingBytes int64

	rows    int64    // in pages
	pages   [][]byte // encoded, in the arena
	size    int64    // of them
	index   pageIndex
	choice  choice
	numbers numbering // nil for a column that never has a dictionary
	chunk   chunk
}

func newColumn(c rowtype.Column, length int, compact bool) *column {
	leaf := c.Type
	if leaf.Kind == rowtype.List {
		leaf = *leaf.Elem
	}
	s, _ := storageOf(leaf, length)
	col := &column{Column: c, storage: s, numbers: newNumbering(s), pending: rowbatch.New([]rowtype.Column{c}).Columns[0]}
	if compact {
		switch {
		case s.form == formBytes:
			col.direct = deltaLengthByteArray
		case s.order == orderSigned || s.order == orderUnsigned:
			col.direct = deltaBinaryPacked
		}
	}
	col.reset()
	return col
}

// restart starts a part.
func (c *column) restart() {
	c.codec = nil
	c.pending.Reset()
	c.pendingBytes = 0
	c.reset()
}

// reset starts a row group.
func (c *column) reset() {
	c.rows, c.pages, c.size, c.chunk = 0, c.pages[:0], 0, chunk{}
	c.index.reset()
	c.choice = undecided
	if c.numbers == nil {
		c.choice = noDictionary
	} else {
		c.numbers.reset()
	}
}

// append adds rows of v, from first to last.
func (c *column) append(s *scratch, v *rowbatch.Vector, first, last int) error {
	for first < last {
		n := c.room(v, first, last)
		if n == 0 {
			if err := c.endPage(s, false); err != nil {
				return err
			}
			continue
		}
		c.pendingBytes += layout.ValueBytes(v, first, first+n)
		c.pending.AppendRows(v, first, first+n)
		first += n
	}
	return nil
}

// room returns how many rows of v, from first on, go into the open page: at
// least one into an empty one.
func (c *column) room(v *rowbatch.Vector, first, last int) int {
	n := layout.Most(min(last-first, pageRows-c.pending.Len), func(n int) bool {
		return c.pendingBytes+layout.ValueBytes(v, first, first+n) <= pageBytes
	})
	if n == 0 && c.pending.Len == 0 {
		n = 1
	}
	return n
}

// endPage encodes the open page. last says that the row group has no more.
func (c *column) endPage(s *scratch, last bool) error {
	rows := c.pending.Len
	if rows == 0 {
		return nil
	}
	body, leaf, levels := s.appendLevels(s.body[:0], &c.pending, c.NotNull)
	v := s.gather(leaf, c.storage)
	body, used, err := c.encode(s, body, &v, last)
	if err != nil {
		return err
	}
	s.body = body
	if len(body) > math.MaxInt32 {
		return fmt.Errorf("a page of %d bytes is more than the format can hold", len(body))
	}
	with, err := c.codecOf(s, body, used)
	if err != nil {
		return err
	}
	encoded, header, err := s.page(with, body, dataPage, int32(levels), used)
	if err != nil {
		return err
	}
	nulls := int64(levels - v.n)
	c.chunk.values += int64(levels)
	c.chunk.nulls += nulls
	c.chunk.pages[used]++
	c.chunk.uncompressed += int64(header + len(body))

	b := &s.bounds
	b.known = false
	switch {
	case v.n == 0:
	case used == dictionaryNumbers && c.form >= formBytes && 2*c.numbers.len() < v.n:
		c.boundsOfNumbers(s, b)
	default:
		b.of(c.storage, &v)
	}
	if b.known {
		c.chunk.bounds.add(c.storage, b)
	}
	c.chunk.unbounded = c.chunk.unbounded || v.n > 0 && !b.known
	c.index.add(page{at: c.size, size: int32(len(encoded)), firstRow: c.rows, nulls: nulls, empty: v.n == 0}, b)

	c.pages = append(c.pages, encoded)
	c.size += int64(len(encoded))
	c.rows += int64(rows)
	c.pending.Reset()
	c.pendingBytes = 0
	return nil
}

// boundsOfNumbers makes b the bounds of the values that are in the page, each
// of which is looked at once.
func (c *column) boundsOfNumbers(s *scratch, b *bounds) {
	strings := &c.numbers.(*numbersBytes).strings
	s.seen = grow(s.seen[:0], strings.Len())
	clear(s.seen)
	for _, n := range s.numbers {
		s.seen[n] = true
	}
	r := newByteRange(c.storage)
	for n, seen := range s.seen {
		if seen {
			r.add(strings.Value(uint32(n)))
		}
	}
	b.set(c.storage, r.low, r.high)
}

// endChunk encodes what is left of the row group and returns the dictionary
// page, which stands before the others and is nil if there is none.
func (c *column) endChunk(s *scratch) (dictionary []byte, err error) {
	if err := c.endPage(s, true); err != nil {
		return nil, err
	}
	if c.chunk.pages[dictionaryNumbers] == 0 {
		return nil, nil
	}
	body := c.numbers.appendPlain(s.body[:0], 0)
	s.body = body
	with, err := c.codecOf(s, body, plain)
	if err != nil {
		return nil, err
	}
	dictionary, header, err := s.page(with, body, dictionaryPage, int32(c.numbers.len()), plain)
	c.chunk.uncompressed += int64(header + len(body))
	return dictionary, err
}

// open estimates what values that are in no page add to the part, at the rate
// at which values shrink.
func (c *column) open(rate float64) int64 {
	raw := c.pendingBytes
	if c.numbers != nil {
		raw += int64(c.numbers.bytes())
	}
	return int64(rate * float64(raw))
}

// appendDirect encodes values without a dictionary.
func (c *column) appendDirect(s *scratch, dst []byte, v *values) []byte {
	switch {
	case c.form == formBool:
		return append(dst, v.bits...)
	case c.form == form32 && c.direct == deltaBinaryPacked:
		return encoding.AppendDelta32(dst, v.i32)
	case c.form == form32:
		return encoding.AppendPlain32(dst, v.i32)
	case c.form == form64 && c.direct == deltaBinaryPacked:
		return encoding.AppendDelta64(dst, v.i64)
	case c.form == form64:
		return encoding.AppendPlain64(dst, v.i64)
	case c.form == formFixed:
		return append(dst, v.data[:v.n*c.length]...)
	case c.direct == deltaLengthByteArray:
		dst, s.lengths = encoding.AppendDeltaLengths(dst, v.data, v.offsets, s.lengths)
		return dst
	}
	return encoding.AppendPlainBytes(dst, v.data, v.offsets)
}
