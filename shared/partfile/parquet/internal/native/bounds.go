package native

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// boundBytes is how long the bounds of byte arrays may be in indexes and
// footer.
const boundBytes = 64

// bound is a value in stored form that no value of a page or chunk is beyond.
// It is exact if it is such a value itself.
type bound struct {
	value []byte
	exact bool
}

// bounds are those of a page or chunk. There are none, known is false, when
// there are no values but NaN, or none but such as have no upper bound of a
// reasonable length.
type bounds struct {
	low, high bound
	known     bool
}

// set makes b the bounds of the values from low to high, which are stored.
func (b *bounds) set(s storage, low, high []byte) {
	b.low.value, b.low.exact = appendLower(b.low.value[:0], s, low)
	b.high.value, b.high.exact, b.known = appendUpper(b.high.value[:0], s, high)
}

// add widens b to cover other, which is known.
func (b *bounds) add(s storage, other *bounds) {
	if !b.known {
		b.copy(other)
		return
	}
	if c := s.compare(other.low.value, b.low.value); c <= 0 {
		b.low.exact = other.low.exact || c == 0 && b.low.exact
		b.low.value = append(b.low.value[:0], other.low.value...)
	}
	if c := s.compare(other.high.value, b.high.value); c >= 0 {
		b.high.exact = other.high.exact || c == 0 && b.high.exact
		b.high.value = append(b.high.value[:0], other.high.value...)
	}
}

func (b *bounds) copy(other *bounds) {
	b.low.value, b.low.exact = append(b.low.value[:0], other.low.value...), other.low.exact
	b.high.value, b.high.exact = append(b.high.value[:0], other.high.value...), other.high.exact
	b.known = other.known
}

// compare compares two stored values.
func (s storage) compare(a, b []byte) int {
	switch s.order {
	case orderSigned:
		return compareOrdered(s.integer(a), s.integer(b))
	case orderUnsigned:
		return compareOrdered(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b))
	case orderFloat:
		return compareOrdered(s.number(a), s.number(b))
	case orderDecimal:
		if a[0] != b[0] {
			return compareOrdered(int8(a[0]), int8(b[0]))
		}
	}
	return bytes.Compare(a, b)
}

// compareOrdered is cmp.Compare without a place for NaN, which no bound is.
func compareOrdered[T int8 | int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (s storage) integer(stored []byte) int64 {
	if s.form == form32 {
		return int64(int32(binary.LittleEndian.Uint32(stored)))
	}
	return int64(binary.LittleEndian.Uint64(stored))
}

func (s storage) number(stored []byte) float64 {
	if s.form == form32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(stored)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(stored))
}

// of makes b the bounds of v, which has values.
func (b *bounds) of(s storage, v *values) {
	var low, high [8]byte
	switch {
	case s.form == formBool:
		ones := 0
		for _, x := range v.bits {
			ones += bits.OnesCount8(x)
		}
		low[0], high[0] = 0, 1
		if ones == v.n {
			low[0] = 1
		}
		if ones == 0 {
			high[0] = 0
		}
		b.set(s, low[:1], high[:1])
	case s.order == orderFloat && s.form == form32:
		least, most, some := numberBounds(as[float32](v.i32))
		binary.LittleEndian.PutUint32(low[:], math.Float32bits(least))
		binary.LittleEndian.PutUint32(high[:], math.Float32bits(most))
		b.set(s, low[:4], high[:4])
		b.known = some
	case s.order == orderFloat:
		least, most, some := numberBounds(as[float64](v.i64))
		binary.LittleEndian.PutUint64(low[:], math.Float64bits(least))
		binary.LittleEndian.PutUint64(high[:], math.Float64bits(most))
		b.set(s, low[:], high[:])
		b.known = some
	case s.form == form32:
		least, most := slices.Min(v.i32), slices.Max(v.i32)
		binary.LittleEndian.PutUint32(low[:], uint32(least))
		binary.LittleEndian.PutUint32(high[:], uint32(most))
		b.set(s, low[:4], high[:4])
	case s.order == orderUnsigned:
		unsigned := as[uint64](v.i64)
		binary.LittleEndian.PutUint64(low[:], slices.Min(unsigned))
		binary.LittleEndian.PutUint64(high[:], slices.Max(unsigned))
		b.set(s, low[:], high[:])
	case s.form == form64:
		binary.LittleEndian.PutUint64(low[:], uint64(slices.Min(v.i64)))
		binary.LittleEndian.PutUint64(high[:], uint64(slices.Max(v.i64)))
		b.set(s, low[:], high[:])
	default:
		r := newByteRange(s)
		for i := range v.n {
			r.add(v.data[v.offsets[i]:v.offsets[i+1]])
		}
		b.set(s, r.low, r.high)
	}
}

