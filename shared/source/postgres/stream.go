package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// errLayout reports bytes that are not PostgreSQL's binary COPY format.
var errLayout = errors.New("the bytes are not what the column's type has")

// streamError is a stream that is not what a server sends.
type streamError string

func (e streamError) Error() string { return string(e) }

func brokenf(format string, args ...any) error { return streamError(fmt.Sprintf(format, args...)) }

// rowError is a failure at one value.
type rowError struct {
	row    int64 // from 1
	column int   // index
	err    error
	size   int64 // of a value that is too large
}

func (e *rowError) Error() string {
	return fmt.Sprintf("row %d, column %d: %v", e.row, e.column+1, e.err)
}

func (e *rowError) Unwrap() error { return e.err }

// errTooLarge is the cause of a rowError at a value above the limit.
var errTooLarge = errors.New("the value is too large")

// buffer is one batch on its way: what the reader hands out, and the key
// columns that the caller did not ask for.
type buffer struct {
	batch  *rowbatch.Batch
	hidden *rowbatch.Batch
}

func newBuffer(columns, hidden []rowtype.Column) *buffer {
	return &buffer{batch: rowbatch.New(columns), hidden: rowbatch.New(hidden)}
}

func (b *buffer) reset() {
	b.batch.Reset()
	b.hidden.Reset()
}

// layout is how the columns of a stream are decoded.
type layout struct {
	wires []wire
	elems []arrayLayout // for arrays
	fixed int64         // bytes of a row in a batch without its variable parts
	limit int64         // largest value
}

type arrayLayout struct {
	wire wire
	oid  uint32
}

// decoder turns the bytes of a COPY stream, in pieces of any size, into rows.
// It allocates nothing for a row or a value once its buffers have grown.
type decoder struct {
	layout
	buffer    *buffer
	batchRows int
	batchSize int64
	// full is called with a batch that is complete and returns the one to fill
	// next.
	full func(*buffer) (*buffer, error)

	state state
	skip  uint32 // bytes of the header's extension still to come
	carry []byte // the start of a row whose end has not come yet
	spans []span // of the row at hand, one for each value
	rows  int64  // decoded so far
	size  int64  // of the batch at hand
}

// span is where a value lies in a row; its size is -1 for NULL.
type span struct{ start, size int }

type state uint8

const (
	inHeader state = iota
	inExtension
	inRows
	ended // the trailer has come
)

const (
	signature  = "PGCOPY\n\xff\r\n\x00"
	headerSize = len(signature) + 8
)

// Write takes the next piece of the stream.
func (d *decoder) Write(p []byte) (int, error) {
	piece := p
	if len(d.carry) > 0 {
		d.carry = append(d.carry, p...)
		piece = d.carry
	}
	rest, err := d.consume(piece)
	if err != nil {
		return 0, err
	}
	d.carry = append(d.carry[:0], rest...) // rest is the tail of carry, or lies outside it
	return len(p), nil
}

// finish is called when the server has said how many rows it sent. Only then
// is the stream known to be whole: the trailer has come, nothing came after it
// and no row is missing (OPS-01).
func (d *decoder) finish(rows int64) error {
	switch {
	case d.state != ended || len(d.carry) > 0:
		return brokenf("the stream ended after %d rows without its trailer", d.rows)
	case rows != d.rows:
		return brokenf("the server counted %d rows and %d came", rows, d.rows)
	}
	return nil
}

// consume decodes what is whole in p and returns the rest.
func (d *decoder) consume(p []byte) (rest []byte, err error) {
	if d.state == inHeader {
		if len(p) < headerSize {
			return p, nil
		}
		flags := binary.BigEndian.Uint32(p[len(signature):])
		if string(p[:len(signature)]) != signature || flags>>16 != 0 {
			return nil, brokenf("the stream does not start like a binary COPY")
		}
		d.skip = binary.BigEndian.Uint32(p[headerSize-4:])
		d.state, p = inExtension, p[headerSize:]
	}
	if d.state == inExtension {
		n := min(int64(d.skip), int64(len(p)))
		d.skip, p = d.skip-uint32(n), p[n:]
		if d.skip > 0 {
			return p, nil
		}
		d.state = inRows
	}
	for d.state == inRows {
		n, err := d.frame(p)
		if n == 0 || err != nil {
			return p, err
		}
		if d.state == inRows {
			if err := d.decode(p); err != nil {
				return nil, err
			}
		}
		p = p[n:]
	}
	if len(p) > 0 {
		return nil, brokenf("bytes follow the end of the stream")
	}
	return p, nil
}

// frame finds the values of the row at the start of p and returns how long the
// row is, 0 if its end has not come yet. A value above the limit is refused by
// its announced length, before it is stored anywhere (WRT-20).
func (d *decoder) frame(p []byte) (n int, err error) {
	if len(p) < 2 {
		return 0, nil
	}
	switch count := int16(binary.BigEndian.Uint16(p)); {
	case count == -1:
		d.state = ended
		return 2, nil
	case int(count) != len(d.wires):
		return 0, brokenf("a row has %d values and not %d", count, len(d.wires))
	}
	at, limit := 2, d.limit
	for i := range d.spans {
		if len(p)-at < 4 {
			return 0, nil
		}
		size := int(int32(binary.BigEndian.Uint32(p[at:])))
		at += 4
		d.spans[i] = span{at, size}
		if size <= 0 {
			if size < -1 {
				return 0, &rowError{row: d.rows + 1, column: i, err: errLayout}
			}
			continue
		}
		if int64(size) > limit {
			return 0, &rowError{row: d.rows + 1, column: i, err: errTooLarge, size: int64(size)}
		}
		if len(p)-at < size {
			return 0, nil
		}
		at += size
	}
	return at, nil
}

// decode appends the framed row to the batch and hands the batch on when it is
// full.
func (d *decoder) decode(p []byte) error {
	columns := d.buffer.batch.Columns
	for i, w := range d.wires {
		var v *rowbatch.Vector
		if i < len(columns) {
			v = &columns[i]
		} else {
			v = &d.buffer.hidden.Columns[i-len(columns)]
		}
		at := d.spans[i]
		if at.size < 0 {
			v.AppendNull()
			continue
		}
		value := p[at.start : at.start+at.size]
		if w <= lastVarying {
			d.size += int64(at.size)
		}
		var err error
		if w == wireArray {
			err = appendArray(d.elems[i].wire, d.elems[i].oid, v, value)
		} else {
			err = appendValue(w, v, value)
		}
		if err != nil {
			return &rowError{row: d.rows + 1, column: i, err: err}
		}
	}
	d.rows++
	d.size += d.fixed
	d.buffer.batch.Rows++
	d.buffer.hidden.Rows++
	if d.buffer.batch.Rows < d.batchRows && d.size < d.batchSize {
		return nil
	}
	next, err := d.full(d.buffer)
	d.buffer, d.size = next, 0
	return err
}
