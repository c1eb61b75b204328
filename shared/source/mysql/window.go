package mysql

import (
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
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
	for _, given := range slices.Concat(w.Except, w.Only) {
		if len(given) != len(w.Key) || len(given) == 0 {
			return nil, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", "a key in a window has %d values for a key of %d columns", len(given), len(w.Key))
		}
	}
	cursor[0].bound = w.Bound
	return &window{Window: *w, cursor: cursor[0], key: cursor[1:]}, nil
}

// predicates are the conditions of a window, none of which a row with a NULL
// cursor meets. The lower bound stands twice where rows at it are left out: an
// index finds the first row by the simple comparison.
func (w *window) predicates() ([]string, error) {
	if w == nil {
		return nil, nil
	}
	c := w.cursor.expression()
	to, err := w.cursor.constant(w.To)
	if err != nil {
		return nil, err
	}
	upper := c + " <= " + to
	if w.ToExcluded {
		upper = c + " < " + to
	}
	all := []string{upper}
	if w.From != nil {
		from, err := w.cursor.constant(*w.From)
		if err != nil {
			return nil, err
		}
		switch {
		case !w.FromIncluded:
			all = append(all, c+" > "+from)
		default:
			all = append(all, c+" >= "+from)
			if len(w.Except) > 0 {
				except, err := hasKey(w.key, "not in", w.Except)
				if err != nil {
					return nil, err
				}
				all = append(all, "("+c+" > "+from+" or "+except+")")
			}
		}
	}
	switch below := c + " < " + to; {
	case w.OnlyAtTo && len(w.Only) > 0:
		only, err := hasKey(w.key, "in", w.Only)
		if err != nil {
			return nil, err
		}
		all = append(all, "("+below+" or "+only+")")
	case w.OnlyAtTo:
		all = append(all, below)
	}
	return all, nil
}

// hasKey compares the key of a row with a list of keys, by the collations of
// its columns.
func hasKey(key []column, operator string, keys []keyspace.Key) (string, error) {
	var names []string
	for _, k := range key {
		names = append(names, input(k.Name))
	}
	rows := make([]string, len(keys))
	for i, given := range keys {
		values := make([]string, len(given))
		for j, text := range given {
			var err error
			if values[j], err = key[j].constant(text); err != nil {
				return "", err
			}
		}
		rows[i] = tuple(values)
	}
	return tuple(names) + " " + operator + " (" + strings.Join(rows, ", ") + ")", nil
}

func tuple(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// marks are the columns that are selected in addition, so that the rows on the
// edges of the window are known: the text of their key at the upper bound, or
// anything but NULL at the lower one. The server decides which they are.
func (w *window) marks() ([]string, error) {
	switch {
	case w == nil:
		return nil, nil
	case len(w.key) > 0 && !w.ToExcluded:
		to, err := w.cursor.constant(w.To)
		var list []string
		for _, k := range w.key {
			list = append(list, "case when "+w.cursor.expression()+" = "+to+" then "+k.keyText(input(k.Name))+" end")
		}
		return list, err
	case len(w.key) == 0 && w.From != nil && w.FromIncluded:
		from, err := w.cursor.constant(*w.From)
		return []string{"case when " + w.cursor.expression() + " = " + from + " then '' end"}, err
	}
	return nil, nil
}

// Edge implements [source.Reader].
func (r *reader) Edge(rows int) source.Edge {
	var e source.Edge
	if r.marks == 0 || r.ended != nil && r.batch.Rows == 0 {
		return e
	}
	marks := r.hidden.Columns[len(r.hidden.Columns)-r.marks:]
	for i := range min(rows, r.hidden.Rows) {
		switch {
		case marks[0].IsNull(i):
		case r.atTo:
			key := make(keyspace.Key, len(marks))
			for j := range marks {
				key[j] = string(marks[j].Slice(i))
			}
			e.AtTo = append(e.AtTo, key)
		default:
			e.AtFrom++
		}
	}
	return e
}
