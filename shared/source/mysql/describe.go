package mysql

import (
	"context"
	"fmt"
	"slices"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// Describe implements [source.Source].
func (s *Source) Describe(ctx context.Context, rel source.Relation) (source.Table, error) {
	var table source.Table
	err := s.transaction(ctx, "describe "+label(rel), func() error {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return err
		}
		columns, err := s.session.columns(ctx, r)
		if err != nil {
			return err
		}
		table = source.Table{Relation: r.Relation, Kind: r.kind, Rows: r.rows, Bytes: r.bytes, Columns: described(columns), KeyColumns: map[string]keyspace.Column{}}
		for _, c := range columns {
			if c.keyable() {
				table.KeyColumns[c.Name] = c.key()
			}
		}
		if r.Query == "" {
			table.Keys, err = s.session.keys(ctx, r, columns)
		}
		return err
	})
	if err != nil {
		return source.Table{}, err
	}
	return table, nil
}

// index is an index of a table by whole columns, in its order.
type index struct {
	name    string
	unique  bool
	columns []string
}

// indexes returns those of a table that are ordered and of whole columns: of a
// prefix or an expression, the order is not that of the column.
func (s *session) indexes(ctx context.Context, r relation) ([]index, error) {
	rows, err := s.query(ctx, fmt.Sprintf(`
select index_name, non_unique, column_name, sub_part is not null or column_name is null or index_type <> 'BTREE'
from information_schema.statistics where table_schema = %s and table_name = %s order by index_name, seq_in_index`,
		sqltext.MySQL.Literal(r.Schema), sqltext.MySQL.Literal(r.Name)))
	if err != nil {
		return nil, err
	}
	var all []index
	unusable := map[string]bool{}
	for _, row := range rows {
		name := row.text(0)
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, index{name: name, unique: row.text(1) == "0"})
		}
		last := &all[len(all)-1]
		last.columns = append(last.columns, row.text(2))
		unusable[name] = unusable[name] || row.text(3) == "1"
	}
	return slices.DeleteFunc(all, func(i index) bool { return unusable[i.name] }), nil
}

const primary = "PRIMARY" // the name that the server reserves for it

// keys returns the unique keys that can order and cut a table: of whole columns
// that are NOT NULL and that bounds can be written of.
func (s *session) keys(ctx context.Context, r relation, columns []column) ([]source.UniqueKey, error) {
	indexes, err := s.indexes(ctx, r)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]column, len(columns))
	for _, c := range columns {
		byName[c.Name] = c
	}
	var keys []source.UniqueKey
candidates:
	for _, i := range indexes {
		if !i.unique {
			continue
		}
		key := source.UniqueKey{Name: i.name, Primary: i.name == primary}
		for _, name := range i.columns {
			c, there := byName[name]
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
