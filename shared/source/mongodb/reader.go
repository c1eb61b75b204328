package mongodb

import (
	"context"
	"io"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/mongodb/extjson"
)

// reader hands out the documents of one cursor, batch by batch.
type reader struct {
	source   *Source
	relation relation
	spec     source.ReadSpec
	cuttable bool

	batchRows  int
	batchBytes int64

	cursor *mongo.Cursor
	batch  *rowbatch.Batch
	text   extjson.Encoder // of documents, as the config wants them
	ids    extjson.Encoder // of ids that are no plain text
	buffer []byte
	last   bson.RawValue // the id of the last row
	ended  error         // what Next returns once the batch at hand is used
	closed bool
}

var _ source.Reader = (*reader)(nil)

// Next implements [source.Reader]. The end is believed when the server has said
// that its cursor is at its end.
func (r *reader) Next(ctx context.Context) (*rowbatch.Batch, error) {
	r.batch.Reset()
	if r.ended != nil {
		return nil, r.ended
	}
	for size := int64(0); r.batch.Rows < r.batchRows && size < r.batchBytes; {
		if r.cursor.Next(ctx) {
			n, err := r.decode(r.cursor.Current)
			if err != nil {
				return nil, r.fail(ctx, err)
			}
			size += n
			continue
		}
		if err := r.cursor.Err(); err != nil {
			return nil, r.fail(ctx, err)
		}
		if r.cursor.ID() != 0 {
			return nil, r.fail(ctx, fault.New(fault.Retryable, failure.Stream, "%s: the documents ended before the server's cursor did", r.relation))
		}
		r.ended, r.closed = io.EOF, true
		if r.batch.Rows == 0 {
			return nil, io.EOF
		}
		break
	}
	r.last.Value = slices.Clone(r.last.Value) // the library's buffer is used again
	return r.batch, nil
}

// fail ends the read: nothing of the batch at hand is handed out.
func (r *reader) fail(ctx context.Context, err error) error {
	r.batch.Reset()
	r.ended = r.source.session.explain(ctx, err, "read "+r.relation.String())
	r.abandon(ctx)
	return r.ended
}

// abandon lets go of a cursor that is not at its end.
func (r *reader) abandon(ctx context.Context) {
	if r.closed {
		return
	}
	r.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	_ = r.cursor.Close(ctx)
}

// decode appends one document to the batch and returns its size.
func (r *reader) decode(document bson.Raw) (size int64, err error) {
	id, err := document.LookupErr(idColumn)
	none := err != nil // only a view can leave it out
	if !none {
		r.last = id
		if r.buffer, err = appendID(r.buffer[:0], &r.ids, id); err != nil {
			return 0, refused(r.relation, id, err)
		}
	}
	if err := r.fits(idColumn, id); err != nil {
		return 0, err
	}
	size = int64(len(r.buffer))
	if none {
		r.batch.Columns[0].AppendNull()
	} else {
		r.batch.Columns[0].AppendVarying(r.buffer)
	}
	if r.buffer, err = r.text.Document(r.buffer[:0], document); err != nil {
		return 0, refused(r.relation, id, err)
	}
	if err := r.fits(documentColumn, id); err != nil {
		return 0, err
	}
	r.batch.Columns[1].AppendVarying(r.buffer)
	r.batch.Rows++
	return size + int64(len(r.buffer)), nil
}

// fits refuses a text above the limit.
func (r *reader) fits(column string, id bson.RawValue) error {
	if limit := r.spec.MaxValueBytes; limit > 0 && int64(len(r.buffer)) > limit {
		return fault.New(fault.Refused, failure.TooLarge, "%s, _id %s, column %s: the value has more than the %d bytes that tuning.max_value_mb allows: "+
			"nothing of the range was delivered. Raise it with the function's memory, or leave the document out with a view", r.relation, shown(id), column, limit)
	}
	return nil
}

// Cut implements [source.Reader]. There is no cut at an id that has no text
// which reads back as the same.
func (r *reader) Cut() (rows int, at keyspace.Key) {
	if !r.cuttable || r.batch.Rows == 0 {
		return 0, nil
	}
	text, ok := keyOf(r.last)
	if !ok || slices.Equal(r.spec.Range.UpTo, keyspace.Key{text}) {
		return 0, nil
	}
	return r.batch.Rows, keyspace.Key{text}
}

// Edge implements [source.Reader]: there are no windows.
func (r *reader) Edge(int) source.Edge { return source.Edge{} }

// Position implements [source.Reader].
func (r *reader) Position() string { return r.position() }

// Close implements [source.Reader]. Documents that were delivered are whole,
// whatever happens to the cursor now.
func (r *reader) Close(ctx context.Context) error {
	r.abandon(ctx)
	if r.ended == nil || r.ended == io.EOF { //nolint:errorlint // our own
		r.ended = fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_READER_CLOSED", "the reader of %s is closed", r.relation)
	}
	return nil
}
