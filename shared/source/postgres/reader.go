package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// reader hands out the batches that a goroutine decodes from the stream.
//
// Of two buffers, the goroutine has one, or waits for it in free; the caller
// has the other, from one Next to the following one.
type reader struct {
	source    *Source
	relation  relation
	columns   []column
	spec      source.ReadSpec
	key       rowkey.Plan
	statement string
	position  string
	cuttable  bool
	marks     int  // columns at the end of the hidden ones, for Edge
	atTo      bool // they are keys at the upper bound

	decoder decoder
	filled  chan *buffer
	free    chan *buffer
	stopped chan struct{} // closed when the goroutine has ended
	failure error         // of the goroutine; read after stopped
	cancel  context.CancelFunc
	ctx     context.Context // of the goroutine

	current *buffer
	ended   error // what Next returns from now on
	closed  bool
}

// start asks for the stream.
func (r *reader) start(ctx context.Context) {
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(r.stopped)
		r.failure = r.run()
	}()
}

// run reads the whole stream. It succeeds only if the stream had its trailer,
// the server completed the statement and both counted the same rows: a
// connection that breaks, wherever it does, is never the end of a range
// (OPS-01).
func (r *reader) run() error {
	conn := r.source.session.conn
	first, err := r.take()
	if err != nil {
		return err
	}
	r.decoder.buffer = first
	frontend := conn.Frontend()
	frontend.SetMaxBodyLen(r.maxMessage())
	r.source.session.reads.stream = true
	tag, err := conn.CopyTo(r.ctx, &r.decoder, r.statement)
	r.source.session.reads.stream = false
	if err != nil {
		return err
	}
	frontend.SetMaxBodyLen(0)
	if err := r.decoder.finish(tag.RowsAffected()); err != nil {
		return err
	}
	if r.decoder.buffer.batch.Rows > 0 {
		return r.hand(r.decoder.buffer)
	}
	return nil
}

// take waits for a buffer to fill.
func (r *reader) take() (*buffer, error) {
	select {
	case b := <-r.free:
		b.reset()
		return b, nil
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
}

// hand waits until the caller takes a full buffer.
func (r *reader) hand(b *buffer) error {
	select {
	case r.filled <- b:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

func (r *reader) handOver(b *buffer) (*buffer, error) {
	if err := r.hand(b); err != nil {
		return nil, err
	}
	return r.take()
}

// Next implements [source.Reader]. When it returns io.EOF, the transaction has
// ended already, so that it does not last while the caller uploads.
func (r *reader) Next(ctx context.Context) (*rowbatch.Batch, error) {
	if r.ended != nil {
		return nil, r.ended
	}
	if r.current != nil {
		r.free <- r.current // has room: there are two buffers
		r.current = nil
	}
	select {
	case r.current = <-r.filled:
		return r.current.batch, nil
	case <-r.stopped:
	case <-ctx.Done():
		r.stop(ctx)
		r.ended = r.source.session.explain(ctx, ctx.Err(), "read "+r.relation.String())
		return nil, r.ended
	}
	r.ended = io.EOF
	if r.failure != nil {
		r.ended = r.explain(ctx, r.failure)
	}
	r.stop(ctx)
	return nil, r.ended
}

// stop ends the goroutine and the transaction. A stream that is not at its end
// costs the connection: there is no other way to make the server stop.
func (r *reader) stop(ctx context.Context) {
	if r.closed {
		return
	}
	r.cancel()
	<-r.stopped
	r.source.session.end(ctx)
	r.closed = true
}

// Position implements [source.Reader].
func (r *reader) Position() string { return r.position }

// Close implements [source.Reader]. Rows that were delivered were read under
// one snapshot, whatever happens to the connection now.
func (r *reader) Close(ctx context.Context) error {
	r.stop(ctx)
	if r.ended == nil {
		r.ended = fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_READER_CLOSED", "the reader of %s is closed", r.relation)
	}
	r.current = nil
	return nil
}

// explain names the value, or the statement, that ended the stream.
func (r *reader) explain(ctx context.Context, err error) error {
	var at *rowError
	var overlong *pgproto3.ExceededMaxBodyLenErr
	var broken streamError
	what := "read " + r.relation.String()
	switch {
	case errors.As(err, &at):
		return r.explainValue(at)
	case errors.As(err, &overlong):
		return fault.New(fault.Refused, failure.TooLarge, "%s: row %d of the range has %d bytes, more than tuning.max_value_mb, %d bytes a value, lets it have: "+
			"nothing of the range was delivered. Raise tuning.max_value_mb with the function's memory, or leave the widest column out with a query:",
			r.relation, r.decoder.rows+1, overlong.ActualBodyLen, r.decoder.limit)
	case errors.As(err, &broken):
		return fault.New(fault.Retryable, failure.Stream, "%s on %s: %s; nothing of the range counts", what, r.source.session.target, broken)
	}
	return r.source.session.explain(ctx, err, what)
}

func (r *reader) explainValue(at *rowError) error {
	name := "a key column"
	if at.column < len(r.columns) {
		c := r.columns[at.column]
		name = fmt.Sprintf("column %s (%s as %s)", sqltext.Postgres.Name(c.Name), c.Native, c.Type)
	}
	place := fmt.Sprintf("%s, %s, row %d of the range", r.relation, name, at.row)
	var value *valueError
	switch {
	case errors.Is(at.err, errTooLarge):
		find := ""
		if at.column < len(r.columns) {
			find = fmt.Sprintf(" Find such rows with: where octet_length(%s::text) > %d.", sqltext.Postgres.Name(r.columns[at.column].Name), r.decoder.limit)
		}
		return fault.New(fault.Refused, failure.TooLarge, "%s: the value has %d bytes and tuning.max_value_mb allows %d: "+
			"nothing of the range was delivered.%s Raise it with the function's memory, or leave the column out with a query:", place, at.size, r.decoder.limit, find)
	case errors.As(at.err, &value):
		find := ""
		if value.where != "" && at.column < len(r.columns) {
			find = " Find such rows with: where " + fmt.Sprintf(value.where, sqltext.Postgres.Name(r.columns[at.column].Name)) + "."
		}
		ways := "Correct the rows, leave them out with a query:, or set the column to text under columns:"
		if value == errUTF8 {
			ways = "Correct the rows, or leave them out with a query:"
		}
		return fault.New(fault.Refused, failure.Value, "%s: %s; it is not changed to fit, and nothing of the range was delivered.%s %s", place, value.why, find, ways)
	}
	return fault.New(fault.Retryable, failure.Stream, "%s: %v", place, at.err)
}
