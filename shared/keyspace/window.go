package keyspace

import "strings"

// Window limits a run to the rows whose cursor lies in it, whatever ranges its
// tasks have. A row whose cursor is NULL is in no window.
//
// Like those of a range, values are text in the source's own canonical form,
// and only the server compares them.
type Window struct {
	Cursor Column `json:"cursor"`
	// From is the lower bound, nil if there is none. Rows at it belong to the
	// window when FromIncluded is set, but for those whose key is in Except.
	From         *string `json:"from,omitempty"`
	FromIncluded bool    `json:"from_included,omitempty"`
	// To is the upper bound. Rows at it belong to the window unless ToExcluded
	// is set.
	To         string `json:"to"`
	ToExcluded bool   `json:"to_excluded,omitempty"`
	// Bound is the type that From and To are cast to; "" is the cursor's own.
	Bound string `json:"bound,omitempty"`
	// Key tells the rows of one cursor value apart; empty if nothing does.
	Key []Column `json:"key,omitempty"`
	// Except are keys of rows at From that are left out.
	Except []Key `json:"except,omitempty"`
	// Only, with OnlyAtTo, are the keys of the rows at To that belong to the
	// window: no others do.
	Only     []Key `json:"only,omitempty"`
	OnlyAtTo bool  `json:"only_at_to,omitempty"`
}

// Expression names the cursor in messages and manifests.
func (c Column) Expression() string {
	if c.Fallback == "" {
		return c.Name
	}
	return "coalesce(" + c.Name + ", " + c.Fallback + ")"
}

// String prints the window for people, without keys.
func (w Window) String() string {
	var b strings.Builder
	if w.From != nil {
		b.WriteString(*w.From + " <")
		if w.FromIncluded {
			b.WriteString("=")
		}
		b.WriteString(" ")
	}
	b.WriteString(w.Cursor.Expression() + " <")
	if !w.ToExcluded {
		b.WriteString("=")
	}
	return b.String() + " " + w.To
}
