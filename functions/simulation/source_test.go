package simulation

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
)

// database is a table with one integer key, 1 to rows, and as many rows whose
// key is NULL. It is a stand-in for a server: what it answers is what sourcetest
// demands of one.
type database struct {
	mu    sync.Mutex
	rows  int64
	nulls int
	// system is the identifier of the cluster that holds it.
	system string
	// fail, if set, is asked before every read.
	fail func(r keyspace.Range) error
	// changes, if set, is what is read instead: a table with a cursor.
	changes *changes
}

var _ source.Source = (*session)(nil)

// Open implements [source.Opener].
func (d *database) Open(context.Context, exportconfig.Source) (source.Source, error) {
	if d.changes != nil {
		return &changesSession{database: d, changes: d.changes}, nil
	}
	return &session{database: d}, nil
}

func (d *database) extent() (int64, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rows, d.nulls
}

type session struct {
	*database
	source.Source // windows, which this table has none of
}

var idColumn = rowtype.Column{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}, Native: "bigint", Fidelity: "exact"}

func (s *session) key() keyspace.Column {
	_, nulls := s.extent()
	return keyspace.Column{Name: "id", Native: "bigint", Nullable: nulls > 0}
}

func (s *session) Identity(context.Context) (contract.SourceIdentity, error) {
	return contract.SourceIdentity{Engine: "postgres", SystemIdentifier: s.system, Database: "simulated"}, nil
}

func (s *session) Describe(_ context.Context, rel source.Relation) (source.Table, error) {
	rows, _ := s.extent()
	t := source.Table{Relation: rel, Columns: []rowtype.Column{idColumn}, Rows: rows, Bytes: rows * 8, Kind: "table", KeyColumns: map[string]keyspace.Column{"id": s.key()}}
	if !s.key().Nullable {
		t.Keys = []source.UniqueKey{{Name: "orders_pkey", Primary: true, Columns: []keyspace.Column{s.key()}}}
	}
	return t, nil
}

func (s *session) IntegerBounds(context.Context, source.Relation, keyspace.Column) (source.IntegerBounds, error) {
	rows, nulls := s.extent()
	return source.IntegerBounds{Min: 1, Max: rows, Empty: rows == 0, HasNull: nulls > 0}, nil
}

func (s *session) SplitPoints(_ context.Context, _ source.Relation, _ []keyspace.Column, _ *keyspace.Window, pieces int) (cuts []keyspace.Key, err error) {
	rows, _ := s.extent()
	for i := int64(1); i < int64(pieces); i++ {
		cuts = append(cuts, keyspace.Key{strconv.FormatInt(i*rows/int64(pieces), 10)})
	}
	return cuts, nil
}

func (s *session) Read(_ context.Context, spec source.ReadSpec) (source.Reader, error) {
	rows, nulls := s.extent()
	r := &reader{session: s, spec: spec, batch: rowbatch.New(spec.Columns), to: rows}
	switch {
	case spec.Range.All:
		r.nulls = nulls
	case spec.Range.Null:
		r.to, r.nulls = 0, nulls
	default:
		r.at, r.to = bound(spec.Range.After, 0), min(bound(spec.Range.UpTo, rows), rows)
	}
	return r, nil
}

func (s *session) Close(context.Context) error { return nil }

func bound(k keyspace.Key, open int64) int64 {
	if k == nil {
		return open
	}
	n, err := strconv.ParseInt(k[0], 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

type reader struct {
	*session
	spec  source.ReadSpec
	batch *rowbatch.Batch
	at    int64 // last key delivered
	to    int64
	nulls int
}

// batchRows is small, so that a task has several batches.
const batchRows = 3

func (r *reader) Next(ctx context.Context) (*rowbatch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.fail != nil {
		if err := r.fail(r.spec.Range); err != nil {
			return nil, err
		}
	}
	r.batch.Reset()
	for r.batch.Rows < batchRows && (r.at < r.to || r.nulls > 0) {
		if r.at < r.to {
			r.at++
			r.batch.Columns[0].AppendInt64(r.at)
		} else {
			r.nulls--
			r.batch.Columns[0].AppendNull()
		}
		r.batch.Rows++
	}
	if r.batch.Rows == 0 {
		return nil, io.EOF
	}
	return r.batch, nil
}

func (r *reader) Cut() (int, keyspace.Key) {
	return r.batch.Rows, keyspace.Key{strconv.FormatInt(r.at, 10)}
}

func (r *reader) Edge(int) source.Edge { return source.Edge{} }

func (r *reader) Position() string { return fmt.Sprintf("rows/%d", r.to) }

func (r *reader) Close(context.Context) error { return nil }

// errPermanent and errPassing are failures of a read.
var (
	errPermanent = fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_TABLE_MISSING", "table orders is gone")
	errPassing   = fault.New(fault.Retryable, "LAPSTRAKE_SOURCE_UNREACHABLE", "connection reset")
)
