package chunkplan

import (
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// hardType is a type that Parquet has and not every reader: who takes it how,
// and what to do where these are to read it.
type hardType struct {
	what, readers, instead string
	is                     func(rowtype.Type) bool
}

var hardTypes = []hardType{
	{
		what:    "nanoseconds",
		readers: "Spark refuses them, and few other readers know them",
		instead: "leave timestamp_ns out of columns: for microseconds, or use text",
		is:      func(t rowtype.Type) bool { return t.Kind == rowtype.Timestamp && t.Nano },
	},
	{
		what:    "unsigned integers of 64 bits",
		readers: "Spark before 3.2 refuses them, and Athena, Trino and Hive take values from 2^63 for negative ones",
		instead: "decimal(20,0) or text in columns:",
		is:      func(t rowtype.Type) bool { return t.Kind == rowtype.UInt64 },
	},
	{
		what:    "times of day",
		readers: "Spark, Athena and Hive refuse them",
		instead: "text in columns:",
		is:      func(t rowtype.Type) bool { return t.Kind == rowtype.Time },
	},
	{
		what:    "decimals of more than 38 digits",
		readers: "Spark, Athena and Trino refuse them, and DuckDB reads doubles",
		instead: "text in columns:",
		is:      func(t rowtype.Type) bool { return t.Kind == rowtype.Decimal && t.Precision > 38 },
	},
}

// Readers warns of columns whose exact type some readers refuse or take for
// another, and says which override these read (WRT-03, WRT-04). CSV is text to
// all of them.
func Readers(export exportconfig.Export, columns []rowtype.Column) []exportconfig.Diagnostic {
	if export.Format != "parquet" {
		return nil
	}
	var warnings []exportconfig.Diagnostic
	for _, h := range hardTypes {
		var names []string
		for _, c := range columns {
			if t := c.Type; h.is(t) || t.Elem != nil && h.is(*t.Elem) {
				names = append(names, c.Name)
			}
		}
		if len(names) > 0 {
			warnings = append(warnings, exportconfig.Diagnostic{Code: "NOT_EVERY_READER", Message: fmt.Sprintf("%s: %s are written exactly, but %s; where these read it: %s", listed(names), h.what, h.readers, h.instead)})
		}
	}
	return warnings
}

// listed names the first few of many.
func listed(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
