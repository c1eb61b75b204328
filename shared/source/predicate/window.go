package predicate

import (
	"slices"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// Window is a window of a cursor as an engine writes its parts.
type Window struct {
	keyspace.Window
	// Expression is the cursor's, Lower and Upper are its bounds; Lower is "" if
	// there is none.
	Expression, Lower, Upper string
	// Excepted says that a row's key is none of Except, Listed that it is one of
	// Only; "" if those are empty.
	Excepted, Listed string
}

// CheckKeys refuses a window whose keys have another shape than its key.
func CheckKeys(w keyspace.Window) error {
	for _, given := range slices.Concat(w.Except, w.Only) {
		if len(given) != len(w.Key) || len(given) == 0 {
			return fault.New(fault.Bug, codeShape, "a key in a window has %d values for a key of %d columns", len(given), len(w.Key))
		}
	}
	return nil
}

// Conditions are those of a window, none of which a row with a NULL cursor
// meets. The lower bound stands twice where rows at it are left out: an index
// finds the first row by the simple comparison.
func (w Window) Conditions() []string {
	upper := w.Expression + " <= "
	if w.ToExcluded {
		upper = w.Expression + " < "
	}
	all := []string{upper + w.Upper}
	switch {
	case w.From == nil:
	case !w.FromIncluded:
		all = append(all, w.Expression+" > "+w.Lower)
	default:
		all = append(all, w.Expression+" >= "+w.Lower)
		if w.Excepted != "" {
			all = append(all, "("+w.Expression+" > "+w.Lower+" or "+w.Excepted+")")
		}
	}
	switch below := w.Expression + " < " + w.Upper; {
	case w.OnlyAtTo && w.Listed != "":
		all = append(all, "("+below+" or "+w.Listed+")")
	case w.OnlyAtTo:
		all = append(all, below)
	}
	return all
}

// Marks are the columns that are selected in addition, so that the rows on the
// edges of the window are known: the text of their key at the upper bound, or
// mark, anything but NULL, at the lower one. The server decides which they are.
// keyTexts are the expressions of that text.
func (w Window) Marks(keyTexts []string, mark string) []string {
	switch {
	case len(keyTexts) > 0 && !w.ToExcluded:
		var list []string
		for _, text := range keyTexts {
			list = append(list, "case when "+w.Expression+" = "+w.Upper+" then "+text+" end")
		}
		return list
	case len(keyTexts) == 0 && w.From != nil && w.FromIncluded:
		return []string{"case when " + w.Expression + " = " + w.Lower + " then " + mark + " end"}
	}
	return nil
}
