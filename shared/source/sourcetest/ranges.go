package sourcetest

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"pgregory.net/rapid"
)

// tiles reads a table range by range, cut by the driver's own split points,
// and once more as a whole.
func tiles(t *testing.T, f Fixture) {
	rel := numbers(t, f, "tiles", 40)
	pairs := f.Create(t, Table{
		Name:    "pairs",
		Columns: []Column{{"a", rowtype.Int64, true}, {"b", rowtype.Text, true}, {"n", rowtype.Int64, false}},
		Primary: []string{"a", "b"},
	})
	var rows [][]any
	for i := range 30 {
		rows = append(rows, []any{int64(i % 3), fmt.Sprintf("b'%d", i), int64(i)})
	}
	f.Insert(t, pairs, rows)
	f.Settle(t, pairs)
	s := open(t, f)
	for _, tc := range []struct {
		name   string
		rel    source.Relation
		unique bool
		key    []string
	}{
		{"a unique key", rel, true, []string{"id"}},
		{"a key that repeats and has NULLs", rel, false, []string{"k"}},
		{"a key of two columns", pairs, true, []string{"a", "b"}},
		{"a key of two columns that may be NULL", rel, false, []string{"k", "v"}},
		{"a key of text", rel, false, []string{"v"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tile(t, s, spec(describe(t, s, tc.rel), tc.unique, tc.key...))
		})
	}
}

// tilesOf is tiles for the primary key of a table of n rows.
func tilesOf(t *testing.T, f Fixture, name string, n int) {
	s := open(t, f)
	table := describe(t, s, numbers(t, f, name, n))
	if rows := tile(t, s, byKey(table)); len(rows) != n {
		t.Fatalf("%d rows, want %d", len(rows), n)
	}
}

// tile reads a table whole, which it returns, and range by range.
func tile(t *testing.T, s source.Source, whole source.ReadSpec) []string {
	t.Helper()
	whole.Range.All = true
	want := read(t, s, whole)
	for _, n := range []int{1, 2, 7, 100} {
		points, err := s.SplitPoints(t.Context(), whole.Relation, whole.Key, nil, n)
		if err != nil || len(points) > max(n-1, 0) {
			t.Fatalf("%d points for %d ranges, %v", len(points), n, err)
		}
		for _, size := range []int{1, 2, 3, 1000} {
			var got []string
			for _, r := range append(between(points), keyspace.Range{Null: true}) {
				part := whole
				part.Range, part.BatchRows = r, size
				got = append(got, read(t, s, part)...)
			}
			sameRows(t, got, want)
		}
	}
	return want
}

// between is the ranges between split points, open at both ends.
func between(points []keyspace.Key) []keyspace.Range {
	var ranges []keyspace.Range
	var after keyspace.Key
	for _, p := range points {
		ranges = append(ranges, keyspace.Range{After: after, UpTo: p})
		after = p
	}
	return append(ranges, keyspace.Range{After: after})
}

// cuts splits tasks at random, the way a task out of time does, over random
// keys: whatever is cut where, each row comes once.
func cuts(t *testing.T, f Fixture) {
	for name, key := range map[string]string{"unique": "", "not unique": "k"} {
		t.Run(name, func(t *testing.T) { cutsOf(t, f, key) })
	}
}

// cutsOf is cuts for one key, which repeats, or for the primary one if it is "".
func cutsOf(t *testing.T, f Fixture, key string) {
	s := open(t, f)
	tables := 0
	rapid.Check(t, func(rt *rapid.T) {
		tables++
		rel := f.Create(t, Table{
			Name:    fmt.Sprintf("cuts_%s%d", key, tables),
			Columns: []Column{{"id", rowtype.Int64, true}, {"k", rowtype.Int64, false}, {"v", rowtype.Text, false}},
			Primary: []string{"id"},
		})
		var rows [][]any
		for i := range rapid.IntRange(0, 25).Draw(rt, "rows") {
			rows = append(rows, []any{int64(i), int64(rapid.IntRange(-2, 3).Draw(rt, "k")), nil})
		}
		f.Insert(t, rel, rows)
		table, err := s.Describe(t.Context(), rel)
		if err != nil {
			rt.Fatal(err)
		}
		whole := byKey(table)
		if key != "" {
			whole = spec(table, false, key)
		}
		c := cutter{t: t, rt: rt, source: s, spec: whole}
		got := c.task(keyspace.Range{}, 0)
		if err := keyspace.Tiles(keyspace.Range{}, c.done); err != nil {
			rt.Fatal(err)
		}
		sameRows(rt, got, read(t, s, whole))
	})
}

type cutter struct {
	t      *testing.T
	rt     *rapid.T
	source source.Source
	spec   source.ReadSpec
	done   []keyspace.Range
}

