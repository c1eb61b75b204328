package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"pgregory.net/rapid"
)

// stream builds the bytes of a binary COPY; a nil value is NULL.
type stream struct{ bytes.Buffer }

func newStream() *stream {
	s := &stream{}
	s.WriteString(signature)
	s.Write(make([]byte, 8))
	return s
}

func (s *stream) row(values ...[]byte) *stream {
	_ = binary.Write(s, binary.BigEndian, int16(len(values)))
	for _, v := range values {
		if v == nil {
			_ = binary.Write(s, binary.BigEndian, int32(-1))
			continue
		}
		_ = binary.Write(s, binary.BigEndian, int32(len(v)))
		s.Write(v)
	}
	return s
}

func (s *stream) end() *stream {
	s.WriteString("\xff\xff")
	return s
}

func be(v any) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.BigEndian, v)
	return b.Bytes()
}

// wireNumber is a numeric: sign, weight and groups of four digits.
func wireNumber(sign uint16, weight int16, groups ...uint16) []byte {
	return slices.Concat(be(uint16(len(groups))), be(weight), be(sign), be(uint16(0)), be(groups))
}

func wireList(elem uint32, items ...[]byte) []byte {
	if len(items) == 0 {
		return slices.Concat(be(int32(0)), be(int32(0)), be(elem))
	}
	b := slices.Concat(be(int32(1)), be(int32(0)), be(elem), be(int32(len(items))), be(int32(1)))
	for _, item := range items {
		if item == nil {
			b = append(b, be(int32(-1))...)
			continue
		}
		b = append(append(b, be(int32(len(item)))...), item...)
	}
	return b
}

// mapped are columns of built-in types, such as "numeric(15,2)" or "int4[]".
func mapped(t testing.TB, natives ...string) []column {
	t.Helper()
	columns := make([]column, len(natives))
	for i, native := range natives {
		var p, s int32
		pg := rowtype.PostgresType{Name: native, BuiltIn: true, Class: 'b', Modifier: -1}
		if n, _ := fmt.Sscanf(native, "numeric(%d,%d)", &p, &s); n == 2 {
			pg.Name, pg.Modifier = "numeric", p<<16+s+4
		}
		c := column{field: field{name: fmt.Sprintf("c%d", i)}}
		if elem, ok := strings.CutSuffix(native, "[]"); ok {
			pg.Elem, c.elem = &rowtype.PostgresType{Name: elem, BuiltIn: true, Class: 'b', Modifier: -1}, 23
		}
		m, err := pg.Map()
		if err != nil {
			t.Fatal(err)
		}
		c.Column, c.postgres = rowtype.Column{Name: c.name, Type: m.Type, Native: native}, pg
		columns[i] = c
	}
	return columns
}

// decoding is a decoder that keeps what it decoded as text.
type decoding struct {
	*decoder
	columns []column
	batches []int
	rows    []string
}

func newDecoding(t testing.TB, batchRows int, natives ...string) *decoding {
	columns := mapped(t, natives...)
	var types []rowtype.Column
	for _, c := range columns {
		types = append(types, c.Column)
	}
	d := &decoding{columns: columns}
	d.decoder = &decoder{layout: layoutOf(columns, 0, 0), batchRows: batchRows, batchSize: source.UsualBatchBytes, buffer: newBuffer(types, nil)}
	d.full = func(b *buffer) (*buffer, error) {
		d.batches = append(d.batches, b.batch.Rows)
		for i := range b.batch.Rows {
			var cells []string
			for c := range b.batch.Columns {
				cells = append(cells, printed(&b.batch.Columns[c], i))
			}
			d.rows = append(d.rows, strings.Join(cells, "|"))
		}
		b.reset()
		return b, nil
	}
	return d
}

// feed writes the stream in pieces, cut where cuts says, and ends it.
func (d *decoding) feed(whole []byte, rows int64, cuts ...int) error {
	at := 0
	for _, cut := range append(cuts, len(whole)) {
		if _, err := d.Write(slices.Clone(whole[at:cut])); err != nil {
			return err
		}
		at = cut
	}
	if err := d.finish(rows); err != nil {
		return err
	}
	_, err := d.full(d.buffer)
	return err
}

var sampleNatives = []string{"int8", "text", "numeric(15,2)", "int4[]", "bytea"}

func sampleStream(rows int) []byte {
	s := newStream()
	for i := range rows {
		text := []byte(strings.Repeat("é", i%7))
		if i%4 == 0 {
			text = nil
		}
		s.row(be(int64(i)), text, wireNumber(numericNegative, 0, uint16(i%10000), 2500), wireList(23, be(int32(i)), nil), []byte{0xff, byte(i)})
	}
	return s.end().Bytes()
}

