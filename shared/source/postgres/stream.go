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
	batch   *rowbatch.Batch
	hidden  *rowbatch.Batch
	vectors []*rowbatch.Vector // of both, in the order of the wire
}

func newBuffer(columns, hidden []rowtype.Column) *buffer {
	b := &buffer{batch: rowbatch.New(columns), hidden: rowbatch.New(hidden)}
	for _, of := range []*rowbatch.Batch{b.batch, b.hidden} {
		for i := range of.Columns {
			b.vectors = append(b.vectors, &of.Columns[i])
		}
	}
	return b
}

func (b *buffer) reset() {
	b.batch.Reset()
	b.hidden.Reset()
}

// complete counts the values of every column as the rows of the batch.
func (b *buffer) complete() {
	for _, v := range b.vectors {
		v.Complete(b.batch.Rows)
	}
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
	rows  int64  // decoded so far
	size  int64  // of the batch at hand
}

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
// and no row is missing (OPS-01). The batch at hand is complete then.
func (d *decoder) finish(rows int64) error {
	switch {
	case d.state != ended || len(d.carry) > 0:
		return brokenf("the stream ended after %d rows without its trailer", d.rows)
	case rows != d.rows:
		return brokenf("the server counted %d rows and %d came", rows, d.rows)
	}
	d.buffer.complete()
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
		n, err := d.row(p)
		if n == 0 || err != nil {
			return p, err
		}
		p = p[n:]
	}
	if len(p) > 0 {
		return nil, brokenf("bytes follow the end of the stream")
	}
	return p, nil
}

// row decodes the row at the start of p and returns how long it is, 0 if its end
// has not come yet: then nothing of it stays in the batch. A value above the
// limit is refused by its announced length, before it is stored anywhere
// (WRT-20).
func (d *decoder) row(p []byte) (n int, err error) {
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
	at, varying, limit, rows := 2, int64(0), d.limit, d.buffer.batch.Rows
	wires := d.wires[:len(d.buffer.vectors)]
	for i, v := range d.buffer.vectors {
		if len(p)-at < 4 {
			return d.incomplete(i)
		}
		size := int(int32(binary.BigEndian.Uint32(p[at:])))
		at += 4
		switch {
		case size == -1:
			v.Complete(rows)
			v.AppendNull()
			continue
		case size < -1:
			return 0, &rowError{row: d.rows + 1, column: i, err: errLayout}
		case int64(size) > limit:
			return 0, &rowError{row: d.rows + 1, column: i, err: errTooLarge, size: int64(size)}
		case len(p)-at < size:
			return d.incomplete(i)
		}
		if wires[i] <= lastVarying {
			varying += int64(size)
		}
		value := p[at : at+size]
		at += size
		if wires[i] != wireArray {
			err = push(wires[i], v, rows, value)
		} else {
			v.Complete(rows)
			err = appendArray(d.elems[i].wire, d.elems[i].oid, v, value)
		}
		if err != nil {
			return 0, &rowError{row: d.rows + 1, column: i, err: err}
		}
	}
	return at, d.endRow(varying)
}

// incomplete takes the first columns of a row out of the batch again.
func (d *decoder) incomplete(columns int) (int, error) {
	for _, v := range d.buffer.vectors[:columns] {
		v.Rewind(d.buffer.batch.Rows)
	}
	return 0, nil
}

// endRow counts the row and hands the batch on when it is full.
func (d *decoder) endRow(varying int64) error {
	d.rows++
	d.size += d.fixed + varying
	d.buffer.batch.Rows++
	d.buffer.hidden.Rows++
	if d.buffer.batch.Rows < d.batchRows && d.size < d.batchSize {
		return nil
	}
	d.buffer.complete()
	next, err := d.full(d.buffer)
	d.buffer, d.size = next, 0
	return err
}
