// Package csv writes parts as CSV files. Layer: L2 (execution).
//
// The form is the upstream's (reference §4.8): UTF-8, commas, LF after every
// record, a header. NULL is nothing between the commas and an empty text or
// binary is "". A field is quoted if it holds a comma, a quote, LF or CR;
// nothing else is changed, neither formulas nor leading spaces. A record of one
// column that is NULL is therefore an empty line.
//
// A file is a function of its rows alone.
package csv

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/internal/body"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Format makes CSV writers.
var Format partfile.Format = format{}

type format struct{}

func (format) Check(o partfile.Options) error {
	if o.Compression != "none" {
		return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_COMPRESSION_UNSUPPORTED", "compression %q: CSV files are never compressed, set it to none", o.Compression)
	}
	return partfile.CheckColumns("csv", o.Columns, refuse)
}

// refuse returns why a type has no cell. Writing some other text for it, or
// nothing, would be a value lost in silence (WRT-15).
func refuse(t rowtype.Type) string {
	switch {
	case t.Kind == rowtype.List:
		return "a list has no cell"
	case t.Kind == rowtype.Decimal && t.Precision > 38:
		return "a cell holds at most 38 digits"
	case t.Nano:
		return "a cell holds microseconds"
	}
	return partfile.CheckType(t)
}

func (format) New(o partfile.Options) (partfile.Writer, error) {
	w := &writer{columns: o.Columns, body: body.New(o.ExpectedBytes, o.Memory.TakeBody())}
	for i, c := range o.Columns {
		if i > 0 {
			w.scratch = append(w.scratch, ',')
		}
		w.scratch = appendText(w.scratch, []byte(c.Name))
	}
	w.scratch = append(w.scratch, '\n')
	w.flush()
	return w, nil
}

type writer struct {
	columns []rowtype.Column
	rows    int64
	err     error
	body    body.Buffer
	scratch []byte // records on their way to body
}

func (w *writer) Rows() int64 { return w.rows }

// Size is exact.
func (w *writer) Size() int64 { return w.body.Size() }

func (w *writer) Append(b *rowbatch.Batch) error {
	if w.err != nil {
		return w.err
	}
	if w.err = partfile.CheckBatch(w.columns, b); w.err != nil {
		return w.err
	}
	const enough = 64 << 10
	for row := range b.Rows {
		for i := range b.Columns {
			if i > 0 {
				w.scratch = append(w.scratch, ',')
			}
			w.scratch = appendCell(w.scratch, &b.Columns[i], row)
		}
		w.scratch = append(w.scratch, '\n')
		if len(w.scratch) >= enough {
			w.flush()
		}
	}
	w.flush()
	w.rows += int64(b.Rows)
	return nil
}

func (w *writer) flush() {
	w.body.Write(w.scratch)
	w.scratch = w.scratch[:0]
}

func (w *writer) Close() (partfile.Part, error) {
	if w.err != nil {
		return partfile.Part{}, w.err
	}
	body := w.body.Take()
	rows, err := CountRows(body)
	if err == nil && rows != w.rows { // I1: a part that lost a row must not become one
		err = fmt.Errorf("it has %d rows and %d were appended", rows, w.rows)
	}
	if err != nil {
		w.err = fault.Wrap(err, fault.Bug, "LAPSTRAKE_INTERNAL_PART_ROW_COUNT", "the finished CSV file does not read back, nothing was stored")
		return partfile.Part{}, w.err
	}
	w.err = fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_WRITER_CLOSED", "CSV writer is used after Close")
	return partfile.Seal(body, rows), nil
}

// CountRows counts the records after the header. A line end inside of quotes
// does not end a record (WRT-11); a record without a line end counts.
func CountRows(body []byte) (int64, error) {
	var records int64
	quoted := false
	for rest := body; ; {
		segment, after, found := bytes.Cut(rest, []byte{'"'})
		if !quoted {
			records += int64(bytes.Count(segment, []byte{'\n'}))
		}
		if !found {
			break
		}
		quoted, rest = !quoted, after
	}
	switch {
	case quoted:
		return 0, errors.New("a quote is not closed")
	case len(body) == 0:
		return 0, errors.New("there is no header")
	case body[len(body)-1] != '\n':
		records++
	}
	return records - 1, nil
}
