package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
	"github.com/lapstrake/lapstrake/shared/source/shape"
)

var rowVersion = regexp.MustCompile(`^0x[0-9A-F]{16}$`)

// Read implements [source.Source]. ctx bounds the opening only; afterwards the
// context of each Next does. While the caller does not come for the next batch,
// the server waits (OPS-02).
func (s *Source) Read(ctx context.Context, spec source.ReadSpec) (source.Reader, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	if err := s.session.begin(ctx); err != nil {
		return nil, err
	}
	r, err := s.prepare(ctx, spec)
	if err != nil {
		s.session.end(ctx)
		return nil, s.session.explain(ctx, err, "read "+label(spec.Relation))
	}
	s.reading = r
	return r, nil
}

// prepare does everything before the first row, in the transaction whose
// snapshot the rows are read under.
func (s *Source) prepare(ctx context.Context, spec source.ReadSpec) (*reader, error) {
	position, err := s.session.position(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.session.find(ctx, spec.Relation)
	if err != nil {
		return nil, err
	}
	columns, err := s.session.columns(ctx, r)
	if err != nil {
		return nil, err
	}
	if changes := shape.Changes(spec.Columns, described(columns), quoted); changes != "" {
		return nil, drift(r, changes)
	}
	key, err := keyOf(r, spec.Key, columns)
	if err != nil {
		return nil, err
	}
	within, err := windowOf(spec.Window, r, columns)
	if err != nil {
		return nil, err
	}
	rd := newReader(s, r, spec, columns, planKey(key, columns), "rowversion "+position)
	statement, err := rd.statement(spec, key, within)
	if err != nil {
		return nil, err
	}
	return rd, rd.start(ctx, statement)
}

// newReader makes a reader that has not been asked for anything.
func newReader(s *Source, r relation, spec source.ReadSpec, columns []column, plan rowkey.Plan, position string) *reader {
	rd := &reader{
		source: s, relation: r, columns: columns, key: plan, position: position,
		cuttable: plan.Cuttable(spec), spec: spec,
		limit: spec.MaxValueBytes,
		batch: rowbatch.New(spec.Columns),
	}
	rd.batchRows, rd.batchBytes = spec.Batch()
	for _, c := range columns {
		rd.forms = append(rd.forms, formOf(c))
		rd.fixed += rowbatch.FixedSize(c.Type)
	}
	return rd
}

// statement is what the reader reads. Behind the columns come those that it
// selects in addition: the checks of text, the text of a key, and the marks of
// a window.
func (r *reader) statement(spec source.ReadSpec, key []column, within *window) (string, error) {
	var list []string
	for _, c := range r.columns {
		list = append(list, c.selected(spec.MaxValueBytes))
	}
	for i, c := range r.columns {
		if check := c.check(); check != "" {
			r.checks = append(r.checks, i)
			list = append(list, check)
		}
	}
	marks, err := within.marks()
	if err != nil {
		return "", err
	}
	r.marks, r.atTo = len(marks), within != nil && len(within.key) > 0
	hidden := slices.Concat(r.key.Hidden, marks)
	r.hidden = rowbatch.New(slices.Repeat([]rowtype.Column{{Type: rowtype.Type{Kind: rowtype.Text}}}, len(hidden)))
	list = append(list, hidden...)
	r.values = make([]driver.Value, len(list))

	where, err := conditions(spec.Range, key)
	if err != nil {
		return "", err
	}
	predicates, err := within.predicates()
	if err != nil {
		return "", err
	}
	statement := "select " + strings.Join(list, ", ") + " from " + r.relation.from()
	if where = append(where, predicates...); len(where) > 0 {
		statement += " where " + strings.Join(where, " and ")
	}
	if spec.Ordered && len(key) > 0 {
		statement += orderBy(key, "")
	}
	return statement, nil
}

// mostAtOnce is the most bytes that the server has in one value, and so the
// largest number that a substring of one may end at.
const mostAtOnce = 1<<31 - 1

// selected is the column in a select list. Text is converted to Unicode by the
// server, which knows its code pages, and comes as bytes. A value is cut behind
// the limit, so that one that is too large is seen without being sent: a
// character takes at most twice the bytes of UTF-8 in UTF-16.
func (c column) selected(limit int64) string {
	e := input(c.Name)
	switch form := formOf(c); {
	case c.server.Name == "datetime": // its ticks, which the client library rounds to milliseconds
		if form != formUnicode {
			return "convert(binary(8), " + e + ")"
		}
		return c.keyText(e)
	case c.serverText && form == formUnicode:
		return cut(c.keyText(e), 2*limit)
	case form == formHex:
		return cut("convert(varbinary(max), "+e+")", limit)
	case form == formUnicode || form == formUUIDText:
		return c.selectedText(e, limit)
	case form == formBytes && (c.server.Name == "image" || c.server.Length < 0):
		return cut("convert(varbinary(max), "+e+")", limit)
	}
	return e
}

func (c column) selectedText(e string, limit int64) string {
	const inRow = 4000 // characters of an nvarchar that is not max
	n := c.server.Length
	if n <= 0 || n > inRow {
		return cut(sentUnicode("convert(nvarchar(max), "+e+")"), 2*limit)
	}
	if c.codePage != 0 {
		e = fmt.Sprintf("convert(nvarchar(%d), %s)", n, e)
	}
	return fmt.Sprintf("convert(varbinary(%d), %s)", 2*n, e)
}

// cut ends bytes behind a limit, 0 for none.
func cut(expression string, limit int64) string {
	if limit <= 0 {
		return expression
	}
	return fmt.Sprintf("substring(%s, 1, %d)", expression, min(limit+2, mostAtOnce))
}

// wholePages are the code pages of one byte, in which every byte has a
// character of its own; 0 is text that is Unicode or no text.
var wholePages = map[int64]bool{0: true, 437: true, 850: true, 874: true, 1250: true, 1251: true, 1252: true, 1253: true, 1254: true, 1255: true, 1256: true, 1257: true, 1258: true}

// check is an expression that is 0 where the bytes of a text have no character
// in its code page, so that the server would convert them to another one; ""
// where that cannot be.
func (c column) check() string {
	if wholePages[c.codePage] {
		return ""
	}
	e := "convert(varchar(max), " + input(c.Name) + ")"
	stored, again := "convert(varbinary(max), "+e+")", "convert(varbinary(max), convert(varchar(max), convert(nvarchar(max), "+e+")))"
	return "case when datalength(" + again + ") = datalength(" + stored + ") and " + again + " = " + stored + " then 1 else 0 end"
}
