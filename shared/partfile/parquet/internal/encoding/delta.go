package encoding

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Shape of a block of differences: what every writer known uses.
const (
	blockValues = 128
	miniBlocks  = 4
	miniValues  = blockValues / miniBlocks
)

// AppendDelta64 encodes values as DELTA_BINARY_PACKED. Differences wrap
// around, which a reader undoes.
func AppendDelta64(dst []byte, values []int64) []byte {
	dst = appendDeltaHeader(dst, len(values))
	if len(values) == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, values[0])
	var block [blockValues]uint64
	for last, rest := values[0], values[1:]; len(rest) > 0; {
		n := min(blockValues, len(rest))
		least := rest[0] - last
		for i, x := range rest[:n] {
			d := x - last
			block[i], last = uint64(d), x
			least = min(least, d)
		}
		for i := range block[:n] {
			block[i] -= uint64(least)
		}
		rest = rest[n:]
		dst = binary.AppendVarint(dst, least)
		dst = appendMiniBlocks(dst, block[:n])
	}
	return dst
}

// AppendDelta32 is AppendDelta64 for 32 bits: no packed difference is wider.
func AppendDelta32(dst []byte, values []int32) []byte {
	dst = appendDeltaHeader(dst, len(values))
	if len(values) == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, int64(values[0]))
	var block [blockValues]uint64
	for last, rest := values[0], values[1:]; len(rest) > 0; {
		n := min(blockValues, len(rest))
		least := rest[0] - last
		for i, x := range rest[:n] {
			d := x - last
			block[i], last = uint64(uint32(d)), x
			least = min(least, d)
		}
		for i, d := range block[:n] {
			block[i] = uint64(uint32(d) - uint32(least))
		}
		rest = rest[n:]
		dst = binary.AppendVarint(dst, int64(least))
		dst = appendMiniBlocks(dst, block[:n])
	}
	return dst
}

func appendDeltaHeader(dst []byte, n int) []byte {
	dst = binary.AppendUvarint(dst, blockValues)
	dst = binary.AppendUvarint(dst, miniBlocks)
	return binary.AppendUvarint(dst, uint64(n))
}

// appendMiniBlocks writes the widths of the four miniblocks and those that have
// values, the last of them filled up with zeros.
func appendMiniBlocks(dst []byte, block []uint64) []byte {
	widths := len(dst)
	dst = append(dst, make([]byte, miniBlocks)...)
	var mini [miniValues]uint64
	for i := 0; len(block) > 0; i++ {
		n := copy(mini[:], block)
		clear(mini[n:])
		block = block[n:]
		var all uint64
		for _, x := range mini {
			all |= x
		}
		width := bits.Len64(all)
		dst[widths+i] = byte(width)
		dst = pack64(dst, &mini, width)
	}
	return dst
}

// pack64 packs the values of a miniblock, least significant bit first: 4 bytes
// for each bit of width.
func pack64(dst []byte, values *[miniValues]uint64, width int) []byte {
	if width == 0 {
		return dst
	}
	n, size := len(dst), miniValues/8*width
	dst = slices.Grow(dst, size+8)[:n+size+8]
	out := dst[n:]
	var word uint64
	used, at := 0, 0
	for _, x := range values {
		word |= x << used
		if used += width; used >= 64 {
			binary.LittleEndian.PutUint64(out[at:], word)
			at += 8
			used -= 64
			word = x >> (width - used) // 0 if nothing is left over, as Go shifts
		}
	}
	binary.LittleEndian.PutUint64(out[at:], word)
	return dst[:n+size]
}

// AppendDeltaLengths encodes the values between offsets as
// DELTA_LENGTH_BYTE_ARRAY. lengths is scratch memory, which is returned grown.
func AppendDeltaLengths(dst, data []byte, offsets []int32, lengths []int32) (encoded []byte, scratch []int32) {
	lengths = lengths[:0]
	for i := range len(offsets) - 1 {
		lengths = append(lengths, offsets[i+1]-offsets[i])
	}
	dst = AppendDelta32(dst, lengths)
	return append(dst, data[offsets[0]:offsets[len(offsets)-1]]...), lengths
}
