//go:build unix

package parquet

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/partfiletest"
)

// BenchmarkEncode writes the same tables with both writers, turn by turn in one
// run, and reports what each needs a part and how many times as much CPU time
// the arrow writer takes. Rows/s are of CPU time, collector included.
func BenchmarkEncode(b *testing.B) {
	for _, table := range partfiletest.Tables(400_000, 8192) {
		for _, compression := range []string{"zstd", "none"} {
			b.Run(table.Name+"/"+compression, func(b *testing.B) {
				o := partfile.Options{Columns: table.Columns, Compression: compression}
				var native, compact, arrow cost
				for b.Loop() {
					o.Writer, o.Encoding = partfile.NativeWriter, ""
					native.add(b, o, table)
					o.Encoding = partfile.CompactEncoding
					compact.add(b, o, table)
					o.Writer, o.Encoding = partfile.ArrowWriter, ""
					arrow.add(b, o, table)
				}
				native.report(b, "native", table.Rows)
				compact.report(b, "compact", table.Rows)
				arrow.report(b, "arrow", table.Rows)
				b.ReportMetric(arrow.seconds/native.seconds, "arrow/native")
				b.ReportMetric(arrow.seconds/compact.seconds, "arrow/compact")
				b.ReportMetric(0, "ns/op") // of all three, which says nothing
			})
		}
	}
}

type cost struct {
	seconds       float64
	bytes, allocs uint64
	size          int
}

func (c *cost) add(b *testing.B, o partfile.Options, table partfiletest.Table) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuSeconds(b)
	w, err := Format.New(o)
	if err != nil {
		b.Fatal(err)
	}
	for _, batch := range table.Batches {
		if err := w.Append(batch); err != nil {
			b.Fatal(err)
		}
	}
	part, err := w.Close()
	if err != nil {
		b.Fatal(err)
	}
	c.seconds += cpuSeconds(b) - start
	runtime.ReadMemStats(&after)
	c.bytes += after.TotalAlloc - before.TotalAlloc
	c.allocs += after.Mallocs - before.Mallocs
	c.size = len(part.Body)
}

func (c *cost) report(b *testing.B, name string, rows int) {
	n := float64(b.N)
	b.ReportMetric(float64(rows)*n/c.seconds, name+"-rows/s")
	b.ReportMetric(float64(c.bytes)/n/1e6, name+"-MB/op")
	b.ReportMetric(float64(c.allocs)/n, name+"-allocs/op")
	b.ReportMetric(float64(c.size), name+"-part-bytes")
}

// cpuSeconds is what the process has used so far. A machine with other work
// makes it wait, but hardly makes it use more.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}
