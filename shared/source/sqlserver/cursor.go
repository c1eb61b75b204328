package sqlserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// ages are the types that tell how old a row is.
var ages = map[string]bool{"date": true, "smalldatetime": true, "datetime": true, "datetime2": true, "datetimeoffset": true}

// CursorEnd implements [source.Source]. It takes several statements: under
// SNAPSHOT isolation they see the same rows. A rowversion is followed only up to
// the first that a transaction under way may still have: those above it may
// become visible before it does.
func (s *Source) CursorEnd(ctx context.Context, rel source.Relation, q source.CursorQuery) (source.CursorEnd, error) {
	var end source.CursorEnd
	err := s.transaction(ctx, fmt.Sprintf("find the end of the cursor %s of %s", q.Cursor.Expression(), label(rel)), func() error {
		position, err := s.session.position(ctx) // before the snapshot
		if err != nil {
			return err
		}
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
		if !cursor.keyable() || cursor.family() == guidFamily {
			return fault.New(fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "column %s of %s is %s, whose values have no order that a position could stand in: take a number, a date or time, a rowversion, text or bytes; nothing was read",
				quoted(cursor.Name), r, cursor.Native)
		}
		key, err := keyOf(r, q.Key, columns)
		if err != nil {
			return err
		}
		f := finder{session: &s.session, r: r, c: cursor, key: key, q: q}
		if f.young, f.old, err = f.settling(ctx, columns); err != nil {
			return err
		}
		if cursor.server.Name == "timestamp" {
			f.within = append(f.within, cursor.expression()+" < "+position)
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
	within  []string // conditions of every row that is looked at
	// young and old are the conditions of a row that is too young, and of any
	// other; "" when none is.
	young, old string
}

// settling is the condition of a row that is too young to be delivered, and its
// opposite.
func (f finder) settling(ctx context.Context, columns []column) (young, old string, err error) {
	s := f.q.Settle
	if s == nil {
		return "", "", nil
	}
	age, err := planned(keyspace.Column{Name: s.Column}, f.r, columns)
	if err != nil {
		return "", "", fault.New(fault.Usage, "LAPSTRAKE_PLAN_COLUMN_UNKNOWN", "settle.column names %s, which %s does not have%s; nothing was read", quoted(s.Column), f.r, inOtherCase(s.Column, columns))
	}
	if !ages[age.server.Name] {
		return "", "", fault.New(fault.Usage, "LAPSTRAKE_PLAN_SETTLE_TYPE", "settle: column %s of %s is %s, and the age of a row is told by a date or time: name one as settle.column; nothing was read",
			quoted(age.Name), f.r, age.Native)
	}
	bound, utc := boundTime, ""
	if age.server.Name == "datetimeoffset" {
		bound, utc = boundInstant, "+00:00"
	}
	rows, err := f.session.query(ctx, fmt.Sprintf("select convert(nvarchar(40), dateadd(second, -%d, sysutcdatetime()), 126)", int64(s.After.Seconds())))
	if err != nil {
		return "", "", err
	}
	since := convert(bound, rows[0].text(0)+utc, ", 126")
	column := input(age.Name)
	return column + " >= " + since, "(" + column + " is null or " + column + " < " + since + ")", nil
}

// end asks for the value, the rows at it and at the position with what their
// keys take, the comparison of the two, and the rows without a value. Each part
// can use an index on the cursor; the greatest value is found from its end.
func (f finder) end(ctx context.Context) (source.CursorEnd, error) {
	end := source.CursorEnd{Order: -1}
	conditions := append([]string{f.c.expression() + " is not null"}, f.within...)
	from, err := f.bound(f.q.From)
	if err != nil {
		return end, err
	}
	below, err := f.bound(f.q.Below)
	if err != nil {
		return end, err
	}
	if below != "" {
		conditions = append(conditions, f.c.expression()+" < "+below)
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
		conditions = append(conditions, f.old)
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
	if !f.c.notNull {
		end.Nulls, err = f.session.nulls(ctx, f.r, f.c)
	}
	return end, err
}

// bound is a value as a constant, "" for none.
func (f finder) bound(value *string) (string, error) {
	if value == nil {
		return "", nil
	}
	return f.c.constant(*value)
}

// first returns the first value under some conditions as a constant.
func (f finder) first(ctx context.Context, conditions []string, direction string) (constant string, found bool, err error) {
	rows, err := f.session.query(ctx, "select top (1) "+f.c.keyText(f.c.expression())+" from "+f.r.from()+" where "+strings.Join(conditions, " and ")+orderBy([]column{f.c}, direction))
	if err != nil || len(rows) == 0 {
		return "", false, err
	}
	text, err := rows[0].unicode(0)
	if err != nil {
		return "", false, f.unwritable()
	}
	constant, err = f.c.constant(text)
	return constant, true, err
}

func (f finder) unwritable() error {
	return fault.New(fault.Refused, "LAPSTRAKE_SOURCE_VALUE_UNREPRESENTABLE", "the cursor %s of %s has a value with half of a surrogate pair, which no position can hold: correct the row; nothing was read", quoted(f.c.Name), f.r)
}

// at fills in what there is to say of the last value.
func (f finder) at(ctx context.Context, end *source.CursorEnd, last, from string) error {
	order := "1"
	if from != "" { // a row's own value is compared, so that its collation decides
		order = "case when " + f.c.expression() + " > " + from + " then 1 when " + f.c.expression() + " = " + from + " then 0 else -1 end"
	}
	rows, err := f.session.query(ctx, "select top (1) "+f.c.keyText(f.c.expression())+", "+order+" from "+f.r.from()+" where "+f.c.expression()+" = "+last)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		if !f.session.snapshot {
			return fault.New(fault.Retryable, "LAPSTRAKE_SOURCE_CONFLICT", "the row of %s with the greatest cursor was changed while it was looked at: the same look sees it as it is now", f.r)
		}
		return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_CURSOR_TEXT", "no row of %s has the cursor that the server gave as its greatest one", f.r)
	}
	if end.Value, err = rows[0].unicode(0); err != nil {
		return f.unwritable()
	}
	end.Found, end.Order = true, int(rows[0].int(1))
	end.Ties, end.TieBytes, err = f.ties(ctx, last, nil)
	return err
}

// ties counts the rows at a value, but for those with a delivered key, and what
// their keys take as text. Without a key they are not counted.
func (f finder) ties(ctx context.Context, at string, delivered []keyspace.Key) (n, size int64, err error) {
	if len(f.key) == 0 {
		return 0, 0, nil
	}
	statement := "select count_big(*), coalesce(sum(" + sizeOf(f.key) + "), 0) from " + f.r.from() + " where " + f.c.expression() + " = " + at
	if len(delivered) > 0 {
		among, err := hasKey(f.key, delivered)
		if err != nil {
			return 0, 0, err
		}
		statement += " and not " + among
	}
	rows, err := f.session.query(ctx, statement)
	if err != nil {
		return 0, 0, err
	}
	return rows[0].int(0), rows[0].int(1), nil
}

// sizeOf is how many bytes the text of a key has in UTF-8.
func sizeOf(key []column) string {
	sizes := make([]string, len(key))
	for i, k := range key {
		sizes[i] = "convert(bigint, datalength(convert(varchar(max), convert(nvarchar(max), " + input(k.Name) + k.style() + ") collate Latin1_General_100_BIN2_UTF8)))"
	}
	return strings.Join(sizes, " + ")
}
