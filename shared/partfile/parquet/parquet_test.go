package parquet

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/partfiletest"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
)

func TestConformance(t *testing.T) {
	partfiletest.Run(t, partfiletest.Subject{
		Format:        Format,
		Options:       partfile.Options{Columns: rowbatchtest.AllTypes(), Compression: "zstd"},
		Read:          readArrow,
		RowGroupBytes: 64 << 10,
	})
}

func TestEveryCodecAndLevelReadsBack(t *testing.T) {
	rows := rowbatchtest.Rows(rowbatchtest.AllTypes(), 3000, 2)
	for _, o := range []partfile.Options{
		{Compression: "snappy"}, {Compression: "gzip"}, {Compression: "lz4"}, {Compression: "none"},
		{Compression: "gzip", Level: 1}, {Compression: "gzip", Level: 9}, {Compression: "zstd", Level: 1}, {Compression: "zstd", Level: 22},
	} {
		o.Columns, o.RowGroupRows = rowbatchtest.AllTypes(), 2000
		body := write(t, o, rows)
		if diff := rowbatchtest.Diff(rows, readArrow(t, body, o.Columns)); diff != "" {
			t.Errorf("%s at level %d: %s", o.Compression, o.Level, diff)
		}
		if again := write(t, o, rows); string(again) != string(body) {
			t.Errorf("%s at level %d: equal rows give other bytes", o.Compression, o.Level)
		}
	}
}
