// Package encoding holds the value and level encodings of Parquet. Layer: L2
// (execution).
//
// Every function appends to dst and returns it; none keeps or allocates
// anything else.
package encoding

import (
	"encoding/binary"
	"slices"
)

// Width returns how many bits hold every number up to most: at least one, as
// some readers take no width of zero.
func Width(most uint32) int {
	n := 1
	for most >>= 1; most > 0; most >>= 1 {
		n++
	}
	return n
}

// A run shorter than this is packed with its neighbours: its header would cost
// more than it saves, and so would cutting the run of packed values.
const shortestRun = 16

// AppendHybrid encodes values of width bits as runs and packed groups of eight.
func AppendHybrid(dst []byte, values []uint32, width int) []byte {
	packed := 0 // first value that is not written yet
	for i := 0; i < len(values); {
		x, end := values[i], i+1
		for end < len(values) && values[end] == x {
			end++
		}
		if end-i >= shortestRun {
			start := i + (packed-i)&7 // packed groups are of eight: the run gives up to seven values to the last
			dst = appendPacked(dst, values[packed:start], width)
			dst = appendRun(dst, x, end-start, width)
			packed = end
		}
		i = end
	}
	return appendPacked(dst, values[packed:], width)
}

func appendRun(dst []byte, x uint32, n, width int) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for ; width > 0; width -= 8 {
		dst = append(dst, byte(x))
		x >>= 8
	}
	return dst
}

// appendPacked writes values as groups of eight, the last one filled up with
// zeros: only the last values of a page are no multiple of eight.
func appendPacked(dst []byte, values []uint32, width int) []byte {
	if len(values) == 0 {
		return dst
	}
	groups := (len(values) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	whole := len(values) &^ 7
	dst = pack32(dst, values[:whole], width)
	if whole < len(values) {
		var last [8]uint32
		copy(last[:], values[whole:])
		dst = pack32(dst, last[:], width)
	}
	return dst
}

// pack32 packs a multiple of eight values, least significant bit first.
func pack32(dst []byte, values []uint32, width int) []byte {
	n := len(dst)
	size := len(values) / 8 * width
	dst = slices.Grow(dst, size+8)[:n+size+8] // the last store may write beyond
	out := dst[n:]
	var word uint64
	bits, at := 0, 0
	for _, x := range values {
		word |= uint64(x) << bits
		if bits += width; bits >= 32 {
			binary.LittleEndian.PutUint32(out[at:], uint32(word))
			at += 4
			word >>= 32
			bits -= 32
		}
	}
	binary.LittleEndian.PutUint64(out[at:], word)
	return dst[:n+size]
}

// AppendLevels encodes levels of width bits with the length before them, as
// version 1 of the data page has them.
func AppendLevels(dst []byte, levels []uint32, width int) []byte {
	return withLength(dst, func(dst []byte) []byte { return AppendHybrid(dst, levels, width) })
}

// AppendValidity is AppendLevels for n levels of 0 and 1 that a bitmap holds,
// least significant bit first. Its bytes are packed groups already.
func AppendValidity(dst []byte, bitmap []byte, n int) []byte {
	return withLength(dst, func(dst []byte) []byte { return appendBitmap(dst, bitmap, n) })
}

// AppendSame is AppendLevels for n equal levels.
func AppendSame(dst []byte, level uint32, n, width int) []byte {
	return withLength(dst, func(dst []byte) []byte { return appendRun(dst, level, n, width) })
}

func withLength(dst []byte, encode func([]byte) []byte) []byte {
	start := len(dst) + 4
	dst = encode(append(dst, 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
	return dst
}

// appendBitmap looks for runs of whole bytes only: a run of 0 or 1 that is
// worth a header has some.
func appendBitmap(dst []byte, bitmap []byte, n int) []byte {
	const shortest = 4 // bytes
	packed, whole := 0, n/8
	flush := func(dst []byte, end int) []byte {
		if end == packed {
			return dst
		}
		dst = binary.AppendUvarint(dst, uint64(end-packed)<<1|1)
		return append(dst, bitmap[packed:end]...)
	}
	for i := 0; i < whole; {
		x, end := bitmap[i], i+1
		if x != 0 && x != 0xFF {
			i++
			continue
		}
		for end < whole && bitmap[end] == x {
			end++
		}
		if end-i >= shortest {
			dst = flush(dst, i)
			dst = appendRun(dst, uint32(x&1), 8*(end-i), 1)
			packed = end
		}
		i = end
	}
	return flush(dst, (n+7)/8)
}
