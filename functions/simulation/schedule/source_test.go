package schedule

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
)

// session is a session of a process with the source.
type session struct {
	*relation
	p *process
}

var _ source.Source = (*session)(nil)

// Open implements [source.Opener].
func (p *process) Open(context.Context, exportconfig.Source) (source.Source, error) {
	if err := p.call(call{op: "open the source", source: true, perform: func() error { return nil }}); err != nil {
		return nil, err
	}
	p.sessions++
	p.s.source.open++
	p.s.check.sessions(p)
	return &session{relation: p.s.source, p: p}, nil
}

var columns = []rowtype.Column{
	{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}, Native: "bigint", Fidelity: "exact"},
	{Name: "version", Type: rowtype.Type{Kind: rowtype.Int64}, Native: "bigint", Fidelity: "exact"},
}

func (s *session) key() keyspace.Column {
	return keyspace.Column{Name: "id", Native: "bigint", Nullable: !s.keyed}
}

func (s *session) Identity(context.Context) (contract.SourceIdentity, error) {
	return contract.SourceIdentity{Engine: "postgres", SystemIdentifier: "1", Database: "simulated"}, nil
}

func (s *session) Describe(_ context.Context, rel source.Relation) (source.Table, error) {
	n := int64(len(s.rows))
	t := source.Table{Relation: rel, Columns: columns, Rows: n, Bytes: n * 8, Kind: "table", KeyColumns: map[string]keyspace.Column{"id": s.key(), "at": {Name: "at", Native: "bigint", Nullable: true}}}
	if s.keyed {
		t.Keys = []source.UniqueKey{{Name: "orders_pkey", Primary: true, Columns: []keyspace.Column{s.key()}}}
	}
	return t, nil
}

func (s *session) IntegerBounds(context.Context, source.Relation, keyspace.Column) (source.IntegerBounds, error) {
	b := source.IntegerBounds{Empty: true}
	for _, x := range s.rows {
		switch {
		case x.null:
			b.HasNull = true
			continue
		case b.Empty:
			b.Min = x.key
		}
		b.Empty, b.Max = false, x.key
	}
	return b, nil
}

func (s *session) SplitPoints(_ context.Context, _ source.Relation, key []keyspace.Column, w *keyspace.Window, n int) ([]keyspace.Key, error) {
	rows := s.rows
	if w != nil {
		rows = s.in(source.ReadSpec{Window: w, Key: key})
	}
	var points []keyspace.Key
	for i := 1; i < n; i++ {
		if at := len(rows) * i / n; at > 0 {
			points = append(points, texts(s.keyOf(rows[at-1], key)))
		}
	}
	return slices.CompactFunc(points, slices.Equal[keyspace.Key]), nil
}

func texts(key []int64) keyspace.Key {
	k := make(keyspace.Key, len(key))
	for i, n := range key {
		k[i] = strconv.FormatInt(n, 10)
	}
	return k
}

func (s *session) Read(_ context.Context, spec source.ReadSpec) (source.Reader, error) {
	err := s.p.call(call{op: "read " + spec.Range.String(), source: true, perform: func() error {
		s.p.read, s.p.readKey = s.in(spec), spec.Key
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return &reader{session: s, spec: spec, batch: rowbatch.New(spec.Columns), left: s.p.read}, nil
}

func (s *session) Close(context.Context) error {
	s.p.sessions--
	s.open--
	return nil
}

type reader struct {
	*session
	spec    source.ReadSpec
	batch   *rowbatch.Batch
	batched []row // the rows of the batch
	left    []row
	last    row
}

func (r *reader) Next(ctx context.Context) (*rowbatch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.p.s.top.budget > 0 {
		r.p.slow += batchTime
	}
	r.batch.Reset()
	r.batched = r.left[:min(r.p.s.top.batch, len(r.left))]
	for r.batch.Rows < r.p.s.top.batch && len(r.left) > 0 {
		r.last, r.left = r.left[0], r.left[1:]
		if r.last.null {
			r.batch.Columns[0].AppendNull()
		} else {
			r.batch.Columns[0].AppendInt64(r.last.key)
		}
		r.batch.Columns[1].AppendInt64(r.last.version)
		r.batch.Rows++
	}
	if r.batch.Rows == 0 {
		return nil, io.EOF
	}
	return r.batch, nil
}

func (r *reader) Cut() (int, keyspace.Key) {
	if r.spec.Window != nil && !r.spec.Unique {
		return 0, nil
	}
	return r.batch.Rows, texts(r.keyOf(r.last, r.spec.Key))
}

func (r *reader) Position() string { return fmt.Sprintf("change/%d", r.now) }

func (r *reader) Close(context.Context) error { return nil }
