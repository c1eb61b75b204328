package partfiletest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

func (s Subject) wrongBatches(t *testing.T) {
	columns := []rowtype.Column{
		{Name: "note", Type: rowtype.Type{Kind: rowtype.Text}},
		{Name: "price", Type: rowtype.Type{Kind: rowtype.Decimal, Precision: 9, Scale: 2}},
		{Name: "total", Type: rowtype.Type{Kind: rowtype.Decimal, Precision: 38}},
		{Name: "seq", Type: rowtype.Type{Kind: rowtype.Int64}, NotNull: true},
	}
	price, total := columns[1].Type, columns[2].Type
	ninth, largest := rowbatchtest.Decimal(price, "999999999"), rowbatchtest.Decimal(total, strings.Repeat("9", 38))
	row := func(b *rowbatch.Batch, note string, price, total []byte) {
		b.Columns[0].AppendBytes([]byte(note))
		b.Columns[1].AppendBytes(price)
		b.Columns[2].AppendBytes(total)
		b.Columns[3].AppendInt64(1)
		b.Rows++
	}
	for _, tc := range []struct {
		name string
		fill func(b *rowbatch.Batch)
		want string // in the message; "" for accepted
		code fault.Code
	}{
		{"the largest decimals", func(b *rowbatch.Batch) { row(b, "ok é", ninth, largest) }, "", ""},
		{"a decimal of a digit too many", func(b *rowbatch.Batch) { row(b, "", rowbatchtest.Decimal(price, "1000000000"), largest) }, `"price"`, "LAPSTRAKE_TYPE_DECIMAL_OUT_OF_RANGE"},
		{"a negative one", func(b *rowbatch.Batch) { row(b, "", rowbatchtest.Decimal(price, "-1000000000"), largest) }, `"price"`, "LAPSTRAKE_TYPE_DECIMAL_OUT_OF_RANGE"},
		{"a decimal whose low bytes look well", func(b *rowbatch.Batch) {
			row(b, "", rowbatchtest.Decimal(price, "18446744073709551617"), largest)
		}, `"price"`, "LAPSTRAKE_TYPE_DECIMAL_OUT_OF_RANGE"},
		{"a decimal of 39 digits", func(b *rowbatch.Batch) { row(b, "", ninth, rowbatchtest.Decimal(total, "1"+strings.Repeat("0", 38))) }, `"total"`, "LAPSTRAKE_TYPE_DECIMAL_OUT_OF_RANGE"},
		{"text that is not UTF-8", func(b *rowbatch.Batch) { row(b, "caf\xe9", ninth, largest) }, `"note"`, "LAPSTRAKE_TYPE_TEXT_NOT_UTF8"},
		{"a character across two values", func(b *rowbatch.Batch) { row(b, "\xc3", ninth, largest); row(b, "\xa9", ninth, largest) }, `"note"`, "LAPSTRAKE_TYPE_TEXT_NOT_UTF8"},
		{"NULL where there is none", func(b *rowbatch.Batch) {
			for i := range b.Columns {
				b.Columns[i].AppendNull()
			}
			b.Rows++
		}, `"seq"`, "LAPSTRAKE_INTERNAL_BATCH_MISMATCH"},
		{"a column without its last value", func(b *rowbatch.Batch) { row(b, "", ninth, largest); b.Rows++ }, `"note"`, "LAPSTRAKE_INTERNAL_BATCH_MISMATCH"},
		{"a column too few", func(b *rowbatch.Batch) { b.Columns = b.Columns[:3] }, "3 columns", "LAPSTRAKE_INTERNAL_BATCH_MISMATCH"},
		{"another type", func(b *rowbatch.Batch) { b.Columns[3].Type.Kind = rowtype.Timestamp }, `"seq"`, "LAPSTRAKE_INTERNAL_BATCH_MISMATCH"},
	} {
		w := s.writer(t, partfile.Options{Columns: columns, Compression: s.Options.Compression})
		b := rowbatch.New(columns)
		tc.fill(b)
		err := w.Append(b)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || fault.CodeOf(err) != tc.code) {
			t.Errorf("%s: %v, want %s with %s", tc.name, err, tc.code, tc.want)
		}
		if tc.want != "" && w.Rows() != 0 {
			t.Errorf("%s: %d rows are counted", tc.name, w.Rows())
		}
	}
}

