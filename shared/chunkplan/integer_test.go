package chunkplan

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// holds reports whether a key is in a range, by integer arithmetic alone.
func holds(t interface{ Fatalf(string, ...any) }, r keyspace.Range, key *int64) bool {
	if key == nil {
		return r.Null || r.All
	}
	bound := func(k keyspace.Key) int64 {
		if len(k) != 1 {
			t.Fatalf("bound %v of an integer key has %d values", k, len(k))
		}
		n, err := strconv.ParseInt(k[0], 10, 64)
		if err != nil {
			t.Fatalf("bound %v is not an integer", k)
		}
		return n
	}
	if r.Null {
		return false
	}
	return r.All || (r.After == nil || *key > bound(r.After)) && (r.UpTo == nil || *key <= bound(r.UpTo))
}

func TestIntegerRangesHoldEveryKeyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo, hi := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		b := Bounds{Min: min(lo, hi), Max: max(lo, hi), Empty: rapid.IntRange(0, 9).Draw(t, "empty") == 0}
		width := rapid.OneOf(
			rapid.Uint64Range(1, math.MaxUint64),
			rapid.Custom(func(t *rapid.T) uint64 { // few ranges of any bounds
				return widthFor(b, rapid.Uint64Range(1, 300).Draw(t, "count"))
			}),
		).Draw(t, "width")
		announced := IntegerCount(b, width)
		ranges, err := IntegerRanges(b, width)
		if announced == 0 || announced > MaxTasks {
			if fault.CodeOf(err) != CodeTooManyTasks || ranges != nil {
				t.Fatalf("%d ranges announced, got %d and %v", announced, len(ranges), err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(ranges) != announced {
			t.Fatalf("%d ranges, %d announced", len(ranges), announced)
		}
		if err := keyspace.Tiles(keyspace.Range{}, ranges); err != nil {
			t.Fatal(err)
		}
		keys := []int64{b.Min, b.Max, math.MinInt64, math.MaxInt64, 0, -1}
		for _, r := range ranges { // and around every cut
			if r.UpTo != nil {
				cut, _ := strconv.ParseInt(r.UpTo[0], 10, 64)
				keys = append(keys, cut, cut+1, cut-1)
			}
		}
		keys = append(keys, rapid.SliceOfN(rapid.Int64(), 0, 20).Draw(t, "keys")...)
		if len(ranges) > 500 {
			keys = keys[:16] // every key is compared with every range
		}
		for _, k := range keys {
			in := 0
			for _, r := range ranges {
				if holds(t, r, &k) {
					in++
				}
			}
			if in != 1 {
				t.Fatalf("key %d is in %d of %d ranges of width %d over %+v", k, in, len(ranges), width, b)
			}
		}
	})
}

func TestIntegerRanges(t *testing.T) {
	key := func(n int64) keyspace.Key { return keyspace.Key{strconv.FormatInt(n, 10)} }
	for _, tc := range []struct {
		name   string
		bounds Bounds
		width  uint64
		cuts   []int64 // the inclusive upper bound of each range but the last
	}{
		{"no row has a value: one open range", Bounds{Empty: true}, 10, nil},
		{"one row", Bounds{Min: 42, Max: 42}, 10, nil},
		{"the span is one width", Bounds{Min: 1, Max: 10}, 10, nil},
		{"one more key is one more range", Bounds{Min: 1, Max: 11}, 10, []int64{10}},
		{"negative keys are cut without a seam at zero", Bounds{Min: -7, Max: 7}, 4, []int64{-4, 0, 4}},
		{"width one", Bounds{Min: -1, Max: 1}, 1, []int64{-1, 0}},
		{"all of int64 in two", Bounds{Min: math.MinInt64, Max: math.MaxInt64}, 1 << 63, []int64{-1}},
		{"all of int64 in the largest width", Bounds{Min: math.MinInt64, Max: math.MaxInt64}, math.MaxUint64, []int64{math.MaxInt64 - 1}},
		{"the top of int64", Bounds{Min: math.MaxInt64 - 2, Max: math.MaxInt64}, 2, []int64{math.MaxInt64 - 1}},
		{"the bottom of int64", Bounds{Min: math.MinInt64, Max: math.MinInt64 + 2}, 2, []int64{math.MinInt64 + 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := IntegerRanges(tc.bounds, tc.width)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(tc.cuts)+1 {
				t.Fatalf("%d ranges, want %d: %v", len(got), len(tc.cuts)+1, got)
			}
			for i, r := range got {
				var want keyspace.Range
				if i > 0 {
					want.After = key(tc.cuts[i-1])
				}
				if i < len(tc.cuts) {
					want.UpTo = key(tc.cuts[i])
				}
				if !r.Equal(want) {
					t.Errorf("range %d is %s, want %s", i, r, want)
				}
			}
		})
	}
}

func TestTooManyRangesAreRefusedBeforeTheyAreMade(t *testing.T) {
	all := Bounds{Min: math.MinInt64, Max: math.MaxInt64}
	for _, tc := range []struct {
		bounds Bounds
		width  uint64
	}{
		{Bounds{Min: 1, Max: 4e18}, 1}, {Bounds{Min: 1, Max: 4e18}, 1000}, {Bounds{Min: 1, Max: 4e18}, 4e18/MaxTasks - 1},
		{all, 1}, {all, 2}, {all, 1 << 32}, // counts beyond 64, 63 and 31 bits
	} {
		_, err := IntegerRanges(tc.bounds, tc.width)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != CodeTooManyTasks || f.Class != fault.Permanent {
			t.Fatalf("width %d: %v", tc.width, err)
		}
	}
}

func TestWidthForCutsIntoAtMostSoMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo, hi := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		b := Bounds{Min: min(lo, hi), Max: max(lo, hi)}
		n := rapid.Uint64Range(2, MaxTasks).Draw(t, "n")
		if got := IntegerCount(b, widthFor(b, n)); got < 1 || uint64(got) > n {
			t.Fatalf("%d ranges of %+v, at most %d are wanted", got, b, n)
		}
	})
}
