package encoding

import (
	"encoding/binary"
	"slices"
)

// AppendPlain32 encodes 32-bit values as PLAIN.
func AppendPlain32(dst []byte, values []int32) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 4*len(values))[:n+4*len(values)]
	for out := dst[n:]; len(values) > 0; values, out = values[1:], out[4:] {
		binary.LittleEndian.PutUint32(out, uint32(values[0]))
	}
	return dst
}

// AppendPlain64 encodes 64-bit values as PLAIN.
func AppendPlain64(dst []byte, values []int64) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 8*len(values))[:n+8*len(values)]
	for out := dst[n:]; len(values) > 0; values, out = values[1:], out[8:] {
		binary.LittleEndian.PutUint64(out, uint64(values[0]))
	}
	return dst
}

// AppendPlainBytes encodes the values between offsets as PLAIN: each with its
// length before it.
func AppendPlainBytes(dst, data []byte, offsets []int32) []byte {
	dst = slices.Grow(dst, PlainBytes(offsets))
	for i := range len(offsets) - 1 {
		value := data[offsets[i]:offsets[i+1]]
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(value)))
		dst = append(dst, value...)
	}
	return dst
}

// PlainBytes is how many bytes AppendPlainBytes appends.
func PlainBytes(offsets []int32) int {
	return 4*(len(offsets)-1) + int(offsets[len(offsets)-1]-offsets[0])
}
