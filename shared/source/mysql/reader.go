package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
)

// reader hands out the rows of one statement, batch by batch. What comes next
// waits in the connection's buffers and at the server.
type reader struct {
	source   *Source
	relation relation
	columns  []column
	forms    []form
	checks   []int // columns whose check is selected
	spec     source.ReadSpec
	key      rowkey.Plan
	position string
	cuttable bool
	marks    int  // columns at the end of the hidden ones, for Edge
	atTo     bool // they are keys at the upper bound

	batchRows         int
	batchBytes, limit int64
	fixed             int64 // bytes of a row in a batch without its variable parts

	cancel   context.CancelFunc // breaks the connection while it is used
	prepared driver.Stmt
	rows     driver.Rows
	values   []driver.Value
	read     int64 // rows so far
	batch    *rowbatch.Batch
	hidden   *rowbatch.Batch // the columns that the caller did not ask for
	ended    error           // what Next returns once the batch at hand is used
	closed   bool
}

// start asks for the rows.
func (r *reader) start(ctx context.Context, statement string) error {
	conn := r.source.session.conn
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.cancel = cancel
	defer context.AfterFunc(ctx, cancel)()
	prepared, err := conn.(driver.ConnPrepareContext).PrepareContext(reading, statement)
	if err == nil {
		r.prepared = prepared
		r.rows, err = prepared.(driver.StmtQueryContext).QueryContext(reading, nil)
	}
	if err != nil {
		cancel()
		if prepared != nil {
			_ = prepared.Close()
		}
	}
	return err
}

// Next implements [source.Reader]. When it returns the last batch, the
// transaction has ended already, so that it does not last while the caller
// uploads.
func (r *reader) Next(ctx context.Context) (*rowbatch.Batch, error) {
	r.batch.Reset()
	r.hidden.Reset()
	if r.ended != nil {
		return nil, r.ended
	}
	defer context.AfterFunc(ctx, r.cancel)()
	for size := int64(0); r.batch.Rows < r.batchRows && size < r.batchBytes; {
		err := r.rows.Next(r.values)
		if err == nil {
			var n int64
			if n, err = r.decode(); err == nil {
				size += n
				continue
			}
		} else if errors.Is(err, io.EOF) {
			err = r.finish(ctx)
			if err == nil && r.batch.Rows > 0 {
				r.ended = io.EOF
				return r.batch, nil
			}
			if err == nil {
				err = io.EOF
			}
		}
		r.ended = err
		if err != io.EOF {
			r.ended = r.source.session.explain(ctx, err, "read "+r.relation.String())
			r.abandon()
		}
		r.batch.Reset()
		r.hidden.Reset()
		return nil, r.ended
	}
	return r.batch, nil
}

// lossy are the warnings of a server that sent something else than what is
// stored: a function's result above max_allowed_packet, which becomes NULL; a
// group_concat that was cut; text that could not be converted.
var lossy = map[int64]bool{1301: true, 1260: true, 1300: true, 1977: true}

// finish is called at the end of the rows. The end is believed when the
// connection answers once more, and no warning says that a value was changed on
// the way.
func (r *reader) finish(ctx context.Context) error {
	if err := r.rows.Close(); err != nil {
		return err
	}
	session := &r.source.session
	warnings, err := session.query(ctx, "show warnings")
	if err != nil {
		return err
	}
	for _, w := range warnings {
		if lossy[w.int(1)] {
			return fault.New(fault.Refused, failure.Value, "%s: the server warns that it could not send a value as it is (warning %d): nothing of the range was delivered. "+
				"Raise the server's max_allowed_packet, or correct the text that is not valid in its character set", r.relation, w.int(1))
		}
	}
	if err := r.prepared.Close(); err != nil {
		return err
	}
	session.end(ctx)
	r.closed = true
	r.cancel()
	return nil
}

// abandon leaves a statement that is not at its end. That costs the connection:
// there is no other way to make the server stop.
func (r *reader) abandon() {
	if r.closed {
		return
	}
	r.closed = true
	r.cancel()
	r.source.session.close()
}

// decode appends the row at hand to the batch and returns its size.
func (r *reader) decode() (size int64, err error) {
	size = r.fixed
	for i := range r.columns {
		v, value := &r.batch.Columns[i], r.values[i]
		if value == nil {
			v.AppendNull()
			continue
		}
		if b, ok := value.([]byte); ok {
			if r.limit > 0 && int64(len(b)) > r.limit {
				return 0, r.refused(i, errTooLarge)
			}
			size += int64(len(b))
		}
		if err := appendValue(r.forms[i], v, value); err != nil {
			return 0, r.refused(i, err)
		}
	}
	at := len(r.columns)
	for _, i := range r.checks {
		if n, ok := r.values[at].(int64); ok && n == 0 {
			return 0, r.refused(i, errUnconverted)
		}
		at++
	}
	for i := range r.hidden.Columns {
		v := &r.hidden.Columns[i]
		if r.values[at] == nil {
			v.AppendNull()
		} else {
			v.AppendVarying(textOf(r.values[at]))
		}
		at++
	}
	r.read++
	r.batch.Rows++
	r.hidden.Rows++
	return size, nil
}

// refused names the value that ended the read.
func (r *reader) refused(i int, err error) error {
	c := r.columns[i]
	place := fmt.Sprintf("%s, column %s (%s as %s), row %d of the range", r.relation, quoted(c.Name), c.Native, c.Type, r.read+1)
	var value *valueError
	switch {
	case errors.Is(err, errTooLarge):
		return fault.New(fault.Refused, failure.TooLarge, "%s: the value has more than the %d bytes that tuning.max_value_mb allows: "+
			"nothing of the range was delivered. Raise it with the function's memory, or leave the column out with a query:", place, r.limit)
	case errors.As(err, &value):
		find := ""
		if value.where != "" {
			find = " Find such rows with: where " + fmt.Sprintf(value.where, quoted(c.Name)) + "."
		}
		ways := "Correct the rows, leave them out with a query:, or set the column to text under columns:"
		if c.Type.IsText() || value.noText {
			ways = "Correct the rows, or leave them out with a query:"
		}
		return fault.New(fault.Refused, failure.Value, "%s: %s; it is not changed to fit, and nothing of the range was delivered.%s %s", place, value.why, find, ways)
	case errors.Is(err, rowbatch.ErrDecimalPrecision), errors.Is(err, rowbatch.ErrDecimalScale):
		return fault.New(fault.Refused, failure.Value, "%s: %v; it is not changed to fit, and nothing of the range was delivered. Set the column to a decimal(p,s) that holds it under columns:", place, err)
	}
	return fault.New(fault.Retryable, failure.Stream, "%s: %v", place, err)
}

// Position implements [source.Reader].
func (r *reader) Position() string { return r.position }

// Close implements [source.Reader]. Rows that were delivered were read under
// one snapshot, whatever happens to the connection now.
func (r *reader) Close(context.Context) error {
	r.abandon()
	if r.ended == nil {
		r.ended = fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_READER_CLOSED", "the reader of %s is closed", r.relation)
	}
	return nil
}
