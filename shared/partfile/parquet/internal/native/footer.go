package native

import (
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/layout"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/thrift"
)

// chunk is a column of a row group as the footer describes it.
type chunk struct {
	values, nulls int64 // values with NULLs, and with lists that have no items
	uncompressed  int64 // with headers
	compressed    int64
	start, data   int64 // of the first page and the first data page
	pages         [encodings]int32
	bounds        bounds
	unbounded     bool // some page has values and no bounds
	first, last   int  // its pages

	columnIndex, offsetIndex section
}

type section struct {
	at   int64
	size int32
}

type rowGroup struct {
	rows   int64
	chunks []chunk
}

// writeFooter writes the file's metadata.
func (w *writer) writeFooter(t *thrift.Writer) {
	t.Begin()
	t.Int32(1, 2)
	elements := 0
	walk(w.schema.Root(), func(schema.Node) { elements++ })
	t.List(2, thrift.Struct, elements)
	walk(w.schema.Root(), func(n schema.Node) { writeElement(t, n) })
	var rows int64
	for _, g := range w.groups {
		rows += g.rows
	}
	t.Int64(3, rows)
	t.List(4, thrift.Struct, len(w.groups))
	for i := range w.groups {
		w.writeRowGroup(t, &w.groups[i], i)
	}
	t.List(5, thrift.Struct, 1)
	t.Begin()
	t.Text(1, layout.ArrowSchemaKey)
	t.Text(2, w.arrowSchema)
	t.End()
	t.Text(6, layout.CreatedBy)
	t.List(7, thrift.Struct, len(w.columns))
	for range w.columns { // without it readers do not use bounds: the type's own order
		t.Begin()
		t.Empty(1)
		t.End()
	}
	t.End()
}

func (w *writer) writeRowGroup(t *thrift.Writer, g *rowGroup, ordinal int) {
	var uncompressed, compressed int64
	for _, c := range g.chunks {
		uncompressed += c.uncompressed
		compressed += c.compressed
	}
	t.Begin()
	t.List(1, thrift.Struct, len(g.chunks))
	for i := range g.chunks {
		w.writeChunk(t, &g.chunks[i], i)
	}
	t.Int64(2, uncompressed)
	t.Int64(3, g.rows)
	t.Int64(5, g.chunks[0].start)
	t.Int64(6, compressed)
	if ordinal < 1<<15 {
		t.Int16(7, int16(ordinal))
	}
	t.End()
}

func (w *writer) writeChunk(t *thrift.Writer, c *chunk, column int) {
	s := w.columns[column].storage
	t.Begin()
	t.Int64(2, 0) // of metadata outside of the footer, which there is none of
	t.Open(3)
	t.Int32(1, s.physical)
	c.writeEncodings(t)
	path := w.schema.Column(column).ColumnPath()
	t.List(3, thrift.Binary, len(path))
	for _, name := range path {
		t.TextElement(name)
	}
	t.Int32(4, w.scratch.text.ID())
	t.Int64(5, c.values)
	t.Int64(6, c.uncompressed)
	t.Int64(7, c.compressed)
	t.Int64(9, c.data)
	if c.start < c.data {
		t.Int64(11, c.start)
	}
	c.writeStatistics(t, s)
	c.writeEncodingStatistics(t)
	t.End()
	t.Int64(4, c.offsetIndex.at)
	t.Int32(5, c.offsetIndex.size)
	if c.columnIndex.size > 0 {
		t.Int64(6, c.columnIndex.at)
		t.Int32(7, c.columnIndex.size)
	}
	t.End()
}

func (c *chunk) writeEncodings(t *thrift.Writer) {
	var used [encodings]bool
	used[runLengths] = true // of the levels
	used[plain] = c.pages[dictionaryNumbers] > 0
	n := 0
	for i := range used {
		used[i] = used[i] || c.pages[i] > 0
		if used[i] {
			n++
		}
	}
	t.List(2, thrift.I32, n)
	for i, is := range used {
		if is {
			t.IntElement(int64(i))
		}
	}
}

// writeEncodingStatistics tells a reader whether all values are in the
// dictionary.
func (c *chunk) writeEncodingStatistics(t *thrift.Writer) {
	n := 0
	for _, pages := range c.pages {
		if pages > 0 {
			n++
		}
	}
	dictionary := c.pages[dictionaryNumbers] > 0
	if dictionary {
		n++
	}
	t.List(13, thrift.Struct, n)
	write := func(kind, encoding, pages int32) {
		t.Begin()
		t.Int32(1, kind)
		t.Int32(2, encoding)
		t.Int32(3, pages)
		t.End()
	}
	if dictionary {
		write(dictionaryPage, plain, 1)
	}
	for encoding, pages := range c.pages {
		if pages > 0 {
			write(dataPage, int32(encoding), pages)
		}
	}
}

// writeStatistics writes bounds only if they are those of every page, or of
// every page but for NaN, which bounds of floats leave out.
func (c *chunk) writeStatistics(t *thrift.Writer, s storage) {
	t.Open(12)
	t.Int64(3, c.nulls)
	if b := &c.bounds; b.known && (!c.unbounded || s.order == orderFloat) {
		t.Blob(5, b.high.value)
		t.Blob(6, b.low.value)
		t.Bool(7, b.high.exact)
		t.Bool(8, b.low.exact)
	}
	t.End()
}
