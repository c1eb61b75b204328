package contract

import (
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/zeebo/xxh3"
)

// Names that a manifest states for the row hash (reference §5.4, §5.8).
const (
	RowHashColumn = "_rivet_row_hash"
	RowHashRender = "xxh3-128-i64-arrow-display-us-v2"
)

// RowHasher computes the row hashes of an export. It is used by one goroutine.
type RowHasher struct {
	columns []int
	frame   []byte
}

// NewRowHasher returns a hasher over these columns of a batch, by index and in
// this order: all columns of the source, or the listed ones.
func NewRowHasher(columns []int) *RowHasher { return &RowHasher{columns: columns} }

// Hash returns the hash of a row: the low 64 bits of the xxh3_128, seed 0, of
// the canonical form of its cells.
func (h *RowHasher) Hash(b *rowbatch.Batch, row int) int64 {
	h.frame = h.frame[:0]
	for _, c := range h.columns {
		h.frame = AppendCell(h.frame, &b.Columns[c], row)
	}
	return int64(xxh3.Hash128(h.frame).Lo)
}
