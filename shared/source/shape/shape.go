// Package shape compares the columns of a relation with those that something
// else knows it by. Layer: L2 (execution).
package shape

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Changes says how the columns differ from those of a plan, "" if they do not.
// quote writes a name as the engine does.
func Changes(planned, now []rowtype.Column, quote func(string) string) string {
	var changes []string
	left := make(map[string]rowtype.Column, len(now))
	for _, c := range now {
		left[c.Name] = c
	}
	for _, p := range planned {
		c, there := left[p.Name]
		delete(left, p.Name)
		switch {
		case !there:
			changes = append(changes, fmt.Sprintf("column %s is gone", quote(p.Name)))
		case c.Native != p.Native || c.Type.String() != p.Type.String() || c.TextForm != p.TextForm:
			changes = append(changes, fmt.Sprintf("column %s was %s (%s) and is %s (%s)", quote(p.Name), p.Native, p.Type, c.Native, c.Type))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		changes = append(changes, fmt.Sprintf("column %s is new", quote(name)))
	}
	if len(changes) == 0 && !slices.EqualFunc(planned, now, func(p, c rowtype.Column) bool { return p.Name == c.Name }) {
		changes = append(changes, "the columns have another order")
	}
	return strings.Join(changes, "; ")
}

// InOtherCase names the column that is spelled like name but for its case, as
// the end of a message; "" if there is none.
func InOtherCase(name string, columns []rowtype.Column, quote func(string) string) string {
	for _, c := range columns {
		if strings.EqualFold(c.Name, name) {
			return "; there is " + quote(c.Name)
		}
	}
	return ""
}
