// Package layout is what the Parquet writers have in common: the schema of a
// file, where its row groups end, and the look at the finished file. Layer: L2
// (execution).
package layout

import (
	"fmt"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// CreatedBy stands in every file. It has no version: equal rows give equal
// files across releases.
const CreatedBy = "lapstrake"

// Level returns the compression level of options that Check accepts, 0 for
// codecs without levels.
func Level(o partfile.Options) (int, error) {
	usual, most := 0, 0
	switch o.Compression {
	case "zstd":
		usual, most = 3, 22
	case "gzip":
		usual, most = 6, 9
	case "snappy", "lz4", "none":
		return 0, nil
	default:
		return 0, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_COMPRESSION_UNSUPPORTED", "compression %q is not one of zstd, snappy, gzip, lz4, none", o.Compression)
	}
	switch {
	case o.Level < 0 || o.Level > most:
		return 0, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_COMPRESSION_UNSUPPORTED", "compression level %d of %s is not between 1 and %d", o.Level, o.Compression, most)
	case o.Level == 0:
		return usual, nil
	}
	return o.Level, nil
}

// ColumnError says which column an error is about.
func ColumnError(c rowtype.Column, err error) error {
	return fmt.Errorf("write column %q: %w", c.Name, err)
}
