package verify

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

func TestCSVRowsAreRecordsNotLines(t *testing.T) {
	for _, tc := range []struct {
		name string
		body string
		want int64 // -1 for an error
	}{
		{name: "a header only", body: "id\n", want: 0},
		{name: "two rows", body: "id\n1\n2\n", want: 2},
		{name: "line ends inside values", body: "id,t\n1,\"a\n\nb\"\n2,\"\n\"\n", want: 2},
		{name: "quotes inside values", body: "t\n\"\"\"\n\"\"\"\n\"\"\n", want: 2},
		{name: "one column that is NULL", body: "t\n\n\nx\n", want: 3},
		{name: "no final line end", body: "id\n1\n2", want: 2},
		{name: "a header with a line end", body: "\"a\nb\"\n1\n", want: 1},
		{name: "cut inside a value", body: "t\n\"abc\n", want: -1},
		{name: "nothing at all", body: "", want: -1},
	} {
		got, err := csvRows([]byte(tc.body))
		if err != nil {
			got = -1
		}
		if got != tc.want {
			t.Errorf("%s: %d rows (%v), want %d", tc.name, got, err, tc.want)
		}
	}
}

func TestCSVRowsAgreesWithAReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringOf(rapid.RuneFrom([]rune("a,\"\n\r é")))
		row := rapid.SliceOfN(cell, 2, 2) // one empty column would be a line that the reader skips
		rows := rapid.SliceOfN(row, 1, 20).Draw(t, "rows")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		got, err := csvRows(b.Bytes())
		if err != nil || got != int64(len(rows)-1) {
			t.Fatalf("%q: %d rows (%v), want %d", b.String(), got, err, len(rows)-1)
		}
	})
}

// The footer's reader panics on some damage: "invalid logical type",
// "makeslice: cap out of range".
func TestParquetRowsSurvivesDamage(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(sample, "full", "*.parquet"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	good, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	start := len(good) - 8 - int(binary.LittleEndian.Uint32(good[len(good)-8:]))
	damaged := 0
	for i := start; i < len(good); i++ {
		for _, b := range []byte{0, 0x1c, 0x7f, 0xff} {
			body := bytes.Clone(good)
			body[i] = b
			if n, err := parquetRows(body); err != nil || n != 2500 {
				damaged++
			}
		}
	}
	if damaged == 0 {
		t.Error("no damage was seen: the test no longer tests anything")
	}
}
