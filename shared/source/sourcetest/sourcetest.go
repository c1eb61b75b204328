// Package sourcetest is the suite that every driver of package source passes.
// Layer: L2 (execution), for tests.
package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Fixture is the database that a driver is tried on.
type Fixture interface {
	// Create makes a table, which is gone after the test.
	Create(t *testing.T, table Table) source.Relation
	// Insert adds rows: int64, string, time.Time, Age or nil for each column.
	Insert(t *testing.T, rel source.Relation, rows [][]any)
	// Retype replaces a column by one of the same name and another type.
	Retype(t *testing.T, rel source.Relation, column string)
	// Settle brings the server's statistics of a table up to date.
	Settle(t *testing.T, rel source.Relation)
	// Address is the server's host:port.
	Address() string
	// Open opens a source, which the test closes, over the address via.
	Open(t *testing.T, via string) source.Source
}

// Table is a table to make. Kinds are Int64, Text and Timestamp, in UTC.
type Table struct {
	Name    string
	Columns []Column
	Primary []string
}

// Column is a column of a Table.
type Column struct {
	Name    string
	Kind    rowtype.Kind
	NotNull bool
}

// Run tries a driver.
func Run(t *testing.T, f Fixture) {
	t.Run("a table is described", func(t *testing.T) { describes(t, f) })
	t.Run("a table that is not there is refused", func(t *testing.T) { missing(t, f) })
	t.Run("a database is told from others", func(t *testing.T) { identity(t, f) })
	t.Run("an empty table has no rows", func(t *testing.T) { empty(t, f) })
	t.Run("ranges deliver each row once", func(t *testing.T) { tiles(t, f) })
	t.Run("a task may be cut where the reader says", func(t *testing.T) { cuts(t, f) })
	t.Run("a cursor has an end", func(t *testing.T) { cursorEnds(t, f) })
	t.Run("young rows hold a cursor back", func(t *testing.T) { settles(t, f) })
	t.Run("windows deliver their rows and tell their edges", func(t *testing.T) { windows(t, f) })
	t.Run("a window of time", func(t *testing.T) { timeWindows(t, f) })
	t.Run("an unordered read cannot be cut", func(t *testing.T) { unordered(t, f) })
	t.Run("a batch ends by rows and by bytes", func(t *testing.T) { batches(t, f) })
	t.Run("a value above the limit is refused", func(t *testing.T) { limit(t, f) })
	t.Run("a read is not before its plan", func(t *testing.T) { notBefore(t, f) })
	t.Run("another shape than the planned one is drift", func(t *testing.T) { drifts(t, f) })
	t.Run("a broken connection is never the end", func(t *testing.T) { breaks(t, f) })
	t.Run("a wait ends with its context", func(t *testing.T) { waits(t, f) })
	t.Run("a reader may be closed early", func(t *testing.T) { closes(t, f) })
}

// RunDocuments tries a driver whose tables have two columns, the primary key and
// a document with the columns of a [Table], and no other key. It is the part of
// [Run] that speaks of the primary key only.
func RunDocuments(t *testing.T, f Fixture) {
	t.Run("a table that is not there is refused", func(t *testing.T) { missing(t, f) })
	t.Run("a database is told from others", func(t *testing.T) { identity(t, f) })
	t.Run("an empty table has no rows", func(t *testing.T) { nothing(t, f) })
	t.Run("ranges deliver each row once", func(t *testing.T) { tilesOf(t, f, "tiles", 40) })
	t.Run("a task may be cut where the reader says", func(t *testing.T) { cutsOf(t, f, "") })
	t.Run("an unordered read cannot be cut", func(t *testing.T) { unordered(t, f) })
	t.Run("a batch ends by rows and by bytes", func(t *testing.T) { batches(t, f) })
	t.Run("a broken connection is never the end", func(t *testing.T) { breaks(t, f) })
	t.Run("a wait ends with its context", func(t *testing.T) { waits(t, f) })
	t.Run("a reader may be closed early", func(t *testing.T) { closes(t, f) })
}

// numbers is a table with a unique key and two columns that have NULLs, in
// different rows: id 1 to n, k = id/3 with every fifth NULL, v some text with
// every seventh NULL.
func numbers(t *testing.T, f Fixture, name string, n int) source.Relation {
	t.Helper()
	rel := f.Create(t, Table{
		Name:    name,
		Columns: []Column{{"id", rowtype.Int64, true}, {"k", rowtype.Int64, false}, {"v", rowtype.Text, false}},
		Primary: []string{"id"},
	})
	var rows [][]any
	for i := 1; i <= n; i++ {
		row := []any{int64(i), int64(i / 3), fmt.Sprintf("value %d", i)}
		if i%5 == 0 {
			row[1] = nil
		}
		if i%7 == 0 {
			row[2] = nil
		}
		rows = append(rows, row)
	}
	f.Insert(t, rel, rows)
	f.Settle(t, rel)
	return rel
}

// open opens a source straight to the server.
func open(t *testing.T, f Fixture) source.Source {
	t.Helper()
	s := f.Open(t, f.Address())
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	return s
}

func describe(t *testing.T, s source.Source, rel source.Relation) source.Table {
	t.Helper()
	table, err := s.Describe(t.Context(), rel)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// spec reads a whole table in the order of key.
func spec(table source.Table, unique bool, key ...string) source.ReadSpec {
	s := source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Ordered: true, Unique: unique}
	for _, name := range key {
		s.Key = append(s.Key, table.KeyColumns[name])
	}
	return s
}

