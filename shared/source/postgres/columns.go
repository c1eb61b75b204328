package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/shape"
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// column is a column of a relation with its mapping.
type column struct {
	rowtype.Column
	field
	base     uint32 // OID of the type under its domains
	elem     uint32 // OID of what an array is of
	postgres rowtype.PostgresType
	casts    []string
	spelled  string // the type, as bounds are cast to it
	castText bool   // the server's text is of somebody's own making
	fallback string // of a cursor: the column that counts where this one is NULL
}

// key is the column as a chunk key.
func (c column) key() keyspace.Column {
	return keyspace.Column{Name: c.Name, Native: c.spelled, Nullable: !c.notNull, Collation: c.collation}
}

// selected is the column in a select list.
func (c column) selected() string {
	expression := input(c.Name)
	for _, cast := range c.casts {
		expression += "::pg_catalog." + cast
	}
	return expression
}

// sent is the type that the server turns the values into at last; "" if it
// sends them as they are.
func (c column) sent() string {
	if len(c.casts) == 0 {
		return ""
	}
	return c.casts[len(c.casts)-1]
}

// isOwnText reports whether the delivered text is what the server reads as the
// same value again.
func (c column) isOwnText() bool { return len(c.casts) == 1 && c.casts[0] == "text" }

// resolved reads the columns of a relation without mapping them.
func (s *session) resolved(ctx context.Context, r relation) ([]column, error) {
	fields, err := s.fields(ctx, r)
	if err != nil {
		return nil, err
	}
	known, err := s.types(ctx, fields)
	if err != nil {
		return nil, err
	}
	columns := make([]column, len(fields))
	for i, f := range fields {
		base, t := known.resolve(f.typeOID, f.modifier)
		columns[i] = column{
			Column: rowtype.Column{Name: f.name, Native: t.Native()},
			field:  f, base: base, elem: known[base].elem, postgres: t, spelled: known[base].spelled, castText: known[base].castText,
		}
	}
	return columns, nil
}

// columns reads and maps the columns of a relation. All that cannot be
// delivered is in one error.
func (s *session) columns(ctx context.Context, r relation) ([]column, error) {
	columns, err := s.resolved(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := checkColumns(r, columns); err != nil {
		return nil, err
	}
	var refused []string
	for i := range columns {
		c := &columns[i]
		m, err := rowtype.Resolve(c.postgres, r.Overrides[c.Name])
		if err != nil {
			refused = append(refused, fmt.Sprintf("column %s: %v", sqltext.Postgres.Name(c.Name), err))
			continue
		}
		c.Type, c.Fidelity, c.TextForm, c.casts = m.Type, m.Fidelity, m.TextForm, m.Casts
	}
	if len(refused) > 0 {
		return nil, fault.New(fault.Permanent, failure.Type, "%s has columns that cannot be delivered, nothing was read: %s", r, strings.Join(refused, "; "))
	}
	return columns, nil
}

// columnNamed finds one column of a relation, whatever the others are.
func (s *session) columnNamed(ctx context.Context, r relation, name string) (column, error) {
	columns, err := s.resolved(ctx, r)
	if err != nil {
		return column{}, err
	}
	at := slices.IndexFunc(columns, func(c column) bool { return c.Name == name })
	if at < 0 {
		return column{}, fault.New(fault.Permanent, failure.ColumnMissing, "%s has no column %s%s", r, sqltext.Postgres.Name(name), inOtherCase(name, columns))
	}
	return columns[at], nil
}

// checkColumns refuses what is wrong with the columns whatever their types are.
func checkColumns(r relation, columns []column) error {
	if len(columns) == 0 {
		return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_NO_COLUMNS", "%s has no columns", r)
	}
	names := make(map[string]bool, len(columns))
	var hidden []string
	for _, c := range columns {
		if names[c.Name] {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_COLUMN_TWICE", "%s has two columns named %s: give one of them another name with AS", r, sqltext.Postgres.Name(c.Name))
		}
		if !utf8.ValidString(c.Name) {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_COLUMN_NAME", "%s has a column whose name, %q, is not valid UTF-8: give it another name with AS in a query:", r, c.Name)
		}
		names[c.Name] = true
		if !c.readable {
			hidden = append(hidden, c.Name)
		}
	}
	if len(hidden) > 0 {
		return fault.New(fault.Permanent, failure.Permission, "the source's user may not read %s of %s: grant SELECT on them, or list the others in a query:", sqltext.Postgres.Names(hidden), r)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Overrides)) {
		if !names[name] {
			return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_COLUMN_UNKNOWN", "columns: names %s, which %s does not have%s", sqltext.Postgres.Name(name), r, inOtherCase(name, columns))
		}
	}
	return nil
}

// inOtherCase names the column that is spelled like name but for its case.
func inOtherCase(name string, columns []column) string {
	return shape.InOtherCase(name, described(columns), sqltext.Postgres.Name)
}

// driftFrom compares the columns with those of a plan.
func driftFrom(planned []rowtype.Column, r relation, now []column) error {
	if changes := shape.Changes(planned, described(now), sqltext.Postgres.Name); changes != "" {
		return drift(r, changes)
	}
	return nil
}

func described(columns []column) []rowtype.Column {
	list := make([]rowtype.Column, len(columns))
	for i, c := range columns {
		list[i] = c.Column
	}
	return list
}

func drift(r relation, changes string) error {
	return fault.New(fault.Drift, failure.Drift, "%s is not what the run was planned with: %s. Nothing of the new shape was delivered; start a new run", r, changes)
}
