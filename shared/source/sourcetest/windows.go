package sourcetest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"pgregory.net/rapid"
)

// Age is a time of so long ago, by the server's clock.
type Age time.Duration

// awkward are keys that a careless statement would break on.
var awkward = []string{"", " ", "'", `"`, `\`, `\'`, "a,b", "(1)", "{x}", "NULL", "null", "ä", "a\nb", "--", "1", "$1", "%s", ";"}

// Padder is a Fixture whose server takes two texts for equal that differ in the
// spaces at their end, so that both cannot be keys.
type Padder interface{ Pads() }

// awkwardFor are the awkward keys that a table of the fixture can have together.
func awkwardFor(f Fixture) []string {
	if _, pads := f.(Padder); pads {
		return slices.DeleteFunc(slices.Clone(awkward), func(key string) bool { return key == " " })
	}
	return awkward
}

// events makes a table with an awkward key, k, a cursor, c, that repeats and may
// be NULL, and what it falls back on, f.
func events(t *testing.T, f Fixture, name string, keyed bool, rows [][]any) source.Relation {
	t.Helper()
	table := Table{Name: name, Columns: []Column{{"k", rowtype.Text, true}, {"c", rowtype.Int64, false}, {"f", rowtype.Int64, false}}}
	if keyed {
		table.Primary = []string{"k"}
	}
	rel := f.Create(t, table)
	f.Insert(t, rel, rows)
	return rel
}

func text(n int64) *string {
	s := fmt.Sprint(n)
	return &s
}

// cursorEnds asks for the end of a cursor (CUR-01, CUR-03, CUR-11, CUR-14).
func cursorEnds(t *testing.T, f Fixture) {
	rel := events(t, f, "ends", true, [][]any{
		{"a", int64(-3), nil}, {"b'", int64(7), nil}, {`c\`, int64(7), nil}, {"d", nil, int64(9)}, {"e", nil, nil}, {"f", int64(0), int64(8)}, {"ä", int64(7), nil},
	})
	none := events(t, f, "no_ends", true, nil)
	s := open(t, f)
	table := describe(t, s, rel)
	columns := table.KeyColumns
	c, k := columns["c"], []keyspace.Column{columns["k"]}
	either := c
	either.Fallback = "f"
	for _, tc := range []struct {
		name string
		rel  source.Relation
		q    source.CursorQuery
		want source.CursorEnd
	}{
		{"the greatest value, with its rows", rel, source.CursorQuery{Cursor: c, Key: k}, source.CursorEnd{Value: "7", Found: true, Order: 1, Ties: 3, TieBytes: 6, Nulls: 2}},
		{"without a key", rel, source.CursorQuery{Cursor: c}, source.CursorEnd{Value: "7", Found: true, Order: 1, Nulls: 2}},
		{"below a value", rel, source.CursorQuery{Cursor: c, Key: k, Below: text(7)}, source.CursorEnd{Value: "0", Found: true, Order: 1, Ties: 1, TieBytes: 1, Nulls: 2}},
		{"below everything", rel, source.CursorQuery{Cursor: c, Key: k, Below: text(-3)}, source.CursorEnd{Order: -1, Nulls: 2}},
		{"behind a position", rel, source.CursorQuery{Cursor: c, Key: k, From: text(0)}, source.CursorEnd{Value: "7", Found: true, Order: 1, Ties: 3, TieBytes: 6, FromTies: 1, FromTieBytes: 1, Nulls: 2}},
		{"at the position, with late rows", rel, source.CursorQuery{Cursor: c, Key: k, From: text(7), Delivered: []keyspace.Key{{"b'"}, {`c\`}, {"gone"}}},
			source.CursorEnd{Value: "7", Found: true, Order: 0, Ties: 3, TieBytes: 6, FromTies: 1, FromTieBytes: 2, Nulls: 2}},
		{"before the position", rel, source.CursorQuery{Cursor: c, Key: k, From: text(80)}, source.CursorEnd{Value: "7", Found: true, Order: -1, Ties: 3, TieBytes: 6, Nulls: 2}},
		{"of two columns", rel, source.CursorQuery{Cursor: either, Key: k}, source.CursorEnd{Value: "9", Found: true, Order: 1, Ties: 1, TieBytes: 1, Nulls: 1}},
		{"of an empty table", none, source.CursorQuery{Cursor: c, Key: k}, source.CursorEnd{Order: -1}},
		{"of a table that was emptied", none, source.CursorQuery{Cursor: c, Key: k, From: text(5)}, source.CursorEnd{Order: -1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := s.CursorEnd(t.Context(), tc.rel, tc.q)
			if table.Position == "" != (got.Position == "") {
				t.Errorf("the table is described at %q, and its cursor ends at %q", table.Position, got.Position)
			}
			got.Position = ""
			if err != nil || got != tc.want {
				t.Fatalf("%+v, %v\nwant %+v", got, err, tc.want)
			}
		})
	}
}

// settles holds young rows back (CUR-02).
func settles(t *testing.T, f Fixture) {
	rel := f.Create(t, Table{Name: "settles", Columns: []Column{{"id", rowtype.Int64, true}, {"at", rowtype.Timestamp, false}}, Primary: []string{"id"}})
	f.Insert(t, rel, [][]any{
		{int64(1), Age(0)}, {int64(2), Age(3 * time.Hour)}, {int64(3), Age(2 * time.Hour)}, {int64(4), nil}, {int64(5), Age(time.Minute)}, {int64(6), Age(2 * time.Hour)},
	})
	s := open(t, f)
	columns := describe(t, s, rel).KeyColumns
	for _, tc := range []struct {
		name   string
		cursor string
		from   *string
		settle *source.Settle
		want   string // the id of the row at the end, "" for none
	}{
		{"nothing is held back", "id", nil, nil, "6"},
		{"the cursor stops before the first young row", "id", text(1), &source.Settle{After: time.Hour, Column: "at"}, "4"},
		{"a young row at or behind the position holds nothing back", "id", text(5), &source.Settle{After: time.Hour, Column: "at"}, "6"},
		{"the first row is young", "id", nil, &source.Settle{After: time.Hour, Column: "at"}, ""},
		{"all is old enough", "id", text(1), &source.Settle{After: 30 * time.Second, Column: "at"}, "6"},
		{"the age is the cursor's", "at", nil, &source.Settle{After: 150 * time.Minute, Column: "at"}, "2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			end, err := s.CursorEnd(t.Context(), rel, source.CursorQuery{Cursor: columns[tc.cursor], Key: []keyspace.Column{columns["id"]}, From: tc.from, Settle: tc.settle})
			if err != nil || end.Found != (tc.want != "") {
				t.Fatalf("%+v, %v", end, err)
			}
			if !end.Found {
				return
			}
			at := describe(t, s, rel)
			w := keyspace.Window{Cursor: columns[tc.cursor], To: end.Value, Key: []keyspace.Column{columns["id"]}}
			var last []keyspace.Key
			readWindow(t, s, at, w, keyspace.Range{}, 2, func(_ []string, e source.Edge) { last = append(last, e.AtTo...) })
			if len(last) != 1 || last[0][0] != tc.want {
				t.Errorf("the window ends at rows %v, want %s", last, tc.want)
			}
		})
	}
	for name, settle := range map[string]source.Settle{"a number is no age": {After: time.Hour, Column: "id"}, "a column that is not there": {After: time.Hour, Column: "AT"}} {
		t.Run(name, func(t *testing.T) {
			_, err := s.CursorEnd(t.Context(), rel, source.CursorQuery{Cursor: columns["id"], Settle: &settle})
			wantFault(t, err, fault.Usage, settle.Column)
		})
	}
}

// windowSpec reads a window in the order of its cursor and key.
func windowSpec(table source.Table, w keyspace.Window, r keyspace.Range, batch int) source.ReadSpec {
	sp := source.ReadSpec{Relation: table.Relation, Columns: table.Columns, Key: []keyspace.Column{w.Cursor}, Range: r, Window: &w, Ordered: true, Unique: len(w.Key) > 0, BatchRows: batch}
	for _, k := range w.Key {
		if w.Cursor.Fallback != "" || k.Name != w.Cursor.Name {
			sp.Key = append(sp.Key, k)
		}
	}
	return sp
}

// readWindow calls each with every batch and its edge.
func readWindow(t interface {
	Context() context.Context
	Fatal(...any)
	Helper()
}, s source.Source, table source.Table, w keyspace.Window, rng keyspace.Range, batch int, each func(rows []string, e source.Edge)) {
	t.Helper()
	r, err := s.Read(t.Context(), windowSpec(table, w, rng, batch))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	for {
		b, err := r.Next(t.Context())
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		each(texts(b, b.Rows), r.Edge(b.Rows))
	}
}

// windows reads random windows of random rows, whole and in ranges that the
// driver has cut, and compares rows and edges with what they have to be.
func windows(t *testing.T, f Fixture) {
	s := open(t, f)
	tables := 0
	awkward := awkwardFor(f)
	rapid.Check(t, func(rt *rapid.T) {
		tables++
		keyed := rapid.Bool().Draw(rt, "keyed")
		small := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Int64Range(-2, 3), func(n int64) any { return n }))
		var rows [][]any
		for _, k := range awkward[:rapid.IntRange(0, len(awkward)).Draw(rt, "rows")] {
			rows = append(rows, []any{k, small.Draw(rt, "c"), small.Draw(rt, "f")})
		}
		rel := events(t, f, fmt.Sprintf("windows_%d", tables), keyed, rows)
		table := describe(t, s, rel)
		w := keyspace.Window{Cursor: table.KeyColumns["c"], To: *text(rapid.Int64Range(-3, 4).Draw(rt, "to")), ToExcluded: rapid.Bool().Draw(rt, "to excluded")}
		if rapid.Bool().Draw(rt, "coalesce") {
			w.Cursor.Fallback = "f"
		}
		if rapid.Bool().Draw(rt, "from") {
			w.From, w.FromIncluded = text(rapid.Int64Range(-3, 4).Draw(rt, "from value")), rapid.Bool().Draw(rt, "from included")
		}
		if keyed {
			w.Key = []keyspace.Column{table.KeyColumns["k"]}
			keys := rapid.SliceOfDistinct(rapid.SampledFrom(awkward), func(s string) string { return s })
			for _, k := range keys.Draw(rt, "except") {
				w.Except = append(w.Except, keyspace.Key{k})
			}
			if !w.ToExcluded && rapid.Bool().Draw(rt, "only at to") {
				w.OnlyAtTo = true
				for _, k := range keys.Draw(rt, "only") {
					w.Only = append(w.Only, keyspace.Key{k})
				}
			}
		}
		var want, wantAtTo []string
		wantAtFrom := int64(0)
		for _, r := range rows {
			if c, in := member(w, r); in {
				want = append(want, printRow(r))
				if keyed && !w.ToExcluded && fmt.Sprint(c) == w.To {
					wantAtTo = append(wantAtTo, r[0].(string))
				}
				if !keyed && w.From != nil && w.FromIncluded && fmt.Sprint(c) == *w.From {
					wantAtFrom++
				}
			}
		}
		points, err := s.SplitPoints(t.Context(), rel, windowSpec(table, w, keyspace.Range{}, 0).Key, &w, rapid.IntRange(1, 5).Draw(rt, "pieces"))
		if err != nil {
			rt.Fatal(err)
		}
		var got, atTo []string
		atFrom := int64(0)
		for _, r := range between(points) {
			readWindow(t, s, table, w, r, rapid.IntRange(1, 4).Draw(rt, "batch"), func(rows []string, e source.Edge) {
				got = append(got, rows...)
				for _, key := range e.AtTo {
					atTo = append(atTo, key[0])
				}
				atFrom += e.AtFrom
			})
		}
		sameRows(rt, got, want)
		sameRows(rt, atTo, wantAtTo)
		if atFrom != wantAtFrom {
			rt.Fatalf("%d rows at the lower bound, want %d", atFrom, wantAtFrom)
		}
		if _, err := s.EstimateRows(t.Context(), rel, w); err != nil {
			rt.Fatal(err)
		}
	})
}

// member says whether a row is in a window, by its cursor.
func member(w keyspace.Window, row []any) (c any, in bool) {
	c = row[1]
	if c == nil && w.Cursor.Fallback != "" {
		c = row[2]
	}
	if c == nil {
		return nil, false
	}
	number := func(s string) (n int64) {
		fmt.Sscan(s, &n)
		return n
	}
	has := func(keys []keyspace.Key) bool {
		return slices.ContainsFunc(keys, func(k keyspace.Key) bool { return k[0] == row[0] })
	}
	switch to := cmp.Compare(c.(int64), number(w.To)); {
	case to > 0, to == 0 && w.ToExcluded, to == 0 && w.OnlyAtTo && !has(w.Only):
		return c, false
	case w.From == nil:
		return c, true
	}
	from := cmp.Compare(c.(int64), number(*w.From))
	return c, from > 0 || from == 0 && w.FromIncluded && !has(w.Except)
}

func printRow(row []any) string {
	var cells []string
	for _, c := range row {
		if c == nil {
			c = "∅"
		}
		cells = append(cells, fmt.Sprint(c))
	}
	return strings.Join(cells, "|")
}

// timeWindows reads the rows of some days.
func timeWindows(t *testing.T, f Fixture) {
	rel := f.Create(t, Table{Name: "days", Columns: []Column{{"id", rowtype.Int64, true}, {"at", rowtype.Timestamp, false}, {"unix", rowtype.Int64, false}}, Primary: []string{"id"}})
	from, to := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 29, 12, 0, 0, 500_000_000, time.UTC)
	var rows [][]any
	for i, at := range []time.Time{from.Add(-time.Microsecond), from, from.Add(time.Hour), to.Add(-time.Microsecond), to, to.Add(time.Second)} {
		rows = append(rows, []any{int64(i), at, at.Unix()})
	}
	f.Insert(t, rel, append(rows, []any{int64(9), nil, nil}))
	s := open(t, f)
	table := describe(t, s, rel)
	for _, tc := range []struct {
		column string
		unix   bool
		want   int
	}{{"at", false, 3}, {"unix", true, 4}} { // half a second past is the same whole second
		w, nulls, err := s.TimeWindow(t.Context(), rel, table.KeyColumns[tc.column], tc.unix, from, to)
		if err != nil || nulls != 1 {
			t.Fatalf("%d rows without a time, %v", nulls, err)
		}
		n := 0
		readWindow(t, s, table, w, keyspace.Range{}, 2, func(rows []string, _ source.Edge) { n += len(rows) })
		if n != tc.want {
			t.Errorf("%s: %d rows of the window %s, want %d", tc.column, n, w, tc.want)
		}
		if _, _, err := s.TimeWindow(t.Context(), rel, table.KeyColumns[tc.column], !tc.unix, from, to); fault.ClassOf(err) != fault.Usage {
			t.Errorf("%s as the other type: %v", tc.column, err)
		}
	}
}
