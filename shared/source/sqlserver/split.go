package sqlserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

// SplitPoints implements [source.Source] by the histogram that the server keeps
// of the first column of the key, in its own order. The points of a key of more
// columns are the keys of rows, looked up in an index, which takes one snapshot:
// without SNAPSHOT isolation there are none. No row is counted or skipped.
func (s *Source) SplitPoints(ctx context.Context, rel source.Relation, key []keyspace.Column, w *keyspace.Window, n int) ([]keyspace.Key, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	if n < 2 || len(key) == 0 || rel.Query != "" || len(key) > 1 && !s.session.snapshot {
		return nil, nil
	}
	var points []keyspace.Key
	err := s.inspect(ctx, "find where to cut", rel, func(r relation, columns []column) error {
		c := cutter{session: &s.session, r: r}
		var err error
		if c.key, err = keyOf(r, key, columns); err != nil {
			return err
		}
		within, err := windowOf(w, r, columns)
		if err != nil {
			return err
		}
		if c.within, err = within.predicates(); err != nil {
			return err
		}
		steps, err := s.session.histogram(ctx, r, c.key[0], within)
		if err != nil {
			return err
		}
		points, err = c.points(ctx, cutsOf(steps, n))
		return err
	})
	return points, err
}

// step is a part of a histogram: about so many rows with a key behind that of
// the step before, up to and including high.
type step struct {
	high string
	rows int64
}

// statistics returns the number of the statistics of all rows of a table that
// start with a column, 0 if there are none.
func (s *session) statistics(ctx context.Context, r relation, c column) (int64, error) {
	rows, err := s.query(ctx, "select top (1) s.stats_id from sys.stats as s join sys.stats_columns as k on k.object_id = s.object_id and k.stats_id = s.stats_id"+
		" join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where s.object_id = "+r.object()+
		" and s.has_filter = 0 and k.stats_column_id = 1 and c.name = "+literal(c.Name)+asWritten+" order by s.stats_id")
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0].int(0), nil
}

// histogram returns the steps that the server has of a column, those within a
// window unless that is nil. There are none where the server has none or does
// not show them to the user.
func (s *session) histogram(ctx context.Context, r relation, c column, w *window) ([]step, error) {
	if r.kind == "view" || c.fallback != "" {
		return nil, nil
	}
	id, err := s.statistics(ctx, r, c)
	if err != nil || id == 0 {
		return nil, err
	}
	value := "convert(" + c.declared() + ", h.range_high_key)"
	statement := "select " + c.keyText(value) + ", convert(bigint, h.range_rows + h.equal_rows) from sys.dm_db_stats_histogram(" + r.object() + ", " + fmt.Sprint(id) + ") as h where h.range_high_key is not null"
	if w != nil {
		t, err := w.text()
		if err != nil {
			return nil, err
		}
		if statement += " and " + value + " <= " + t.Upper; t.Lower != "" {
			statement += " and " + value + " >= " + t.Lower
		}
	}
	rows, err := s.query(ctx, statement+" order by h.step_number")
	if is(err, failure.Permission, failure.TableMissing) {
		return nil, nil
	}
	var steps []step
	for _, found := range rows {
		high, err := found.unicode(0)
		if err != nil {
			continue // a cut less
		}
		steps = append(steps, step{high: high, rows: max(found.int(1), 1)})
	}
	return steps, err
}

// cutsOf joins steps to n tasks of about equally many rows and returns the keys
// between them.
func cutsOf(steps []step, n int) []string {
	total, sum := int64(0), int64(0)
	for _, s := range steps {
		total += s.rows
	}
	var cuts []string
	for i, s := range steps {
		sum += s.rows
		if i < len(steps)-1 && len(cuts) < n-1 && sum*int64(n) >= total*int64(len(cuts)+1) {
			cuts = append(cuts, s.high)
		}
	}
	return slices.Compact(cuts)
}

// cutter turns values of the first column of a key into keys.
type cutter struct {
	session *session
	r       relation
	key     []column
	within  []string
}

func (c cutter) points(ctx context.Context, highs []string) ([]keyspace.Key, error) {
	var points []keyspace.Key
	for _, high := range highs {
		point := keyspace.Key{high}
		if len(c.key) > 1 {
			var err error
			if point, err = c.last(ctx, high); err != nil {
				return nil, err
			}
		}
		if point != nil && (len(points) == 0 || !slices.Equal(points[len(points)-1], point)) {
			points = append(points, point)
		}
	}
	return points, nil
}

// last is the key of the last row whose first column is not above a value, nil
// if there is none.
func (c cutter) last(ctx context.Context, high string) (keyspace.Key, error) {
	value, err := c.key[0].constant(high)
	if err != nil {
		return nil, err
	}
	conditions := append(slices.Clone(c.within), c.key[0].expression()+" <= "+value)
	var texts []string
	for _, k := range c.key {
		texts = append(texts, k.keyText(k.expression()))
		if !k.notNull {
			conditions = append(conditions, k.expression()+" is not null")
		}
	}
	rows, err := c.session.query(ctx, "select top (1) "+strings.Join(texts, ", ")+" from "+c.r.from()+" where "+strings.Join(conditions, " and ")+orderBy(c.key, " desc"))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	key := make(keyspace.Key, len(c.key))
	for i := range key {
		if key[i], err = rows[0].unicode(i); err != nil {
			return nil, nil // a key that no bound can be written of is no point
		}
	}
	return key, nil
}

// EstimateRows implements [source.Source] by the histogram of the cursor.
func (s *Source) EstimateRows(ctx context.Context, rel source.Relation, w keyspace.Window) (int64, error) {
	estimate := int64(-1)
	err := s.inspect(ctx, "estimate the rows of a window", rel, func(r relation, columns []column) error {
		if r.Query != "" {
			return nil
		}
		within, err := windowOf(&w, r, columns)
		if err != nil {
			return err
		}
		steps, err := s.session.histogram(ctx, r, within.cursor, within)
		if err != nil || len(steps) == 0 {
			return err
		}
		estimate = 0
		for _, one := range steps {
			estimate += one.rows
		}
		return nil
	})
	return estimate, err
}

// position is the least rowversion that a transaction under way may still have
// when it is asked for, as a constant: what is below it is in every snapshot
// that is taken later.
func (s *session) position(ctx context.Context) (string, error) {
	rows, err := s.query(ctx, "select convert(nvarchar(18), min_active_rowversion(), 1)")
	if err != nil {
		return "", err
	}
	position := rows[0].text(0)
	if !rowVersion.MatchString(position) {
		return "", fault.New(fault.Retryable, failure.Stream, "the server's least active rowversion is no rowversion")
	}
	return position, nil
}
