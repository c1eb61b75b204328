// Package parquet writes parts as Parquet files. Layer: L2 (execution).
//
// A file is a function of its rows and options alone: not of how the rows were
// cut into batches, of the time or of the version of this program. Snappy has
// other code on other processors, whose files may differ in their bytes.
//
// Memory: a writer holds one row group of values that are not encoded yet (at
// most RowGroupBytes, or a single row if that is larger), the pages of the
// column that is being encoded, and what is encoded so far. Close lets go of
// the row group, then joins the encoded pieces into one body and lets go of
// each piece as it is copied. So the most is the larger of (row group + part)
// and twice the part, the latter only until the collector has run.
package parquet

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// Format makes Parquet writers.
var Format partfile.Format = format{}

type format struct{}

// Defaults of a row group, and the limits that keep the offsets of a column's
// bytes within 31 bits.
const (
	defaultRowGroupRows  = 1 << 20
	defaultRowGroupBytes = 64 << 20
	maxRowGroupBytes     = 1 << 30
)

// createdBy stands in every file. It has no version: equal rows give equal
// files across releases.
const createdBy = "lapstrake"

func (format) Check(o partfile.Options) error {
	if _, _, err := codec(o); err != nil {
		return err
	}
	return partfile.CheckColumns("parquet", o.Columns, partfile.CheckType)
}

func (format) New(o partfile.Options) (partfile.Writer, error) { return newWriter(o) }

// codec returns the codec and its level.
func codec(o partfile.Options) (compress.Compression, int, error) {
	unsupported := func(format string, args ...any) (compress.Compression, int, error) {
		return 0, 0, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_COMPRESSION_UNSUPPORTED", format, args...)
	}
	level := func(standard, most int) (int, error) {
		if o.Level < 0 || o.Level > most {
			_, _, err := unsupported("compression level %d of %s is not between 1 and %d", o.Level, o.Compression, most)
			return 0, err
		}
		if o.Level == 0 {
			return standard, nil
		}
		return o.Level, nil
	}
	switch o.Compression {
	case "zstd":
		n, err := level(3, 22)
		return compress.Codecs.Zstd, n, err
	case "gzip":
		n, err := level(6, 9)
		return compress.Codecs.Gzip, n, err
	case "snappy":
		return compress.Codecs.Snappy, compress.DefaultCompressionLevel, nil
	case "lz4": // the block format, not the framed one that few readers know
		return compress.Codecs.Lz4Raw, compress.DefaultCompressionLevel, nil
	case "none":
		return compress.Codecs.Uncompressed, compress.DefaultCompressionLevel, nil
	}
	return unsupported("compression %q is not one of zstd, snappy, gzip, lz4, none", o.Compression)
}

func properties(o partfile.Options) (*parquet.WriterProperties, error) {
	c, level, err := codec(o)
	if err != nil {
		return nil, err
	}
	return parquet.NewWriterProperties(
		parquet.WithCreatedBy(createdBy),
		parquet.WithCompression(c),
		parquet.WithCompressionLevel(level),
		// A column is written in spans that end with a row (see span), and a
		// page may end after each.
		parquet.WithBatchSize(maxRowGroupBytes),
	), nil
}

// rowGroupLimits returns the options' limits or the defaults.
func rowGroupLimits(o partfile.Options) (rows int, bytes int64) {
	rows, bytes = defaultRowGroupRows, defaultRowGroupBytes
	if o.RowGroupRows > 0 {
		rows = int(min(o.RowGroupRows, maxRowGroupBytes))
	}
	if o.RowGroupBytes > 0 {
		bytes = min(o.RowGroupBytes, maxRowGroupBytes)
	}
	return rows, bytes
}

func columnError(c rowtype.Column, err error) error {
	return fmt.Errorf("write column %q: %w", c.Name, err)
}
