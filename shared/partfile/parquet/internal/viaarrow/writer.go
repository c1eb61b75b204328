// Package viaarrow writes Parquet files by way of arrow-go's column writers.
// Layer: L2 (execution).
//
// Memory: a writer holds one row group of values that are not encoded yet (at
// most RowGroupBytes, or a single row if that is larger), the pages of the
// column that is being encoded, and the part as far as it is encoded.
package viaarrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/internal/body"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/layout"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// writer gathers the rows of one row group as they come and encodes them,
// column by column, when the group is full.
type writer struct {
	columns []rowtype.Column
	rows    int64
	err     error

	open    *rowbatch.Batch // the rows of the open row group
	group   layout.RowGroup
	sink    *body.Buffer
	file    *file.Writer
	encode  encoder
	fixed   int64 // bytes of the file that are there from the start
	encoded int64 // values in row groups that are closed
}

// New starts a part.
func New(o partfile.Options) (partfile.Writer, error) {
	root, err := layout.Schema(o.Columns)
	if err != nil {
		return nil, err
	}
	props, err := properties(o)
	if err != nil {
		return nil, err
	}
	arrowSchema, err := layout.ArrowSchema(o.Columns)
	if err != nil {
		return nil, err
	}
	kv := metadata.NewKeyValueMetadata()
	if err := kv.Append(layout.ArrowSchemaKey, arrowSchema); err != nil {
		return nil, fmt.Errorf("start parquet file: %w", err)
	}
	sink := body.New(o.ExpectedBytes, o.Memory.TakeBody())
	w := &writer{
		columns: o.Columns, open: rowbatch.New(o.Columns), group: layout.NewRowGroup(o),
		sink: &sink, fixed: int64(len(arrowSchema)),
	}
	w.file, err = file.NewParquetWriterWithError(w.sink, root, file.WithWriterProps(props), file.WithWriteMetadata(kv))
	if err != nil {
		return nil, fmt.Errorf("start parquet file: %w", err)
	}
	return w, nil
}

func properties(o partfile.Options) (*parquet.WriterProperties, error) {
	level, err := layout.Level(o)
	if err != nil {
		return nil, err
	}
	if level == 0 {
		level = compress.DefaultCompressionLevel
	}
	codecs := map[string]compress.Compression{
		"zstd": compress.Codecs.Zstd, "gzip": compress.Codecs.Gzip, "snappy": compress.Codecs.Snappy,
		"lz4":  compress.Codecs.Lz4Raw, // the block format, not the framed one that few readers know
		"none": compress.Codecs.Uncompressed,
	}
	return parquet.NewWriterProperties(
		parquet.WithCreatedBy(layout.CreatedBy),
		parquet.WithCompression(codecs[o.Compression]),
		parquet.WithCompressionLevel(level),
		// A column is written in spans that end with a row (see span), and a
		// page may end after each.
		parquet.WithBatchSize(1<<30),
	), nil
}

func (w *writer) Rows() int64 { return w.rows }

// Size counts the values that are not encoded yet at the rate at which earlier
// row groups shrank, and in full in the first one.
func (w *writer) Size() int64 {
	open := w.group.Bytes
	if w.encoded > w.sink.Size() {
		open = int64(float64(open) * float64(w.sink.Size()) / float64(w.encoded))
	}
	return w.fixed + w.sink.Size() + open
}

func (w *writer) Append(b *rowbatch.Batch) error {
	if w.err == nil {
		w.err = w.append(b)
	}
	return w.err
}

func (w *writer) append(b *rowbatch.Batch) error {
	if err := partfile.CheckBatch(w.columns, b); err != nil {
		return err
	}
	for first := 0; first < b.Rows; {
		n := w.group.Take(b, first)
		if n == 0 {
			if err := w.endRowGroup(); err != nil {
				return err
			}
			continue
		}
		w.open.AppendRows(b, first, first+n)
		w.rows += int64(n)
		first += n
	}
	return nil
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
			return layout.ColumnError(w.columns[i], err)
		}
	}
	if err := group.Close(); err != nil {
		return fmt.Errorf("end row group: %w", err)
	}
	w.encoded += w.group.End()
	w.open.Reset()
	return nil
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
	if err := w.endRowGroup(); err != nil {
		return partfile.Part{}, err
	}
	w.open, w.encode = nil, encoder{}
	if err := w.file.Close(); err != nil {
		return partfile.Part{}, fmt.Errorf("end parquet file: %w", err)
	}
	return layout.Finish(w.sink.Take(), w.rows)
}