// However the stream is cut into pieces, the rows and the batches are the
// same.
func TestPiecesMakeNoDifference(t *testing.T) {
	const rows = 23
	whole := sampleStream(rows)
	want := newDecoding(t, 5, sampleNatives...)
	if err := want.feed(whole, rows); err != nil {
		t.Fatal(err)
	}
	if len(want.rows) != rows || !slices.Equal(want.batches, []int{5, 5, 5, 5, 3}) {
		t.Fatalf("%d rows in batches of %v", len(want.rows), want.batches)
	}
	if want.rows[4] != "4|null|-4.25|[4,null]|hex ff04" || want.rows[5] != "5|ééééé|-5.25|[5,null]|hex ff05" {
		t.Fatalf("rows 4 and 5 are %s", want.rows[4:6])
	}
	check := func(run interface{ Fatalf(string, ...any) }, cuts ...int) {
		got := newDecoding(t, 5, sampleNatives...)
		if err := got.feed(whole, rows, cuts...); err != nil {
			run.Fatalf("cut at %v: %v", cuts, err)
		}
		if !slices.Equal(got.rows, want.rows) || !slices.Equal(got.batches, want.batches) {
			run.Fatalf("cut at %v: %q", cuts, got.rows)
		}
	}
	for cut := range whole {
		check(t, cut)
	}
	var each []int
	for i := range whole {
		each = append(each, i)
	}
	check(t, each...)
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, slices.Sorted(slices.Values(rapid.SliceOf(rapid.IntRange(0, len(whole))).Draw(rt, "cuts")))...)
	})
}

// A stream that lacks its end, or has something after it, is never whole.
func TestTruncatedStreamsFail(t *testing.T) {
	const rows = 6
	whole := sampleStream(rows)
	for n := range whole {
		if err := newDecoding(t, 4, sampleNatives...).feed(whole[:n], rows); err == nil {
			t.Fatalf("%d of %d bytes pass for a whole stream", n, len(whole))
		}
	}
	for _, tc := range []struct {
		name  string
		bytes []byte
		rows  int64
	}{
		{"fewer rows than the server counted", whole, rows + 1},
		{"more rows than the server counted", whole, rows - 1},
		{"a byte after the trailer", append(slices.Clone(whole), 0), rows},
		{"another signature", append([]byte("PGCOPX"), whole[6:]...), rows},
		{"rows with object ids", slices.Concat(whole[:11], []byte{0, 1, 0, 0}, whole[15:]), rows},
		{"a row with a column too few", newStream().row(be(int64(1))).end().Bytes(), 1},
	} {
		if err := newDecoding(t, 4, sampleNatives...).feed(tc.bytes, tc.rows); err == nil {
			t.Errorf("%s passes", tc.name)
		}
	}
	extended := slices.Concat(whole[:15], be(uint32(3)), []byte("ext"), whole[19:])
	if err := newDecoding(t, 4, sampleNatives...).feed(extended, rows, 20, 21); err != nil {
		t.Errorf("a header with an extension, which is to be skipped: %v", err)
	}
}

// A value that announces more than the limit is refused before its bytes come.
func TestLimitIsCheckedBeforeTheBytesCome(t *testing.T) {
	d := newDecoding(t, 4, "int4", "text")
	d.limit = 1000
	head := newStream().row(be(int32(1)), []byte("x"))
	_ = binary.Write(head, binary.BigEndian, int16(2))
	head.Write(be(int32(4)))
	head.Write(be(int32(2)))
	head.Write(be(int32(1001)))
	_, err := d.Write(head.Bytes())
	var at *rowError
	if !errors.As(err, &at) || at.err != errTooLarge || at.row != 2 || at.column != 1 || at.size != 1001 {
		t.Fatalf("%v", err)
	}
}

// FuzzStream feeds anything: no panic, no memory beyond what came in, and
// never a whole stream out of a piece of one.
func FuzzStream(f *testing.F) {
	f.Add(sampleStream(3), uint8(7))
	f.Add(newStream().row(be(int64(1)), []byte{0xff}, wireNumber(numericNaN, 0), wireList(23), nil).end().Bytes(), uint8(0))
	huge := newStream()
	huge.Write(be(int16(5)))
	huge.Write(be(int32(math.MaxInt32)))
	f.Add(huge.Bytes(), uint8(1))
	f.Fuzz(func(t *testing.T, whole []byte, cut uint8) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		first, second := newDecoding(t, 3, sampleNatives...), newDecoding(t, 3, sampleNatives...)
		rows := func(d *decoding, cuts ...int) error {
			err := d.feed(whole, 0, cuts...)
			if err != nil && strings.HasPrefix(err.Error(), "the server counted") {
				_, err = d.full(d.buffer)
			}
			return err
		}
		errWhole := rows(first)
		errCut := rows(second, int(cut)%(len(whole)+1))
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20+200*uint64(len(whole)) {
			t.Fatalf("%d bytes allocated for %d", grown, len(whole))
		}
		if (errWhole == nil) != (errCut == nil) || errWhole == nil && !slices.Equal(first.rows, second.rows) {
			t.Fatalf("whole: %v, %q; cut: %v, %q", errWhole, first.rows, errCut, second.rows)
		}
	})
}
