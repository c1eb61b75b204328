package partfile

import (
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// CheckColumns refuses columns for a format: those that it cannot hold, by the
// reason that refuse gives for their type, and names that stand twice, because
// a reader could not tell them apart. The message names every such column.
func CheckColumns(format string, columns []rowtype.Column, refuse func(rowtype.Type) string) error {
	if len(columns) == 0 {
		return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_FORMAT_COLUMN_UNSUPPORTED", "a %s file without columns cannot be written", format)
	}
	var found []string
	names := map[string]bool{}
	for _, c := range columns {
		if reason := refuse(c.Type); reason != "" {
			found = append(found, fmt.Sprintf("%q (%s, from %s): %s", c.Name, c.Type, c.Native, reason))
		}
		if names[c.Name] {
			found = append(found, fmt.Sprintf("%q: the name stands twice", c.Name))
		}
		names[c.Name] = true
	}
	if found == nil {
		return nil
	}
	return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_FORMAT_COLUMN_UNSUPPORTED",
		"format %s cannot hold %d of %d columns, nothing was read: %s; override their types, leave them out in a query, or choose another format",
		format, len(found), len(columns), strings.Join(found, "; "))
}

// CheckType returns why no writer can write values of a type, "" if one could.
func CheckType(t rowtype.Type) string {
	switch t.Kind {
	case rowtype.Bool, rowtype.Int16, rowtype.Int32, rowtype.Int64, rowtype.UInt64, rowtype.Float32, rowtype.Float64,
		rowtype.Date, rowtype.Time, rowtype.Timestamp, rowtype.UUID, rowtype.Text, rowtype.JSON, rowtype.Enum, rowtype.Interval, rowtype.Binary:
		return ""
	case rowtype.Decimal:
		if t.Precision < 1 || t.Precision > 76 {
			return "precision is not between 1 and 76"
		}
		if t.Scale < 0 || t.Scale > t.Precision {
			return "scale is not between 0 and the precision"
		}
		return ""
	case rowtype.List:
		if t.Elem == nil || t.Elem.Kind == rowtype.List {
			return "lists of lists have no column type"
		}
		return CheckType(*t.Elem)
	}
	return "the type is unknown"
}
