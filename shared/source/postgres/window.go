package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/predicate"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
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

// widest is the type that holds every value which a key of the column's kind may
// have had before its type was changed: a cast to a narrower one would fail.
func (c column) widest() string {
	if c.postgres.BuiltIn && (c.postgres.Name == "int2" || c.postgres.Name == "int4") {
		return "pg_catalog.int8"
	}
	return c.spelled
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
	if c.spelled != second.spelled || c.collation != second.collation {
		return c, fault.New(fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "%s: cursor_column %s is %s and cursor_fallback_column %s is %s: they have to be of one type and collation; nothing was read",
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
	if err := predicate.CheckKeys(*w); err != nil {
		return nil, err
	}
	if w.Bound != "" {
		cursor[0].spelled = w.Bound
	}
	return &window{Window: *w, cursor: cursor[0], key: cursor[1:]}, nil
}

// text is the window as its conditions are written.
func (w *window) text() predicate.Window {
	t := predicate.Window{Window: w.Window, Expression: w.cursor.expression(), Upper: w.cursor.constant(w.To)}
	if w.From != nil {
		t.Lower = w.cursor.constant(*w.From)
	}
	if len(w.Except) > 0 {
		t.Excepted = w.hasKey("not in", w.Except)
	}
	if len(w.Only) > 0 {
		t.Listed = w.hasKey("in", w.Only)
	}
	return t
}

// predicates are the conditions of a window, none for nil.
func (w *window) predicates() []string {
	if w == nil {
		return nil
	}
	return w.text().Conditions()
}

// hasKey compares the key of a row with keys as a set, which the server hashes,
// so that ten thousand of them cost one look-up a row.
func (w *window) hasKey(operator string, keys []keyspace.Key) string {
	var names, aliases, casts, rows []string
	for i, k := range w.key {
		alias := fmt.Sprintf("k%d", i)
		names = append(names, input(k.Name))
		aliases = append(aliases, alias)
		casts = append(casts, "given."+alias+"::"+k.widest())
	}
	for _, key := range keys {
		values := make([]string, len(key))
		for i, text := range key {
			values[i] = sqltext.Postgres.Literal(text) + "::pg_catalog.text"
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	return predicate.Tuple(names) + " " + operator + " (select " + strings.Join(casts, ", ") + " from (values " + strings.Join(rows, ", ") + ") as given(" + strings.Join(aliases, ", ") + "))"
}

// marks are the columns that tell the edges of the window, none for nil.
func (w *window) marks() []string {
	if w == nil {
		return nil
	}
	var keyTexts []string
	for _, k := range w.key {
		keyTexts = append(keyTexts, input(k.Name)+"::pg_catalog.text")
	}
	return w.text().Marks(keyTexts, "''::pg_catalog.text")
}

// Edge implements [source.Reader].
func (r *reader) Edge(rows int) source.Edge {
	if r.current == nil || r.marks == 0 {
		return source.Edge{}
	}
	hidden := r.current.hidden
	return rowkey.Edge(hidden.Columns[len(hidden.Columns)-r.marks:], min(rows, hidden.Rows), r.atTo)
}
