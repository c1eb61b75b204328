package sqlserver

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

	rows    driver.Rows
	values  []driver.Value
	scratch []byte
	read    int64 // rows so far
	batch   *rowbatch.Batch
	hidden  *rowbatch.Batch // the columns that the caller did not ask for
	ended   error           // what Next returns once the batch at hand is used
	closed  bool
}

// start asks for the rows.
func (r *reader) start(ctx context.Context, statement string) error {
	session := &r.source.session
	return session.within(ctx, session.limit(), session.tooLong(), func(ctx context.Context) (err error) {
		r.rows, err = session.ask(ctx, statement)
		return err
	})
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
	session := &r.source.session
	err := session.within(ctx, session.limit(), session.tooLong(), func(context.Context) error { return r.fill() })
	if errors.Is(err, io.EOF) {
		if err = r.finish(ctx); err == nil {
			r.ended = io.EOF
			if r.batch.Rows > 0 {
				return r.batch, nil
			}
			return nil, io.EOF
		}
	}
	if err != nil {
		r.ended = session.explain(ctx, err, "read "+r.relation.String())
		r.abandon()
		r.batch.Reset()
		r.hidden.Reset()
		return nil, r.ended
	}
	return r.batch, nil
}

// fill decodes the rows of one batch; io.EOF is their end.
func (r *reader) fill() error {
	for size := int64(0); r.batch.Rows < r.batchRows && size < r.batchBytes; {
		if err := r.rows.Next(r.values); err != nil {
			return err
		}
		n, err := r.decode()
		if err != nil {
			return err
		}
		size += n
	}
	return nil
}

// finish is called at the end of the rows. The end is believed when the
// connection answers once more, still in the transaction that the rows were
// read in.
func (r *reader) finish(ctx context.Context) error {
	if err := r.rows.Close(); err != nil {
		return err
	}
	session := &r.source.session
	rows, err := session.query(ctx, "select @@trancount")
	if err != nil {
		return err
	}
	if len(rows) != 1 || rows[0].int(0) != 1 {
		return fault.New(fault.Retryable, failure.Stream, "%s: the transaction that the rows were read in has ended before them: nothing of the range was delivered", r.relation)
	}
	session.end(ctx)
	r.closed = true
	return nil
}

// abandon leaves a statement that is not at its end. That costs the connection:
// to have the server confirm that it stops could take as long as the statement.
// What was received already is passed over, so that nothing of the client
// library waits for it to be taken.
func (r *reader) abandon() {
	if r.closed {
		return
	}
	r.closed = true
	session := &r.source.session
	session.line.hangUp()
	for r.rows != nil && r.rows.Next(r.values) == nil {
	}
	session.close()
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
		n, err := r.append(r.forms[i], v, value)
		if err != nil {
			return 0, r.refused(i, err)
		}
		size += n
	}
	at := len(r.columns)
	for _, i := range r.checks {
		if n, ok := r.values[at].(int64); ok && n == 0 && r.values[i] != nil {
			return 0, r.refused(i, errUnconverted)
		}
		at++
	}
	for i := range r.hidden.Columns {
		v := &r.hidden.Columns[i]
		b, ok := r.values[at].([]byte)
		switch {
		case r.values[at] == nil:
			v.AppendNull()
		case !ok:
			return 0, fault.New(fault.Retryable, failure.Stream, "%s, row %d of the range: %v", r.relation, r.read+1, errLayout)
		default:
			if r.scratch, err = appendUTF8(r.scratch[:0], b); err != nil {
				return 0, fault.New(fault.Refused, failure.Value, "%s, row %d of the range: its key has half of a surrogate pair, which no bound can be written of: nothing of the range was delivered. Correct the row, or take another key", r.relation, r.read+1)
			}
			v.AppendVarying(r.scratch)
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

// Close implements [source.Reader]. Rows that were delivered stay what they
// were, whatever happens to the connection now.
func (r *reader) Close(context.Context) error {
	r.abandon()
	if r.ended == nil {
		r.ended = fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_READER_CLOSED", "the reader of %s is closed", r.relation)
	}
	return nil
}
