package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// relation is a table or view as the catalog has it, or a query.
type relation struct {
	source.Relation
	oid         uint32
	kind        string // pg_class.relkind, "q" for a query
	hasChildren bool   // partitions, or tables that inherit from it
}

// kinds names the values of pg_class.relkind that can be read.
var kinds = map[string]string{"r": "table", "p": "partitioned table", "v": "view", "m": "materialized view", "f": "foreign table", "q": "query"}

// String names the relation in messages.
func (r relation) String() string {
	if r.kind == "q" {
		return "the query"
	}
	return kinds[r.kind] + " " + sqltext.Postgres.Table(r.Schema, r.Name)
}

// from is the relation in a FROM clause, under the alias that every column is
// qualified with: an unqualified name in ORDER BY would mean the column of the
// result, which may be cast. A query ends on a line of its own, so that a
// comment at its end cannot swallow what follows (PLN-29).
func (r relation) from() string {
	if r.kind == "q" {
		return "(\n" + r.Query + "\n) as " + alias
	}
	return sqltext.Postgres.Table(r.Schema, r.Name) + " as " + alias
}

const alias = "_lapstrake"

// input is a column of the relation itself.
func input(name string) string { return alias + "." + sqltext.Postgres.Name(name) }

// find looks a relation up by its exact name.
func (s *session) find(ctx context.Context, rel source.Relation) (relation, error) {
	if rel.Query != "" {
		return relation{Relation: rel, kind: "q"}, nil
	}
	rows, err := s.query(ctx, `
select c.oid, n.nspname, c.relkind, exists (select from pg_catalog.pg_inherits i where i.inhparent = c.oid),
       pg_catalog.row_security_active(c.oid), pg_catalog.has_schema_privilege(n.oid, 'usage')
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relname = $1::text
  and case when $2::text = '' then pg_catalog.pg_table_is_visible(c.oid) else n.nspname = $2 end`, rel.Name, rel.Schema)
	if err != nil {
		return relation{}, err
	}
	if len(rows) == 0 {
		return relation{}, s.notFound(ctx, rel)
	}
	found := rows[0]
	r := relation{Relation: rel, oid: uint32(found.int(0)), kind: found.text(2), hasChildren: found.bool(3)}
	r.Schema = found.text(1)
	switch {
	case !found.bool(5):
		return r, fault.New(fault.Permanent, failure.Permission, "the source's user has no USAGE on schema %s, so %s cannot be read", sqltext.Postgres.Name(r.Schema), r)
	case found.bool(4):
		return r, fault.New(fault.Permanent, failure.RowSecurity, "%s is not read. %s", r, rowSecurityAdvice)
	}
	return r, nil
}

// notFound says which table was probably meant: names are compared as they are
// written, never folded (PLN-30).
func (s *session) notFound(ctx context.Context, rel source.Relation) error {
	rows, err := s.query(ctx, `
select n.nspname, c.relname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_catalog.lower(c.relname::text) = pg_catalog.lower($1::text)
  and ($2::text = '' or pg_catalog.lower(n.nspname::text) = pg_catalog.lower($2))
order by 1, 2 limit 5`, rel.Name, rel.Schema)
	if err != nil {
		return err
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = sqltext.Postgres.Table(r.text(0), r.text(1))
	}
	advice := "check its schema and spelling"
	if len(names) > 0 {
		advice = "names are taken as they are written; there is " + strings.Join(names, ", ")
	}
	return fault.New(fault.Permanent, failure.TableMissing, "table %s is not in the database, or not on the user's search path: %s", sqltext.Postgres.Table(rel.Schema, rel.Name), advice)
}

// field is a column of a relation before it is mapped.
type field struct {
	name      string
	attribute uint16 // its number in a table
	typeOID   uint32
	modifier  int32
	notNull   bool
	readable  bool
	// settled is true when values that the server takes for equal are equal
	// byte for byte, as far as the collation decides.
	settled   bool
	collation string // "" if there is none, or it is not known
}

// fields returns the columns of a relation, in its order.
func (s *session) fields(ctx context.Context, r relation) ([]field, error) {
	if r.kind == "q" {
		return s.queryFields(ctx, r)
	}
	// A NOT NULL that was added without a check of the rows (PostgreSQL 18) is
	// not one. Tables that inherit may lack it, and a foreign table only
	// promises it. A right that is unknown is one on a column that was dropped
	// since the snapshot, which hold finds out.
	rows, err := s.query(ctx, `
select a.attname, a.attnum, a.atttypid, a.atttypmod,
       a.attnotnull and not exists (
         select from pg_catalog.pg_constraint k
         where k.conrelid = a.attrelid and k.contype = 'n' and not k.convalidated and k.conkey = array[a.attnum]),
       coalesce(pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'select'), true),
       coalesce(c.collisdeterministic, true),
       coalesce(c.collnamespace::pg_catalog.regnamespace::text || '.' || c.collname, '')
from pg_catalog.pg_attribute a left join pg_catalog.pg_collation c on c.oid = a.attcollation
where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped order by a.attnum`, fmt.Sprint(r.oid))
	if err != nil {
		return nil, err
	}
	trusted := r.kind == "p" || r.kind == "r" && !r.hasChildren
	fields := make([]field, len(rows))
	for i, f := range rows {
		fields[i] = field{
			name: f.text(0), attribute: uint16(f.int(1)), typeOID: uint32(f.int(2)), modifier: int32(f.int(3)),
			notNull: trusted && f.bool(4), readable: f.bool(5), settled: f.bool(6), collation: f.text(7),
		}
	}
	return fields, nil
}

