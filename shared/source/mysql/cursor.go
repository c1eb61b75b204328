package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// ages are the types that tell how old a row is.
var ages = map[string]bool{"date": true, "datetime": true, "timestamp": true}

// CursorEnd implements [source.Source]. It takes several statements under one
// snapshot, and one moment of the server's clock.
func (s *Source) CursorEnd(ctx context.Context, rel source.Relation, q source.CursorQuery) (source.CursorEnd, error) {
	var end source.CursorEnd
	err := s.transaction(ctx, fmt.Sprintf("find the end of the cursor %s of %s", q.Cursor.Expression(), label(rel)), func() error {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return err
		}
		columns, err := s.session.resolved(ctx, r)
		if err != nil {
			return err
		}
		cursor, err := planned(q.Cursor, r, columns)
		if err != nil {
			return err
		}
		if !cursor.keyable() || cursor.mysql.Name == "uuid" {
			return fault.New(fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "column %s of %s is %s, whose values have no exact total order that a position could stand in: take a number, a date or time, text or bytes; nothing was read",
				quoted(cursor.Name), r, cursor.Native)
		}
		key, err := keyOf(r, q.Key, columns)
		if err != nil {
			return err
		}
		f := finder{session: &s.session, r: r, c: cursor, key: key, q: q}
		if f.young, err = f.settling(ctx, columns); err != nil {
			return err
		}
		end, err = f.end(ctx)
		return err
	})
	return end, err
}

// finder looks for the end of a cursor.
type finder struct {
	session *session
	r       relation
	c       column
	key     []column
	q       source.CursorQuery
	young   string // the condition of a row that is too young, "" when none is
}

// settling is the condition of a row that is too young to be delivered.
func (f finder) settling(ctx context.Context, columns []column) (string, error) {
	s := f.q.Settle
	if s == nil {
		return "", nil
	}
	age, err := planned(keyspace.Column{Name: s.Column}, f.r, columns)
	if err != nil {
		return "", fault.New(fault.Usage, "LAPSTRAKE_PLAN_COLUMN_UNKNOWN", "settle.column names %s, which %s does not have%s; nothing was read", quoted(s.Column), f.r, inOtherCase(s.Column, columns))
	}
	if !ages[age.mysql.Name] {
		return "", fault.New(fault.Usage, "LAPSTRAKE_PLAN_SETTLE_TYPE", "settle: column %s of %s is %s, and the age of a row is told by a date or time: name one as settle.column; nothing was read",
			quoted(age.Name), f.r, age.Native)
	}
	rows, err := f.session.query(ctx, fmt.Sprintf("select cast(utc_timestamp(6) - interval %d second as char)", int64(s.After.Seconds())))
	if err != nil {
		return "", err
	}
	return input(age.Name) + " >= timestamp" + sqltext.MySQL.Literal(rows[0].text(0)), nil
}

// end asks for the value, the rows at it and at the position with what their
// keys take, the comparison of the two, and the rows without a value. Each part
// can use an index on the cursor; the greatest value is found from its end.
func (f finder) end(ctx context.Context) (source.CursorEnd, error) {
	end := source.CursorEnd{Order: -1}
	conditions := []string{f.c.expression() + " is not null"}
	from := ""
	for _, bound := range []struct {
		value    *string
		operator string
	}{{f.q.From, ""}, {f.q.Below, " < "}} {
		if bound.value == nil {
			continue
		}
		constant, err := f.c.constant(*bound.value)
		if err != nil {
			return end, err
		}
		if bound.operator == "" {
			from = constant
		} else {
			conditions = append(conditions, f.c.expression()+bound.operator+constant)
		}
	}
	if f.young != "" {
		youngest := []string{f.c.expression() + " is not null", f.young}
		if from != "" {
			youngest = append(youngest, f.c.expression()+" > "+from)
		}
		first, found, err := f.first(ctx, youngest, "")
		if err != nil {
			return end, err
		}
		conditions = append(conditions, "("+f.young+") is not true")
		if found {
			conditions = append(conditions, f.c.expression()+" < "+first)
		}
	}
	last, found, err := f.first(ctx, conditions, " desc")
	if err != nil {
		return end, err
	}
	if from != "" {
		if end.FromTies, end.FromTieBytes, err = f.ties(ctx, from, f.q.Delivered); err != nil {
			return end, err
		}
	}
	if found {
		if err := f.at(ctx, &end, last, from); err != nil {
			return end, err
		}
	}
	if f.c.notNull {
		return end, nil
	}
	rows, err := f.session.query(ctx, "select count(*) from "+f.r.from()+" where "+f.c.expression()+" is null")
	if err != nil {
		return end, err
	}
	end.Nulls = rows[0].int(0)
	return end, nil
}

