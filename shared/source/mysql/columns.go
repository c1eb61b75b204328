package mysql

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
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
	mysql      rowtype.MySQLType
	serverText bool
	notNull    bool
	charset    string // of text; "" for other types and where it is unknown
	collation  string
	octets     int64 // that a value has at most; 0 is unknown

	fallback string // of a cursor: the column that counts where this one is NULL
	bound    string // of a cursor: the type that its bounds are of, "" for its own
}

// key is the column as a chunk key.
func (c column) key() keyspace.Column {
	native := c.mysql.Name
	if c.mysql.Unsigned {
		native += " unsigned"
	}
	return keyspace.Column{Name: c.Name, Native: native, Nullable: !c.notNull, Collation: c.collation}
}

// resolved returns the columns of a relation without mapping them.
func (s *session) resolved(ctx context.Context, r relation) ([]column, error) {
	if r.Query != "" {
		columns := make([]column, len(r.fields))
		for i, f := range r.fields {
			t := queryType(f)
			columns[i] = column{Column: rowtype.Column{Name: f.name, Native: t.Native()}, mysql: t}
		}
		return columns, nil
	}
	rows, err := s.query(ctx, fmt.Sprintf(`
select column_name, data_type, column_type, is_nullable, coalesce(numeric_precision, 0), coalesce(numeric_scale, 0), coalesce(datetime_precision, 0),
       character_set_name, collation_name, coalesce(character_octet_length, 0)
from information_schema.columns where table_schema = %s and table_name = %s order by ordinal_position`,
		sqltext.MySQL.Literal(r.Schema), sqltext.MySQL.Literal(r.Name)))
	if err != nil {
		return nil, err
	}
	known := make(map[string]column, len(rows))
	for _, row := range rows {
		c := column{notNull: row.text(3) == "NO", charset: row.text(7), collation: row.text(8), octets: row.int(9)}
		c.Name = row.text(0)
		c.mysql = tableType(strings.ToLower(row.text(1)), strings.ToLower(row.text(2)), int(row.int(4)), int(row.int(5)), int(row.int(6)))
		known[c.Name] = c
	}
	if err := s.markJSON(ctx, r, known); err != nil {
		return nil, err
	}
	columns := make([]column, len(r.fields))
	for i, f := range r.fields {
		c, there := known[f.name]
		if !there {
			return nil, fault.New(fault.Permanent, failure.Permission, "%s has a column %s that the catalog does not show to the source's user: grant SELECT on the table", r, quoted(f.name))
		}
		c.Native = c.mysql.Native()
		c.notNull = c.notNull && r.kind != "view" // a view only promises it
		columns[i] = c
	}
	return columns, nil
}

// markJSON finds MariaDB's json, a longtext with the check that it is valid.
func (s *session) markJSON(ctx context.Context, r relation, known map[string]column) error {
	if !s.mariaDB {
		return nil
	}
	rows, err := s.query(ctx, fmt.Sprintf("select constraint_name, check_clause from information_schema.check_constraints where constraint_schema = %s and table_name = %s and level = 'Column'",
		sqltext.MySQL.Literal(r.Schema), sqltext.MySQL.Literal(r.Name)))
	if err != nil {
		return err
	}
	for _, row := range rows {
		c, there := known[row.text(0)]
		if there && c.mysql.Name == "longtext" && row.text(1) == "json_valid("+quoted(c.Name)+")" {
			c.mysql.JSON = true
			known[c.Name] = c
		}
	}
	return nil
}

var typeWidth = regexp.MustCompile(`^\w+\((\d+)\)`)

// tableType is a type as information_schema has it. declared is column_type.
func tableType(name, declared string, precision, scale, fraction int) rowtype.MySQLType {
	t := rowtype.MySQLType{Name: name, Unsigned: strings.Contains(declared, " unsigned")}
	switch name {
	case "decimal":
		t.Precision, t.Scale = precision, scale
	case "datetime", "timestamp", "time":
		t.Scale = fraction
	case "tinyint", "bit", "char", "binary":
		if m := typeWidth.FindStringSubmatch(declared); m != nil {
			t.Width, _ = strconv.Atoi(m[1])
		}
	}
	return t
}

// queryType is a type as an answer has it, which does not tell a tinyint(1)
// from a tinyint, nor how many bits a bit has.
func queryType(f field) rowtype.MySQLType {
	name, unsigned := strings.CutPrefix(f.native, "UNSIGNED ")
	t := rowtype.MySQLType{Name: strings.ToLower(name), Unsigned: unsigned}
	switch t.Name {
	case "decimal":
		t.Precision, t.Scale = int(f.precision), int(f.scale)
	case "datetime", "timestamp", "time":
		if f.scale <= 6 {
			t.Scale = int(f.scale)
		}
	}
	return t
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
		m, err := rowtype.Resolve(c.mysql, r.Overrides[c.Name])
		if err != nil {
			refused = append(refused, fmt.Sprintf("column %s: %v", quoted(c.Name), err))
			continue
		}
		c.Type, c.Fidelity, c.TextForm, c.serverText = m.Type, m.Fidelity, m.TextForm, m.ServerText
	}
	if len(refused) > 0 {
		return nil, fault.New(fault.Permanent, failure.Type, "%s has columns that cannot be delivered, nothing was read: %s", r, strings.Join(refused, "; "))
	}
	return columns, nil
}

// checkColumns refuses what is wrong with the columns whatever their types are.
func checkColumns(r relation, columns []column) error {
	names := make(map[string]bool, len(columns))
	for _, c := range columns {
		if names[c.Name] {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_COLUMN_TWICE", "%s has two columns named %s: give one of them another name with AS", r, quoted(c.Name))
		}
		if !utf8.ValidString(c.Name) {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_COLUMN_NAME", "%s has a column whose name, %q, is not valid UTF-8: give it another name with AS in a query:", r, c.Name)
		}
		names[c.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.Overrides)) {
		if !names[name] {
			return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_COLUMN_UNKNOWN", "columns: names %s, which %s does not have%s", quoted(name), r, inOtherCase(name, columns))
		}
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

func inOtherCase(name string, columns []column) string {
	return shape.InOtherCase(name, described(columns), quoted)
}

func drift(r relation, changes string) error {
	return fault.New(fault.Drift, failure.Drift, "%s is not what the run was planned with: %s. Nothing of the new shape was delivered; start a new run", r, changes)
}
