package chunkplan

import (
	"strconv"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// Bounds is the extent of an integer key when the plan is made. It chooses the
// cuts; it never bounds what is read.
type Bounds struct {
	Min, Max int64
	Empty    bool // no row has a value
}

// span is Max-Min, which needs all 64 bits.
func (b Bounds) span() uint64 { return uint64(b.Max) - uint64(b.Min) }

// IntegerCount is how many ranges of the given width b is cut into. It is 0
// for more than an int holds.
func IntegerCount(b Bounds, width uint64) int {
	if b.Empty || b.Max < b.Min || width == 0 {
		return 1
	}
	n := b.span() / width
	if n >= 1<<31-1 {
		return 0
	}
	return int(n) + 1
}

// IntegerRanges cuts the whole key space into ranges (lo, hi] of the given
// width, counted from b.Min: each range ends where the next one starts, the
// first is open below and the last above, so that a row is in exactly one of
// them whenever it is written (PLN-06, PLN-18). An empty key space is one open
// range, since rows may come before it is read (PLN-04).
//
// It refuses more than MaxTasks ranges before it makes any (PLN-03).
func IntegerRanges(b Bounds, width uint64) ([]keyspace.Range, error) {
	n := IntegerCount(b, width)
	if n == 0 || n > MaxTasks {
		return nil, fault.New(fault.Permanent, CodeTooManyTasks, "keys from %d to %d in ranges of %d would be more than %d tasks", b.Min, b.Max, width, MaxTasks)
	}
	ranges := make([]keyspace.Range, n)
	for i := 1; i < n; i++ {
		// The last value of range i-1. The sum wraps around as the two's
		// complement of the key does, and i*width is at most the span.
		cut := int64(uint64(b.Min) + uint64(i)*width - 1)
		key := keyspace.Key{strconv.FormatInt(cut, 10)}
		ranges[i-1].UpTo, ranges[i].After = key, key
	}
	return ranges, nil
}

// widthFor is the least width that cuts b into at most n ranges.
func widthFor(b Bounds, n uint64) uint64 {
	if b.Empty || b.Max < b.Min {
		return 1
	}
	if n <= 1 && b.span() == 1<<64-1 {
		return 1<<64 - 1 // the one width that would not fit: two ranges instead of one
	}
	return b.span()/max(n, 1) + 1
}
