package dictionary

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestValuesAreNumberedAsTheyCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var words Words[int64]
		var halves Words[int32]
		var strings Bytes
		for range 2 { // the second time with tables that have grown
			words.Reset()
			halves.Reset()
			strings.Reset()
			distinct := rapid.SampledFrom([]int{1, 3, 700, 5000}).Draw(t, "distinct")
			seen, want := map[int64]uint32{}, []uint32{}
			var in []int64
			var in32 []int32
			var data []byte
			offsets := []int32{0}
			for range rapid.IntRange(0, 3000).Draw(t, "values") {
				x := int64(rapid.Uint32().Draw(t, "value")) % int64(distinct) << 20
				if _, ok := seen[x]; !ok {
					seen[x] = uint32(len(seen))
				}
				want, in, in32 = append(want, seen[x]), append(in, x), append(in32, int32(x))
				data = fmt.Appendf(data, "%*d", x>>20%30, x)
				offsets = append(offsets, int32(len(data)))
			}
			half := len(in) / 2
			got := words.Lookup(words.Lookup(nil, in[:half]), in[half:])
			if !slices.Equal(got, want) || len(words.Values) != len(seen) {
				t.Fatalf("%v is numbered %v, want %v", in, got, want)
			}
			if distinct <= 700 {
				if got := halves.Lookup(nil, in32); !slices.Equal(got, want) {
					t.Fatalf("32 bits: %v is numbered %v, want %v", in32, got, want)
				}
			}
			got = strings.Lookup(strings.Lookup(nil, data, offsets[:half+1]), data, offsets[half:])
			if !slices.Equal(got, want) || strings.Len() != len(seen) {
				t.Fatalf("bytes of %v are numbered %v, want %v", in, got, want)
			}
			for i, n := range got {
				if string(strings.Value(n)) != string(data[offsets[i]:offsets[i+1]]) || words.Values[n] != in[i] {
					t.Fatalf("number %d is not value %d", n, i)
				}
			}
		}
	})
}

func TestValuesOfOneHashStayApart(t *testing.T) {
	const n = 400_000
	var data []byte
	offsets := []int32{0}
	hashes := map[uint32]bool{}
	for i := range n {
		data = fmt.Appendf(data, "%07d", i)
		offsets = append(offsets, int32(len(data)))
		hashes[hash(data[len(data)-7:])] = true
	}
	if len(hashes) == n {
		t.Fatal("no two values have one hash: the test no longer tests anything")
	}
	var d Bytes
	d.Reset()
	for range 2 {
		if d.Lookup(nil, data, offsets); d.Len() != n {
			t.Fatalf("%d values of %d", d.Len(), n)
		}
	}
}
