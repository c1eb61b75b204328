package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// SplitPoints implements [source.Source]. One column is cut by the histogram
// that the server keeps of it; what is finer, or has several columns, by a
// sample of the table's pages. Values are put in order by the server only, so
// every collation is right (PLN-08).
//
// The histogram says little of a window, which mostly is of rows that came
// after it was made: a window is always sampled.
func (s *Source) SplitPoints(ctx context.Context, rel source.Relation, key []keyspace.Column, w *keyspace.Window, n int) ([]keyspace.Key, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	if n < 2 || len(key) == 0 || rel.Query != "" {
		return nil, nil
	}
	var points []keyspace.Key
	err := s.session.transaction(ctx, "find where to cut "+label(rel), func() error {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return err
		}
		if r.kind != "r" && r.kind != "p" && r.kind != "m" {
			return nil
		}
		all, err := s.session.resolved(ctx, r)
		if err != nil {
			return err
		}
		columns, err := keyOf(r, key, all)
		if err != nil {
			return err
		}
		within, err := windowOf(w, r, all)
		if err != nil {
			return err
		}
		if within == nil && len(columns) == 1 && columns[0].postgres.Elem == nil {
			bounds, err := s.session.histogram(ctx, r, columns[0])
			if err != nil {
				return err
			}
			if points = between(bounds, n); len(points) == n-1 {
				return nil
			}
		}
		sampled, err := s.session.sample(ctx, r, columns, within, n)
		if err == nil && len(sampled) > len(points) {
			points = sampled
		}
		return err
	})
	return points, err
}

// between picks n-1 of the inner bounds at equal distances; fewer if there are
// not so many. Bounds that repeat count once.
func between(bounds []keyspace.Key, n int) []keyspace.Key {
	bounds = slices.CompactFunc(bounds, slices.Equal[keyspace.Key])
	if len(bounds) < 3 {
		return nil
	}
	var picked []keyspace.Key
	last := 0
	for i := 1; i < n; i++ {
		at := i * (len(bounds) - 1) / n
		if at > last {
			picked = append(picked, bounds[at])
			last = at
		}
	}
	return picked
}

// histogram returns the bounds of equally full ranges of a column, in the
// order of its collation, as the last ANALYZE found them.
func (s *session) histogram(ctx context.Context, r relation, c column) ([]keyspace.Key, error) {
	rows, err := s.query(ctx, `
select b.bound::pg_catalog.text from pg_catalog.pg_stats p
  cross join lateral pg_catalog.unnest(p.histogram_bounds::pg_catalog.text::`+c.spelled+`[]) with ordinality as b(bound, n)
where p.schemaname = $1 and p.tablename = $2 and p.attname = $3 and p.inherited = $4::bool order by b.n`,
		r.Schema, r.Name, c.Name, strconv.FormatBool(r.kind == "p" || r.hasChildren))
	return keysOf(rows), err
}

const (
	pagesPerCut = 10
	mostPages   = 20000 // 160 MB
)

// sample reads some pages of the table, at random, and cuts what is on them
// into n equal parts. Of a window, most pages may have nothing: it reads as many
// as it may.
func (s *session) sample(ctx context.Context, r relation, key []column, within *window, n int) ([]keyspace.Key, error) {
	answer, err := s.query(ctx, `
with recursive tree(oid) as (
  select $1::oid union select i.inhrelid from tree join pg_catalog.pg_inherits i on i.inhparent = tree.oid
)
select coalesce(sum(pg_catalog.pg_relation_size(c.oid)) / pg_catalog.current_setting('block_size')::int8, 0)::int8
from tree join pg_catalog.pg_class c on c.oid = tree.oid where c.relkind in ('r', 'm')`, fmt.Sprint(r.oid))
	if err != nil {
		return nil, err
	}
	percent := 100.0
	wanted := int64(min(n, mostPages/pagesPerCut) * pagesPerCut)
	if within != nil {
		wanted = mostPages
	}
	if pages := answer[0].int(0); pages > wanted {
		percent = 100 * float64(wanted) / float64(pages)
	}
	var columns, notNull, aliases, ordered, texts []string
	for i, c := range key {
		alias := "k" + strconv.Itoa(i)
		columns = append(columns, c.expression()+" as "+alias)
		notNull = append(notNull, c.expression()+" is not null")
		aliases = append(aliases, alias)
		// Qualified: "order by k0" would mean the text of the result.
		ordered = append(ordered, "cut."+alias)
		texts = append(texts, "cut."+alias+"::pg_catalog.text")
	}
	notNull = append(notNull, within.predicates()...)
	list := strings.Join(aliases, ", ")
	rows, err := s.query(ctx, fmt.Sprintf(`
with sample as (select %s from %s tablesample system (%g) where %s),
     ranked as (select %s, row_number() over (order by %s) as i, count(*) over () as total from sample),
     cut as (select distinct %s from ranked where i < total and i * %d / total > (i - 1) * %d / total)
select %s from cut order by %s`,
		strings.Join(columns, ", "), r.from(), percent, strings.Join(notNull, " and "), list, list, list, n, n, strings.Join(texts, ", "), strings.Join(ordered, ", ")))
	return keysOf(rows), err
}

func keysOf(rows []row) []keyspace.Key {
	keys := make([]keyspace.Key, len(rows))
	for i, r := range rows {
		for _, value := range r {
			keys[i] = append(keys[i], string(value))
		}
	}
	return keys
}
