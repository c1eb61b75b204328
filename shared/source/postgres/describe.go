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

// Describe implements [source.Source].
func (s *Source) Describe(ctx context.Context, rel source.Relation) (source.Table, error) {
	if err := s.idle(); err != nil {
		return source.Table{}, err
	}
	var table source.Table
	err := s.session.transaction(ctx, "describe "+label(rel), func() error {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return err
		}
		columns, err := s.session.columns(ctx, r)
		if err != nil {
			return err
		}
		table = source.Table{Relation: r.Relation, Kind: kinds[r.kind], Rows: -1, Bytes: -1, KeyColumns: map[string]keyspace.Column{}}
		for _, c := range columns {
			table.Columns = append(table.Columns, c.Column)
			if c.cuttable() {
				table.KeyColumns[c.Name] = c.key()
			}
		}
		at, err := s.session.position(ctx)
		if err != nil {
			return err
		}
		if table.Position = at.String(); r.kind == "q" {
			return nil
		}
		if table.Keys, err = s.session.keys(ctx, r, columns); err != nil {
			return err
		}
		if table.Correlation, err = s.session.correlation(ctx, r); err != nil {
			return err
		}
		table.Rows, table.Bytes, err = s.session.size(ctx, r)
		return err
	})
	if err != nil {
		return source.Table{}, err
	}
	return table, nil
}

// label names a relation that has not been looked up yet.
func label(rel source.Relation) string {
	if rel.Query != "" {
		return "the query"
	}
	return relation{Relation: rel, kind: "r"}.String()
}

// keys returns the unique keys that can order and cut a table: valid, not
// deferrable, whole (no predicate, no expression), of columns that are NOT
// NULL, and with the same idea of equality as ORDER BY has. Those of a table
// that others inherit from say nothing about the rows of its children.
func (s *session) keys(ctx context.Context, r relation, columns []column) ([]source.UniqueKey, error) {
	if r.kind == "r" && r.hasChildren {
		return nil, nil
	}
	rows, err := s.query(ctx, `
select ic.relname, i.indisprimary,
       (select pg_catalog.string_agg(k.attribute::text, ' ' order by k.n)
        from pg_catalog.unnest(i.indkey::int2[]) with ordinality as k(attribute, n) where k.n <= i.indnkeyatts),
       (select pg_catalog.bool_and(o.opcdefault and (p.coll = 0 or p.coll = a.attcollation))
        from rows from (pg_catalog.unnest(i.indkey::int2[]), pg_catalog.unnest(i.indclass::oid[]), pg_catalog.unnest(i.indcollation::oid[])) with ordinality as p(attribute, opclass, coll, n)
          join pg_catalog.pg_opclass o on o.oid = p.opclass
          join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = p.attribute
        where p.n <= i.indnkeyatts)
from pg_catalog.pg_index i join pg_catalog.pg_class ic on ic.oid = i.indexrelid join pg_catalog.pg_am m on m.oid = ic.relam
where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indislive and i.indimmediate
  and i.indpred is null and i.indexprs is null and m.amname = 'btree'`, fmt.Sprint(r.oid))
	if err != nil {
		return nil, err
	}
	byNumber := make(map[string]column, len(columns))
	for _, c := range columns {
		byNumber[strconv.Itoa(int(c.attribute))] = c
	}
	var keys []source.UniqueKey
candidates:
	for _, row := range rows {
		if !row.bool(3) {
			continue
		}
		key := source.UniqueKey{Name: row.text(0), Primary: row.bool(1)}
		for _, number := range strings.Fields(row.text(2)) {
			c, there := byNumber[number]
			if !there || !c.notNull || !c.keyable() {
				continue candidates
			}
			key.Columns = append(key.Columns, c.key())
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, source.UniqueKey.Compare)
	return keys, nil
}

// keyable reports whether a value's text means the same value again. The
// others depend on a locale or on the search path.
func (c column) keyable() bool { return c.cuttable() && c.postgres.HasServerText() }

// cuttable reports whether ranges of the column could have every row once. Of
// a composite they have not, since IS NULL asks its fields and not the value:
// (1,) is neither NULL nor NOT NULL, and (,) is NULL though it is there. A cast
// of somebody's own may give two values one text, or a text that is none.
func (c column) cuttable() bool { return c.postgres.Class != 'c' && !c.castText }

func (s *session) correlation(ctx context.Context, r relation) (map[string]float64, error) {
	rows, err := s.query(ctx, `
select attname, correlation from pg_catalog.pg_stats
where schemaname = $1 and tablename = $2 and inherited = $3::bool and correlation is not null`,
		r.Schema, r.Name, strconv.FormatBool(r.kind == "p" || r.hasChildren))
	if err != nil {
		return nil, err
	}
	correlation := make(map[string]float64, len(rows))
	for _, c := range rows {
		if v, err := strconv.ParseFloat(c.text(1), 64); err == nil {
			correlation[c.text(0)] = v
		}
	}
	return correlation, nil
}

// size returns the server's estimate of rows and its count of bytes, summed
// over the partitions or children. One part without an estimate makes the rows
// unknown: a table that was never analysed is not empty (PLN-16, PLN-20).
func (s *session) size(ctx context.Context, r relation) (rows, bytes int64, err error) {
	answer, err := s.query(ctx, `
with recursive tree(oid) as (
  select $1::oid union select i.inhrelid from tree join pg_catalog.pg_inherits i on i.inhparent = tree.oid
)
select coalesce(sum(c.reltuples), 0)::int8,
       coalesce(bool_or(c.reltuples < 0 or c.reltuples = 0 and c.relpages = 0 and pg_catalog.current_setting('server_version_num')::int4 < 140000), true),
       coalesce(sum(pg_catalog.pg_table_size(c.oid)), -1)::int8
from tree join pg_catalog.pg_class c on c.oid = tree.oid where c.relkind in ('r', 'm')`, fmt.Sprint(r.oid))
	if err != nil {
		return 0, 0, err
	}
	rows, bytes = answer[0].int(0), answer[0].int(2)
	if answer[0].bool(1) {
		rows = -1
	}
	return rows, bytes, nil
}
