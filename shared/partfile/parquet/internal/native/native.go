// Package native is this project's own encoder of Parquet files. Layer: L2
// (execution).
//
// Every column gathers the rows of one page, encodes and compresses the page
// when it is full, and keeps it until the row group ends; then the pages of the
// group are appended to the part, column after column. Where pages and row
// groups end, and how a column chunk is encoded, depends on the rows alone.
//
// Memory: the part as far as it is written, the encoded pages of one row
// group, a page of values and a dictionary (1 MiB each, or one row if that is
// larger) a column, all of it reused from group to group and from part to part.
// Together values that
// are not encoded yet have at most RowGroupBytes. Nothing is allocated a row or
// a value once the buffers have grown.
//
// Data pages are of version 1, which every reader has; version 2 would only
// leave the levels uncompressed. Files have checksums of pages, bounds of
// chunks, column and offset indexes.
package native

import (
	"encoding/binary"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/internal/body"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/layout"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

const magic = "PAR1"

// Knows reports whether this writer can write columns of these types.
func Knows(columns []rowtype.Column) bool {
	for _, c := range columns {
		t := c.Type
		if t.Kind == rowtype.List && t.Elem != nil {
			t = *t.Elem
		}
		if _, ok := storageOf(t, 0); !ok {
			return false
		}
	}
	return true
}

type writer struct {
	*workspace
	memory  *partfile.Memory
	rows    int64 // appended
	err     error
	group   layout.RowGroup
	part    body.Buffer
	groups  []rowGroup
	index   pageIndex
	encoded int64 // values in row groups that are closed
}

// New starts a part of columns that the writer knows.
func New(o partfile.Options) (partfile.Writer, error) {
	level, err := layout.Level(o)
	if err != nil {
		return nil, err
	}
	s, err := newWorkspace(o, level)
	if err != nil {
		return nil, err
	}
	return &writer{workspace: s, memory: o.Memory, group: layout.NewRowGroup(o), part: body.New(o.ExpectedBytes, o.Memory.TakeBody())}, nil
}

func (w *writer) Rows() int64 { return w.rows }

// Size counts what is not encoded yet at the rate at which earlier values
// shrank, and in full before there are any.
func (w *writer) Size() int64 {
	values, bytes := w.encoded+w.group.Bytes, w.part.Size()+w.scratch.arena.size
	for _, c := range w.columns {
		values -= c.pendingBytes
	}
	rate := 1.0
	if values > bytes {
		rate = float64(bytes) / float64(values)
	}
	size := bytes + int64(w.tail(0))
	for _, c := range w.columns {
		size += c.open(rate)
	}
	return size
}

func (w *writer) Append(b *rowbatch.Batch) error {
	if w.err == nil {
		w.err = w.append(b)
	}
	return w.err
}

func (w *writer) append(b *rowbatch.Batch) error {
	if err := partfile.CheckBatch(w.kind.columns, b); err != nil {
		return err
	}
	for first := 0; first < b.Rows; {
		n := w.group.Take(b, first)
		if n == 0 {
			w.part.ReserveAll()
			if err := w.endRowGroup(0); err != nil {
				return err
			}
			continue
		}
		for i, c := range w.columns {
			if err := c.append(&w.scratch, &b.Columns[i], first, first+n); err != nil {
				return layout.ColumnError(w.kind.columns[i], err)
			}
		}
		w.rows += int64(n)
		first += n
	}
	return nil
}

// endRowGroup appends the pages of the open row group to the part, and makes
// room for more bytes that follow.
func (w *writer) endRowGroup(more int) error {
	if w.group.Rows == 0 {
		return nil
	}
	dictionaries := make([][]byte, len(w.columns))
	for i, c := range w.columns {
		var err error
		if dictionaries[i], err = c.endChunk(&w.scratch); err != nil {
			return layout.ColumnError(c.Column, err)
		}
		if c.rows != w.columns[0].rows {
			return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_PART_ROW_COUNT", "column %q has %d rows in a row group and column %q has %d, nothing was stored",
				c.Name, c.rows, w.columns[0].Name, w.columns[0].rows)
		}
	}
	w.part.Reserve(len(magic) + int(w.scratch.arena.size) + more)
	w.start()
	g := rowGroup{rows: w.columns[0].rows, chunks: make([]chunk, len(w.columns))}
	for i, c := range w.columns {
		k := c.chunk
		k.start = w.part.Size()
		w.part.Write(dictionaries[i])
		k.data = w.part.Size()
		for _, p := range c.pages {
			w.part.Write(p)
		}
		k.compressed = w.part.Size() - k.start
		k.first, k.last = w.index.take(&c.index, k.data)
		g.chunks[i] = k
		c.reset()
	}
	w.scratch.arena.reset()
	w.groups = append(w.groups, g)
	w.encoded += w.group.End()
	return nil
}

// tail estimates how long indexes and footer are, with more pages in one more
// row group: bounds stand in the indexes and, of chunks, in the footer.
func (w *writer) tail(more int) int {
	const perPage, perChunk, perNewPage = 12, 100, 12 + 4*boundBytes
	return len(w.arrowSchema) + 2*len(w.index.values) + perPage*len(w.index.pages) + perChunk*(len(w.groups)+1)*len(w.columns) + perNewPage*more
}

// start writes what stands before everything.
func (w *writer) start() {
	if w.part.Size() == 0 {
		w.part.Write([]byte(magic))
	}
}

func (w *writer) Close() (partfile.Part, error) {
	if w.err != nil {
		return partfile.Part{}, w.err
	}
	part, err := w.close()
	if w.err = err; err == nil {
		w.err = layout.Closed()
	}
	return part, err
}

func (w *writer) close() (partfile.Part, error) {
	last := 0
	for _, c := range w.columns {
		last += len(c.index.pages) + 1
	}
	if err := w.endRowGroup(w.tail(last)); err != nil {
		return partfile.Part{}, err
	}
	w.start()
	w.writeIndexes()
	t := &w.scratch.header
	t.Reset()
	w.writeFooter(t)
	w.part.Write(t.Bytes())
	w.part.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(t.Bytes()))), magic...))
	w.workspace.leave(w.memory)
	w.workspace = &workspace{}
	return layout.Finish(w.part.Take(), w.rows)
}

// writeIndexes appends the column indexes of all chunks, and then their offset
// indexes.
func (w *writer) writeIndexes() {
	t := &w.scratch.header
	write := func(each func(c *chunk, s storage) *section) {
		for _, g := range w.groups {
			for i := range g.chunks {
				t.Reset()
				if to := each(&g.chunks[i], w.columns[i].storage); to != nil {
					*to = section{at: w.part.Size(), size: int32(len(t.Bytes()))}
					w.part.Write(t.Bytes())
				}
			}
		}
	}
	write(func(c *chunk, s storage) *section {
		if c.unbounded {
			return nil
		}
		w.index.writeColumnIndex(t, s, w.index.pages[c.first:c.last])
		return &c.columnIndex
	})
	write(func(c *chunk, _ storage) *section {
		writeOffsetIndex(t, w.index.pages[c.first:c.last])
		return &c.offsetIndex
	})
}
