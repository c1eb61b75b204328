package postgres

import (
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source/predicate"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// keyOf finds the planned key among the columns of now. The types that bounds
// are cast to come from the catalog, never from the plan.
func keyOf(r relation, list []keyspace.Column, now []column) ([]column, error) {
	key := make([]column, len(list))
	for i, p := range list {
		var err error
		if key[i], err = planned(p, r, now); err != nil {
			return nil, err
		}
		switch c := key[i].key(); {
		case c.Native != p.Native:
			return nil, drift(r, fmt.Sprintf("key column %s was %s and is %s", sqltext.Postgres.Name(p.Name), p.Native, c.Native))
		case c.Reordered(p):
			return nil, drift(r, fmt.Sprintf("key column %s was sorted by %s and is by %s", sqltext.Postgres.Name(p.Name), p.Collation, c.Collation))
		case c.Nullable && !p.Nullable:
			return nil, drift(r, "key column "+sqltext.Postgres.Name(p.Name)+" was NOT NULL and may be NULL now")
		}
	}
	return key, nil
}

// where is the WHERE clause for one range of a key within a window, "" for
// none.
func where(r keyspace.Range, key []column, within *window) (string, error) {
	conditions, err := conditions(r, key)
	if err != nil {
		return "", err
	}
	if conditions = append(conditions, within.predicates()...); len(conditions) == 0 {
		return "", nil
	}
	return " where " + strings.Join(conditions, " and "), nil
}

// conditions are those of one range of a key. The key is compared as one row, so
// that an index over its columns can be used.
func conditions(r keyspace.Range, key []column) ([]string, error) {
	columns := make([]predicate.Column, len(key))
	names := make([]string, len(key))
	for i, c := range key {
		names[i] = c.expression()
		columns[i] = predicate.Column{Expression: names[i], NotNull: c.notNull}
	}
	return predicate.Range(r, columns, func(operator string, at keyspace.Key) (string, error) {
		values := make([]string, len(key))
		for i, c := range key {
			values[i] = c.constant(at[i])
		}
		return predicate.Tuple(names) + " " + operator + " " + predicate.Tuple(values), nil
	})
}

// orderBy sorts by the key in the server's own order, the one that bounds are
// compared in.
func orderBy(key []column) string {
	names := make([]string, len(key))
	for i, c := range key {
		names[i] = c.expression()
	}
	return " order by " + strings.Join(names, ", ")
}
