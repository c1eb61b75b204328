package sqlserver

import (
	"strings"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/predicate"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
)

// window is a keyspace.Window in this relation.
type window struct {
	keyspace.Window
	cursor column
	key    []column
}

// windowOf finds the columns of a window, nil for none.
func windowOf(w *keyspace.Window, r relation, now []column) (*window, error) {
	if w == nil {
		return nil, nil
	}
	cursor, err := keyOf(r, append([]keyspace.Column{w.Cursor}, w.Key...), now)
	if err != nil {
		return nil, err
	}
	if err := predicate.CheckKeys(*w); err != nil {
		return nil, err
	}
	if w.Bound != "" {
		cursor[0].server = typeOf(w.Bound)
	}
	return &window{Window: *w, cursor: cursor[0], key: cursor[1:]}, nil
}

// text is the window as its conditions are written.
func (w *window) text() (t predicate.Window, err error) {
	t = predicate.Window{Window: w.Window, Expression: w.cursor.expression()}
	if t.Upper, err = w.cursor.constant(w.To); err != nil {
		return t, err
	}
	if w.From != nil {
		if t.Lower, err = w.cursor.constant(*w.From); err != nil {
			return t, err
		}
	}
	if len(w.Except) > 0 {
		if t.Excepted, err = hasKey(w.key, w.Except); err != nil {
			return t, err
		}
		t.Excepted = "not " + t.Excepted
	}
	if len(w.Only) > 0 {
		t.Listed, err = hasKey(w.key, w.Only)
	}
	return t, err
}

// predicates are the conditions of a window, none for nil.
func (w *window) predicates() ([]string, error) {
	if w == nil {
		return nil, nil
	}
	t, err := w.text()
	if err != nil {
		return nil, err
	}
	return t.Conditions(), nil
}

// hasKey is true of the rows whose key is one of a list, by the collations of
// its columns.
func hasKey(key []column, keys []keyspace.Key) (string, error) {
	rows := make([]string, len(keys))
	for i, given := range keys {
		parts := make([]string, len(given))
		for j, text := range given {
			value, err := key[j].constant(text)
			if err != nil {
				return "", err
			}
			parts[j] = input(key[j].Name) + " = " + value
		}
		rows[i] = strings.Join(parts, " and ")
	}
	return "(" + strings.Join(rows, " or ") + ")", nil
}

// marks are the columns that tell the edges of the window, none for nil.
func (w *window) marks() ([]string, error) {
	if w == nil {
		return nil, nil
	}
	t, err := w.text()
	if err != nil {
		return nil, err
	}
	var keyTexts []string
	for _, k := range w.key {
		keyTexts = append(keyTexts, k.keyText(input(k.Name)))
	}
	return t.Marks(keyTexts, "0x"), nil
}

// Edge implements [source.Reader].
func (r *reader) Edge(rows int) source.Edge {
	if r.marks == 0 || r.ended != nil && r.batch.Rows == 0 {
		return source.Edge{}
	}
	return rowkey.Edge(r.hidden.Columns[len(r.hidden.Columns)-r.marks:], min(rows, r.hidden.Rows), r.atTo)
}