// numberBounds leaves NaN out: some is false if there is nothing else. A bound
// that is zero covers both zeros, as a filter for one of them means both.
func numberBounds[T float32 | float64](values []T) (low, high T, some bool) {
	low, high = T(math.Inf(1)), T(math.Inf(-1))
	for _, x := range values {
		if x == x {
			some = true
			low, high = min(low, x), max(high, x)
		}
	}
	if low == 0 {
		low = T(math.Copysign(0, -1))
	}
	if high == 0 {
		high = 0
	}
	return low, high, some
}

// byteRange finds the least and the greatest of byte strings. Most comparisons
// are decided by the first eight bytes, as a number.
type byteRange struct {
	storage         storage
	low, high       []byte
	lowKey, highKey uint64
	some            bool
	signOfFirstByte uint64
}

func newByteRange(s storage) byteRange {
	r := byteRange{storage: s}
	if s.order == orderDecimal {
		r.signOfFirstByte = 1 << 63
	}
	return r
}

func (r *byteRange) add(value []byte) {
	key := firstBytes(value) ^ r.signOfFirstByte
	if !r.some {
		r.low, r.high, r.lowKey, r.highKey, r.some = value, value, key, key, true
		return
	}
	if key < r.lowKey || key == r.lowKey && r.storage.compare(value, r.low) < 0 {
		r.low, r.lowKey = value, key
	}
	if key > r.highKey || key == r.highKey && r.storage.compare(value, r.high) > 0 {
		r.high, r.highKey = value, key
	}
}

// firstBytes returns the first eight bytes as a number: of two values in order
// the first one's is not the greater.
func firstBytes(value []byte) uint64 {
	if len(value) >= 8 {
		return binary.BigEndian.Uint64(value)
	}
	var x uint64
	for i, b := range value {
		x |= uint64(b) << (56 - 8*i)
	}
	return x
}

// appendLower appends value, or what is below it if that is too long.
func appendLower(dst []byte, s storage, value []byte) (out []byte, exact bool) {
	if s.form != formBytes || len(value) <= boundBytes {
		return append(dst, value...), true
	}
	return append(dst, s.prefix(value)...), false
}

// appendUpper appends value, or what is above it if that is too long. ok is
// false if there is no such thing: bytes of 0xFF and no end.
func appendUpper(dst []byte, s storage, value []byte) (out []byte, exact, ok bool) {
	if s.form != formBytes || len(value) <= boundBytes {
		return append(dst, value...), true, true
	}
	short := s.prefix(value)
	if !s.text {
		for len(short) > 0 && short[len(short)-1] == 0xFF {
			short = short[:len(short)-1]
		}
		if len(short) == 0 {
			return dst, false, false
		}
		dst = append(dst, short...)
		dst[len(dst)-1]++
		return dst, false, true
	}
	for len(short) > 0 {
		last, size := utf8.DecodeLastRune(short)
		short = short[:len(short)-size]
		if last == utf8.MaxRune {
			continue
		}
		if last++; last == 0xD800 { // no character until 0xE000
			last = 0xE000
		}
		return utf8.AppendRune(append(dst, short...), last), false, true
	}
	return dst, false, false
}

// prefix returns the first bytes of a long value, and of text whole characters.
func (s storage) prefix(value []byte) []byte {
	n := boundBytes
	for s.text && !utf8.RuneStart(value[n]) {
		n--
	}
	return value[:n]
}
