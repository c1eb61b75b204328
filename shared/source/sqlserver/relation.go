package sqlserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// relation is a table or view as the server holds it, or a query.
type relation struct {
	source.Relation
	kind        string // as in source.Table
	rows, bytes int64  // the server's counts, -1 is unknown
}

func quoted(name string) string  { return sqltext.SQLServer.Name(name) }
func literal(text string) string { return sqltext.SQLServer.Literal(text) }
func (r relation) from() string  { return from(r.Relation) }
func (r relation) object() string {
	return "object_id(" + literal(sqltext.SQLServer.Table(r.Schema, r.Name)) + ")"
}

// label names a relation in messages.
func label(rel source.Relation) string {
	if rel.Query != "" {
		return "the query"
	}
	return "table " + sqltext.SQLServer.Table(rel.Schema, rel.Name)
}

// String names the relation in messages.
func (r relation) String() string {
	if r.Query != "" {
		return "the query"
	}
	return r.kind + " " + sqltext.SQLServer.Table(r.Schema, r.Name)
}

const alias = "_lapstrake"

// from is a relation in a FROM clause, under the alias that every column is
// qualified with. A query ends on a line of its own, so that a comment at its
// end cannot swallow what follows (PLN-29).
func from(rel source.Relation) string {
	if rel.Query != "" {
		return "(\n" + rel.Query + "\n) as " + alias
	}
	return sqltext.SQLServer.Table(rel.Schema, rel.Name) + " as " + alias
}

// input is a column of the relation itself.
func input(name string) string { return alias + "." + quoted(name) }

// asWritten compares a name as it is written, whatever the collation of the
// database makes of cases and accents (PLN-30).
const asWritten = " collate Latin1_General_BIN2"

// find looks a relation up.
func (s *session) find(ctx context.Context, rel source.Relation) (relation, error) {
	r := relation{Relation: rel, kind: "query", rows: -1, bytes: -1}
	if rel.Query != "" {
		return r, nil
	}
	if r.Schema == "" {
		r.Schema = s.schema
	}
	rows, err := s.query(ctx, "select o.type from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where s.name = "+
		literal(r.Schema)+asWritten+" and o.name = "+literal(r.Name)+asWritten+" and o.type in ('U', 'V')")
	if err != nil {
		return r, err
	}
	if len(rows) == 0 {
		return r, s.notFound(ctx, r.Relation)
	}
	r.kind = "view"
	if strings.TrimSpace(rows[0].text(0)) == "U" {
		r.kind = "table"
		err = s.sizes(ctx, &r)
	}
	return r, err
}

// sizes are how large the server takes a table to be.
func (s *session) sizes(ctx context.Context, r *relation) error {
	rows, err := s.query(ctx, "select coalesce(sum(p.rows), -1), count_big(*) from sys.partitions as p where p.object_id = "+r.object()+" and p.index_id in (0, 1)")
	if err != nil {
		return err
	}
	if r.rows = rows[0].int(0); rows[0].int(1) > 1 {
		r.kind = "partitioned table"
	}
	rows, err = s.query(ctx, "select coalesce(sum(a.used_pages), -1) from sys.allocation_units as a join sys.partitions as p on p.partition_id = a.container_id where p.object_id = "+r.object()+" and p.index_id in (0, 1)")
	if err == nil && rows[0].int(0) >= 0 {
		const page = 8192
		r.bytes = rows[0].int(0) * page
	}
	return err
}

// notFound says which table was probably meant.
func (s *session) notFound(ctx context.Context, rel source.Relation) error {
	rows, err := s.query(ctx, "select top (5) s.name, o.name from sys.objects as o join sys.schemas as s on s.schema_id = o.schema_id where lower(s.name) = lower("+
		literal(rel.Schema)+") and lower(o.name) = lower("+literal(rel.Name)+") and o.type in ('U', 'V') order by s.name, o.name")
	if err != nil {
		return err
	}
	var names []string
	for _, r := range rows {
		names = append(names, sqltext.SQLServer.Table(r.text(0), r.text(1)))
	}
	advice := "check its schema and spelling, and that the source's user has SELECT on it"
	if len(names) > 0 {
		advice = "names are taken as they are written; there is " + strings.Join(names, ", ")
	}
	return fault.New(fault.Permanent, failure.TableMissing, "table %s is not there: %s", sqltext.SQLServer.Table(rel.Schema, rel.Name), advice)
}

// guard refuses a table of which the server would hide rows or change values
// without a word: by a security policy, a mask, or encryption that only clients
// undo.
func (s *session) guard(ctx context.Context, r relation) error {
	if r.Query != "" {
		return nil
	}
	rows, err := s.query(ctx, "select count_big(*) from sys.security_predicates as p join sys.security_policies as s on s.object_id = p.object_id where p.target_object_id = "+
		r.object()+" and p.predicate_type = 0 and s.is_enabled = 1")
	if err != nil {
		return err
	}
	if rows[0].int(0) > 0 {
		return fault.New(fault.Permanent, failure.RowSecurity, "%s has a security policy that hides rows from some users, and nothing says whether it hides any from this one: nothing was read. "+
			"Read it by a query:, with a user to whom its predicate shows every row", r)
	}
	rows, err = s.query(ctx, fmt.Sprintf("select c.name, case when c.encryption_type is not null then 1 else 0 end from sys.columns as c where c.object_id = %s and (c.encryption_type is not null or c.is_masked = 1"+
		" and coalesce(has_perms_by_name(db_name(), N'DATABASE', N'UNMASK'), 0) = 0 and coalesce(has_perms_by_name(%s, N'OBJECT', N'UNMASK'), 0) = 0) order by c.column_id",
		r.object(), literal(sqltext.SQLServer.Table(r.Schema, r.Name))))
	if err != nil || len(rows) == 0 {
		return err
	}
	var masked, encrypted []string
	for _, found := range rows {
		if found.int(1) == 1 {
			encrypted = append(encrypted, quoted(found.text(0)))
		} else {
			masked = append(masked, quoted(found.text(0)))
		}
	}
	if len(masked) > 0 {
		return fault.New(fault.Permanent, failure.Permission, "%s: the server masks the values of %s for this user: nothing was read. Grant UNMASK, or leave them out with a query:", r, strings.Join(masked, ", "))
	}
	return fault.New(fault.Permanent, failure.Type, "%s: %s is encrypted by its clients, and its values cannot be read: nothing was read. Leave it out with a query:", r, strings.Join(encrypted, ", "))
}