// task reads a range, may cut it, and then does the rest as a task of its own.
func (c *cutter) task(r keyspace.Range, depth int) (rows []string) {
	spec := c.spec
	spec.Range, spec.BatchRows = r, rapid.IntRange(1, 4).Draw(c.rt, "batch")
	reader, err := c.source.Read(c.t.Context(), spec)
	if err != nil {
		c.rt.Fatal(err)
	}
	defer reader.Close(c.t.Context())
	for batches := rapid.IntRange(1, 6).Draw(c.rt, "batches before a cut"); ; batches-- {
		b, err := reader.Next(c.t.Context())
		if err == io.EOF {
			c.done = append(c.done, r)
			return rows
		}
		if err != nil {
			c.rt.Fatal(err)
		}
		n, at := reader.Cut()
		if n > b.Rows || (n == 0) != (at == nil) {
			c.rt.Fatalf("a cut after %d of %d rows at %v", n, b.Rows, at)
		}
		if batches > 0 || n == 0 {
			rows = append(rows, texts(b, b.Rows)...)
			continue
		}
		rows = append(rows, texts(b, n)...)
		done, rest, err := r.CutAt(at)
		if err != nil {
			c.rt.Fatal(err)
		}
		c.done = append(c.done, done)
		if err := reader.Close(c.t.Context()); err != nil {
			c.rt.Fatal(err)
		}
		return append(rows, c.task(rest, depth+1)...)
	}
}

func unordered(t *testing.T, f Fixture) {
	s := open(t, f)
	table := describe(t, s, numbers(t, f, "unordered", 9))
	for _, change := range []func(*source.ReadSpec){
		func(s *source.ReadSpec) { s.Ordered = false },
		func(s *source.ReadSpec) { s.Range.All = true },
		func(s *source.ReadSpec) { s.Key, s.Range.All = nil, true },
	} {
		sp := byKey(table)
		sp.BatchRows = 2
		change(&sp)
		r, err := s.Read(t.Context(), sp)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, at := r.Cut(); n != 0 || at != nil {
			t.Errorf("a read with %+v is cut after %d rows at %v", sp.Range, n, at)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func batches(t *testing.T, f Fixture) {
	s := open(t, f)
	table := describe(t, s, numbers(t, f, "batches", 20))
	sizes := func(rows int, bytes int64) (sizes []int) {
		sp := byKey(table)
		sp.BatchRows, sp.BatchBytes = rows, bytes
		r, err := s.Read(t.Context(), sp)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close(t.Context())
		for {
			b, err := r.Next(t.Context())
			if err == io.EOF {
				return sizes
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Columns {
				if b.Columns[i].Len != b.Rows {
					t.Fatalf("column %d has %d of %d rows", i, b.Columns[i].Len, b.Rows)
				}
			}
			sizes = append(sizes, b.Rows)
		}
	}
	if got := sizes(8, 0); !slices.Equal(got, []int{8, 8, 4}) {
		t.Errorf("batches of at most 8 rows: %v", got)
	}
	if got := sizes(0, 1); len(got) != 20 {
		t.Errorf("batches of at most one byte: %v, want one row each", got)
	}
	if got := sizes(0, 0); len(got) != 1 {
		t.Errorf("batches by default: %v", got)
	}
}

func limit(t *testing.T, f Fixture) {
	rel := f.Create(t, Table{Name: "limits", Columns: []Column{{"id", rowtype.Int64, true}, {"wide", rowtype.Text, false}}, Primary: []string{"id"}})
	wide := make([]byte, 5000)
	for i := range wide {
		wide[i] = 'x'
	}
	f.Insert(t, rel, [][]any{{int64(1), "narrow"}, {int64(2), string(wide)}})
	s := open(t, f)
	sp := spec(describe(t, s, rel), true, "id")
	sp.MaxValueBytes = 5000
	if rows := read(t, s, sp); len(rows) != 2 {
		t.Fatalf("%d rows with a value at the limit", len(rows))
	}
	for _, limit := range []int64{4999, 100} {
		sp.MaxValueBytes = limit
		r, err := s.Read(t.Context(), sp)
		if err != nil {
			t.Fatal(err)
		}
		_, err = drain(t.Context(), r)
		wantFault(t, err, fault.Refused, "wide", "limits")
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func drifts(t *testing.T, f Fixture) {
	rel := numbers(t, f, "drifts", 3)
	s := open(t, f)
	planned := spec(describe(t, s, rel), true, "id")
	f.Retype(t, rel, "v")
	_, err := s.Read(t.Context(), planned)
	wantFault(t, err, fault.Drift, "drifts", `v`)
	if rows := read(t, s, spec(describe(t, s, rel), true, "id")); len(rows) != 3 {
		t.Fatalf("%d rows after a new plan", len(rows))
	}
}
