// Package predicate writes the conditions of a range of keys and of a window of
// a cursor, by one rule for every engine that speaks SQL. How an engine writes a
// value and compares keys is its driver's. Layer: L2 (execution).
package predicate

import (
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// codeShape is of a plan that contradicts itself.
const codeShape fault.Code = "LAPSTRAKE_INTERNAL_KEY_SHAPE"

// Column is a column of a key in a statement.
type Column struct {
	Expression string
	NotNull    bool
}

// Range returns the conditions of a range of a key. A range never has a row with
// a NULL in its key, whatever its bounds: those rows are the Null range's, and
// the two together are all rows, each once. compare writes the comparison of the
// key with a bound; operator is > or <=.
func Range(r keyspace.Range, key []Column, compare func(operator string, at keyspace.Key) (string, error)) ([]string, error) {
	if r.All {
		return nil, nil
	}
	var null, conditions []string
	for _, c := range key {
		null = append(null, c.Expression+" is null")
		if !c.NotNull {
			conditions = append(conditions, c.Expression+" is not null")
		}
	}
	if r.Null && len(key) > 0 {
		return []string{"(" + strings.Join(null, " or ") + ")"}, nil
	}
	if r.Null {
		return nil, fault.New(fault.Bug, codeShape, "rows with a NULL key are asked for without a key")
	}
	for _, bound := range []struct {
		operator string
		at       keyspace.Key
	}{{">", r.After}, {"<=", r.UpTo}} {
		if bound.at == nil {
			continue
		}
		if len(bound.at) != len(key) {
			return nil, fault.New(fault.Bug, codeShape, "a bound has %d values for a key of %d columns", len(bound.at), len(key))
		}
		condition, err := compare(bound.operator, bound.at)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, condition)
	}
	return conditions, nil
}

// Tuple writes several columns, or as many values, as one row.
func Tuple(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
