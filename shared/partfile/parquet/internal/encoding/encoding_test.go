package encoding

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// take returns the value of width bits at bit i of packed values.
func take(packed []byte, i, width int) uint64 {
	var x uint64
	for b := range width {
		bit := i*width + b
		x |= uint64(packed[bit>>3]>>(bit&7)&1) << b
	}
	return x
}

// decodeHybrid returns n values and fails unless they fill b, but for zeros
// that complete the last group.
func decodeHybrid(b []byte, n, width int) ([]uint32, error) {
	var out []uint32
	for len(b) > 0 {
		head, size := binary.Uvarint(b)
		b = b[size:]
		if head&1 == 0 {
			var word [4]byte
			k := copy(word[:], b[:(width+7)/8])
			b = b[k:]
			out = append(out, slices.Repeat([]uint32{binary.LittleEndian.Uint32(word[:])}, int(head>>1))...)
			continue
		}
		groups := int(head >> 1)
		if size := groups * width; size > len(b) {
			return nil, fmt.Errorf("%d bytes for %d groups of width %d", len(b), groups, width)
		}
		for i := range 8 * groups {
			out = append(out, uint32(take(b, i, width)))
		}
		b = b[groups*width:]
	}
	if len(out) < n || len(out) > n+7 {
		return nil, fmt.Errorf("%d values instead of %d", len(out), n)
	}
	for _, x := range out[n:] {
		if x != 0 {
			return nil, fmt.Errorf("the last group is filled up with %d", x)
		}
	}
	return out[:n], nil
}

func TestHybridIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 32).Draw(t, "width")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		longest := rapid.SampledFrom([]int{1, 9, 17, 40, 300}).Draw(t, "longest run")
		var values []uint32
		for range rapid.IntRange(0, 60).Draw(t, "runs") {
			values = append(values, slices.Repeat([]uint32{r.Uint32() >> (32 - width)}, 1+r.IntN(longest))...)
		}
		got, err := decodeHybrid(AppendHybrid(nil, values, width), len(values), width)
		if err != nil || !slices.Equal(got, values) {
			t.Fatalf("%v of width %d come back as %v, %v", values, width, got, err)
		}
	})
}

func TestRunsAreShort(t *testing.T) {
	values := append(slices.Repeat([]uint32{3}, 5), slices.Repeat([]uint32{7}, 20_000)...)
	if n := len(AppendHybrid(nil, values, 3)); n > 10 {
		t.Errorf("%d bytes for two runs", n)
	}
	if n := len(AppendHybrid(nil, slices.Repeat([]uint32{1, 2}, 1000), 2)); n > 510 {
		t.Errorf("%d bytes for 2000 packed values of 2 bits", n)
	}
}

func TestValidityIsTheSameAsLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		n := rapid.IntRange(1, 3000).Draw(t, "rows")
		longest := rapid.SampledFrom([]int{1, 20, 600}).Draw(t, "longest run")
		bitmap, want := make([]byte, (n+7)/8), []uint32{}
		for len(want) < n {
			level := r.Uint32N(2)
			for range min(n-len(want), 1+r.IntN(longest)) {
				bitmap[len(want)>>3] |= byte(level) << (len(want) & 7)
				want = append(want, level)
			}
		}
		for name, encoded := range map[string][]byte{"bitmap": AppendValidity(nil, bitmap, n), "levels": AppendLevels(nil, want, 1)} {
			if int(binary.LittleEndian.Uint32(encoded)) != len(encoded)-4 {
				t.Fatalf("%s: the length is %d of %d bytes", name, binary.LittleEndian.Uint32(encoded), len(encoded)-4)
			}
			if got, err := decodeHybrid(encoded[4:], n, 1); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: %v comes back as %v, %v", name, want, got, err)
			}
		}
	})
}

