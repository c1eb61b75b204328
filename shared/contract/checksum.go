package contract

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/zeebo/xxh3"
)

// ChecksumRender names the column checksum in a manifest (reference §5.4).
const ChecksumRender = "xxh3-64-sum-v2"

// Checksums adds up the Form B checksum of every column of a part or run: the
// sum of the hashes of its values that are not NULL, each hashed behind the
// row's key if there is one. The sum of the sums of parts is that of the run,
// in any order; equal values do not cancel out, and with a key two rows cannot
// swap values unseen (WRT-21). It is used by one goroutine.
type Checksums struct {
	key     int
	sums    []uint64
	scratch []byte
}

// NewChecksums starts at zero for this many columns. key is the index of the
// key column, -1 for none.
func NewChecksums(columns, key int) *Checksums {
	return &Checksums{key: key, sums: make([]uint64, columns)}
}

// Add adds every row of b.
func (c *Checksums) Add(b *rowbatch.Batch) {
	for i := range b.Columns {
		c.addColumn(i, &b.Columns[i], b)
	}
}

// Sums returns the sum of each column so far.
func (c *Checksums) Sums() []uint64 { return slices.Clone(c.sums) }

func (c *Checksums) addColumn(i int, v *rowbatch.Vector, b *rowbatch.Batch) {
	if !ChecksumCovers(v.Type) {
		return
	}
	sum := c.sums[i]
	for row := range v.Len {
		if v.Nulls > 0 && v.IsNull(row) {
			continue
		}
		c.scratch = c.scratch[:0]
		if c.key >= 0 {
			c.scratch = appendKey(c.scratch, &b.Columns[c.key], row)
		}
		c.scratch = appendRaw(c.scratch, v, row)
		sum += xxh3.Hash(c.scratch)
	}
	c.sums[i] = sum
}

// ColumnChecksums returns what a manifest states: the sums in decimal, sorted
// by column.
func ColumnChecksums(columns []rowtype.Column, sums []uint64) []ColumnChecksum {
	out := make([]ColumnChecksum, len(columns))
	for i, c := range columns {
		out[i] = ColumnChecksum{Name: c.Name, Checksum: strconv.FormatUint(sums[i], 10)}
	}
	slices.SortStableFunc(out, func(a, b ColumnChecksum) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// ChecksumCovers reports whether values of the type are part of a column
// checksum. Columns of other types have the checksum 0, which says nothing.
func ChecksumCovers(t rowtype.Type) bool {
	if t.Kind == rowtype.List {
		return listTag(*t.Elem) != 0
	}
	return !t.Nano
}

// appendKey appends the value of the key column. A NULL is zeros, which are in
// its slot. Nanoseconds are not covered, as a key either: their NULL is eight
// zeros, their values are nothing.
func appendKey(dst []byte, key *rowbatch.Vector, row int) []byte {
	switch {
	case !key.Type.Nano:
		return appendRaw(dst, key, row)
	case key.IsNull(row):
		return append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	return dst
}

// appendRaw appends a value as it lies in memory, least significant byte
// first.
func appendRaw(dst []byte, v *rowbatch.Vector, i int) []byte {
	switch v.Type.Kind {
	case rowtype.Bool:
		if v.Bool(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case rowtype.Int16:
		return binary.LittleEndian.AppendUint16(dst, uint16(v.I16[i]))
	case rowtype.Int32, rowtype.Date:
		return binary.LittleEndian.AppendUint32(dst, uint32(v.I32[i]))
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.I64[i]))
	case rowtype.UInt64:
		return binary.LittleEndian.AppendUint64(dst, v.U64[i])
	case rowtype.Float32:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(v.F32[i]))
	case rowtype.Float64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.F64[i]))
	case rowtype.List:
		return appendItems(dst, v, i)
	}
	return append(dst, v.Slice(i)...)
}

// appendItems appends each item of a list: its tag, its length, itself.
func appendItems(dst []byte, v *rowbatch.Vector, i int) []byte {
	first, last := v.ItemRange(i)
	tag := listTag(v.Items.Type)
	for item := first; item < last; item++ {
		if v.Items.IsNull(item) {
			dst = append(dst, 0, 0, 0, 0, 0)
			continue
		}
		at := len(dst) + 1
		dst = appendRaw(append(dst, tag, 0, 0, 0, 0), v.Items, item)
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}

// listTag returns the tag of an item's type, 0 for one that is not covered.
func listTag(t rowtype.Type) byte {
	switch t.Kind {
	case rowtype.Bool:
		return 1
	case rowtype.Int16:
		return 2
	case rowtype.Int32:
		return 3
	case rowtype.Int64:
		return 4
	case rowtype.Float32:
		return 5
	case rowtype.Float64:
		return 6
	}
	if t.IsText() {
		return 7
	}
	return 0
}