func (s Subject) memory(t *testing.T) {
	rows := rowbatchtest.Rows(s.Options.Columns, 500, 7)
	want := s.Write(t, s.Options, rows)
	o := s.Options
	o.Memory = &partfile.Memory{Body: bytes.Repeat([]byte{0xA5}, 2*len(want.Body)+1<<20)} // what is reserved is an estimate
	first := &o.Memory.Body[0]
	got := s.Write(t, o, rows)
	if o.Memory.Body != nil {
		t.Error("the memory is left to another part")
	}
	if !bytes.Equal(got.Body, want.Body) || got.Fingerprint != want.Fingerprint {
		t.Error("the part depends on the memory that it was written into")
	}
	if &got.Body[0] != first {
		t.Error("memory that is large enough was not used")
	}
	for name, before := range map[string]partfile.Options{"other rows": s.Options, "other columns": {Columns: s.Options.Columns[:1], Compression: "none"}} {
		before.Memory = &partfile.Memory{}
		s.Write(t, before, rowbatchtest.Rows(before.Columns, 3000, 8))
		o.Memory = before.Memory
		if got := s.Write(t, o, rows); !bytes.Equal(got.Body, want.Body) {
			t.Errorf("the part depends on the one before, which had %s", name)
		}
	}
}

func (s Subject) afterwards(t *testing.T) {
	rows := rowbatchtest.Rows(s.Options.Columns, 10, 6)
	broken := s.writer(t, s.Options)
	if err := broken.Append(&rowbatch.Batch{Rows: 1}); err == nil {
		t.Fatal("a batch without columns is accepted")
	}
	closed := s.writer(t, s.Options)
	s.close(t, closed)
	for name, w := range map[string]partfile.Writer{"after an error": broken, "after Close": closed} {
		if err := w.Append(rows); err == nil {
			t.Errorf("%s: Append succeeds", name)
		}
		if part, err := w.Close(); err == nil {
			t.Errorf("%s: Close returns %d rows", name, part.Rows)
		}
	}
}

func (s Subject) check(t *testing.T) {
	always := []rowtype.Column{
		{Name: "no type", Type: rowtype.Type{Kind: "void"}},
		{Name: "wide", Type: rowtype.Type{Kind: rowtype.Decimal, Precision: 77}},
		{Name: "narrow", Type: rowtype.Type{Kind: rowtype.Decimal}},
		{Name: "tens", Type: rowtype.Type{Kind: rowtype.Decimal, Precision: 9, Scale: -1}},
		{Name: "tiny", Type: rowtype.Type{Kind: rowtype.Decimal, Precision: 9, Scale: 10}},
		{Name: "list of nothing", Type: rowtype.Type{Kind: rowtype.List}},
		{Name: "matrix", Type: rowtype.Type{Kind: rowtype.List, Elem: &rowtype.Type{Kind: rowtype.List, Elem: &rowtype.Type{Kind: rowtype.Bool}}}},
		s.Options.Columns[0], // a second time
	}
	refused := func(columns []rowtype.Column, names ...string) {
		t.Helper()
		err := s.Format.Check(partfile.Options{Columns: columns, Compression: s.Options.Compression})
		if fault.CodeOf(err) != "LAPSTRAKE_CONFIG_FORMAT_COLUMN_UNSUPPORTED" {
			t.Errorf("%v: %v", names, err)
			return
		}
		for _, name := range names {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("%q is not named: %v", name, err)
			}
		}
	}
	refused(nil)
	var all []string
	for _, c := range append(always, s.Refused...) {
		refused([]rowtype.Column{s.Options.Columns[0], c}, c.Name)
		all = append(all, c.Name)
	}
	refused(append(append([]rowtype.Column{s.Options.Columns[0]}, always...), s.Refused...), all...)
	if err := s.Format.Check(partfile.Options{Columns: s.Options.Columns, Compression: "brotli"}); err == nil {
		t.Error("compression brotli is accepted")
	}
}
