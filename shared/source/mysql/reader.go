package mysql

import (
	"context"
	"fmt"
	"io"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/mysql/packet"
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

	rows   *packet.Statement
	read   int64 // rows so far
	batch  *rowbatch.Batch
	hidden *rowbatch.Batch // the columns that the caller did not ask for
	text   []byte          // reused
	ended  error           // what Next returns once the batch at hand is used
	closed bool
}

// start asks for the rows.
func (r *reader) start(ctx context.Context, statement string) error {
	defer r.bound(ctx)()
	var err error
	if r.rows, err = packet.Run(r.source.session.link, statement, r.longest()); err != nil {
		r.abandon()
		return err
	}
	if n := len(r.columns) + len(r.checks) + len(r.hidden.Columns); n != len(r.rows.Columns) {
		r.abandon()
		return packet.BrokenError(fmt.Sprintf("%d columns were asked for and %d came", n, len(r.rows.Columns)))
	}
	return nil
}

// bound breaks the connection when ctx ends before release is called.
func (r *reader) bound(ctx context.Context) (release func() bool) {
	link := r.source.session.link
	return context.AfterFunc(ctx, func() { _ = link.Close() })
}

// longest is how many bytes a row may take if each of its values keeps to the
// limit; 0 is no limit. Text is cut by the character.
func (r *reader) longest() int64 {
	const header, widest = 9, 4 // of a value; of a character
	if r.limit <= 0 {
		return 0
	}
	return int64(len(r.columns)+len(r.checks)+len(r.hidden.Columns)) * (header + widest*(r.limit+1))
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
	defer r.bound(ctx)()
	for size := int64(0); r.batch.Rows < r.batchRows && size < r.batchBytes; {
		more, err := r.rows.Next()
		if more && err == nil {
			var n int64
			if n, err = r.decode(); err == nil {
				size += n
				continue
			}
		} else if err == nil {
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
			r.ended = r.explain(ctx, err)
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
	if err := r.rows.Close(); err != nil {
		return err
	}
	session.end(ctx)
	r.closed = true
	return nil
}

// abandon leaves a statement that is not at its end. That costs the connection:
// there is no other way to make the server stop.
func (r *reader) abandon() {
	if r.closed {
		return
	}
	r.closed = true
	_ = r.source.session.link.Close() // first: nothing is to be said to a server that is still sending
	r.source.session.close()
}

// decode appends the row at hand to the batch and returns its size.
func (r *reader) decode() (size int64, err error) {
	size = r.fixed
	refused, why := -1, error(nil) // the first column whose value is
	for i := range r.columns {
		v := &r.batch.Columns[i]
		value, ok := r.rows.Value(i)
		if !ok {
			v.AppendNull()
			continue
		}
		from := r.rows.Columns[i]
		if from.Kind == packet.Bytes {
			size += int64(len(value))
			if r.limit > 0 && int64(len(value)) > r.limit {
				err = errTooLarge
			}
		}
		if err == nil {
			err = appendValue(r.forms[i], v, from, value)
		}
		if err != nil { // the key of the row may come later
			v.AppendNull()
			if refused < 0 {
				refused, why = i, err
			}
			err = nil
		}
	}
	at := len(r.columns)
	for _, i := range r.checks {
		if refused < 0 && r.isZero(at) {
			refused, why = i, errUnconverted
		}
		at++
	}
	for i := range r.hidden.Columns {
		v := &r.hidden.Columns[i]
		value, ok := r.rows.Value(at)
		if !ok {
			v.AppendNull()
		} else if r.text, err = r.rows.Columns[at].AppendText(r.text[:0], value); err != nil {
			return 0, fmt.Errorf("%s: what was selected in addition: %w", r.relation, err)
		} else {
			v.AppendVarying(r.text)
		}
		at++
	}
	r.read++
	r.batch.Rows++
	r.hidden.Rows++
	if refused >= 0 {
		return 0, r.refused(refused, why)
	}
	return size, nil
}

// isZero reports whether value i of the row is the number 0, and not NULL.
func (r *reader) isZero(i int) bool {
	value, ok := r.rows.Value(i)
	from := r.rows.Columns[i]
	return ok && from.Whole() && from.Integer(value) == 0
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