// byKey reads a whole table in the order of its primary key.
func byKey(table source.Table) source.ReadSpec {
	s := spec(table, true)
	s.Key = table.Keys[0].Columns
	return s
}

// read returns every row of a range, each as text, NULL as "∅".
func read(t *testing.T, s source.Source, spec source.ReadSpec) []string {
	t.Helper()
	r, err := s.Read(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := drain(t.Context(), r)
	if err != io.EOF {
		t.Fatalf("after %d rows: %v", len(rows), err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return rows
}

// drain reads until an error.
func drain(ctx context.Context, r source.Reader) (rows []string, err error) {
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return rows, err
		}
		if b.Rows == 0 {
			return rows, errors.New("a batch has no rows")
		}
		rows = append(rows, texts(b, b.Rows)...)
	}
}

// texts prints the first n rows of a batch.
func texts(b *rowbatch.Batch, n int) []string {
	rows := make([]string, n)
	for i := range rows {
		var cells []string
		for c := range b.Columns {
			cells = append(cells, cell(&b.Columns[c], i))
		}
		rows[i] = strings.Join(cells, "|")
	}
	return rows
}

func cell(v *rowbatch.Vector, i int) string {
	switch {
	case v.IsNull(i):
		return "∅"
	case v.Type.Kind == rowtype.Int32:
		return fmt.Sprint(v.I32[i])
	case v.Type.Kind == rowtype.Int64, v.Type.Kind == rowtype.Timestamp:
		return fmt.Sprint(v.I64[i])
	}
	return string(v.Slice(i))
}

// sameRows compares two lists of rows whatever their order.
func sameRows(t interface {
	Helper()
	Fatalf(string, ...any)
}, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Fatalf("%d rows, want %d:\n got %q\nwant %q", len(got), len(want), got, want)
	}
}

func wantFault(t *testing.T, err error, class fault.Class, names ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one of class %s", class)
	}
	if fault.ClassOf(err) != class || fault.CodeOf(err) == "" {
		t.Fatalf("class %s and code %q of %v, want class %s", fault.ClassOf(err), fault.CodeOf(err), err, class)
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Fatalf("%v does not name %s", err, name)
		}
	}
}

func describes(t *testing.T, f Fixture) {
	table := describe(t, open(t, f), numbers(t, f, "described", 10))
	var got []string
	for _, c := range table.Columns {
		got = append(got, c.Name+" "+c.Type.String())
		if c.Native == "" || c.Fidelity == "" {
			t.Errorf("column %s has native type %q and fidelity %q", c.Name, c.Native, c.Fidelity)
		}
	}
	if want := []string{"id int64", "k int64", "v text"}; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
	if len(table.Keys) != 1 || !table.Keys[0].Primary || !slices.Equal(table.Keys[0].Columns, []keyspace.Column{table.KeyColumns["id"]}) {
		t.Errorf("keys %+v, want the primary key on id", table.Keys)
	}
	if table.KeyColumns["id"].Nullable || !table.KeyColumns["k"].Nullable || len(table.KeyColumns) != 3 {
		t.Errorf("key columns %+v, want all three, id alone NOT NULL", table.KeyColumns)
	}
	if table.Kind != "table" {
		t.Errorf("kind %q", table.Kind)
	}
}

// notBefore reads in another session than the one that described the table: what
// one server has said of how far it had come, it has (PLN-31).
func notBefore(t *testing.T, f Fixture) {
	table := describe(t, open(t, f), numbers(t, f, "reached", 10))
	r, err := open(t, f).Read(t.Context(), source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Range: keyspace.Range{All: true}, NotBefore: table.Position})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func missing(t *testing.T, f Fixture) {
	rel := numbers(t, f, "found", 1)
	rel.Name = "FOUND"
	_, err := open(t, f).Describe(t.Context(), rel)
	wantFault(t, err, fault.Permanent, "FOUND", "found")
}

func identity(t *testing.T, f Fixture) {
	first, err := open(t, f).Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := open(t, f).Identity(t.Context())
	if err != nil || first != second || first.Engine == "" || first.Database == "" {
		t.Fatalf("%+v and %+v, %v: one database, two sessions", first, second, err)
	}
}

func empty(t *testing.T, f Fixture) {
	s, table := nothing(t, f)
	b, err := s.IntegerBounds(t.Context(), table.Relation, table.KeyColumns["k"])
	if err != nil || !b.Empty || b.HasNull {
		t.Fatalf("bounds %+v, %v", b, err)
	}
}

// nothing is a table without rows, which has none in any range.
func nothing(t *testing.T, f Fixture) (source.Source, source.Table) {
	rel := numbers(t, f, "nothing", 0)
	s := open(t, f)
	table := describe(t, s, rel)
	points, err := s.SplitPoints(t.Context(), rel, table.Keys[0].Columns, nil, 4)
	if err != nil || len(points) > 0 {
		t.Fatalf("split points %v, %v", points, err)
	}
	for _, r := range []keyspace.Range{{}, {All: true}, {Null: true}} {
		all := byKey(table)
		all.Range = r
		sameRows(t, read(t, s, all), nil)
	}
	return s, table
}
