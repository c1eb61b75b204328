package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/inspect"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

func groupRows(t *testing.T, body []byte) []int64 {
	t.Helper()
	m := open(t, body).MetaData()
	var rows []int64
	for i := range m.NumRowGroups() {
		rows = append(rows, m.RowGroup(i).NumRows())
	}
	return rows
}

func TestRowGroupsEndAtTheirLimits(t *testing.T) {
	columns := []rowtype.Column{{Name: "c", Type: rowtype.Type{Kind: rowtype.Text}}}
	texts := func(lengths ...int) *rowbatch.Batch {
		b := rowbatch.New(columns)
		for _, n := range lengths {
			b.Columns[0].AppendBytes(bytes.Repeat([]byte("x"), n))
			b.Rows++
		}
		return b
	}
	for _, tc := range []struct {
		name  string
		rows  int64
		bytes int64
		in    *rowbatch.Batch
		want  []int64
	}{
		{"by rows", 2, 0, texts(1, 1, 1, 1, 1), []int64{2, 2, 1}},
		{"by rows, all full", 2, 0, texts(1, 1, 1, 1), []int64{2, 2}},
		{"by bytes, four of them a row for its offset", 0, 100, texts(46, 46, 46, 47, 46), []int64{2, 1, 1, 1}},
		{"a row above the limit alone, and nothing of it lost", 0, 100, texts(10, 1000, 10, 10), []int64{1, 1, 2}},
		{"the first row above the limit", 0, 100, texts(1000, 10), []int64{1, 1}},
		{"defaults", 0, 0, texts(1000, 10), []int64{2}},
	} {
		eachWriter(t, func(t *testing.T, o partfile.Options) {
			o.Columns, o.Compression, o.RowGroupRows, o.RowGroupBytes = columns, "none", tc.rows, tc.bytes
			body := write(t, o, tc.in)
			if diff := cmp.Diff(tc.want, groupRows(t, body)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.name, diff)
			}
			if diff := rowbatchtest.Diff(tc.in, readArrow(t, body, columns)); diff != "" {
				t.Errorf("%s: %s", tc.name, diff)
			}
		})
	}
}

// Dictionaries overflow, pages fill up and lists are longer than a span.
func TestLargeColumnChunks(t *testing.T) {
	items := rowtype.Type{Kind: rowtype.Int64}
	columns := []rowtype.Column{
		{Name: "unique number", Type: rowtype.Type{Kind: rowtype.Int64}},
		{Name: "unique text", Type: rowtype.Type{Kind: rowtype.Text}},
		{Name: "few texts", Type: rowtype.Type{Kind: rowtype.Text}},
		{Name: "noise", Type: rowtype.Type{Kind: rowtype.UUID}},
		{Name: "long list", Type: rowtype.Type{Kind: rowtype.List, Elem: &items}},
	}
	r := rand.New(rand.NewPCG(1, 1))
	b := rowbatch.New(columns)
	for i := range 300_000 {
		b.Columns[0].AppendInt64(int64(i) * 7919)
		b.Columns[1].AppendBytes(fmt.Appendf(nil, "row number %d", i))
		if i%5 == 0 {
			b.Columns[2].AppendNull()
		} else {
			b.Columns[2].AppendBytes(fmt.Appendf(nil, "text %d", i%17))
		}
		var id [16]byte
		for j := range id {
			id[j] = byte(r.Uint32())
		}
		b.Columns[3].AppendBytes(id[:])
		if i%60_000 == 0 {
			for j := range 12_288 + i/100 {
				b.Columns[4].Items.AppendInt64(r.Int64N(int64(j + 1)))
			}
		}
		b.Columns[4].EndList()
		b.Rows++
	}
	eachWriter(t, func(t *testing.T, o partfile.Options) {
		for _, compression := range []string{"zstd", "none"} {
			o.Columns, o.Compression = columns, compression
			body := write(t, o, b)
			if diff := rowbatchtest.Diff(b, readArrow(t, body, columns)); diff != "" {
				t.Errorf("%s: %s", compression, diff)
			}
			if n := len(groupRows(t, body)); n != 1 {
				t.Errorf("%s: %d row groups", compression, n)
			}
		}
	})
}

// Values larger than a page, a dictionary and the window of zstd.
func TestLargeValues(t *testing.T) {
	columns := []rowtype.Column{
		{Name: "text", Type: rowtype.Type{Kind: rowtype.Text}},
		{Name: "bytes", Type: rowtype.Type{Kind: rowtype.Binary}},
	}
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	rows := rowbatch.New(columns)
	for i, n := range []int{0, 5 << 20, 10, 1 << 20, 5 << 20, 100} {
		rows.Columns[0].AppendBytes(bytes.Repeat([]byte("carefully ironic deposits "), n/26+1))
		rows.Columns[1].AppendBytes(noise[:n%len(noise)>>(i%3)])
		rows.Rows++
	}
	eachWriter(t, func(t *testing.T, o partfile.Options) {
		for _, o.Compression = range codecs {
			o.Columns = columns
			body := write(t, o, rows)
			if diff := rowbatchtest.Diff(rows, readArrow(t, body, columns)); diff != "" {
				t.Errorf("%s: %s", o.Compression, diff)
			}
			if o.Writer == partfile.NativeWriter {
				if err := inspect.Check(body, rows); err != nil {
					t.Errorf("%s: %v", o.Compression, err)
				}
			}
		}
	})
}

// A part is the same in every release, on every machine, until somebody
// decides otherwise: the fingerprint of equal rows tells a reader that it has
// them already. A new version of a library that writes other bytes is such a
// decision.
func TestBytesOfAPartAreStable(t *testing.T) {
	for _, tc := range []struct {
		writer, encoding, compression string
		want                          contract.Fingerprint
	}{
		{partfile.NativeWriter, partfile.CompatibleEncoding, "none", "xxh3:0f00e85f78da0a6f"},
		{partfile.NativeWriter, partfile.CompatibleEncoding, "zstd", "xxh3:e750b9d500200ed0"},
		{partfile.NativeWriter, partfile.CompactEncoding, "none", "xxh3:32d9285d73a373a7"},
		{partfile.NativeWriter, partfile.CompactEncoding, "zstd", "xxh3:56bf45786bc8ace9"},
		{partfile.ArrowWriter, "", "none", "xxh3:dd855cad8adb4be3"},
		{partfile.ArrowWriter, "", "zstd", "xxh3:6f2499f91d3173c9"},
	} {
		o := partfile.Options{Columns: rowbatchtest.UpstreamColumns(), Compression: tc.compression, RowGroupRows: 1000, Writer: tc.writer, Encoding: tc.encoding}
		if got := contract.FingerprintOf(write(t, o, rowbatchtest.UpstreamRows(1, 2600))); got != tc.want {
			t.Errorf("%s %s, %s: %s, earlier %s", tc.writer, tc.encoding, tc.compression, got, tc.want)
		}
	}
}
