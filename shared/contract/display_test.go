package contract

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// testdata/display-vectors.tsv holds type, raw value, text and row hash of
// many values, extremes and random ones, as the upstream's libraries
// (arrow-cast 59.3.2, xxhash-rust 0.8) print and hash them.
func TestDisplayVectors(t *testing.T) {
	types := map[string]rowtype.Type{}
	for _, c := range rowbatchtest.AllTypes() {
		types[c.Type.String()] = c.Type
	}
	for _, r := range records(t, "display-vectors.tsv") {
		typ, ok := types[r[0]]
		if strings.HasPrefix(r[0], "decimal") {
			typ, ok = parseDecimalType(t, r[0]), true
		}
		if !ok {
			t.Fatalf("unknown type %q", r[0])
		}
		v := vectorOf(typ, func(v *rowbatch.Vector) { appendParsed(t, v, r[1]) })
		if got := string(appendDisplay(nil, &v, 0)); got != r[2] {
			t.Errorf("%s %s: %s, want %s", r[0], r[1], got, r[2])
		}
		if got := hashOf(v); got != r[3] {
			t.Errorf("%s %s: row hash %s, want %s", r[0], r[1], got, r[3])
		}
	}
}

func parseDecimalType(t *testing.T, s string) rowtype.Type {
	t.Helper()
	precision, scale, _ := strings.Cut(strings.Trim(s, "decimal()"), ",")
	p, err := strconv.Atoi(precision)
	if err != nil {
		t.Fatal(err)
	}
	sc, err := strconv.Atoi(scale)
	if err != nil {
		t.Fatal(err)
	}
	return rowtype.Type{Kind: rowtype.Decimal, Precision: p, Scale: sc}
}

func appendParsed(t *testing.T, v *rowbatch.Vector, raw string) {
	t.Helper()
	switch v.Type.Kind {
	case rowtype.Float32, rowtype.Float64:
		bits, err := strconv.ParseUint(raw, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if v.Type.Kind == rowtype.Float32 {
			v.AppendFloat32(math.Float32frombits(uint32(bits)))
		} else {
			v.AppendFloat64(math.Float64frombits(bits))
		}
	case rowtype.Decimal:
		v.AppendBytes(rowbatchtest.Decimal(v.Type, raw))
	default:
		n, err := strconv.ParseInt(raw, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if v.Type.Kind == rowtype.Date {
			v.AppendInt32(int32(n))
		} else {
			v.AppendInt64(n)
		}
	}
}

// The checksums of the upstream's own manifests come out of the same rows.
func TestUpstreamColumnChecksums(t *testing.T) {
	for _, tc := range []struct {
		manifest    string
		first, last int
		key         int
	}{
		{"full/manifest.json", 1, 2500, -1},
		{"chunked/manifest.json", 1, 2500, -1},
		{"inc/manifest-orders_inc_20261129T131843.142_17981.json", 1, 2500, 9},
		{"inc/manifest-orders_inc_20261129T131843.486_18003.json", 2501, 2600, 9},
	} {
		for _, body := range upstreamFiles(t, tc.manifest) {
			m, err := DecodeManifest(body)
			if err != nil {
				t.Fatal(err)
			}
			c := NewChecksums(len(rowbatchtest.UpstreamColumns()), tc.key)
			middle := (tc.first + tc.last) / 2
			c.Add(rowbatchtest.UpstreamRows(middle+1, tc.last)) // the order of parts does not matter
			c.Add(rowbatchtest.UpstreamRows(tc.first, middle))
			if diff := cmp.Diff(m.ColumnChecksums, ColumnChecksums(rowbatchtest.UpstreamColumns(), c.Sums())); diff != "" {
				t.Errorf("%s (-upstream +ours)\n%s", tc.manifest, diff)
			}
		}
	}
}

func TestChecksumOfNULLKeysAndUncoveredTypes(t *testing.T) {
	hash := func(typ, keyType rowtype.Type, add func(v *rowbatch.Vector)) uint64 {
		b := rowbatch.New([]rowtype.Column{{Type: typ}, {Type: keyType}})
		b.Rows = 1
		add(&b.Columns[0])
		b.Columns[1].AppendNull()
		c := NewChecksums(2, 1)
		c.Add(b)
		return c.Sums()[0]
	}
	one := func(v *rowbatch.Vector) { v.AppendInt64(1) }
	integer := rowtype.Type{Kind: rowtype.Int64}
	for _, tc := range []struct {
		name      string
		got, same uint64
	}{
		{"NULL key of eight bytes is eight zeros", hash(integer, integer, one), hash(integer, tsNano, one)},
		{"nanoseconds are not covered", hash(tsNano, integer, one), 0},
		{"nor are lists of dates", hash(list(rowtype.Date), integer, func(v *rowbatch.Vector) { v.EndList() }), 0},
	} {
		if tc.got != tc.same {
			t.Errorf("%s: %d and %d", tc.name, tc.got, tc.same)
		}
	}
	if hash(integer, integer, one) == hash(integer, rowtype.Type{Kind: rowtype.Text}, one) {
		t.Error("a NULL text key counts as eight bytes")
	}
}

// WRT-21: neither two equal values nor two rows that swapped theirs vanish.
func TestChecksumSeesPairsAndSwaps(t *testing.T) {
	sum := func(key int, rows ...[2]int64) uint64 {
		b := rowbatch.New([]rowtype.Column{{Type: rowtype.Type{Kind: rowtype.Int64}}, {Type: rowtype.Type{Kind: rowtype.Int64}}})
		for _, r := range rows {
			b.Columns[0].AppendInt64(r[0])
			b.Columns[1].AppendInt64(r[1])
			b.Rows++
		}
		c := NewChecksums(2, key)
		c.Add(b)
		return c.Sums()[1]
	}
	if sum(-1, [2]int64{1, 5}, [2]int64{1, 5}) == 0 {
		t.Error("two equal rows cancel out")
	}
	if sum(0, [2]int64{1, 5}, [2]int64{2, 6}) == sum(0, [2]int64{1, 6}, [2]int64{2, 5}) {
		t.Error("two rows swapped their values unseen")
	}
}

// WRT-22: rows that would read the same when joined have different frames.
func TestRowHashTellsRowsApart(t *testing.T) {
	row := func(cells ...any) string {
		var vs []rowbatch.Vector
		for _, c := range cells {
			vs = append(vs, vectorOf(rowtype.Type{Kind: rowtype.Text}, func(v *rowbatch.Vector) {
				if s, ok := c.(string); ok {
					v.AppendBytes([]byte(s))
				} else {
					v.AppendNull()
				}
			}))
		}
		return hashOf(vs...)
	}
	seen := map[string]int{}
	for i, h := range []string{row("ab", "c"), row("a", "bc"), row("abc", ""), row("", "abc"), row("abc", nil), row(nil, "abc"), row(nil, nil), row("", "")} {
		if j, ok := seen[h]; ok {
			t.Errorf("rows %d and %d have the hash %s", i, j, h)
		}
		seen[h] = i
	}
}