// decodeDelta reads DELTA_BINARY_PACKED and returns what follows it.
func decodeDelta(b []byte, size int) (values []int64, rest []byte, err error) {
	next := func() uint64 {
		x, n := binary.Uvarint(b)
		b = b[n:]
		return x
	}
	signed := func() int64 {
		x, n := binary.Varint(b)
		b = b[n:]
		return x
	}
	block, minis, count, first := next(), next(), int(next()), signed()
	if block != 128 || minis != 4 {
		return nil, nil, fmt.Errorf("blocks of %d in %d", block, minis)
	}
	wrap := func(x int64) int64 { return x << (64 - size) >> (64 - size) }
	if count > 0 {
		values = append(values, first)
	}
	for len(values) < count {
		least := signed()
		widths := b[:4]
		b = b[4:]
		for _, width := range widths {
			if len(values) == count {
				if width != 0 {
					return nil, nil, fmt.Errorf("a miniblock without values has width %d", width)
				}
				continue
			}
			if int(width) > size {
				return nil, nil, fmt.Errorf("width %d for values of %d bits", width, size)
			}
			for i := range 32 {
				x := take(b, i, int(width))
				switch {
				case len(values) < count:
					values = append(values, wrap(values[len(values)-1]+least+int64(x)))
				case x != 0:
					return nil, nil, fmt.Errorf("the last miniblock is filled up with %d", x)
				}
			}
			b = b[4*int(width):]
		}
	}
	return values, b, nil
}

func TestDeltasAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		n := rapid.IntRange(0, 600).Draw(t, "values")
		width := rapid.IntRange(0, 64).Draw(t, "bits")
		values, narrow := make([]int64, n), make([]int32, n)
		for i := range values {
			values[i] = int64(r.Uint64() >> (64 - width) << r.IntN(2))
			narrow[i] = int32(values[i])
			if r.IntN(50) == 0 {
				values[i], narrow[i] = math.MinInt64, math.MaxInt32
			}
		}
		got, rest, err := decodeDelta(AppendDelta64([]byte(nil), values), 64)
		if err != nil || len(rest) > 0 || !slices.Equal(got, values) {
			t.Fatalf("%v comes back as %v with %d more bytes, %v", values, got, len(rest), err)
		}
		got, rest, err = decodeDelta(AppendDelta32(nil, narrow), 32)
		if err != nil || len(rest) > 0 || len(got) != n {
			t.Fatalf("%v comes back as %v with %d more bytes, %v", narrow, got, len(rest), err)
		}
		for i, x := range got {
			if x != int64(narrow[i]) {
				t.Fatalf("%v comes back as %v", narrow, got)
			}
		}
	})
}

func TestDeltaLengthsAndPlainBytes(t *testing.T) {
	data, offsets := []byte("..onethreetwo...."), []int32{2, 5, 5, 10, 13}
	encoded, _ := AppendDeltaLengths([]byte("head"), data, offsets, nil)
	lengths, rest, err := decodeDelta(encoded[4:], 32)
	if err != nil || !slices.Equal(lengths, []int64{3, 0, 5, 3}) || string(rest) != "onethreetwo" {
		t.Errorf("lengths %v, then %q, %v", lengths, rest, err)
	}
	want := "\x03\x00\x00\x00one\x00\x00\x00\x00\x05\x00\x00\x00three\x03\x00\x00\x00two"
	if got := AppendPlainBytes(nil, data, offsets); string(got) != want || PlainBytes(offsets) != len(want) {
		t.Errorf("plain %q of %d bytes, want %q", got, PlainBytes(offsets), want)
	}
}

func TestPlainWords(t *testing.T) {
	if got := AppendPlain32([]byte{9}, []int32{1, -2}); !bytes.Equal(got, []byte{9, 1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF}) {
		t.Errorf("% x", got)
	}
	if got := AppendPlain64(nil, []int64{-2}); !bytes.Equal(got, []byte{0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}) {
		t.Errorf("% x", got)
	}
}

func TestWidthIsNeverZero(t *testing.T) {
	for _, most := range []uint32{0, 1, 2, 3, 4, 255, 256, math.MaxUint32} {
		if got, want := Width(most), max(1, bits.Len32(most)); got != want {
			t.Errorf("%d bits for numbers up to %d, want %d", got, most, want)
		}
	}
}
