package chunkplan

import (
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Strategies, as source.extraction names them.
const (
	Full    = "full"
	Chunked = "chunked"
	Keyset  = "keyset"
)

// Cuts says what the planner has to ask the source before the tasks can be
// made.
type Cuts string

const (
	NoCuts        Cuts = "none"           // one task
	IntegerBounds Cuts = "integer bounds" // the extent of the key
	SplitPoints   Cuts = "split points"   // Choice.Pieces-1 keys
)

// Facts is what the catalog says of a relation.
type Facts struct {
	// Kind is "table", "partitioned table", "view", "materialized view",
	// "foreign table" or "query".
	Kind    string
	Columns []rowtype.Column
	// Keys are the usable unique keys whose columns are all NOT NULL, in the
	// order in which one is to be preferred (PLN-14).
	Keys []UniqueKey
	// KeyColumns describe the columns that can be cut by, by name.
	KeyColumns map[string]keyspace.Column
	// Consistency and OneSnapshot say what the tasks of a run see: a label, ""
	// for one snapshot a task, and whether all of them see the same.
	Consistency string
	OneSnapshot bool
	// Rows and Bytes are estimates; 0 or less is unknown, since an estimate
	// never proves that a table is empty (PLN-16).
	Rows, Bytes int64
	// Correlation is, by column, how well the order of its values matches the
	// physical order, -1 to 1; absent when unknown.
	Correlation map[string]float64
}

// UniqueKey is a unique key without NULLs.
type UniqueKey struct {
	Name    string
	Primary bool
	Columns []keyspace.Column
}

// Choice is how an export is cut.
type Choice struct {
	Strategy string
	// Key is what ranges are of; empty when there is one task of all rows.
	Key []keyspace.Column
	// Unique is true when no two rows have the same key.
	Unique bool
	// Cursor is what a window is of, nil in modes without one. Identity are the
	// columns of the unique key that tells the rows of one cursor value apart;
	// empty if there is none.
	Cursor   *keyspace.Column
	Identity []keyspace.Column
	// Splittable is true when a task may hand the rest of its range on; then
	// rows are read in key order.
	Splittable bool
	Cuts       Cuts
	// Pieces is how many ranges are wanted by SplitPoints, at least 1.
	Pieces      int
	Diagnostics []exportconfig.Diagnostic

	export exportconfig.Export
	facts  Facts
}

// Choose decides how an export is cut. It refuses, before any row is read, a
// key that is not there, is spelt in another case, or cannot cut without
// losing rows.
func Choose(e exportconfig.Export, f Facts, b Budget) (Choice, error) {
	for name := range e.Columns {
		if _, err := findColumn(e, f, "columns", name); err != nil {
			return Choice{}, err
		}
	}
	c := Choice{Strategy: Full, Cuts: NoCuts, Pieces: 1, export: e, facts: f}
	err := c.choose()
	if err != nil {
		return Choice{}, err
	}
	if c.Pieces > MaxTasks {
		return Choice{}, fault.New(fault.Permanent, CodeTooManyTasks, "export %q: chunks of this size would be %d tasks (%s), at most %d are allowed; nothing was read. Use a larger chunk_size, or chunk_count", e.Name, c.Pieces, c.estimate(), MaxTasks)
	}
	// Without a unique key the end of a group of equal values has to be seen in
	// the rows, which hold no value of a cursor of two columns.
	c.Splittable = len(c.Key) > 0 && b.limited() && (c.Unique || c.Cursor == nil || c.Cursor.Fallback == "")
	if c.Cursor == nil { // the size of a window is not known yet
		if err := b.check(&c); err != nil {
			return Choice{}, err
		}
	}
	if c.Strategy == Full && !c.Splittable {
		c.Key, c.Unique = nil, false // one task of all rows, in no order
	}
	c.diagnose()
	return c, nil
}

func (c *Choice) choose() error {
	switch {
	case c.export.Mode == Full:
		if len(c.facts.Keys) > 0 {
			c.Key, c.Unique = c.facts.Keys[0].Columns, true
		}
		return nil
	case c.export.Mode == exportconfig.Incremental:
		return c.byCursor()
	case c.export.Mode == exportconfig.TimeWindow:
		return c.byTime()
	case c.export.Mode != Chunked:
		return fault.New(fault.Usage, "LAPSTRAKE_PLAN_MODE", "export %q: mode %s is not supported by this version", c.export.Name, c.export.Mode)
	case c.export.ChunkByKey != "":
		return c.byKey()
	case c.export.ChunkColumn != "":
		return c.byColumn()
	}
	c.byItself()
	return nil
}

// byKey cuts by a unique key that the config names by its column: the key of
// that column alone, or else the preferred one that starts with it, whole
// (PLN-12).
func (c *Choice) byKey() error {
	e, f := c.export, c.facts
	column, err := findColumn(e, f, "chunk_by_key", e.ChunkByKey)
	if err != nil {
		return err
	}
	var chosen *UniqueKey
	for i, k := range f.Keys {
		if k.Columns[0].Name != column.Name {
			continue
		}
		if len(k.Columns) == 1 {
			chosen = &f.Keys[i]
			break
		}
		if chosen == nil {
			chosen = &f.Keys[i]
		}
	}
	if chosen == nil {
		return fault.New(fault.Usage, "LAPSTRAKE_PLAN_KEY_NOT_UNIQUE", "export %q: chunk_by_key %s: no unique key without NULLs starts with this column, so rows could be skipped or repeated; nothing was read. Usable: %s", e.Name, column.Name, c.usable())
	}
	c.keyset(*chosen)
	if e.KeysetIncremental {
		return c.continuing(*chosen)
	}
	return nil
}

// byColumn cuts by ranges of an integer column that the config names. It need
// not be unique; rows without a value get a task of their own (PLN-01).
func (c *Choice) byColumn() error {
	e, f := c.export, c.facts
	column, err := findColumn(e, f, "chunk_column", e.ChunkColumn)
	if err != nil {
		return err
	}
	if !isInteger(column.Native) {
		return fault.New(fault.Usage, "LAPSTRAKE_PLAN_KEY_TYPE", "export %q: chunk_column %s is %s: ranges are cut by an integer column, since values between two integers would be in no range; nothing was read. Use chunk_by_key with a unique column, or mode: full", e.Name, column.Name, column.Native)
	}
	c.integers(column)
	leads := false
	for _, k := range f.Keys {
		leads = leads || k.Columns[0].Name == column.Name
		c.Unique = c.Unique || len(k.Columns) == 1 && k.Columns[0].Name == column.Name
	}
	if !leads && f.Kind != "query" {
		c.warn("CHUNK_COLUMN_LEADS_NO_KEY", "no unique key starts with chunk_column %s: unless another index does, every task reads the whole table", column.Name)
	}
	return nil
}

// byItself cuts a table whose config names no key: by the ranges of a single
// integer primary key, by the preferred unique key, or not at all.
func (c *Choice) byItself() {
	keys := c.facts.Keys
	switch {
	case len(keys) == 0:
		c.warn("CHUNKED_WITHOUT_KEY", "the %s has no unique key without NULLs to cut by: it is read as one task", c.facts.Kind)
	case keys[0].Primary && len(keys[0].Columns) == 1 && isInteger(keys[0].Columns[0].Native):
		c.integers(keys[0].Columns[0])
		c.Unique = true
	default:
		c.keyset(keys[0])
	}
}

func (c *Choice) integers(column keyspace.Column) {
	c.Strategy, c.Cuts, c.Key = Chunked, IntegerBounds, []keyspace.Column{column}
	if column.Nullable {
		c.warn("CHUNK_KEY_NULLABLE", "%s may be NULL: such rows are read by a task of their own", column.Name)
	}
}

func (c *Choice) keyset(k UniqueKey) {
	c.Strategy, c.Key, c.Unique = Keyset, k.Columns, true
	c.Cuts, c.Pieces = SplitPoints, keysetPieces(c.export, c.facts)
	if c.Pieces == 1 {
		c.Cuts = NoCuts
	}
}

// usable lists the keys that chunk_by_key could name, for a message.
func (c *Choice) usable() string {
	var keys []string
	for _, k := range c.facts.Keys {
		var names []string
		for _, column := range k.Columns {
			names = append(names, column.Name)
		}
		keys = append(keys, "("+strings.Join(names, ", ")+")")
	}
	if len(keys) == 0 {
		return "none; use chunk_column with an integer column, or mode: full"
	}
	return strings.Join(keys, ", ")
}

func (c *Choice) warn(code, format string, args ...any) {
	c.Diagnostics = append(c.Diagnostics, exportconfig.Diagnostic{Code: code, Message: fmt.Sprintf("export %q: ", c.export.Name) + fmt.Sprintf(format, args...)})
}
