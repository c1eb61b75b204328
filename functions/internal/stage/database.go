package stage

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Database is a table with an integer key, from 1 to Rows.
type Database struct {
	Rows   int64
	System string // identifier of the cluster that holds it
	// Fail, if set, is asked before every read.
	Fail func(r keyspace.Range) error
	// Reads counts the reads that were opened.
	Reads int

	source.Source // windows, which this table has none of
}

var _ source.Source = (*Database)(nil)

// Open implements [source.Opener].
func (d *Database) Open(context.Context, exportconfig.Source) (source.Source, error) { return d, nil }

// Close implements [source.Source].
func (d *Database) Close(context.Context) error { return nil }

// Identity implements [source.Source].
func (d *Database) Identity(context.Context) (contract.SourceIdentity, error) {
	return contract.SourceIdentity{Engine: "postgres", SystemIdentifier: d.System, Database: "staged"}, nil
}

// Describe implements [source.Source].
func (d *Database) Describe(_ context.Context, rel source.Relation) (source.Table, error) {
	key := keyspace.Column{Name: "id", Native: "bigint"}
	return source.Table{
		Relation: rel, Rows: d.Rows, Bytes: d.Rows * 8, Kind: "table",
		Columns:    []rowtype.Column{{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}, Native: "bigint", Fidelity: "exact"}},
		KeyColumns: map[string]keyspace.Column{"id": key},
		Keys:       []source.UniqueKey{{Name: "orders_pkey", Primary: true, Columns: []keyspace.Column{key}}},
	}, nil
}

// IntegerBounds implements [source.Source].
func (d *Database) IntegerBounds(context.Context, source.Relation, keyspace.Column) (source.IntegerBounds, error) {
	return source.IntegerBounds{Min: 1, Max: d.Rows, Empty: d.Rows == 0}, nil
}

// SplitPoints implements [source.Source].
func (d *Database) SplitPoints(context.Context, source.Relation, []keyspace.Column, *keyspace.Window, int) ([]keyspace.Key, error) {
	return nil, nil
}

// Read implements [source.Source].
func (d *Database) Read(_ context.Context, spec source.ReadSpec) (source.Reader, error) {
	d.Reads++
	r := &reader{db: d, rng: spec.Range, batch: rowbatch.New(spec.Columns), to: d.Rows}
	if !spec.Range.All {
		r.at, r.to = bound(spec.Range.After, 0), min(bound(spec.Range.UpTo, d.Rows), d.Rows)
	}
	return r, nil
}

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
	db     *Database
	rng    keyspace.Range
	batch  *rowbatch.Batch
	at, to int64
}

// Next implements [source.Reader].
func (r *reader) Next(ctx context.Context) (*rowbatch.Batch, error) {
	if r.db.Fail != nil {
		if err := r.db.Fail(r.rng); err != nil {
			return nil, err
		}
	}
	r.batch.Reset()
	for r.batch.Rows < 3 && r.at < r.to {
		r.at++
		r.batch.Columns[0].AppendInt64(r.at)
		r.batch.Rows++
	}
	if r.batch.Rows == 0 {
		return nil, io.EOF
	}
	return r.batch, ctx.Err()
}

// Edge implements [source.Reader].
func (r *reader) Edge(int) source.Edge { return source.Edge{} }

// Cut implements [source.Reader].
func (r *reader) Cut() (int, keyspace.Key) {
	return r.batch.Rows, keyspace.Key{strconv.FormatInt(r.at, 10)}
}

// Position implements [source.Reader].
func (r *reader) Position() string { return fmt.Sprintf("rows/%d", r.to) }

// Close implements [source.Reader].
func (r *reader) Close(context.Context) error { return nil }
