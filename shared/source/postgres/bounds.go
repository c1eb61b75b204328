package postgres

import (
	"context"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// integers are the types whose values can be cut by arithmetic. A float or a
// decimal has values between two integers (PLN-02).
var integers = map[string]bool{"int2": true, "int4": true, "int8": true, "oid": true}

// IntegerBounds implements [source.Source].
func (s *Source) IntegerBounds(ctx context.Context, rel source.Relation, key keyspace.Column) (source.IntegerBounds, error) {
	what := fmt.Sprintf("find the bounds of %s of %s", sqltext.Postgres.Name(key.Name), label(rel))
	rows, err := s.settledQuery(ctx, what, func() (relation, string, error) {
		r, err := s.session.find(ctx, rel)
		if err != nil {
			return r, "", err
		}
		c, err := s.session.columnNamed(ctx, r, key.Name)
		if err != nil {
			return r, "", err
		}
		if !c.postgres.BuiltIn || !integers[c.postgres.Name] {
			return r, "", fault.New(fault.Permanent, "LAPSTRAKE_PLAN_CHUNK_KEY_TYPE", "column %s of %s is %s, and a range of integers would miss the values between them: "+
				"take an integer column, or chunk_by_key for a unique one", sqltext.Postgres.Name(c.Name), r, c.Native)
		}
		return r, boundsStatement(r, c), nil
	})
	if err != nil {
		return source.IntegerBounds{}, err
	}
	found := rows[0]
	b := source.IntegerBounds{Empty: found.null(0), HasNull: found.bool(2)}
	if !b.Empty {
		b.Min, b.Max = found.int(0), found.int(1)
	}
	return b, nil
}

// boundsStatement asks for least, greatest and whether there is a NULL: on a
// table in three parts, so that each can use an index, on a query in one pass.
func boundsStatement(r relation, c column) string {
	k := input(c.Name)
	null := "false"
	switch {
	case c.notNull:
	case r.kind == "q":
		null = "coalesce(pg_catalog.bool_or(" + k + " is null), false)"
	default:
		null = "exists (select from " + r.from() + " where " + k + " is null)"
	}
	return "select pg_catalog.min(" + k + "), pg_catalog.max(" + k + "), " + null + " from " + r.from()
}
