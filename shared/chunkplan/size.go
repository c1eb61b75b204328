package chunkplan

import (
	"math"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
)

const (
	// TargetTasks is how many tasks a plan has at most when the config leaves
	// their size to the planner; MaxTasks is where any plan is refused.
	TargetTasks = 10_000
	MaxTasks    = 50_000

	// targetBytes is the size of a task by the statistics of the source: 10 to
	// 60 s of work. A core reads and writes 20 to 140 MB of a table in a second,
	// and it is its bytes that count: rows of 35 and of 3,000 bytes take about
	// the same time for a byte (docs/performance.md). targetRows is what a task
	// has without statistics (architecture §3.1).
	targetBytes = 1 << 30
	targetRows  = 100_000
	// leastBytes is the size below which a task is not made smaller to give
	// every worker one.
	leastBytes = 16 << 20
	// unknownPieces is how many ranges are asked for when nothing is known of
	// a table that is cut by split points.
	unknownPieces = 16

	// Limits of chunk_size_memory_mb (reference §1.4).
	leastMemoryRows, mostMemoryRows = 10_000, 5_000_000
)

// pieces is how many tasks of equal size the estimates ask for, 0 when there
// are none. Estimates choose a size and prove nothing (PLN-16).
func pieces(e exportconfig.Export, f Facts) int64 {
	switch {
	case e.ChunkBytes > 0 && f.Rows > 0 && f.Bytes > 0:
		return ceilDiv(f.Rows, memoryRows(e.ChunkBytes, f))
	case e.ChunkBytes > 0 && f.Rows > 0:
		return ceilDiv(f.Rows, targetRows)
	case f.Bytes > 0:
		workers := min(int64(e.Parallel), ceilDiv(f.Bytes, leastBytes))
		return min(max(ceilDiv(f.Bytes, targetBytes), workers), TargetTasks)
	case f.Rows > 0:
		return min(ceilDiv(f.Rows, targetRows), TargetTasks)
	}
	return 0
}

// memoryRows is the number of rows that have about n bytes, within the limits
// of chunk_size_memory_mb.
func memoryRows(n int64, f Facts) int64 {
	perRow := max(float64(f.Bytes)/float64(f.Rows), 1)
	return min(max(int64(float64(n)/perRow), leastMemoryRows), mostMemoryRows)
}

// keysetPieces is how many ranges a keyset export is cut into.
func keysetPieces(e exportconfig.Export, f Facts) int {
	n := pieces(e, f)
	switch {
	case e.ChunkCount > 0:
		n = int64(e.ChunkCount)
	case e.ChunkSize > 0 && f.Rows > 0:
		n = ceilDiv(f.Rows, e.ChunkSize)
	case n == 0:
		n = unknownPieces
	}
	return int(min(n, math.MaxInt32))
}

// width is the width of the ranges of an integer key: the number of values
// that one range spans.
func width(e exportconfig.Export, f Facts, b Bounds) uint64 {
	switch {
	case e.ChunkCount > 0:
		return widthFor(b, uint64(e.ChunkCount))
	case e.ChunkSize > 0:
		return uint64(e.ChunkSize)
	}
	if n := pieces(e, f); n > 0 {
		return widthFor(b, uint64(n))
	}
	return max(targetRows, widthFor(b, TargetTasks))
}

// ceilDiv is a/b rounded up, for positive numbers.
func ceilDiv(a, b int64) int64 { return (a-1)/b + 1 }
