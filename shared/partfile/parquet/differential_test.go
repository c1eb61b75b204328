package parquet

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/inspect"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"pgregory.net/rapid"
)

var codecs = []string{"none", "zstd", "snappy", "gzip", "lz4"}

// compare writes the rows with the native writer, in two cuts into batches, and
// with arrow-go, and fails unless the values come back, all of the file holds
// together, both writers say the same, and the cut makes no difference.
func compare(t *testing.T, r *rand.Rand, o partfile.Options, rows *rowbatch.Batch) {
	t.Helper()
	o.Writer = partfile.NativeWriter
	native := write(t, o, rows)
	if diff := rowbatchtest.Diff(rows, readArrow(t, native, o.Columns)); diff != "" {
		t.Fatalf("native: %s", diff)
	}
	if err := inspect.Check(native, rows); err != nil {
		t.Fatalf("native: %v", err)
	}
	if again := write(t, o, cutAnywhere(r, o.Columns, rows)...); string(again) != string(native) {
		t.Fatal("another cut into batches gives another file")
	}
	o.Writer = partfile.ArrowWriter
	arrow := write(t, o, rows)
	if diff := rowbatchtest.Diff(rows, readArrow(t, arrow, o.Columns)); diff != "" {
		t.Fatalf("arrow: %s", diff)
	}
	if mine, theirs := schemaOf(t, native), schemaOf(t, arrow); !reflect.DeepEqual(mine, theirs) {
		t.Fatalf("native has the schema\n%v\narrow\n%v", mine, theirs)
	}
	a, b := open(t, native).MetaData(), open(t, arrow).MetaData()
	switch {
	case !a.KeyValueMetadata().Equals(b.KeyValueMetadata()) || a.GetCreatedBy() != b.GetCreatedBy() || a.Version() != b.Version():
		t.Fatalf("metadata %v by %s, of arrow %v by %s", a.KeyValueMetadata(), a.GetCreatedBy(), b.KeyValueMetadata(), b.GetCreatedBy())
	case a.NumRowGroups() != b.NumRowGroups():
		t.Fatalf("%d row groups, arrow has %d", a.NumRowGroups(), b.NumRowGroups())
	}
	for i := range a.NumRowGroups() {
		if a.RowGroup(i).NumRows() != b.RowGroup(i).NumRows() {
			t.Fatalf("row group %d has %d rows, arrow's %d", i, a.RowGroup(i).NumRows(), b.RowGroup(i).NumRows())
		}
	}
}

func schemaOf(t *testing.T, body []byte) any {
	t.Helper()
	s, err := inspect.Schema(body)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func cutAnywhere(r *rand.Rand, columns []rowtype.Column, rows *rowbatch.Batch) []*rowbatch.Batch {
	var out []*rowbatch.Batch
	for at := 0; at < rows.Rows; {
		n := 1 + r.IntN(rows.Rows-at)
		b := rowbatch.New(columns)
		b.AppendRows(rows, at, at+n)
		out, at = append(out, b), at+n
	}
	return out
}

// FuzzWriters compares the writers over rows that a seed makes.
func FuzzWriters(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed, uint16(9*seed*seed%3000), uint8(seed), seed%2 == 0, uint16(seed*31))
	}
	f.Fuzz(func(t *testing.T, seed uint64, rows uint16, codec uint8, compact bool, groupRows uint16) {
		r := rand.New(rand.NewPCG(seed, 7))
		o := partfile.Options{Columns: randomColumns(r, 4), Compression: codecs[int(codec)%len(codecs)]}
		o.RowGroupRows = int64(groupRows)
		if int(rows) > 50*int(groupRows) {
			o.RowGroupRows = 0
		}
		if compact {
			o.Encoding = partfile.CompactEncoding
		}
		compare(t, r, o, randomRows(r, o.Columns, int(rows%8192)))
	})
}

// The same as a property, with shapes that rapid shrinks.
func TestWritersAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 9))
		o := partfile.Options{
			Columns:      randomColumns(r, rapid.IntRange(1, 3).Draw(rt, "columns")),
			Compression:  rapid.SampledFrom(codecs).Draw(rt, "codec"),
			Encoding:     rapid.SampledFrom([]string{"", partfile.CompactEncoding}).Draw(rt, "encoding"),
			RowGroupRows: rapid.Int64Range(40, 4000).Draw(rt, "rows of a group"),
		}
		compare(t, r, o, randomRows(r, o.Columns, rapid.IntRange(0, 1500).Draw(rt, "rows")))
	})
}

// Every type alone over several pages, in one chunk.
func TestManyPagesOfEveryType(t *testing.T) {
	for i, c := range rowbatchtest.AllTypes() {
		r := rand.New(rand.NewPCG(uint64(i), 11))
		c.NotNull = i%4 == 0
		o := partfile.Options{Columns: []rowtype.Column{c}, Compression: "snappy"}
		if i%2 == 0 {
			o.Encoding = partfile.CompactEncoding
		}
		compare(t, r, o, randomRows(r, o.Columns, 50_000))
	}
}
