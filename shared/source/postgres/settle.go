package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

// A transaction takes its snapshot with its first statement, and a table's
// lock with the first statement that names it. A TRUNCATE or a rewriting ALTER
// TABLE that commits between the two leaves a table that this snapshot sees as
// empty: zero rows, and no error. So every read takes its locks first, then
// looks whether one of the locked tables was replaced since the snapshot, and
// begins again if so. The locks last until the transaction ends.

// errMoved says that the transaction has to begin again.
var errMoved error = fault.New(fault.Retryable, failure.Conflict, "a table was truncated or rewritten while the read began")

const movedAttempts = 5

func movedTooOften(what string) error {
	return fault.New(fault.Retryable, failure.Conflict, "%s: the table was truncated or rewritten each of %d times it was about to be read", what, movedAttempts)
}

// hold locks the relation against changes of its shape and compares the shape
// that is now held with the one the catalog showed under the snapshot.
func (s *session) hold(ctx context.Context, r relation, columns []column) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = input(c.Name)
	}
	held, err := s.conn.Prepare(ctx, "", "select "+strings.Join(names, ", ")+" from "+r.from(), nil)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (refused.Code == "42703" || refused.Code == "42P01") {
		return errMoved // the catalog showed this column, or this table, a moment ago
	}
	if err != nil {
		return err
	}
	for i, f := range held.Fields {
		c := columns[i]
		if f.DataTypeOID != c.base || f.TypeModifier != c.postgres.Modifier {
			return errMoved
		}
		if r.kind != "q" && (f.TableOID != r.oid || f.TableAttributeNumber != c.attribute) {
			return errMoved
		}
	}
	return nil
}

// settle makes the server plan the statement, which locks what is below the
// relation (partitions, children, tables of a view), and returns errMoved if
// something that is locked now is not what the snapshot shows.
func (s *session) settle(ctx context.Context, r relation, statement string) error {
	if r.kind != "r" || r.hasChildren {
		if _, err := s.query(ctx, "explain (costs off) "+statement); err != nil {
			return err
		}
	}
	rows, err := s.query(ctx, `
select exists (
  select from pg_catalog.pg_locks l left join pg_catalog.pg_class c on c.oid = l.relation
  where l.pid = pg_catalog.pg_backend_pid() and l.locktype = 'relation' and l.granted
    and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())
    and (c.oid is null or c.relkind in ('r', 'm') and c.relfilenode <> 0 and c.relfilenode <> pg_catalog.pg_relation_filenode(c.oid)))`)
	if err != nil {
		return err
	}
	if rows[0].bool(0) {
		return errMoved
	}
	return nil
}

// settledQuery runs one statement on a relation in a transaction of its own,
// and again if the relation moved under it.
func (s *Source) settledQuery(ctx context.Context, what string, build func() (relation, string, error)) ([]row, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	for range movedAttempts {
		var rows []row
		err := s.session.transaction(ctx, what, func() error {
			r, statement, err := build()
			if err != nil || statement == "" {
				return err
			}
			if rows, err = s.session.query(ctx, statement); err != nil {
				return err
			}
			return s.session.settle(ctx, r, statement)
		})
		if !errors.Is(err, errMoved) {
			return rows, err
		}
	}
	return nil, movedTooOften(what)
}
