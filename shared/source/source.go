// Package source is the seam to the databases. Layer: L2 (execution).
//
// Drivers live below this package and pass sourcetest. A driver delivers a
// value exactly or refuses it by name (reference §4); it never replaces one.
package source

import (
	"cmp"
	"context"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// CodeOverloaded is the code of an Open or a first question that fails because
// the server has no place for another connection: a little later it may have.
const CodeOverloaded fault.Code = "LAPSTRAKE_SOURCE_OVERLOADED"

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

	// CursorEnd looks, in one statement, where a window of a cursor may end. It
	// refuses a column whose values have no exact total order or no text that
	// means the same value again.
	CursorEnd(ctx context.Context, rel Relation, q CursorQuery) (CursorEnd, error)

	// TimeWindow is the window [from, to) of a column that holds a date or time,
	// or seconds since 1970 if unix is set, and how many rows have none. It
	// refuses a column of another type.
	TimeWindow(ctx context.Context, rel Relation, column keyspace.Column, unix bool, from, to time.Time) (w keyspace.Window, nulls int64, err error)

	// EstimateRows returns about how many rows a window has, -1 if unknown.
	EstimateRows(ctx context.Context, rel Relation, w keyspace.Window) (int64, error)

	// SplitPoints returns at most n-1 keys, ascending in the server's order and
	// distinct, that cut the relation, or its rows in the window w unless that
	// is nil, into about n equal ranges. Fewer, also none, is always right: they
	// choose the cuts, never what is read.
	SplitPoints(ctx context.Context, rel Relation, key []keyspace.Column, w *keyspace.Window, n int) ([]keyspace.Key, error)

	// Read opens a reader over one range. The session is in one read-only
	// transaction with one snapshot until the reader is closed, unless the
	// table's Consistency says something else.
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
	// KeyColumns describe every column that can be cut by as a key, for a configured
	// chunk column.
	KeyColumns map[string]keyspace.Column
	// Correlation is, by column, how well the order of its values matches the
	// physical order, -1 to 1; absent when unknown.
	Correlation map[string]float64
	// Kind is "table", "partitioned table", "view", "materialized view",
	// "foreign table", "time-series collection" or "query".
	Kind string
	// Consistency is the label of what the tasks of a run see (architecture
	// §4.2); "" is "per_task", one snapshot a task.
	Consistency string
	// Position is how far the server that described the table had come, for
	// ReadSpec.NotBefore; "" where all tasks are sure to read the same server, or
	// when it is unknown.
	Position string
	// ReadAt is a point in time of now that every task of a run can read at, in
	// the engine's own terms; "" if there is none.
	ReadAt string
}

// UniqueKey is a usable unique key.
type UniqueKey struct {
	Name    string
	Primary bool
	Columns []keyspace.Column
}

// Compare orders keys as Table.Keys has them.
func (k UniqueKey) Compare(other UniqueKey) int {
	if k.Primary != other.Primary {
		if k.Primary {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(len(k.Columns), len(other.Columns)), cmp.Compare(k.Name, other.Name))
}

// IntegerBounds is the extent of an integer key.
type IntegerBounds struct {
	Min, Max int64
	Empty    bool // no row has a value
	HasNull  bool
}

// CursorQuery asks for the greatest value of a cursor.
type CursorQuery struct {
	Cursor keyspace.Column
	// Key tells the rows of one value apart; empty if nothing does.
	Key []keyspace.Column
	// From is the position that the cursor has, nil for none; Delivered are the
	// keys that were delivered at it.
	From      *string
	Delivered []keyspace.Key
	// Below, unless nil, leaves out the values from it on.
	Below *string
	// Settle leaves out rows that are younger than After by the server's clock,
	// and every value from that of the least such row above From on. nil leaves
	// out nothing.
	Settle *Settle
}

// Settle is how old a row has to be. A row without an age is old.
type Settle struct {
	After time.Duration
	// Column has the time of a row, a date or time.
	Column string
}

// CursorEnd is what the rows of a relation say of a cursor.
type CursorEnd struct {
	// Value is the greatest value, as text that the server reads as the same
	// value again. Found is false if no row has one.
	Value string
	Found bool
	// Ties are the rows at Value, and TieBytes what their keys take as text.
	// Without a key they are not counted.
	Ties, TieBytes int64
	// FromTies are the rows at From that are not among Delivered, and
	// FromTieBytes what their keys take; with a key only.
	FromTies, FromTieBytes int64
	// Order is Value compared with From, by the server: -1, 0 or 1. It is 1
	// when there is no From, and -1 when no row has a value.
	Order int
	// Nulls are the rows whose cursor is NULL.
	Nulls int64
	// Position is, as Table.Position is, how far the server had come with all
	// that is said here.
	Position string
}

// ReadSpec is what one task reads.
type ReadSpec struct {
	Relation Relation
	// Columns are those of the plan. A source whose relation has other names
	// or types now fails with drift (PLN-27).
	Columns []rowtype.Column
	Key     []keyspace.Column
	Range   keyspace.Range
	// Window limits the rows of every range; nil does not.
	Window *keyspace.Window
	// ReadAt is that of the plan's Table: the rows are those of this point in
	// time, or the read fails. "" is for one of the task's own.
	ReadAt string
	// NotBefore is how far the server had come that the plan was made on. One
	// that has not, as a replica may, is not read: the error is retryable (PLN-31).
	// "" asks for nothing.
	NotBefore string
	// Ordered asks for rows in ascending key order, so that the task can be
	// split.
	Ordered bool
	// Unique is true when no two rows have the same key.
	Unique bool
	// BatchRows and BatchBytes end a batch; a batch has at least one row. 0 is
	// the usual size.
	BatchRows  int
	BatchBytes int64
	// MaxValueBytes fails the read, naming column and key, at a larger value
	// (WRT-20). 0 is no limit.
	MaxValueBytes int64
}

// The usual size of a batch.
const (
	UsualBatchRows  = 8192
	UsualBatchBytes = 8 << 20
)

// Batch returns what ends a batch of the read.
func (s ReadSpec) Batch() (rows int, bytes int64) {
	rows, bytes = s.BatchRows, s.BatchBytes
	if rows <= 0 {
		rows = UsualBatchRows
	}
	if bytes <= 0 {
		bytes = UsualBatchBytes
	}
	return rows, bytes
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

	// Edge says which of the first rows rows of the last batch lie on an edge of
	// the window.
	Edge(rows int) Edge

	// Position is where the source was read, in the engine's own terms, such
	// as an LSN; "" when unknown.
	Position() string

	// Close ends the transaction. It returns an error only if the rows
	// delivered may be wrong.
	Close(ctx context.Context) error
}

// Edge tells of rows on the edges of a window.
type Edge struct {
	// AtTo are the keys of rows at the window's upper bound, if it is included
	// and the window has a key.
	AtTo []keyspace.Key
	// AtFrom counts the rows at its lower bound, if it is included and the
	// window has no key: an earlier run may have delivered them.
	AtFrom int64
}
