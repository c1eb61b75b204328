package parquet

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/partfiletest"
)

// BenchmarkParquetAppend writes parts of 500,000 rows like lineitem's. MB/s
// are of values before encoding; rows/s and the part's bytes are reported too.
func BenchmarkParquetAppend(b *testing.B) {
	const rows = 500_000
	columns, batches := partfiletest.Lineitem(rows, 8192)
	var raw int64
	for _, batch := range batches {
		raw += batch.Bytes()
	}
	for _, compression := range []string{"zstd", "snappy", "none"} {
		b.Run(compression, func(b *testing.B) {
			b.SetBytes(raw)
			b.ReportAllocs()
			var size int
			for b.Loop() {
				w, err := Format.New(partfile.Options{Columns: columns, Compression: compression})
				if err != nil {
					b.Fatal(err)
				}
				for _, batch := range batches {
					if err := w.Append(batch); err != nil {
						b.Fatal(err)
					}
				}
				part, err := w.Close()
				if err != nil {
					b.Fatal(err)
				}
				size = len(part.Body)
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(size), "part-bytes")
		})
	}
}
