package sqlserver

import (
	"context"
	"slices"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Labels of what the rows of a task are read under where that is less than one
// snapshot: see docs/sqlserver.md.
const (
	perStatement = "per_task_statement_snapshot"
	withLocks    = "per_task_read_committed"
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
		table = source.Table{Relation: r.Relation, Kind: r.kind, Rows: r.rows, Bytes: r.bytes, Columns: described(columns), KeyColumns: map[string]keyspace.Column{}, Consistency: s.session.consistency()}
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

func (s *session) consistency() string {
	switch {
	case s.snapshot:
		return ""
	case s.versions:
		return perStatement
	}
	return withLocks
}

// keys returns the unique keys that can order and cut a table: of whole columns
// that are NOT NULL and that bounds can be written of.
func (s *session) keys(ctx context.Context, r relation, columns []column) ([]source.UniqueKey, error) {
	rows, err := s.query(ctx, "select i.name, convert(int, i.is_primary_key), c.name from sys.indexes as i join sys.index_columns as k on k.object_id = i.object_id and k.index_id = i.index_id"+
		" join sys.columns as c on c.object_id = k.object_id and c.column_id = k.column_id where i.object_id = "+r.object()+
		" and i.is_unique = 1 and i.is_disabled = 0 and i.is_hypothetical = 0 and i.has_filter = 0 and i.type in (1, 2) and k.key_ordinal > 0 order by i.index_id, k.key_ordinal")
	if err != nil {
		return nil, err
	}
	byName := make(map[string]column, len(columns))
	for _, c := range columns {
		byName[c.Name] = c
	}
	var keys []source.UniqueKey
	unusable := map[string]bool{}
	for _, found := range rows {
		name := found.text(0)
		if len(keys) == 0 || keys[len(keys)-1].Name != name {
			keys = append(keys, source.UniqueKey{Name: name, Primary: found.int(1) == 1})
		}
		c, there := byName[found.text(2)]
		unusable[name] = unusable[name] || !there || !c.notNull || !c.keyable()
		last := &keys[len(keys)-1]
		last.Columns = append(last.Columns, c.key())
	}
	keys = slices.DeleteFunc(keys, func(k source.UniqueKey) bool { return unusable[k.Name] })
	slices.SortFunc(keys, source.UniqueKey.Compare)
	return keys, nil
}
