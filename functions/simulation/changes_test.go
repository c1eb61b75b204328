package simulation

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
)

// changes is a table with an integer key, id, and a cursor, at, which repeats
// and may be NULL. Rows are only added, so that each is to be delivered once.
type changes struct {
	mu   sync.Mutex
	rows []change
	// keyless hides the key, as of a table that has none.
	keyless bool
	// pieces is how many ranges a window is cut into.
	pieces int
}

type change struct {
	id, at int64
	null   bool
}

// add appends rows with the cursor values at.
func (c *changes) add(at ...int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range at {
		c.rows = append(c.rows, change{id: int64(len(c.rows) + 1), at: v})
	}
}

func (c *changes) addNull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, change{id: int64(len(c.rows) + 1), null: true})
}

// sorted returns the rows with a cursor, in its order.
func (c *changes) sorted() []change { return c.sortedBy("at") }

// sortedBy returns the rows that have a value in a column, with it as their
// cursor.
func (c *changes) sortedBy(column string) []change {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := slices.Clone(c.rows)
	for i := range rows {
		if column == "id" {
			rows[i].at, rows[i].null = rows[i].id, false
		}
	}
	rows = slices.DeleteFunc(rows, func(r change) bool { return r.null })
	slices.SortFunc(rows, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
	return rows
}

// changesSession is a session with such a table.
type changesSession struct {
	*database
	changes *changes
}

var _ source.Source = (*changesSession)(nil)

func (s *changesSession) Identity(context.Context) (contract.SourceIdentity, error) {
	return contract.SourceIdentity{Engine: "postgres", SystemIdentifier: s.system, Database: "simulated"}, nil
}

func (s *changesSession) Describe(_ context.Context, rel source.Relation) (source.Table, error) {
	rows := int64(len(s.changes.sorted()))
	id, at := keyspace.Column{Name: "id", Native: "bigint"}, keyspace.Column{Name: "at", Native: "bigint", Nullable: true}
	t := source.Table{Relation: rel, Columns: []rowtype.Column{idColumn}, Rows: rows, Bytes: rows * 8, Kind: "table", KeyColumns: map[string]keyspace.Column{"id": id, "at": at}}
	if !s.changes.keyless {
		t.Keys = []source.UniqueKey{{Name: "orders_pkey", Primary: true, Columns: []keyspace.Column{id}}}
	}
	return t, nil
}

func (s *changesSession) IntegerBounds(context.Context, source.Relation, keyspace.Column) (source.IntegerBounds, error) {
	panic("no range of integers is asked for")
}

// TimeWindow takes the cursor for seconds since 1970.
func (s *changesSession) TimeWindow(_ context.Context, _ source.Relation, column keyspace.Column, _ bool, from, to time.Time) (keyspace.Window, int64, error) {
	begin := strconv.FormatInt(from.Unix(), 10)
	return keyspace.Window{Cursor: column, From: &begin, FromIncluded: true, To: strconv.FormatInt(to.Unix(), 10), ToExcluded: true}, 0, nil
}

func (s *changesSession) CursorEnd(_ context.Context, _ source.Relation, q source.CursorQuery) (source.CursorEnd, error) {
	end := source.CursorEnd{Order: -1}
	for _, r := range s.changes.sortedBy(q.Cursor.Name) {
		if q.Below != nil && r.at >= number(*q.Below) {
			break
		}
		if !end.Found || end.Value != strconv.FormatInt(r.at, 10) {
			end.Found, end.Value, end.Ties, end.TieBytes = true, strconv.FormatInt(r.at, 10), 0, 0
		}
		end.Ties, end.TieBytes = end.Ties+1, end.TieBytes+int64(len(strconv.FormatInt(r.id, 10)))
		if q.From != nil && r.at == number(*q.From) && !delivered(q.Delivered, r.id) {
			end.FromTies++
		}
	}
	switch {
	case end.Found && q.From == nil:
		end.Order = 1
	case end.Found:
		end.Order = cmp.Compare(number(end.Value), number(*q.From))
	}
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	for _, r := range s.changes.rows {
		if r.null {
			end.Nulls++
		}
	}
	return end, nil
}

// estimatedRows is what a piece of a window seems to hold.
const estimatedRows = 100_000

func (s *changesSession) EstimateRows(_ context.Context, _ source.Relation, w keyspace.Window) (int64, error) {
	return int64(s.changes.pieces) * estimatedRows, nil // what makes a task each
}

func (s *changesSession) SplitPoints(_ context.Context, _ source.Relation, key []keyspace.Column, w *keyspace.Window, pieces int) (cuts []keyspace.Key, err error) {
	rows := within(s.changes.sortedBy(w.Cursor.Name), w)
	for i := 1; i < pieces && len(rows) > 0; i++ {
		cuts = append(cuts, keyOf(rows[(len(rows)-1)*i/pieces], len(key)))
	}
	return slices.CompactFunc(cuts, slices.Equal[keyspace.Key]), nil
}

func (s *changesSession) Read(_ context.Context, spec source.ReadSpec) (source.Reader, error) {
	r := &changesReader{database: s.database, spec: spec, batch: rowbatch.New(spec.Columns)}
	for _, row := range within(s.changes.sortedBy(spec.Window.Cursor.Name), spec.Window) {
		key := keyOf(row, len(spec.Key))
		if (spec.Range.After == nil || less(spec.Range.After, key)) && (spec.Range.UpTo == nil || !less(spec.Range.UpTo, key)) {
			r.rows = append(r.rows, row)
		}
	}
	return r, nil
}

func (s *changesSession) Close(context.Context) error { return nil }

func within(rows []change, w *keyspace.Window) []change {
	return slices.DeleteFunc(rows, func(r change) bool {
		switch {
		case r.at > number(w.To), w.ToExcluded && r.at == number(w.To), w.OnlyAtTo && r.at == number(w.To) && !delivered(w.Only, r.id):
			return true
		case w.From == nil || r.at > number(*w.From):
			return false
		}
		return r.at < number(*w.From) || !w.FromIncluded || delivered(w.Except, r.id)
	})
}

func delivered(keys []keyspace.Key, id int64) bool {
	return slices.ContainsFunc(keys, func(k keyspace.Key) bool { return number(k[0]) == id })
}

func keyOf(r change, columns int) keyspace.Key {
	return keyspace.Key{strconv.FormatInt(r.at, 10), strconv.FormatInt(r.id, 10)}[:columns]
}

func less(a, b keyspace.Key) bool {
	return slices.CompareFunc(a, b, func(x, y string) int { return cmp.Compare(number(x), number(y)) }) < 0
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// changesReader reads the rows that were there when it was opened.
type changesReader struct {
	*database
	spec  source.ReadSpec
	batch *rowbatch.Batch
	rows  []change
	last  []change // of the batch
}

func (r *changesReader) Next(ctx context.Context) (*rowbatch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.fail != nil {
		if err := r.fail(r.spec.Range); err != nil {
			return nil, err
		}
	}
	if len(r.rows) == 0 {
		return nil, io.EOF
	}
	n := min(batchRows, len(r.rows))
	r.last, r.rows = r.rows[:n], r.rows[n:]
	r.batch.Reset()
	for _, row := range r.last {
		r.batch.Columns[0].AppendInt64(row.id)
	}
	r.batch.Rows = n
	return r.batch, nil
}

func (r *changesReader) Cut() (int, keyspace.Key) {
	if len(r.rows) == 0 || !r.spec.Unique {
		return 0, nil
	}
	return len(r.last), keyOf(r.last[len(r.last)-1], len(r.spec.Key))
}

func (r *changesReader) Edge(rows int) (e source.Edge) {
	for _, row := range r.last[:rows] {
		switch w := r.spec.Window; {
		case len(w.Key) > 0 && !w.ToExcluded && row.at == number(w.To):
			e.AtTo = append(e.AtTo, keyspace.Key{strconv.FormatInt(row.id, 10)})
		case len(w.Key) == 0 && w.From != nil && w.FromIncluded && row.at == number(*w.From):
			e.AtFrom++
		}
	}
	return e
}

func (r *changesReader) Position() string { return "" }

func (r *changesReader) Close(context.Context) error { return nil }
