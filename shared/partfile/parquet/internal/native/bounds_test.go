package native

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/rowtype"
)

func of(t *testing.T, kind rowtype.Kind) storage {
	t.Helper()
	s, ok := storageOf(rowtype.Type{Kind: kind, Precision: 38}, 16)
	if !ok {
		t.Fatalf("%s is unknown", kind)
	}
	return s
}

func TestLongBoundsAreCut(t *testing.T) {
	z := func(n int, then string) string { return strings.Repeat("z", n) + then }
	full := strings.Repeat("\xFF", 64)
	for _, tc := range []struct {
		name  string
		kind  rowtype.Kind
		value string
		low   string
		high  string // "" for no upper bound
	}{
		{"64 bytes are whole", rowtype.Text, z(64, ""), z(64, ""), z(64, "")},
		{"65 are not", rowtype.Text, z(65, ""), z(64, ""), z(63, "{")},
		{"a character across the end is left out", rowtype.Text, z(63, "éé"), z(63, ""), z(62, "{")},
		{"the greatest character of two bytes", rowtype.Text, z(62, "\u07FFzz"), z(62, "\u07FF"), z(62, "\u0800")},
		{"the last before the surrogates", rowtype.Text, z(61, "\uD7FFzz"), z(61, "\uD7FF"), z(61, "\uE000")},
		{"the greatest of all", rowtype.JSON, z(60, "\U0010FFFFzz"), z(60, "\U0010FFFF"), z(59, "{")},
		{"nothing is greater", rowtype.Text, strings.Repeat("\U0010FFFF", 17), strings.Repeat("\U0010FFFF", 16), ""},
		{"bytes are raised", rowtype.Binary, z(65, ""), z(64, ""), z(63, "{")},
		{"the last byte that can be", rowtype.Binary, z(60, "\xFF\xFF\xFF\xFF\x01"), z(60, "\xFF\xFF\xFF\xFF"), z(59, "{")},
		{"no byte can be", rowtype.Binary, full + "\x00", full, ""},
		{"but whole they are their own bound", rowtype.Binary, full, full, full},
	} {
		s := of(t, tc.kind)
		var b bounds
		b.set(s, []byte(tc.value), []byte(tc.value))
		whole := len(tc.value) <= 64
		switch {
		case string(b.low.value) != tc.low || b.low.exact != whole:
			t.Errorf("%s: lower bound %q, exact %v", tc.name, b.low.value, b.low.exact)
		case b.known != (tc.high != ""):
			t.Errorf("%s: known %v", tc.name, b.known)
		case b.known && (string(b.high.value) != tc.high || b.high.exact != whole):
			t.Errorf("%s: upper bound %q, exact %v", tc.name, b.high.value, b.high.exact)
		case b.known && (s.compare(b.high.value, []byte(tc.value)) < 0 || s.text && !utf8.Valid(b.high.value)):
			t.Errorf("%s: upper bound %q is none", tc.name, b.high.value)
		}
	}
}

func TestNumbersAreOrderedAsNumbers(t *testing.T) {
	word := func(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }
	double := func(x float64) []byte { return word(math.Float64bits(x)) }
	minusOne := bytes.Repeat([]byte{0xFF}, 16)
	one := append(make([]byte, 15), 1)
	for _, tc := range []struct {
		name string
		kind rowtype.Kind
		less []byte
		more []byte
	}{
		{"signed", rowtype.Int64, word(math.MaxUint64), word(1)},
		{"unsigned", rowtype.UInt64, word(1), word(math.MaxUint64)},
		{"halves", rowtype.Int32, []byte{0, 0, 0, 0x80}, []byte{0, 0, 0, 0}},
		{"floats", rowtype.Float64, double(-2), double(-1)},
		{"decimals of two signs", rowtype.Decimal, minusOne, one},
		{"decimals of one sign", rowtype.Decimal, make([]byte, 16), one},
		{"bytes", rowtype.Binary, []byte{0x7F}, []byte{0x80}},
		{"a prefix", rowtype.Text, []byte("a"), []byte("a\x00")},
	} {
		s := of(t, tc.kind)
		if s.compare(tc.less, tc.more) != -1 || s.compare(tc.more, tc.less) != 1 || s.compare(tc.less, tc.less) != 0 {
			t.Errorf("%s: % x is not below % x", tc.name, tc.less, tc.more)
		}
		if s.order != orderBytes && s.order != orderDecimal {
			continue
		}
		r := newByteRange(s)
		for _, x := range [][]byte{tc.more, tc.less, tc.more} {
			r.add(x)
		}
		if !bytes.Equal(r.low, tc.less) || !bytes.Equal(r.high, tc.more) {
			t.Errorf("%s: from % x to % x", tc.name, r.low, r.high)
		}
	}
}

func TestABoundIsExactIfAnyPageSaysSo(t *testing.T) {
	s := of(t, rowtype.Text)
	long := strings.Repeat("z", 65)
	var cut, whole, all bounds
	cut.set(s, []byte(long), []byte(long))
	whole.set(s, []byte(long[:64]), []byte(long[:63]+"{"))
	for _, order := range [][]*bounds{{&cut, &whole}, {&whole, &cut}} {
		all.known = false
		for _, b := range order {
			all.add(s, b)
		}
		if !all.low.exact || !all.high.exact {
			t.Errorf("lower exact %v, upper exact %v", all.low.exact, all.high.exact)
		}
	}
	all.known = false
	all.add(s, &cut)
	if all.low.exact || all.high.exact {
		t.Error("a cut bound is called exact")
	}
}

func TestPagesOutOfOrderAreNotCalledOrdered(t *testing.T) {
	s := of(t, rowtype.Binary)
	for _, tc := range []struct {
		name  string
		pages []string // bounds of pages without values are ""
		want  int32
	}{
		{"no page with values", []string{"", ""}, 1},
		{"equal pages", []string{"b", "b"}, 1},
		{"rising, with a page of NULLs", []string{"a", "", "b", "b"}, 1},
		{"falling", []string{"c", "b", "", "a"}, 2},
		{"neither", []string{"a", "c", "b"}, 0},
	} {
		var x pageIndex
		for _, p := range tc.pages {
			var b bounds
			b.set(s, []byte(p), []byte(p))
			x.add(page{empty: p == ""}, &b)
		}
		if got := x.boundaryOrder(s, x.pages); got != tc.want {
			t.Errorf("%s: order %d, want %d", tc.name, got, tc.want)
		}
	}
}
