package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// cursors are the types that a position can be of: their values have one total
// order, and a text that is exactly the value under the settings of a session.
// An interval has neither; true and false are no sequence; the order of an enum
// changes with its definition.
var cursors = map[string]bool{
	"int2": true, "int4": true, "int8": true, "oid": true, "numeric": true, "float4": true, "float8": true,
	"date": true, "time": true, "timestamp": true, "timestamptz": true,
	"text": true, "varchar": true, "bpchar": true, "uuid": true, "bytea": true,
}

var ages = map[string]bool{"date": true, "timestamp": true, "timestamptz": true}

// CursorEnd implements [source.Source]. The clock of the server is that of the
// transaction, so everything is decided at one moment under one snapshot.
func (s *Source) CursorEnd(ctx context.Context, rel source.Relation, q source.CursorQuery) (source.CursorEnd, error) {
	var cursor column
	var at place
	what := fmt.Sprintf("find the end of the cursor %s of %s", q.Cursor.Expression(), label(rel))
	rows, err := s.settledQuery(ctx, what, func() (relation, string, error) {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return r, "", err
		}
		columns, err := s.session.resolved(ctx, r)
		if err != nil {
			return r, "", err
		}
		if cursor, err = planned(q.Cursor, r, columns); err != nil {
			return r, "", err
		}
		if !cursor.postgres.BuiltIn || !cursors[cursor.postgres.Name] {
			return r, "", fault.New(fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "column %s of %s is %s, whose values have no exact total order that a position could stand in: take a number, a date or time, text, uuid or bytea; nothing was read",
				sqltext.Postgres.Name(cursor.Name), r, cursor.Native)
		}
		key, err := keyOf(r, q.Key, columns)
		if err != nil {
			return r, "", err
		}
		young, err := s.settling(ctx, q.Settle, r, columns)
		if err != nil {
			return r, "", err
		}
		if at, err = s.session.position(ctx); err != nil {
			return r, "", err
		}
		return r, endStatement(r, cursor, key, young, q), nil
	})
	if err != nil {
		return source.CursorEnd{}, err
	}
	found := rows[0]
	end := source.CursorEnd{Position: at.String(), Found: !found.null(0), Order: -1, Ties: found.int(1), TieBytes: found.int(2), FromTies: found.int(3), FromTieBytes: found.int(4), Nulls: found.int(6)}
	if end.Found {
		end.Value, end.Order = found.text(0), int(found.int(5))
		if err := finite(label(rel), cursor, end.Value); err != nil {
			return source.CursorEnd{}, err
		}
	}
	return end, nil
}

// settling is the condition of a row that is too young to be delivered, "" when
// none is.
func (s *Source) settling(ctx context.Context, settle *source.Settle, r relation, columns []column) (string, error) {
	if settle == nil {
		return "", nil
	}
	age, err := planned(keyspace.Column{Name: settle.Column}, r, columns)
	if err != nil {
		return "", fault.New(fault.Usage, "LAPSTRAKE_PLAN_COLUMN_UNKNOWN", "settle.column names %s, which %s does not have%s; nothing was read", sqltext.Postgres.Name(settle.Column), r, inOtherCase(settle.Column, columns))
	}
	if !age.postgres.BuiltIn || !ages[age.postgres.Name] {
		return "", fault.New(fault.Usage, "LAPSTRAKE_PLAN_SETTLE_TYPE", "settle: column %s of %s is %s, and the age of a row is told by a date or time: name one as settle.column; nothing was read",
			sqltext.Postgres.Name(age.Name), r, age.Native)
	}
	now, err := s.session.now(ctx)
	return fmt.Sprintf("%s >= %s - interval '%d seconds'", input(age.Name), now, int64(settle.After.Seconds())), err
}

// endStatement asks for the value, the rows at it and at the position with what
// their keys take, the comparison of the two, and the rows without a value. Each part can use an
// index on the cursor; the greatest value is found from its end.
func endStatement(r relation, cursor column, key []column, young string, q source.CursorQuery) string {
	c, from := cursor.expression(), "null"
	if q.From != nil {
		from = cursor.constant(*q.From)
	}
	conditions := []string{c + " is not null"}
	if q.Below != nil {
		conditions = append(conditions, c+" < "+cursor.constant(*q.Below))
	}
	with := ""
	if young != "" {
		above := ""
		if q.From != nil {
			above = " and " + c + " > " + from
		}
		with = "young as (select " + c + " as v from " + r.from() + " where " + young + " and " + c + " is not null" + above + " order by " + c + " limit 1),\n     "
		conditions = append(conditions, "("+young+") is not true", "not exists (select from young where young.v <= "+c+")")
	}
	with += "top as (select " + c + " as v from " + r.from() + " where " + strings.Join(conditions, " and ") + " order by " + c + " desc limit 1)"
	const none = "select 0::int8 as n, 0::int8 as bytes"
	ties, late, nulls := none, none, "0"
	if len(key) > 0 {
		var sizes []string
		for _, k := range key {
			sizes = append(sizes, "pg_catalog.octet_length("+input(k.Name)+"::pg_catalog.text)")
		}
		count := "select count(*) as n, coalesce(sum(" + strings.Join(sizes, " + ") + "), 0)::int8 as bytes from " + r.from() + " where " + c + " = "
		ties = count + "(select v from top)"
		if q.From != nil {
			late = count + from
			if w := (window{Window: keyspace.Window{}, key: key}); len(q.Delivered) > 0 {
				late += " and " + w.hasKey("not in", q.Delivered)
			}
		}
	}
	if !cursor.notNull {
		nulls = "(select count(*) from " + r.from() + " where " + c + " is null)"
	}
	order := "1"
	if q.From != nil {
		order = "(select case when v > " + from + " then 1 when v = " + from + " then 0 else -1 end from top)"
	}
	return "with " + with + ",\n     ties as (" + ties + "),\n     late as (" + late + ")\nselect (select v::pg_catalog.text from top), ties.n, ties.bytes, late.n, late.bytes, " + order + ", " + nulls + " from ties, late"
}

// finite refuses a greatest value after which no other can come: every row that
// came later would be behind the cursor.
func finite(what string, c column, value string) error {
	switch c.postgres.Name {
	case "text", "varchar", "bpchar", "bytea":
		return nil
	}
	switch strings.ToLower(value) {
	case "infinity", "-infinity", "nan":
		return fault.New(fault.Refused, "LAPSTRAKE_PLAN_CURSOR_INFINITE", "%s has %s in its cursor %s, and no later row could ever come after it; nothing was read. Correct such rows, or leave them out with a query:",
			what, value, sqltext.Postgres.Name(c.Name))
	}
	return nil
}

// EstimateRows implements [source.Source] by the server's own plan of the read.
func (s *Source) EstimateRows(ctx context.Context, rel source.Relation, w keyspace.Window) (int64, error) {
	if err := s.idle(); err != nil {
		return 0, err
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	err := s.session.transaction(ctx, "estimate the rows of a window of "+label(rel), func() error {
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
		rows, err := s.session.query(ctx, "explain (format json) select from "+r.from()+" where "+strings.Join(in.predicates(), " and "))
		if err != nil {
			return err
		}
		return json.Unmarshal(rows[0][0], &plans)
	})
	if err != nil || len(plans) == 0 {
		return -1, err
	}
	return int64(plans[0].Plan.Rows), nil
}
