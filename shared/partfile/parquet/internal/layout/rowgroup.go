package layout

import (
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// The usual rows of a row group, and the limit that keeps the offsets of a column's
// bytes within 31 bits.
const (
	defaultRowGroupRows = 1 << 20
	maxRowGroupBytes    = 1 << 30
)

// RowGroup knows how full the open row group is. Where a group ends depends on
// its rows alone, not on how they were cut into batches.
type RowGroup struct {
	Rows  int
	Bytes int64 // of values, before they are encoded

	mostRows  int
	mostBytes int64
}

// NewRowGroup returns an empty row group with the options' limits, or the
// defaults.
func NewRowGroup(o partfile.Options) RowGroup {
	g := RowGroup{mostRows: defaultRowGroupRows, mostBytes: exportconfig.UsualRowGroupBytes}
	if o.RowGroupRows > 0 {
		g.mostRows = int(min(o.RowGroupRows, maxRowGroupBytes))
	}
	if o.RowGroupBytes > 0 {
		g.mostBytes = min(o.RowGroupBytes, maxRowGroupBytes)
	}
	return g
}

// Take counts the rows of b, from first on, that go into the open group, and
// returns how many they are: at least one into an empty group, 0 if the group
// has ended.
func (g *RowGroup) Take(b *rowbatch.Batch, first int) int {
	n := Most(min(b.Rows-first, g.mostRows-g.Rows), func(n int) bool { return g.Bytes+BatchBytes(b, first, first+n) <= g.mostBytes })
	if n == 0 && g.Rows == 0 {
		n = 1
	}
	g.Rows += n
	g.Bytes += BatchBytes(b, first, first+n)
	return n
}

// End empties the group and returns the bytes of its values.
func (g *RowGroup) End() int64 {
	n := g.Bytes
	g.Rows, g.Bytes = 0, 0
	return n
}

// Most returns the largest n up to most that fits, 0 if none does. What is
// smaller than something that fits, fits.
func Most(most int, fits func(n int) bool) int {
	if most <= 0 || fits(most) {
		return max(most, 0)
	}
	low, high := 0, most // low fits, high does not
	for high-low > 1 {
		if middle := (low + high) / 2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// BatchBytes returns how many bytes the values of these rows have. The bytes
// of two neighbouring ranges add up to those of both.
func BatchBytes(b *rowbatch.Batch, first, last int) int64 {
	var n int64
	for i := range b.Columns {
		n += ValueBytes(&b.Columns[i], first, last)
	}
	return n
}

// ValueBytes is BatchBytes for one column.
func ValueBytes(v *rowbatch.Vector, first, last int) int64 {
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
		return 4*n + ValueBytes(v.Items, int(v.Offsets[first]), int(v.Offsets[last]))
	}
	return 4*n + int64(v.Offsets[last]-v.Offsets[first])
}
