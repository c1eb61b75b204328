package parquet

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/partfiletest"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// eachWriter runs a test with every writer and encoding that there is.
func eachWriter(t *testing.T, test func(t *testing.T, o partfile.Options)) {
	for name, o := range map[string]partfile.Options{
		"native":         {Writer: partfile.NativeWriter, Encoding: partfile.CompatibleEncoding},
		"native compact": {Writer: partfile.NativeWriter, Encoding: partfile.CompactEncoding},
		"arrow":          {Writer: partfile.ArrowWriter},
	} {
		t.Run(name, func(t *testing.T) { test(t, o) })
	}
}

func TestConformance(t *testing.T) {
	eachWriter(t, func(t *testing.T, o partfile.Options) {
		o.Columns, o.Compression = rowbatchtest.AllTypes(), "zstd"
		partfiletest.Run(t, partfiletest.Subject{Format: Format, Options: o, Read: readArrow, RowGroupBytes: 64 << 10})
	})
}

func TestEveryCodecAndLevelReadsBack(t *testing.T) {
	rows := rowbatchtest.Rows(rowbatchtest.AllTypes(), 3000, 2)
	eachWriter(t, func(t *testing.T, o partfile.Options) {
		for _, c := range []partfile.Options{
			{Compression: "snappy"}, {Compression: "gzip"}, {Compression: "lz4"}, {Compression: "none"},
			{Compression: "gzip", Level: 1}, {Compression: "gzip", Level: 9}, {Compression: "zstd", Level: 1}, {Compression: "zstd", Level: 22},
		} {
			o.Compression, o.Level = c.Compression, c.Level
			o.Columns, o.RowGroupRows = rowbatchtest.AllTypes(), 2000
			body := write(t, o, rows)
			if diff := rowbatchtest.Diff(rows, readArrow(t, body, o.Columns)); diff != "" {
				t.Errorf("%s at level %d: %s", o.Compression, o.Level, diff)
			}
			if again := write(t, o, rows); string(again) != string(body) {
				t.Errorf("%s at level %d: equal rows give other bytes", o.Compression, o.Level)
			}
		}
	})
}

func TestOptionsThatMeanNothingAreRefused(t *testing.T) {
	columns := []rowtype.Column{{Name: "c", Type: rowtype.Type{Kind: rowtype.Int64}}}
	for _, tc := range []struct {
		name string
		o    partfile.Options
		want fault.Code
	}{
		{"a level above zstd's", partfile.Options{Compression: "zstd", Level: 23}, "LAPSTRAKE_CONFIG_COMPRESSION_UNSUPPORTED"},
		{"a level below all", partfile.Options{Compression: "zstd", Level: -1}, "LAPSTRAKE_CONFIG_COMPRESSION_UNSUPPORTED"},
		{"a level above gzip's", partfile.Options{Compression: "gzip", Level: 10}, "LAPSTRAKE_CONFIG_COMPRESSION_UNSUPPORTED"},
		{"an unknown codec", partfile.Options{Compression: "lzo"}, "LAPSTRAKE_CONFIG_COMPRESSION_UNSUPPORTED"},
		{"no codec", partfile.Options{}, "LAPSTRAKE_CONFIG_COMPRESSION_UNSUPPORTED"},
		{"an unknown writer", partfile.Options{Compression: "none", Writer: "rust"}, "LAPSTRAKE_CONFIG_PARQUET_WRITER_UNKNOWN"},
		{"an unknown encoding", partfile.Options{Compression: "none", Encoding: "tiny"}, "LAPSTRAKE_CONFIG_PARQUET_ENCODING_UNKNOWN"},
	} {
		tc.o.Columns = columns
		if err := Format.Check(tc.o); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
}
