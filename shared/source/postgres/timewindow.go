package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// TimeWindow implements [source.Source].
func (s *Source) TimeWindow(ctx context.Context, rel source.Relation, key keyspace.Column, unix bool, from, to time.Time) (keyspace.Window, int64, error) {
	w := keyspace.Window{Cursor: key, FromIncluded: true, ToExcluded: true}
	what := fmt.Sprintf("find the window of %s of %s", sqltext.Postgres.Name(key.Name), label(rel))
	rows, err := s.settledQuery(ctx, what, func() (relation, string, error) {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return r, "", err
		}
		columns, err := s.session.resolved(ctx, r)
		if err != nil {
			return r, "", err
		}
		c, err := planned(key, r, columns)
		if err != nil {
			return r, "", err
		}
		low, high, bound, ok := instants(c, unix, from, to)
		if !ok {
			kind := "a date or time (date, timestamp, timestamptz)"
			if unix {
				kind = "seconds since 1970 (int4, int8, numeric)"
			}
			return r, "", fault.New(fault.Usage, "LAPSTRAKE_PLAN_TIME_TYPE", "time_column %s of %s is %s, and time_column_type asks for %s; nothing was read", sqltext.Postgres.Name(c.Name), r, c.Native, kind)
		}
		w.From, w.To, w.Bound = &low, high, bound
		if c.notNull {
			return r, "", nil // there is nothing to count
		}
		return r, "select count(*) from " + r.from() + " where " + c.expression() + " is null", nil
	})
	if err != nil || len(rows) == 0 {
		return w, 0, err
	}
	return w, rows[0].int(0), nil
}

// instants are two times as text of the type that they are compared as. A date
// is compared as the midnight that it starts with. Whole seconds are rounded up:
// n < 7.5 and n < 8 are the same of a whole n.
func instants(c column, unix bool, from, to time.Time) (low, high, bound string, ok bool) {
	if !c.postgres.BuiltIn {
		return "", "", "", false
	}
	text := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") }
	switch name := c.postgres.Name; {
	case !unix && (name == "timestamp" || name == "date"):
		bound = "timestamp without time zone"
	case !unix && name == "timestamptz":
		bound = "timestamp with time zone"
		text = func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") + "+00" }
	case unix && (name == "int4" || name == "int8"):
		bound = "bigint"
		text = func(t time.Time) string {
			return strconv.FormatInt(t.Add(time.Second-1).Unix(), 10)
		}
	case unix && name == "numeric":
		bound = "numeric"
		text = func(t time.Time) string {
			return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
		}
	default:
		return "", "", "", false
	}
	return text(from), text(to), bound, true
}
