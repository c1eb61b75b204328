package native

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/partfiletest"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

func start(t testing.TB, o partfile.Options) *writer {
	t.Helper()
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w.(*writer)
}

// I1: what is in the pages decides, not the writer's own count.
func TestAPartThatLostRowsIsNotReturned(t *testing.T) {
	for name, lose := range map[string]func(w *writer){
		"a row of every column": func(w *writer) {
			for _, c := range w.columns {
				cut := rowbatch.New([]rowtype.Column{c.Column}).Columns[0]
				cut.AppendRows(&c.pending, 0, 9)
				c.pending = cut
			}
		},
		"a value of the last column": func(w *writer) {
			c := w.columns[len(w.columns)-1]
			c.pending.Reset()
		},
	} {
		w := start(t, partfile.Options{Columns: rowbatchtest.UpstreamColumns(), Compression: "zstd"})
		if err := w.Append(rowbatchtest.UpstreamRows(1, 10)); err != nil {
			t.Fatal(err)
		}
		lose(w)
		if part, err := w.Close(); fault.CodeOf(err) != "LAPSTRAKE_INTERNAL_PART_ROW_COUNT" || part.Body != nil {
			t.Errorf("%s: %v, with a body of %d bytes", name, err, len(part.Body))
		}
	}
}

func TestEveryTypeIsKnown(t *testing.T) {
	if columns := rowbatchtest.AllTypes(); !Knows(columns) {
		t.Error("a type that can be written is left to the other writer")
	}
	later := rowtype.Type{Kind: "geometry"}
	for _, unknown := range []rowtype.Type{later, {Kind: rowtype.List, Elem: &later}} {
		if Knows([]rowtype.Column{{Name: "c", Type: rowtype.Type{Kind: rowtype.Int64}}, {Name: "g", Type: unknown}}) {
			t.Errorf("%s is known", unknown)
		}
	}
}

// Once the first row group is written, rows and values cost no allocation: what
// is left are a few a row group and column.
func TestNothingIsAllocatedARow(t *testing.T) {
	columns, batches := partfiletest.Lineitem(200_000, 8192)
	for _, encoding := range []string{partfile.CompatibleEncoding, partfile.CompactEncoding} {
		w := start(t, partfile.Options{Columns: columns, Compression: "zstd", Encoding: encoding, RowGroupRows: 50_000, ExpectedBytes: 64 << 20})
		write := func(from []*rowbatch.Batch) {
			for _, b := range from {
				if err := w.Append(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(batches)
		write(batches)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		write(batches)
		runtime.ReadMemStats(&after)
		allocs, bytes := after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
		if most := uint64(4 * len(columns) * 30); allocs > most {
			t.Errorf("%s: %d allocations of %d bytes for 200,000 rows in 4 row groups, at most %d are fine", encoding, allocs, bytes, most)
		}
	}
}

// Close neither joins nor moves the part: it is in memory once.
func TestCloseDoesNotCopyThePart(t *testing.T) {
	columns, batches := partfiletest.Lineitem(400_000, 8192)
	w := start(t, partfile.Options{Columns: columns, Compression: "none", RowGroupBytes: 4 << 20, ExpectedBytes: 32 << 20})
	for _, b := range batches {
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	part, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(len(part.Body))/3 {
		t.Errorf("Close allocates %d bytes for a part of %d", n, len(part.Body))
	}
}

// Readers that look for the width of a page's numbers find one, though there
// are no numbers.
func TestAPageOfNULLsInAChunkWithADictionary(t *testing.T) {
	columns := []rowtype.Column{{Name: "c", Type: rowtype.Type{Kind: rowtype.Text}}}
	b := rowbatch.New(columns)
	for range pageRows {
		b.Columns[0].AppendBytes([]byte("always the same"))
	}
	for range pageRows {
		b.Columns[0].AppendNull()
	}
	b.Rows = 2 * pageRows
	w := start(t, partfile.Options{Columns: columns, Compression: "none"})
	if err := w.Append(b); err != nil {
		t.Fatal(err)
	}
	if err := w.columns[0].endPage(&w.scratch, true); err != nil {
		t.Fatal(err)
	}
	c := w.columns[0]
	if len(c.pages) != 2 || c.chunk.pages[dictionaryNumbers] != 2 {
		t.Fatalf("%d pages, of encodings %v", len(c.pages), c.chunk.pages)
	}
	if p := c.pages[1]; p[len(p)-1] != 1 {
		t.Errorf("the page ends with % x", p[len(p)-8:])
	}
}

// While a part of wide rows is written, what is not in the part yet stays
// within a row group, and is never there both as values and as pages.
func TestARowGroupIsAllThatIsHeldBack(t *testing.T) {
	columns := []rowtype.Column{{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}}, {Name: "doc", Type: rowtype.Type{Kind: rowtype.Binary}}}
	const group = 4 << 20
	w := start(t, partfile.Options{Columns: columns, Compression: "none", RowGroupBytes: group})
	r := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 3<<10)
	for i := range 200 {
		b := rowbatch.New(columns)
		for range 64 {
			for j := range noise {
				noise[j] = byte(r.Uint32())
			}
			b.Columns[0].AppendInt64(int64(i))
			b.Columns[1].AppendBytes(noise)
			b.Rows++
		}
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
		held, scratch := w.scratch.arena.size, int64(cap(w.scratch.body)+cap(w.scratch.packed)+cap(w.scratch.trial))
		for _, c := range w.columns {
			held += c.pendingBytes
		}
		blocks := 0
		for _, block := range w.scratch.arena.blocks {
			blocks += cap(block)
		}
		if held > group+64<<10 || blocks > 2*group || scratch > 3*pageBytes+256<<10 {
			t.Fatalf("%d bytes are held back in %d, with %d of scratch, of a row group of %d", held, blocks, scratch, group)
		}
	}
	if w.part.Size() < 8*group {
		t.Fatalf("only %d bytes are in the part", w.part.Size())
	}
}
