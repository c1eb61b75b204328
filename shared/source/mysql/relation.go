package mysql

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// relation is a table or view as the server holds it, or a query.
type relation struct {
	source.Relation
	kind        string  // as in source.Table
	rows, bytes int64   // the server's estimates, -1 is unknown
	fields      []field // what SELECT * gives
}

// field is a column of an answer.
type field struct {
	name             string
	native           string // the client library's name of the type
	precision, scale int64
}

func quoted(name string) string { return sqltext.MySQL.Name(name) }

// label names a relation in messages.
func label(rel source.Relation) string {
	if rel.Query != "" {
		return "the query"
	}
	return "table " + sqltext.MySQL.Table(rel.Schema, rel.Name)
}

// String names the relation in messages.
func (r relation) String() string {
	if r.Query != "" {
		return "the query"
	}
	return r.kind + " " + sqltext.MySQL.Table(r.Schema, r.Name)
}

const alias = "_lapstrake"

// from is a relation in a FROM clause, under the alias that every column is
// qualified with. A query ends on a line of its own, so that a comment at its
// end cannot swallow what follows (PLN-29).
func from(rel source.Relation) string {
	if rel.Query != "" {
		return "(\n" + rel.Query + "\n) as " + alias
	}
	return sqltext.MySQL.Table(rel.Schema, rel.Name) + " as " + alias
}

func (r relation) from() string { return from(r.Relation) }

// input is a column of the relation itself.
func input(name string) string { return alias + "." + quoted(name) }

// find looks a relation up and holds it: until the transaction ends, nobody can
// truncate, alter or drop what it reads. It is the first statement of a
// transaction that names the relation, before the first that reads rows and so
// takes the snapshot: what is held is what the snapshot shows.
func (s *session) find(ctx context.Context, rel source.Relation) (relation, error) {
	r := relation{Relation: rel, kind: "query", rows: -1, bytes: -1}
	if rel.Query == "" && rel.Schema == "" {
		r.Schema = s.target.database
	}
	var err error
	if r.fields, err = s.describe(ctx, "select * from "+r.from()+" limit 0"); err != nil {
		number, _, answered := answerOf(err)
		if rel.Query == "" && answered && (number == 1146 || number == 1049) {
			return r, s.notFound(ctx, r.Relation)
		}
		return r, err
	}
	if rel.Query != "" {
		return r, nil
	}
	rows, err := s.query(ctx, fmt.Sprintf(`
select table_name, table_type, coalesce(create_options, ''), coalesce(table_rows, -1), coalesce(data_length, -1), @@lower_case_table_names
from information_schema.tables where table_schema = %s and table_name = %s`, sqltext.MySQL.Literal(r.Schema), sqltext.MySQL.Literal(r.Name)))
	if err != nil {
		return r, err
	}
	for _, found := range rows {
		if found.text(0) != r.Name && found.text(5) == "0" {
			continue
		}
		r.rows, r.bytes, r.kind = found.int(3), found.int(4), "table"
		switch {
		case strings.Contains(found.text(1), "VIEW"):
			r.kind, r.rows, r.bytes = "view", -1, -1
		case strings.Contains(found.text(2), "partitioned"):
			r.kind = "partitioned table"
		}
		return r, nil
	}
	return r, s.notFound(ctx, r.Relation)
}

// notFound says which table was probably meant: names are compared as they are
// written (PLN-30).
func (s *session) notFound(ctx context.Context, rel source.Relation) error {
	rows, err := s.query(ctx, fmt.Sprintf(`
select table_schema, table_name from information_schema.tables where lower(table_schema) = lower(%s) and lower(table_name) = lower(%s) order by 1, 2 limit 5`,
		sqltext.MySQL.Literal(rel.Schema), sqltext.MySQL.Literal(rel.Name)))
	if err != nil {
		return err
	}
	var names []string
	for _, r := range rows {
		names = append(names, sqltext.MySQL.Table(r.text(0), r.text(1)))
	}
	advice := "check its database and spelling, and that the source's user has SELECT on it"
	if len(names) > 0 {
		advice = "names are taken as they are written; there is " + strings.Join(names, ", ")
	}
	return fault.New(fault.Permanent, failure.TableMissing, "table %s is not there: %s", sqltext.MySQL.Table(rel.Schema, rel.Name), advice)
}

// describe runs a statement without rows and returns the columns of its answer.
func (s *session) describe(ctx context.Context, statement string) ([]field, error) {
	if !sqltext.Sendable(statement) {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_NUL_BYTE", "a name or query has a NUL byte")
	}
	rows, err := s.conn.(driver.QueryerContext).QueryContext(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	typed := rows.(interface {
		driver.RowsColumnTypeDatabaseTypeName
		driver.RowsColumnTypePrecisionScale
	})
	var fields []field
	for i, name := range slices.Clone(rows.Columns()) {
		f := field{name: name, native: typed.ColumnTypeDatabaseTypeName(i)}
		f.precision, f.scale, _ = typed.ColumnTypePrecisionScale(i)
		fields = append(fields, f)
	}
	return fields, rows.Close()
}
