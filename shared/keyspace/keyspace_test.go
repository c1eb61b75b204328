package keyspace

import (
	"strings"
	"testing"
)

func TestTiles(t *testing.T) {
	a, b, c := Key{"1"}, Key{"2"}, Key{"3"}
	for _, tc := range []struct {
		name  string
		whole Range
		parts []Range
		want  string // part of the error; "" for none
	}{
		{"one open range", Range{}, []Range{{}}, ""},
		{"three in any order", Range{}, []Range{{After: b}, {UpTo: a}, {After: a, UpTo: b}}, ""},
		{"inside bounds", Range{After: a, UpTo: c}, []Range{{After: a, UpTo: b}, {After: b, UpTo: c}}, ""},
		{"nothing", Range{}, nil, "no range"},
		{"a gap", Range{}, []Range{{UpTo: a}, {After: b}}, "no range"},
		{"the same start twice", Range{}, []Range{{UpTo: a}, {After: a}, {After: a, UpTo: b}}, "overlap"},
		{"past the end", Range{UpTo: b}, []Range{{UpTo: a}, {After: a}}, "reaches past"},
		{"an island", Range{}, []Range{{}, {After: a, UpTo: b}}, "reached by no other"},
		{"all rows", Range{All: true}, []Range{{All: true}}, ""},
		{"NULL keys apart", Range{Null: true}, []Range{{Null: true}}, ""},
		{"NULL keys among the others", Range{}, []Range{{}, {Null: true}}, "outside"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := Tiles(tc.whole, tc.parts)
			if tc.want == "" && err != nil {
				t.Fatal(err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Fatalf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestCutAt(t *testing.T) {
	r := Range{After: Key{"a"}, UpTo: Key{"z"}}
	done, rest, err := r.CutAt(Key{"m"})
	if err != nil {
		t.Fatal(err)
	}
	if err := Tiles(r, []Range{done, rest}); err != nil {
		t.Fatal(err)
	}
	for _, at := range []Key{{"a"}, {"z"}, nil} {
		if _, _, err := r.CutAt(at); err == nil {
			t.Errorf("cut at %v: a task that makes no progress would loop for ever", at)
		}
	}
}

// The longest keys of the engines that index them are bounds.
func TestAKeyThatCanBound(t *testing.T) {
	for _, tc := range []struct {
		name string
		key  Key
		can  bool
	}{
		{"a number", Key{"1"}, true},
		{"the longest index entry of MySQL", Key{strings.Repeat("x", 3072)}, true},
		{"two columns of half the length", Key{strings.Repeat("x", 2048), strings.Repeat("y", 2048)}, true},
		{"a byte too many", Key{strings.Repeat("x", 2048), strings.Repeat("y", 2049)}, false},
		{"a megabyte", Key{strings.Repeat("x", 1<<20)}, false},
	} {
		if tc.key.CanBound() != tc.can {
			t.Errorf("%s: %v", tc.name, !tc.can)
		}
	}
}
