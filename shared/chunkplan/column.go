package chunkplan

import (
	"maps"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// findColumn finds the column that a key of the config names, by its exact
// spelling. A name that differs only by case is refused with the right one: an
// engine may take it for another column (PLN-30).
func findColumn(e exportconfig.Export, f Facts, key, name string) (keyspace.Column, error) {
	if c, ok := f.KeyColumns[name]; ok {
		return c, nil
	}
	names := slices.Sorted(maps.Keys(f.KeyColumns))
	for _, c := range f.Columns {
		if c.Name == name && key == "columns" { // a type can be given to a column that no key can have
			return keyspace.Column{Name: name, Native: c.Native, Nullable: true}, nil
		}
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if slices.Contains(names, name) {
		return keyspace.Column{}, fault.New(fault.Usage, "LAPSTRAKE_PLAN_KEY_TYPE", "export %q: %s: column %s has a type without an order that can be cut by; nothing was read", e.Name, key, name)
	}
	for _, right := range names {
		if strings.EqualFold(right, name) {
			return keyspace.Column{}, fault.New(fault.Usage, "LAPSTRAKE_PLAN_COLUMN_CASE", "export %q: %s names %s, the column is %s: write it exactly so; nothing was read", e.Name, key, name, right)
		}
	}
	return keyspace.Column{}, fault.New(fault.Usage, "LAPSTRAKE_PLAN_COLUMN_UNKNOWN", "export %q: %s names %s, which is no column; nothing was read", e.Name, key, name)
}

// isInteger reports whether every value of a native type is an integer, so that
// integer cuts leave none out (PLN-02). Those that 63 bits do not hold are in
// the last range, which is open above.
func isInteger(native string) bool {
	switch strings.TrimSuffix(strings.ToLower(native), " unsigned") {
	case "tinyint", "smallint", "mediumint", "integer", "bigint", "int2", "int4", "int8", "int":
		return true
	}
	return false
}
