package postgres

import (
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
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
		case c.Nullable && !p.Nullable:
			return nil, drift(r, "key column "+sqltext.Postgres.Name(p.Name)+" was NOT NULL and may be NULL now")
		}
	}
	return key, nil
}

// where is the WHERE clause for one range of a key within a window, "" for
// none. A range never has a row with a NULL in its key, whatever its bounds:
// those rows are the Null range's, and the two together are all rows, each once.
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

// conditions are those of one range of a key.
func conditions(r keyspace.Range, key []column) ([]string, error) {
	if r.All {
		return nil, nil
	}
	var null, notNull []string
	for _, c := range key {
		null = append(null, c.expression()+" is null")
		if !c.notNull {
			notNull = append(notNull, c.expression()+" is not null")
		}
	}
	if r.Null && len(key) > 0 {
		return []string{"(" + strings.Join(null, " or ") + ")"}, nil
	}
	if r.Null {
		return nil, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", "rows with a NULL key are asked for without a key")
	}
	predicates := notNull
	for _, bound := range []struct {
		operator string
		at       keyspace.Key
	}{{" > ", r.After}, {" <= ", r.UpTo}} {
		if bound.at == nil {
			continue
		}
		if len(bound.at) != len(key) {
			return nil, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", "a bound has %d values for a key of %d columns", len(bound.at), len(key))
		}
		var names, values []string
		for i, c := range key {
			names = append(names, c.expression())
			values = append(values, c.constant(bound.at[i]))
		}
		predicates = append(predicates, tuple(names)+bound.operator+tuple(values))
	}
	return predicates, nil
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

// tuple compares several columns as one row, so that an index over them can be
// used.
func tuple(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
