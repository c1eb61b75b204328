package viaarrow

import (
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/layout"
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
		return hi-lo <= spanLevels && layout.ValueBytes(v.Items, lo, hi) <= spanBytes
	}
	return layout.ValueBytes(v, first, last) <= spanBytes
}
