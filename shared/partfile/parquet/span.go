package parquet

import (
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// A column is encoded in spans of whole rows. They bound how far a page grows
// beyond its limit, and the encoder's scratch memory.
const (
	spanLevels = 4096
	spanBytes  = 256 << 10
)

// span returns the end of the span of v that starts at row first: at least one
// row, then as many as stay within the limits.
func span(v *rowbatch.Vector, first int) int {
	last := min(first+spanLevels, v.Len)
	if v.Type.Kind != rowtype.List && v.Offsets == nil {
		return last
	}
	for n := last - first; n > 1; n /= 2 {
		if spanFits(v, first, first+n) {
			return first + n
		}
	}
	return first + 1
}

func spanFits(v *rowbatch.Vector, first, last int) bool {
	if v.Type.Kind == rowtype.List {
		lo, hi := int(v.Offsets[first]), int(v.Offsets[last])
		return hi-lo <= spanLevels && valueBytes(v.Items, lo, hi) <= spanBytes
	}
	return valueBytes(v, first, last) <= spanBytes
}

// batchBytes returns how many bytes the values of these rows have. The bytes
// of two neighbouring ranges add up to those of both.
func batchBytes(b *rowbatch.Batch, first, last int) int64 {
	var n int64
	for i := range b.Columns {
		n += valueBytes(&b.Columns[i], first, last)
	}
	return n
}

func valueBytes(v *rowbatch.Vector, first, last int) int64 {
	n := int64(last - first)
	switch v.Type.Kind {
	case rowtype.Bool:
		return n
	case rowtype.Int16:
		return 2 * n
	case rowtype.Int32, rowtype.Date, rowtype.Float32:
		return 4 * n
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp, rowtype.UInt64, rowtype.Float64:
		return 8 * n
	case rowtype.UUID, rowtype.Decimal:
		return int64(v.Type.Width()) * n
	case rowtype.List:
		return 4*n + valueBytes(v.Items, int(v.Offsets[first]), int(v.Offsets[last]))
	}
	return 4*n + int64(v.Offsets[last]-v.Offsets[first])
}
