package mysql

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Types that the bounds of a window of time are of.
const (
	boundTime    = "datetime"
	boundDecimal = "decimal"
)

// TimeWindow implements [source.Source]. A datetime is compared as UTC.
func (s *Source) TimeWindow(ctx context.Context, rel source.Relation, key keyspace.Column, unix bool, from, to time.Time) (keyspace.Window, int64, error) {
	w := keyspace.Window{Cursor: key, FromIncluded: true, ToExcluded: true}
	nulls := int64(0)
	err := s.transaction(ctx, fmt.Sprintf("find the window of %s of %s", quoted(key.Name), label(rel)), func() error {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return err
		}
		columns, err := s.session.resolved(ctx, r)
		if err != nil {
			return err
		}
		c, err := planned(key, r, columns)
		if err != nil {
			return err
		}
		text, bound, ok := instants(c, unix)
		if !ok {
			kind := "a date or time (date, datetime, timestamp)"
			if unix {
				kind = "seconds since 1970 (int, bigint, decimal)"
			}
			return fault.New(fault.Usage, "LAPSTRAKE_PLAN_TIME_TYPE", "time_column %s of %s is %s, and time_column_type asks for %s; nothing was read", quoted(c.Name), r, c.Native, kind)
		}
		low := text(from)
		w.From, w.To, w.Bound = &low, text(to), bound
		if c.notNull {
			return nil
		}
		rows, err := s.session.query(ctx, "select count(*) from "+r.from()+" where "+c.expression()+" is null")
		if err == nil {
			nulls = rows[0].int(0)
		}
		return err
	})
	return w, nulls, err
}

// instants says how a time is written for a column, and of which type it is
// then. Whole seconds are rounded up: n < 7.5 and n < 8 are the same of a whole n.
func instants(c column, unix bool) (text func(time.Time) string, bound string, ok bool) {
	switch name := c.mysql.Name; {
	case !unix && ages[name]:
		return func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") }, boundTime, true
	case unix && (name == "int" || name == "bigint"):
		return func(t time.Time) string { return strconv.FormatInt(t.Add(time.Second-1).Unix(), 10) }, "", true
	case unix && name == "decimal":
		return func(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }, boundDecimal, true
	}
	return nil, "", false
}
