package csv

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/partfiletest"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

func TestConformance(t *testing.T) { // WRT-15
	var fits, refused []rowtype.Column
	for _, c := range rowbatchtest.AllTypes() {
		if refuse(c.Type) == "" {
			fits = append(fits, c)
		} else {
			refused = append(refused, c)
		}
	}
	if len(fits) != 23 {
		t.Fatalf("%d types fit, want 23", len(fits))
	}
	partfiletest.Run(t, partfiletest.Subject{
		Format:  Format,
		Options: partfile.Options{Columns: fits, Compression: "none"},
		Refused: refused,
		Read:    read,
	})
}

func write(t *testing.T, columns []rowtype.Column, b *rowbatch.Batch) []byte {
	t.Helper()
	o := partfile.Options{Columns: columns, Compression: "none"}
	if err := Format.Check(o); err != nil {
		t.Fatal(err)
	}
	w, err := Format.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(b); err != nil {
		t.Fatal(err)
	}
	part, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if part.Rows != int64(b.Rows) {
		t.Fatalf("%d rows, want %d", part.Rows, b.Rows)
	}
	return part.Body
}

// The upstream's files of the same rows, byte for byte.
func TestUpstreamFiles(t *testing.T) {
	columns := rowbatchtest.UpstreamColumns()
	order := []int{0, 1, 2, 3, 5, 6, 7, 8, 9} // without the list
	var chosen []rowtype.Column
	for _, i := range order {
		chosen = append(chosen, columns[i])
	}
	for pattern, ids := range map[string][2]int{"*_chunk0_*": {1, 1000}, "*_chunk1_*": {1001, 2000}, "*_chunk2_*": {2001, 2500}} {
		names, err := filepath.Glob("../../contract/testdata/upstream-sample/csv/" + pattern)
		if err != nil || len(names) != 1 {
			t.Fatalf("%d files match %s: %v", len(names), pattern, err)
		}
		want, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		got := write(t, chosen, rowbatchtest.Select(rowbatchtest.UpstreamRows(ids[0], ids[1]), order...))
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs at byte %d", pattern, firstDifference(got, want))
		}
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// WRT-09 to WRT-14: a column of text, its file byte for byte.
func TestTextCells(t *testing.T) {
	columns := []rowtype.Column{{Name: `Amount, "USD"`, Type: rowtype.Type{Kind: rowtype.Text}}, {Name: "n", Type: rowtype.Type{Kind: rowtype.Int16}}}
	for _, tc := range []struct{ text, want string }{
		{"plain", "plain"},
		{"", `""`},
		{"NULL", "NULL"},
		{"a,b", `"a,b"`},
		{`say "hi"`, `"say ""hi"""`},
		{`"`, `""""`},
		{"line\nbreak", "\"line\nbreak\""},
		{"cr\rlf\r\n", "\"cr\rlf\r\n\""},
		{"cr\ralone", "\"cr\ralone\""},
		{"\ttab", "\ttab"},
		{" lead and trail ", " lead and trail "},
		{`\.`, `\.`},
		{"=1+1", "=1+1"}, {"@x", "@x"}, {"+1", "+1"}, {"-1", "-1"},
		{"a;b|c'd", "a;b|c'd"},
		{"nul\x00", "nul\x00"},
		{"ünïcødé \u2028 \U0001F980", "ünïcødé \u2028 \U0001F980"},
	} {
		b := rowbatch.New(columns)
		b.Columns[0].AppendBytes([]byte(tc.text))
		b.Columns[1].AppendNull()
		b.Rows = 1
		if got, want := string(write(t, columns, b)), "\"Amount, \"\"USD\"\"\",n\n"+tc.want+",\n"; got != want {
			t.Errorf("%q: %q, want %q", tc.text, got, want)
		}
	}
}

func TestOtherCells(t *testing.T) {
	decimal := rowtype.Type{Kind: rowtype.Decimal, Precision: 38, Scale: 3}
	for _, tc := range []struct {
		name string
		typ  rowtype.Type
		add  func(v *rowbatch.Vector)
		want string
	}{
		{"true", rowtype.Type{Kind: rowtype.Bool}, func(v *rowbatch.Vector) { v.AppendBool(true) }, "true"},
		{"the largest unsigned", rowtype.Type{Kind: rowtype.UInt64}, func(v *rowbatch.Vector) { v.AppendUint64(math.MaxUint64) }, "18446744073709551615"},
		{"a decimal below one", decimal, func(v *rowbatch.Vector) { v.AppendBytes(rowbatchtest.Decimal(decimal, "-5")) }, "-0.005"},
		{"a decimal keeps its zeros", decimal, func(v *rowbatch.Vector) { v.AppendBytes(rowbatchtest.Decimal(decimal, "1500")) }, "1.500"},
		{"a date", rowtype.Type{Kind: rowtype.Date}, func(v *rowbatch.Vector) { v.AppendInt32(-1) }, "1969-12-31"},
		{"a date past the year 9999", rowtype.Type{Kind: rowtype.Date}, func(v *rowbatch.Vector) { v.AppendInt32(2932897) }, "+10000-01-01"},
		{"a time", rowtype.Type{Kind: rowtype.Time}, func(v *rowbatch.Vector) { v.AppendInt64(43_200_000_000) }, "12:00:00.000000"},
		{"a time of MySQL below zero", rowtype.Type{Kind: rowtype.Time}, func(v *rowbatch.Vector) { v.AppendInt64(-3_020_399_000_001) }, "-838:59:59.000001"},
		{"a wall clock", rowtype.Type{Kind: rowtype.Timestamp}, func(v *rowbatch.Vector) { v.AppendInt64(-1) }, "1969-12-31T23:59:59.999999"},
		{"an instant", rowtype.Type{Kind: rowtype.Timestamp, UTC: true}, func(v *rowbatch.Vector) { v.AppendInt64(0) }, "1970-01-01T00:00:00.000000Z"}, // WRT-13
		{"the last one that fits", rowtype.Type{Kind: rowtype.Timestamp}, func(v *rowbatch.Vector) { v.AppendInt64(math.MaxInt64) }, "+294247-01-10T04:00:54.775807"},
		{"a UUID", rowtype.Type{Kind: rowtype.UUID}, func(v *rowbatch.Vector) {
			v.AppendBytes([]byte("\xa0\xee\xbc\x99\x9c\x0b\x4e\xf8\xbb\x6d\x6b\xb9\xbd\x38\x0a\x11"))
		}, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{"bytes", rowtype.Type{Kind: rowtype.Binary}, func(v *rowbatch.Vector) { v.AppendBytes([]byte{0, 0xDE, 0xAD}) }, "00dead"},
		{"no bytes", rowtype.Type{Kind: rowtype.Binary}, func(v *rowbatch.Vector) { v.AppendBytes(nil) }, `""`},
		{"NULL bytes", rowtype.Type{Kind: rowtype.Binary}, func(v *rowbatch.Vector) { v.AppendNull() }, ""},
		{"a list item of JSON is not decoded", rowtype.Type{Kind: rowtype.JSON}, func(v *rowbatch.Vector) { v.AppendBytes([]byte(`{"n": 1.50}`)) }, `"{""n"": 1.50}"`}, // WRT-19
	} {
		columns := []rowtype.Column{{Name: "c", Type: tc.typ}}
		b := rowbatch.New(columns)
		tc.add(&b.Columns[0])
		b.Rows = 1
		if got := string(write(t, columns, b)); got != "c\n"+tc.want+"\n" {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// testdata/float-vectors.tsv holds type, bits and text of floats as the
// upstream's language prints them.
func TestFloatVectors(t *testing.T) {
	body, err := os.ReadFile("testdata/float-vectors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		r := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		bits, err := strconv.ParseUint(r[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		switch r[0] {
		case "float64":
			got = string(appendFloat(nil, math.Float64frombits(bits), 64))
		case "float32":
			got = string(appendFloat(nil, float64(math.Float32frombits(uint32(bits))), 32))
		default:
			t.Fatalf("unknown type in %q", line)
		}
		if got != r[2] {
			t.Errorf("%s %s: %s, want %s", r[0], r[1], got, r[2])
		}
	}
}

func TestCountRows(t *testing.T) {
	for _, tc := range []struct {
		body string
		want int64 // -1 for unreadable
	}{
		{"h\n", 0}, {"h", 0}, {"h\na\nb\n", 2}, {"h\na\nb", 2}, {"h\n\n\n", 2},
		{"h\n\"a\nb\n\"\n\"\"\"\n\"\n", 2}, // WRT-11
		{"\"h\nh\"\na\n", 1}, {"", -1}, {"h\n\"a\n", -1}, {"h\r\na\r\n", 1},
	} {
		got, err := CountRows([]byte(tc.body))
		if err != nil {
			got = -1
		}
		if got != tc.want {
			t.Errorf("%q has %d rows, want %d", tc.body, got, tc.want)
		}
	}
}

// I1: what was written decides, not the writer's own count.
func TestAPartThatLostRowsIsNotReturned(t *testing.T) {
	columns := []rowtype.Column{{Name: "c", Type: rowtype.Type{Kind: rowtype.Int64}}}
	made, err := Format.New(partfile.Options{Columns: columns, Compression: "none"})
	if err != nil {
		t.Fatal(err)
	}
	w := made.(*writer)
	if err := w.Append(rowbatchtest.Rows(columns, 10, 1)); err != nil {
		t.Fatal(err)
	}
	w.rows++
	if part, err := w.Close(); err == nil || part.Body != nil {
		t.Fatalf("%v, with a body of %d bytes", err, len(part.Body))
	}
}
