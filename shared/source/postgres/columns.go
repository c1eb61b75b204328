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
	"github.com/lapstrake/lapstrake/shared/source/sqltext"
)

// column is a column of a relation with its mapping.
type column struct {
	rowtype.Column
	field
	base     uint32 // OID of the type under its domains
	elem     uint32 // OID of what an array is of
	postgres rowtype.PostgresType
	cast     string
	spelled  string // the type, as bounds are cast to it
}

// key is the column as a chunk key.
func (c column) key() keyspace.Column {
	return keyspace.Column{Name: c.Name, Native: c.spelled, Nullable: !c.notNull}
}

// selected is the column in a select list.
func (c column) selected() string {
	if c.cast == "" {
		return input(c.Name)
	}
	return input(c.Name) + "::pg_catalog." + c.cast
}

// columns reads and maps the columns of a relation. All that cannot be
// delivered is in one error.
func (s *session) columns(ctx context.Context, r relation) ([]column, error) {
	fields, err := s.fields(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := checkFields(r, fields); err != nil {
		return nil, err
	}
	known, err := s.types(ctx, fields)
	if err != nil {
		return nil, err
	}
	columns := make([]column, len(fields))
	var refused []string
	for i, f := range fields {
		base, t := known.resolve(f.typeOID, f.modifier)
		m, err := mapping(t, r.Overrides[f.name])
		if err != nil {
			refused = append(refused, fmt.Sprintf("column %s: %v", sqltext.Postgres.Name(f.name), err))
			continue
		}
		columns[i] = column{
			Column: rowtype.Column{Name: f.name, Type: m.Type, Native: t.Native(), Fidelity: m.Fidelity, TextForm: m.TextForm},
			field:  f, base: base, elem: known[base].elem, postgres: t, cast: m.Cast, spelled: known[base].spelled,
		}
	}
	if len(refused) > 0 {
		return nil, fault.New(fault.Permanent, codeType, "%s has columns that cannot be delivered, nothing was read: %s", r, strings.Join(refused, "; "))
	}
	return columns, nil
}

func mapping(t rowtype.PostgresType, override string) (rowtype.PostgresMapping, error) {
	if override == "" {
		return t.Map()
	}
	to, err := rowtype.ParseOverride(override)
	if err != nil {
		return rowtype.PostgresMapping{}, err
	}
	return t.Override(to)
}

// checkFields refuses what is wrong with the columns whatever their types are.
func checkFields(r relation, fields []field) error {
	if len(fields) == 0 {
		return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_NO_COLUMNS", "%s has no columns", r)
	}
	names := make(map[string]bool, len(fields))
	var hidden []string
	for _, f := range fields {
		if names[f.name] {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_COLUMN_TWICE", "%s has two columns named %s: give one of them another name with AS", r, sqltext.Postgres.Name(f.name))
		}
		if !utf8.ValidString(f.name) {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_COLUMN_NAME", "%s has a column whose name, %q, is not valid UTF-8: give it another name with AS in a query:", r, f.name)
		}
		names[f.name] = true
		if !f.readable {
			hidden = append(hidden, f.name)
		}
	}
	if len(hidden) > 0 {
		return fault.New(fault.Permanent, codePermission, "the source's user may not read %s of %s: grant SELECT on them, or list the others in a query:", sqltext.Postgres.Names(hidden), r)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Overrides)) {
		if !names[name] {
			return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_COLUMN_UNKNOWN", "columns: names %s, which %s does not have%s", sqltext.Postgres.Name(name), r, inOtherCase(name, fields))
		}
	}
	return nil
}

// inOtherCase names the column that is spelled like name but for its case.
func inOtherCase(name string, fields []field) string {
	for _, f := range fields {
		if strings.EqualFold(f.name, name) {
			return "; there is " + sqltext.Postgres.Name(f.name)
		}
	}
	return ""
}

// driftFrom compares the columns with those of a plan.
func driftFrom(planned []rowtype.Column, r relation, now []column) error {
	var changes []string
	left := make(map[string]column, len(now))
	for _, c := range now {
		left[c.Name] = c
	}
	for _, p := range planned {
		c, there := left[p.Name]
		delete(left, p.Name)
		switch {
		case !there:
			changes = append(changes, fmt.Sprintf("column %s is gone", sqltext.Postgres.Name(p.Name)))
		case c.Native != p.Native || c.Type.String() != p.Type.String() || c.TextForm != p.TextForm:
			changes = append(changes, fmt.Sprintf("column %s was %s (%s) and is %s (%s)", sqltext.Postgres.Name(p.Name), p.Native, p.Type, c.Native, c.Type))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		changes = append(changes, fmt.Sprintf("column %s is new", sqltext.Postgres.Name(name)))
	}
	if len(changes) == 0 && !slices.EqualFunc(planned, now, func(p rowtype.Column, c column) bool { return p.Name == c.Name }) {
		changes = append(changes, "the columns have another order")
	}
	if len(changes) == 0 {
		return nil
	}
	return drift(r, strings.Join(changes, "; "))
}

func drift(r relation, changes string) error {
	return fault.New(fault.Drift, codeDrift, "%s is not what the run was planned with: %s. Nothing of the new shape was delivered; start a new run", r, changes)
}