// queryFields lets the server describe a query. It refuses, as a prepared
// statement cannot have two, a text that would end the statement and start
// another.
func (s *session) queryFields(ctx context.Context, r relation) ([]field, error) {
	if !sqltext.Sendable(r.Query) {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_NUL_BYTE", "the query has a NUL byte")
	}
	described, err := s.conn.Prepare(ctx, "", "select * from "+r.from()+" limit 0", nil)
	if err != nil {
		return nil, err
	}
	rows, err := s.query(ctx, "select not exists (select from pg_catalog.pg_collation where not collisdeterministic)")
	if err != nil {
		return nil, err
	}
	fields := make([]field, len(described.Fields))
	for i, f := range described.Fields {
		fields[i] = field{name: f.Name, attribute: f.TableAttributeNumber, typeOID: f.DataTypeOID, modifier: f.TypeModifier, readable: true, settled: rows[0].bool(0)}
	}
	return fields, nil
}

// types is a part of pg_type, with all that its members are made of.
type types map[uint32]catalogType

type catalogType struct {
	rowtype.PostgresType
	spelled    string // as it is written in SQL, without a modifier
	base, elem uint32
	parts      []uint32 // what a composite, a range or a multirange is made of
	modifier   int32    // a domain's
	isArray    bool
	castText   bool // somebody made a cast to text, whose text may mean anything
}

// types reads the types of the fields. The type of a multirange is looked for
// by the name of its column, which PostgreSQL 13 lacks.
func (s *session) types(ctx context.Context, fields []field) (types, error) {
	oids := make([]string, len(fields))
	for i, f := range fields {
		oids[i] = fmt.Sprint(f.typeOID)
	}
	rows, err := s.query(ctx, `
with recursive part(whole, oid) as (
  select rngtypid, rngsubtype from pg_catalog.pg_range
  union all
  select (pg_catalog.to_jsonb(r)->>'rngmultitypid')::oid, rngsubtype from pg_catalog.pg_range r
), need(oid) as (
  select pg_catalog.unnest($1::oid[])
  union
  select next.oid from need join pg_catalog.pg_type t on t.oid = need.oid
    cross join lateral (
      values (t.typbasetype), (t.typelem)
      union all select p.oid from part p where p.whole = t.oid
      union all select a.atttypid from pg_catalog.pg_attribute a where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    ) as next(oid) where next.oid <> 0
)
select t.oid, t.typname, t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace, t.typtype, t.typbasetype, t.typelem, t.typtypmod,
       coalesce((select e.typarray = t.oid from pg_catalog.pg_type e where e.oid = t.typelem), false),
       pg_catalog.format_type(t.oid, -1),
       case when t.typtype = 'c'
            then (select pg_catalog.string_agg(a.atttypid::text, ' ' order by a.attnum) from pg_catalog.pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
            else (select p.oid::text from part p where p.whole = t.oid) end,
       t.typnamespace <> 'pg_catalog'::pg_catalog.regnamespace
         and exists (select from pg_catalog.pg_cast c where c.castsource = t.oid and c.casttarget = 'pg_catalog.text'::pg_catalog.regtype and c.castfunc <> 0)
from need join pg_catalog.pg_type t on t.oid = need.oid`, "{"+strings.Join(oids, ",")+"}")
	if err != nil {
		return nil, err
	}
	known := make(types, len(rows))
	for _, r := range rows {
		t := catalogType{
			PostgresType: rowtype.PostgresType{Name: r.text(1), BuiltIn: r.bool(2), Class: r.text(3)[0]},
			base:         uint32(r.int(4)), elem: uint32(r.int(5)), modifier: int32(r.int(6)), isArray: r.bool(7), spelled: r.text(8), castText: r.bool(10),
		}
		for _, part := range strings.Fields(r.text(9)) {
			oid, err := strconv.ParseUint(part, 10, 32)
			if err != nil {
				return nil, err
			}
			t.parts = append(t.parts, uint32(oid))
		}
		known[uint32(r.int(0))] = t
	}
	return known, nil
}

// resolve follows domains to the type under them, whose modifier is the
// innermost domain's, arrays to their elements, and composites and ranges to
// their parts.
func (known types) resolve(oid uint32, modifier int32) (base uint32, t rowtype.PostgresType) {
	for known[oid].Class == 'd' {
		oid, modifier = known[oid].base, known[oid].modifier
	}
	found := known[oid]
	t = found.PostgresType
	t.Modifier = modifier
	if found.isArray {
		_, elem := known.resolve(found.elem, modifier)
		t.Elem = &elem
	}
	for _, oid := range found.parts {
		_, part := known.resolve(oid, -1)
		t.Parts = append(t.Parts, part)
	}
	return oid, t
}
