package parquet

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/partfiletest"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
)

func TestConformance(t *testing.T) {
	for _, compression := range []string{"zstd", "snappy", "gzip", "lz4", "none"} {
		t.Run(compression, func(t *testing.T) {
			partfiletest.Run(t, partfiletest.Subject{
				Format:        Format,
				Options:       partfile.Options{Columns: rowbatchtest.AllTypes(), Compression: compression},
				Read:          readArrow,
				RowGroupBytes: 64 << 10,
			})
		})
	}
}
