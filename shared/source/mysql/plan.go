package mysql

import (
	"encoding/json"
	"maps"
	"slices"
)

// rowsOfPlan finds the number of rows that a table is expected to give in the
// answer of EXPLAIN FORMAT = JSON, which MySQL and MariaDB write with different
// names at different depths; -1 if there is none, 0 if the server sees that
// nothing can meet the conditions.
func rowsOfPlan(plan string) int64 {
	var tree any
	if json.Unmarshal([]byte(plan), &tree) != nil {
		return -1
	}
	return rowsIn(tree)
}

func rowsIn(node any) int64 {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			if rows := rowsIn(child); rows >= 0 {
				return rows
			}
		}
	case map[string]any:
		for _, name := range []string{"rows_produced_per_join", "rows", "rows_examined_per_scan"} {
			if rows, ok := n[name].(float64); ok && rows >= 0 {
				return int64(rows)
			}
		}
		if message, ok := n["message"].(string); ok && message != "" {
			return 0
		}
		for _, name := range slices.Sorted(maps.Keys(n)) {
			if rows := rowsIn(n[name]); rows >= 0 {
				return rows
			}
		}
	}
	return -1
}
