package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
	"github.com/lapstrake/lapstrake/shared/source/shape"
)

// Read implements [source.Source]. ctx bounds the opening only; afterwards the
// context of each Next does. While the caller does not come for the next batch,
// the server waits (OPS-02), up to net_write_timeout of the session.
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
	rd := newReader(s, r, spec, columns, planKey(key, columns), position)
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

// selected is the column in a select list. A value is cut one byte or character
// behind the limit, so that one that is too large is seen without being sent.
func (c column) selected(limit int64) string {
	e := input(c.Name)
	switch {
	case c.serverText:
		return "cast(" + e + " as char)"
	case c.charset == "utf8mb3" || c.charset == "utf8":
		e = "cast(" + e + " as binary)" // the same bytes, without a conversion that would replace broken ones
	}
	if family := c.family(); limit > 0 && (family == textFamily || family == bytesFamily || c.mysql.Name == "json") && (c.octets == 0 || c.octets > limit) && c.mysql.Name != "uuid" {
		e = fmt.Sprintf("left(%s, %d)", e, limit+1)
	}
	return e
}

// plainCharsets are those whose text comes as it is stored: byte for byte, or,
// for latin1, by a conversion in which every byte has a character.
var plainCharsets = map[string]bool{"": true, "utf8mb4": true, "utf8mb3": true, "utf8": true, "latin1": true, "binary": true}

// check is an expression that is 0 where the server would send a question mark
// for a character that it cannot convert, "" where that cannot be.
func (c column) check() string {
	if plainCharsets[c.charset] || c.mysql.Name == "enum" || c.mysql.Name == "set" {
		return ""
	}
	e := input(c.Name)
	return "cast(convert(convert(" + e + " using utf8mb4) using " + c.charset + ") as binary) = cast(" + e + " as binary)"
}

// position is the server's global transaction ids just before the snapshot of
// the transaction: what is behind them may or may not be in the rows. "" if the
// server has none.
func (s *session) position(ctx context.Context) (string, error) {
	variable := "gtid_executed"
	if s.mariaDB {
		variable = "gtid_binlog_pos"
	}
	rows, err := s.query(ctx, "show global variables like '"+variable+"'")
	if err != nil || len(rows) == 0 || rows[0].text(1) == "" {
		return "", err
	}
	return "gtid " + strings.ReplaceAll(rows[0].text(1), "\n", ""), nil
}