// first returns the first value under some conditions as a constant.
func (f finder) first(ctx context.Context, conditions []string, direction string) (constant string, found bool, err error) {
	value := f.c.keyText(f.c.expression())
	rows, err := f.session.query(ctx, "select "+value+" from "+f.r.from()+" where "+strings.Join(conditions, " and ")+orderBy([]column{f.c}, direction)+" limit 1")
	if err != nil || len(rows) == 0 {
		return "", false, err
	}
	constant, err = f.c.constant(rows[0].text(0))
	return constant, true, err
}

// at fills in what there is to say of the last value.
func (f finder) at(ctx context.Context, end *source.CursorEnd, last, from string) error {
	order := "1"
	if from != "" { // a row's own value is compared, so that its collation decides
		order = "case when " + f.c.expression() + " > " + from + " then 1 when " + f.c.expression() + " = " + from + " then 0 else -1 end"
	}
	rows, err := f.session.query(ctx, "select "+f.c.keyText(f.c.expression())+", "+order+" from "+f.r.from()+" where "+f.c.expression()+" = "+last+" limit 1")
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_CURSOR_TEXT", "no row of %s has the cursor that the server gave as its greatest one", f.r)
	}
	end.Found, end.Value, end.Order = true, rows[0].text(0), int(rows[0].int(1))
	end.Ties, end.TieBytes, err = f.ties(ctx, last, nil)
	return err
}

// ties counts the rows at a value, but for those with a delivered key, and what
// their keys take as text. Without a key they are not counted.
func (f finder) ties(ctx context.Context, at string, delivered []keyspace.Key) (n, size int64, err error) {
	if len(f.key) == 0 {
		return 0, 0, nil
	}
	var sizes []string
	for _, k := range f.key {
		sizes = append(sizes, "octet_length("+k.keyText(input(k.Name))+")")
	}
	statement := "select count(*), coalesce(sum(" + strings.Join(sizes, " + ") + "), 0) from " + f.r.from() + " where " + f.c.expression() + " = " + at
	if len(delivered) > 0 {
		without, err := hasKey(f.key, "not in", delivered)
		if err != nil {
			return 0, 0, err
		}
		statement += " and " + without
	}
	rows, err := f.session.query(ctx, statement)
	if err != nil {
		return 0, 0, err
	}
	return rows[0].int(0), rows[0].int(1), nil
}

// EstimateRows implements [source.Source] by the server's own plan of the read.
func (s *Source) EstimateRows(ctx context.Context, rel source.Relation, w keyspace.Window) (int64, error) {
	estimate := int64(-1)
	err := s.transaction(ctx, "estimate the rows of a window of "+label(rel), func() error {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return err
		}
		columns, err := s.session.resolved(ctx, r)
		if err != nil {
			return err
		}
		in, err := windowOf(&w, r, columns)
		if err != nil {
			return err
		}
		predicates, err := in.predicates()
		if err != nil {
			return err
		}
		estimate, err = s.session.estimate(ctx, "select 1 from "+r.from()+" where "+strings.Join(predicates, " and "))
		return err
	})
	return estimate, err
}

// estimate returns how many rows the server expects to look at for a statement
// on one table; -1 is unknown.
func (s *session) estimate(ctx context.Context, statement string) (int64, error) {
	rows, err := s.query(ctx, "explain format = json "+statement)
	if err != nil || len(rows) == 0 {
		return -1, err
	}
	return rowsOfPlan(rows[0].text(0)), nil
}
