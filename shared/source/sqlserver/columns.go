package sqlserver

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/shape"
)

// column is a column of a relation with its mapping.
type column struct {
	rowtype.Column
	server     rowtype.SQLServerType
	serverText bool
	notNull    bool
	collation  string // of text
	codePage   int64  // of text that is not Unicode; 0 for other types

	fallback string // of a cursor: the column that counts where this one is NULL
}

// key is the column as a chunk key.
func (c column) key() keyspace.Column {
	return keyspace.Column{Name: c.Name, Native: c.server.Native(), Nullable: !c.notNull, Collation: c.collation}
}

// collationName is what a collation's name may look like in a statement.
var collationName = regexp.MustCompile(`^[A-Za-z0-9_]*$`)

// resolved returns the columns of a relation without mapping them. A query's may
// all be NULL: what the server concludes of it is not relied on.
func (s *session) resolved(ctx context.Context, r relation) ([]column, error) {
	rows, err := s.query(ctx, "select name, coalesce(system_type_name, user_type_name), is_nullable, collation_name, convert(int, collationproperty(collation_name, 'CodePage')), error_number, error_message"+
		" from sys.dm_exec_describe_first_result_set("+literal("select * from "+r.from())+", null, 0) where is_hidden = 0 or error_number is not null order by column_ordinal")
	if err != nil {
		return nil, err
	}
	columns := make([]column, len(rows))
	for i, found := range rows {
		if !found.null(5) {
			return nil, s.answered("describe "+r.String(), int32(found.int(5)), found.text(6))
		}
		c := column{server: typeOf(found.text(1)), collation: found.text(3)}
		nullable, _ := found[2].(bool)
		c.notNull = !nullable && r.Query == ""
		if c.Name = found.text(0); c.Name == "" {
			return nil, fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_COLUMN_NAME", "column %d of %s has no name: give it one with AS", i+1, r)
		}
		if !collationName.MatchString(c.collation) {
			return nil, fault.New(fault.Permanent, failure.Type, "column %s of %s has a collation with a name that is none", quoted(c.Name), r)
		}
		if name := c.server.Name; name == "char" || name == "varchar" || name == "text" {
			c.codePage = found.int(4)
		}
		c.Native = c.server.Native()
		columns[i] = c
	}
	return columns, nil
}

var declaredType = regexp.MustCompile(`^(\w+)(?:\((\w+)(?:,\s*(\d+))?\))?$`)

// typeOf reads a type as the server declares it, such as decimal(10,2) or
// varchar(max).
func typeOf(declared string) rowtype.SQLServerType {
	m := declaredType.FindStringSubmatch(strings.ToLower(declared))
	if m == nil {
		return rowtype.SQLServerType{Name: strings.ToLower(declared)}
	}
	t := rowtype.SQLServerType{Name: m[1]}
	first, _ := strconv.Atoi(m[2])
	switch t.Name {
	case "decimal", "numeric":
		t.Precision = first
		t.Scale, _ = strconv.Atoi(m[3])
	case "datetime2", "datetimeoffset", "time":
		if t.Scale = first; m[2] == "" {
			t.Scale = 7
		}
	case "rowversion":
		t.Name = "timestamp"
	default:
		if t.Length = first; m[2] == "max" {
			t.Length = -1
		}
	}
	return t
}

// declared is the type in a statement.
func (c column) declared() string {
	switch t := c.server; t.Name {
	case "timestamp":
		return "binary(8)"
	case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
		if t.Length > 0 {
			return fmt.Sprintf("%s(%d)", t.Name, t.Length)
		}
		return t.Name + "(max)"
	}
	return c.server.Native()
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
		m, err := rowtype.Resolve(c.server, r.Overrides[c.Name])
		if err != nil {
			refused = append(refused, fmt.Sprintf("column %s: %v", quoted(c.Name), err))
			continue
		}
		c.Type, c.Fidelity, c.TextForm, c.serverText = m.Type, m.Fidelity, m.TextForm, m.ServerText
	}
	if len(refused) > 0 {
		return nil, fault.New(fault.Permanent, failure.Type, "%s has columns that cannot be delivered, nothing was read: %s", r, strings.Join(refused, "; "))
	}
	return columns, s.guard(ctx, r)
}

// checkColumns refuses what is wrong with the columns whatever their types are.
func checkColumns(r relation, columns []column) error {
	names := make(map[string]bool, len(columns))
	for _, c := range columns {
		if names[c.Name] {
			return fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_COLUMN_TWICE", "%s has two columns named %s: give one of them another name with AS", r, quoted(c.Name))
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
