// Package source is the seam to the databases. Layer: L2 (execution).
//
// Drivers live below this package and pass sourcetest. A driver delivers a
// value exactly or refuses it by name (reference §4); it never replaces one.
package source

import (
	"context"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Opener opens the source of an export. References in the config are resolved
// here, at the last moment: no caller ever holds a password.
type Opener interface {
	Open(ctx context.Context, cfg exportconfig.Source) (Source, error)
}

// OpenerFunc is a function as an Opener.
type OpenerFunc func(ctx context.Context, cfg exportconfig.Source) (Source, error)

// Open calls f.
func (f OpenerFunc) Open(ctx context.Context, cfg exportconfig.Source) (Source, error) {
	return f(ctx, cfg)
}

// Source is one session with a database, used by one goroutine at a time.
type Source interface {
	// Identity tells this database from any other (CUR-08).
	Identity(ctx context.Context) (contract.SourceIdentity, error)

	// Describe reads the catalog: columns with their types, candidate keys and
	// size estimates. It refuses, before any row is read, a relation that is
	// not there, a column without a mapping (all of them in one error), and a
	// column that may not be read.
	Describe(ctx context.Context, rel Relation) (Table, error)

	// IntegerBounds returns the least and greatest value of an integer key
	// column, and whether rows with NULL in it exist. empty is true when no
	// row has a value.
	IntegerBounds(ctx context.Context, rel Relation, key keyspace.Column) (b IntegerBounds, err error)

	// SplitPoints returns at most n-1 keys, ascending in the server's order and
	// distinct, that cut the relation into about n equal ranges. Fewer, also
	// none, is always right: they choose the cuts, never what is read.
	SplitPoints(ctx context.Context, rel Relation, key []keyspace.Column, n int) ([]keyspace.Key, error)

	// Read opens a reader over one range. The session is in one read-only
	// transaction with one snapshot until the reader is closed.
	Read(ctx context.Context, spec ReadSpec) (Reader, error)

	// Close ends the session.
	Close(ctx context.Context) error
}

// Relation is a table or a query.
type Relation struct {
	// Schema and Name are a table's; Schema is "" for the search path.
	Schema, Name string
	// Query is the text of a configured query, without a final semicolon; then
	// Schema and Name are empty.
	Query string
	// Overrides map column names to types of reference §4.6.
	Overrides map[string]string
}

// Table is what Describe returns.
type Table struct {
	Relation Relation
	Columns  []rowtype.Column
	// Keys are the usable unique keys whose columns are all NOT NULL: the
	// primary key first, then the others by number of columns, then by name,
	// so that the same one is chosen every time (PLN-14).
	Keys []UniqueKey
	// Rows and Bytes are the server's estimates; -1 is unknown, not empty
	// (PLN-16).
	Rows, Bytes int64
	// KeyColumns describe every column by name as a key, for a configured
	// chunk column.
	KeyColumns map[string]keyspace.Column
	// Correlation is, by column, how well the order of its values matches the
	// physical order, -1 to 1; absent when unknown.
	Correlation map[string]float64
	// Kind is "table", "partitioned table", "view", "materialized view",
	// "foreign table" or "query".
	Kind string
}

// UniqueKey is a usable unique key.
type UniqueKey struct {
	Name    string
	Primary bool
	Columns []keyspace.Column
}

// IntegerBounds is the extent of an integer key.
type IntegerBounds struct {
	Min, Max int64
	Empty    bool // no row has a value
	HasNull  bool
}

// ReadSpec is what one task reads.
type ReadSpec struct {
	Relation Relation
	// Columns are those of the plan. A source whose relation has other names
	// or types now fails with drift (PLN-27).
	Columns []rowtype.Column
	Key     []keyspace.Column
	Range   keyspace.Range
	// Ordered asks for rows in ascending key order, so that the task can be
	// split.
	Ordered bool
	// Unique is true when no two rows have the same key.
	Unique bool
	// BatchRows and BatchBytes end a batch; a batch has at least one row.
	BatchRows  int
	BatchBytes int64
	// MaxValueBytes fails the read, naming column and key, at a larger value
	// (WRT-20). 0 is no limit.
	MaxValueBytes int64
}

// Reader returns the rows of one range.
type Reader interface {
	// Next returns the next batch, or io.EOF after the last one. The batch is
	// valid until the following call. After any other error the rows so far
	// are not the whole range and must not be used (OPS-01).
	Next(ctx context.Context) (*rowbatch.Batch, error)

	// Cut says where the range may be split after the last batch, when the
	// read is Ordered: the first rows rows of that batch, and all before them,
	// are exactly the rows of the range with a key up to and including at. 0
	// rows means that the batch is one group of equal keys whose end is not
	// known yet: read on.
	Cut() (rows int, at keyspace.Key)

	// Position is where the source was read, in the engine's own terms, such
	// as an LSN; "" when unknown.
	Position() string

	// Close ends the transaction. It returns an error only if the rows
	// delivered may be wrong.
	Close(ctx context.Context) error
}
