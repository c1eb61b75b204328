// Package standin is a database in memory that answers the statements of package
// sqlserver, and some more T-SQL, by parsing and running them: a stand-in for
// SQL Server where none can be had. It knows the catalog, transactions under
// SNAPSHOT isolation, three-valued logic, the order of a uniqueidentifier and
// the padding of text and bytes; text is compared by code point. What the real
// server does otherwise, no test that uses it can see. Layer: L2 (execution),
// for tests.
package standin

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// Database is one database. Its settings are made before it is served.
type Database struct {
	Name string
	// Snapshot allows SNAPSHOT isolation; Versions makes READ COMMITTED read row
	// versions.
	Snapshot, Versions bool
	// Hidden are object names, as schema.name, of which a security policy hides
	// rows; Masked and Encrypted are columns, as schema.name.column.
	Hidden, Masked, Encrypted map[string]bool
	// Now is what the server's clock shows; nil is a fixed time.
	Now func() time.Time
	// Heard, unless nil, gets every batch. It may answer with an error.
	Heard func(batch string) error
	// Forgets makes sessions lose their settings, as a proxy does; Ends is the
	// beginning of the batches behind which a transaction is gone.
	Forgets bool
	Ends    string

	mutex   sync.Mutex
	tables  []*table
	version uint64
}

// Column is a column of a table.
type Column struct {
	Name      string
	Type      tdsfake.Type
	NotNull   bool
	Collation string
}

// table is a table; its rows are never changed, only replaced.
type table struct {
	schema, name string
	columns      []Column
	primary      []string
	rows         [][]any
}

// DefaultCollation is that of text columns that name none.
const DefaultCollation = "Latin1_General_100_BIN2"

// Create makes a table, in the place of one of the same name.
func (d *Database) Create(schema, name string, columns []Column, primary ...string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	columns = slices.Clone(columns)
	for i := range columns {
		if c := &columns[i]; isText(c.Type) && c.Collation == "" {
			c.Collation = DefaultCollation
		}
	}
	d.drop(schema, name)
	d.tables = append(d.tables, &table{schema: schema, name: name, columns: columns, primary: primary})
}

// Drop takes a table away, if it is there.
func (d *Database) Drop(schema, name string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.drop(schema, name)
}

func (d *Database) drop(schema, name string) {
	d.tables = slices.DeleteFunc(slices.Clone(d.tables), func(t *table) bool { return t.schema == schema && t.name == name })
}

// Insert adds rows. Values are nil, bool, int64, float64, *big.Rat, time.Time,
// [16]byte, string or []byte; the latter also for Unicode text that no string
// can hold. A rowversion is given by the database.
func (d *Database) Insert(schema, name string, rows ...[]any) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	t := d.find(schema, name)
	all := slices.Clone(t.rows)
	for _, r := range rows {
		if len(r) != len(t.columns) {
			panic(fmt.Sprintf("a row of %d values for %d columns of %s", len(r), len(t.columns), name))
		}
		r = slices.Clone(r)
		for i, c := range t.columns {
			r[i] = d.stored(c.Type, r[i])
		}
		all = append(all, r)
	}
	t.rows = all
}

// Retype replaces a column by an int that is NULL in every row, at the end.
func (d *Database) Retype(schema, name, column string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	old := d.find(schema, name)
	at := slices.IndexFunc(old.columns, func(c Column) bool { return c.Name == column })
	t := *old
	t.columns = append(slices.Delete(slices.Clone(old.columns), at, at+1), Column{Name: column, Type: tdsfake.Type{Name: "int"}})
	t.rows = nil
	for _, r := range old.rows {
		t.rows = append(t.rows, append(slices.Delete(slices.Clone(r), at, at+1), nil))
	}
	d.tables[slices.Index(d.tables, old)] = &t
}

// Clock is what the server's clock shows.
func (d *Database) Clock() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Date(2026, 11, 30, 12, 0, 0, 123456700, time.UTC)
}

// stored is a value as a column of a type keeps it.
func (d *Database) stored(t tdsfake.Type, v any) any {
	switch {
	case t.Name == "timestamp":
		d.version++
		return binaryOf(d.version)
	case v == nil:
		return nil
	case t.Name == "char" || t.Name == "nchar":
		if s, ok := v.(string); ok && t.Length > len([]rune(s)) {
			return s + strings.Repeat(" ", t.Length-len([]rune(s)))
		}
	case t.Name == "datetime":
		if at, ok := v.(time.Time); ok {
			return roundToTicks(at)
		}
	case t.Name == "datetime2" || t.Name == "datetimeoffset" || t.Name == "time":
		if at, ok := v.(time.Time); ok {
			unit := time.Second
			for range t.Scale {
				unit /= 10
			}
			return at.Add(-time.Duration(at.Nanosecond()) % unit)
		}
	}
	return v
}

func (d *Database) find(schema, name string) *table {
	at := slices.IndexFunc(d.tables, func(t *table) bool { return t.schema == schema && t.name == name })
	if at < 0 {
		return nil
	}
	return d.tables[at]
}

func isText(t tdsfake.Type) bool {
	switch t.Name {
	case "char", "varchar", "nchar", "nvarchar", "text", "ntext":
		return true
	}
	return false
}

// declared is a type as the catalog writes it.
func declared(t tdsfake.Type) string {
	switch t.Name {
	case "decimal", "numeric":
		return fmt.Sprintf("%s(%d,%d)", t.Name, t.Precision, t.Scale)
	case "datetime2", "datetimeoffset", "time":
		return fmt.Sprintf("%s(%d)", t.Name, t.Scale)
	case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
		if t.Length < 0 {
			return t.Name + "(max)"
		}
		return fmt.Sprintf("%s(%d)", t.Name, t.Length)
	}
	return t.Name
}
