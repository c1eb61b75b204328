package sqlserver

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
	boundTime    = "datetime2(6)"
	boundInstant = "datetimeoffset(6)"
	boundDecimal = "decimal(38,6)"
)

// TimeWindow implements [source.Source]. A time without an offset is compared as
// UTC.
func (s *Source) TimeWindow(ctx context.Context, rel source.Relation, key keyspace.Column, unix bool, from, to time.Time) (keyspace.Window, int64, error) {
	w := keyspace.Window{Cursor: key, FromIncluded: true, ToExcluded: true}
	nulls := int64(0)
	err := s.inspect(ctx, "find the window of "+quoted(key.Name), rel, func(r relation, columns []column) error {
		c, err := planned(key, r, columns)
		if err != nil {
			return err
		}
		text, bound, ok := instants(c, unix)
		if !ok {
			kind := "a date or time (date, smalldatetime, datetime, datetime2, datetimeoffset)"
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
		nulls, err = s.session.nulls(ctx, r, c)
		return err
	})
	return w, nulls, err
}

// nulls counts the rows without a value.
func (s *session) nulls(ctx context.Context, r relation, c column) (int64, error) {
	rows, err := s.query(ctx, "select count_big(*) from "+r.from()+" where "+c.expression()+" is null")
	if err != nil {
		return 0, err
	}
	return rows[0].int(0), nil
}

// instants says how a time is written for a column, and of which type it is
// then. Whole seconds are rounded up: n < 7.5 and n < 8 are the same of a whole n.
func instants(c column, unix bool) (text func(time.Time) string, bound string, ok bool) {
	const layout = "2006-01-02T15:04:05.999999"
	switch name := c.server.Name; {
	case !unix && name == "datetimeoffset":
		return func(t time.Time) string { return t.UTC().Format(layout + "-07:00") }, boundInstant, true
	case !unix && ages[name]:
		return func(t time.Time) string { return t.UTC().Format(layout) }, boundTime, true
	case unix && (name == "int" || name == "bigint"):
		return func(t time.Time) string { return strconv.FormatInt(t.Add(time.Second-1).Unix(), 10) }, "", true
	case unix && (name == "decimal" || name == "numeric"):
		return func(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }, boundDecimal, true
	}
	return nil, "", false
}
