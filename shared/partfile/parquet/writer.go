package parquet

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/internal/pieces"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// writer gathers the rows of one row group as they come and encodes them,
// column by column, when the group is full. Where a group ends depends on its
// rows alone.
type writer struct {
	columns []rowtype.Column
	rows    int64
	err     error

	open         *rowbatch.Batch // the rows of the open row group
	openBytes    int64
	maxOpenRows  int
	maxOpenBytes int64

	sink    *pieces.Buffer
	file    *file.Writer
	encode  encoder
	fixed   int64 // bytes of the file that are there from the start
	encoded int64 // values in row groups that are closed
}

func newWriter(o partfile.Options) (*writer, error) {
	root, err := fileSchema(o.Columns)
	if err != nil {
		return nil, err
	}
	props, err := properties(o)
	if err != nil {
		return nil, err
	}
	kv, err := fileMetadata(o.Columns)
	if err != nil {
		return nil, err
	}
	w := &writer{columns: o.Columns, open: rowbatch.New(o.Columns), sink: &pieces.Buffer{}, fixed: int64(len(*kv.FindValue("ARROW:schema")))}
	w.maxOpenRows, w.maxOpenBytes = rowGroupLimits(o)
	w.file, err = file.NewParquetWriterWithError(w.sink, root, file.WithWriterProps(props), file.WithWriteMetadata(kv))
	if err != nil {
		return nil, fmt.Errorf("start parquet file: %w", err)
	}
	return w, nil
}

func (w *writer) Rows() int64 { return w.rows }

// Size counts the values that are not encoded yet at the rate at which earlier
// row groups shrank, and in full in the first one.
func (w *writer) Size() int64 {
	open := w.openBytes
	if w.encoded > w.sink.Size() {
		open = int64(float64(open) * float64(w.sink.Size()) / float64(w.encoded))
	}
	return w.fixed + w.sink.Size() + open
}

func (w *writer) Append(b *rowbatch.Batch) error {
	if w.err != nil {
		return w.err
	}
	w.err = w.append(b)
	return w.err
}

func (w *writer) append(b *rowbatch.Batch) error {
	if err := partfile.CheckBatch(w.columns, b); err != nil {
		return err
	}
	for first := 0; first < b.Rows; {
		n, size := w.room(b, first)
		if n == 0 {
			if err := w.endRowGroup(); err != nil {
				return err
			}
			continue
		}
		w.open.AppendRows(b, first, first+n)
		w.openBytes += size
		w.rows += int64(n)
		first += n
	}
	return nil
}

// room returns how many rows of b, from first on, go into the open row group,
// and their bytes: at least one into an empty group.
func (w *writer) room(b *rowbatch.Batch, first int) (rows int, size int64) {
	fits := func(n int) bool { return w.openBytes+batchBytes(b, first, first+n) <= w.maxOpenBytes }
	most := min(b.Rows-first, w.maxOpenRows-w.open.Rows)
	if !fits(most) {
		low, high := 0, most // low fits, high does not
		for high-low > 1 {
			if middle := (low + high) / 2; fits(middle) {
				low = middle
			} else {
				high = middle
			}
		}
		if most = low; most == 0 && w.open.Rows == 0 {
			most = 1
		}
	}
	return most, batchBytes(b, first, first+most)
}

func (w *writer) endRowGroup() error {
	if w.open.Rows == 0 {
		return nil
	}
	group, err := w.file.AppendRowGroupChecked()
	if err != nil {
		return fmt.Errorf("start row group: %w", err)
	}
	for i := range w.open.Columns {
		chunk, err := group.NextColumn()
		if err == nil {
			err = w.encode.column(chunk, &w.open.Columns[i], w.columns[i].NotNull)
		}
		if err != nil {
			return columnError(w.columns[i], err)
		}
	}
	if err := group.Close(); err != nil {
		return fmt.Errorf("end row group: %w", err)
	}
	w.encoded += w.openBytes
	w.openBytes = 0
	w.open.Reset()
	return nil
}

func (w *writer) Close() (partfile.Part, error) {
	part, err := w.close()
	if err == nil {
		w.err = fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_WRITER_CLOSED", "parquet writer is used after Close")
	} else {
		w.err = err
	}
	return part, err
}

func (w *writer) close() (partfile.Part, error) {
	if w.err != nil {
		return partfile.Part{}, w.err
	}
	if err := w.endRowGroup(); err != nil {
		return partfile.Part{}, err
	}
	w.open, w.encode = nil, encoder{}
	if err := w.file.Close(); err != nil {
		return partfile.Part{}, fmt.Errorf("end parquet file: %w", err)
	}
	body := w.sink.Join()
	rows, err := countRows(body)
	if err != nil {
		return partfile.Part{}, fault.Wrap(err, fault.Bug, "LAPSTRAKE_INTERNAL_PART_UNREADABLE", "the finished parquet file does not read back, nothing was stored")
	}
	if rows != w.rows { // I1: a part that lost a row must not become one
		return partfile.Part{}, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_PART_ROW_COUNT",
			"the finished parquet file has %d rows and %d were appended, nothing was stored", rows, w.rows)
	}
	return partfile.Seal(body, rows), nil
}

// countRows reads the footer of a finished file and returns its rows, which
// are also those of its row groups.
func countRows(body []byte) (int64, error) {
	r, err := file.NewParquetReader(bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var inGroups int64
	for i := range r.NumRowGroups() {
		inGroups += r.MetaData().RowGroup(i).NumRows()
	}
	if inGroups != r.NumRows() {
		return 0, fmt.Errorf("%d rows in the footer and %d in its row groups", r.NumRows(), inGroups)
	}
	return inGroups, nil
}
