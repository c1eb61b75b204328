package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// expression is the column's value in a statement, or that of the column that
// it falls back on.
func (c column) expression() string {
	if c.fallback == "" {
		return input(c.Name)
	}
	return "coalesce(" + input(c.Name) + ", " + input(c.fallback) + ")"
}

// constant is a value of the column's type.
func (c column) constant(text string) string {
	return sqltext.Postgres.Literal(text) + "::" + c.spelled
}

// planned finds a planned column among the columns of now, together with the
// one that it falls back on.
func planned(p keyspace.Column, r relation, now []column) (column, error) {
	find := func(name string) (column, error) {
		at := slices.IndexFunc(now, func(c column) bool { return c.Name == name })
		if at < 0 {
			return column{}, drift(r, "key column "+sqltext.Postgres.Name(name)+" is gone")
		}
		return now[at], nil
	}
	c, err := find(p.Name)
	if err != nil || p.Fallback == "" {
		return c, err
	}
	second, err := find(p.Fallback)
	if err != nil {
		return c, err
	}
	if c.spelled != second.spelled {
		return c, fault.New(fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "%s: cursor_column %s is %s and cursor_fallback_column %s is %s: they have to be of one type; nothing was read",
			r, sqltext.Postgres.Name(c.Name), c.spelled, sqltext.Postgres.Name(second.Name), second.spelled)
	}
	c.fallback, c.notNull = second.Name, c.notNull || second.notNull
	return c, nil
}

// window is a keyspace.Window in this relation.
type window struct {
	keyspace.Window
	cursor column
	key    []column
}

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
	if w.Bound != "" {
		cursor[0].spelled = w.Bound
	}
	return &window{Window: *w, cursor: cursor[0], key: cursor[1:]}, nil
}

// predicates are the conditions of a window, none of which a row with a NULL
// cursor meets. The lower bound stands twice where rows at it are left out: an
// index finds the first row by the simple comparison.
func (w *window) predicates() []string {
	if w == nil {
		return nil
	}
	c := w.cursor.expression()
	upper := c + " <= "
	if w.ToExcluded {
		upper = c + " < "
	}
	all := []string{upper + w.cursor.constant(w.To)}
	switch {
	case w.From == nil:
	case !w.FromIncluded:
		all = append(all, c+" > "+w.cursor.constant(*w.From))
	default:
		all = append(all, c+" >= "+w.cursor.constant(*w.From))
		if len(w.Except) > 0 {
			all = append(all, "("+c+" > "+w.cursor.constant(*w.From)+" or "+w.hasKey("not in", w.Except)+")")
		}
	}
	switch below := c + " < " + w.cursor.constant(w.To); {
	case w.OnlyAtTo && len(w.Only) > 0:
		all = append(all, "("+below+" or "+w.hasKey("in", w.Only)+")")
	case w.OnlyAtTo:
		all = append(all, below)
	}
	return all
}

// hasKey compares the key of a row with keys as a set, which the server hashes,
// so that ten thousand of them cost one look-up a row.
func (w *window) hasKey(operator string, keys []keyspace.Key) string {
	var names, aliases, casts, rows []string
	for i, k := range w.key {
		alias := fmt.Sprintf("k%d", i)
		names = append(names, input(k.Name))
		aliases = append(aliases, alias)
		casts = append(casts, "given."+alias+"::"+k.spelled)
	}
	for _, key := range keys {
		values := make([]string, len(key))
		for i, text := range key {
			values[i] = sqltext.Postgres.Literal(text) + "::pg_catalog.text"
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	return tuple(names) + " " + operator + " (select " + strings.Join(casts, ", ") + " from (values " + strings.Join(rows, ", ") + ") as given(" + strings.Join(aliases, ", ") + "))"
}

// marks are the columns that are selected in addition, so that the rows on the
// edges of the window are known: the text of their key at the upper bound, or
// anything but NULL at the lower one. The server decides which they are.
func (w *window) marks() []string {
	switch {
	case w == nil:
		return nil
	case len(w.key) > 0 && !w.ToExcluded:
		var list []string
		for _, k := range w.key {
			list = append(list, "case when "+w.cursor.expression()+" = "+w.cursor.constant(w.To)+" then "+input(k.Name)+"::pg_catalog.text end")
		}
		return list
	case len(w.key) == 0 && w.From != nil && w.FromIncluded:
		return []string{"case when " + w.cursor.expression() + " = " + w.cursor.constant(*w.From) + " then ''::pg_catalog.text end"}
	}
	return nil
}

// Edge implements [source.Reader].
func (r *reader) Edge(rows int) source.Edge {
	var e source.Edge
	if r.current == nil || r.marks == 0 {
		return e
	}
	marks := r.current.hidden.Columns[len(r.current.hidden.Columns)-r.marks:]
	for i := range min(rows, r.current.hidden.Rows) {
		switch {
		case marks[0].IsNull(i):
		case r.atTo:
			e.AtTo = append(e.AtTo, textsOf(marks, i))
		default:
			e.AtFrom++
		}
	}
	return e
}

func textsOf(columns []rowbatch.Vector, row int) keyspace.Key {
	key := make(keyspace.Key, len(columns))
	for i := range columns {
		key[i] = string(columns[i].Slice(row))
	}
	return key
}
