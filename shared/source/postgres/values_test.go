package postgres

import (
	"bytes"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"pgregory.net/rapid"
)

// one decodes a single value.
func one(w wire, t rowtype.Type, b []byte) (string, error) {
	v := &rowbatch.New([]rowtype.Column{{Type: t}}).Columns[0]
	if err := appendValue(w, v, b); err != nil {
		return "", err
	}
	if v.Len != 1 {
		return "nothing", nil
	}
	return printed(v, 0), nil
}

func TestValues(t *testing.T) {
	date, stamp, clock := rowtype.Type{Kind: rowtype.Date}, rowtype.Type{Kind: rowtype.Timestamp}, rowtype.Type{Kind: rowtype.Time}
	nano := rowtype.Type{Kind: rowtype.Timestamp, Nano: true}
	text, span := rowtype.Type{Kind: rowtype.Text}, rowtype.Type{Kind: rowtype.Interval}
	for _, tc := range []struct {
		name string
		wire wire
		typ  rowtype.Type
		in   []byte
		want string
		err  error
	}{
		{"the first day of 1970", wireDate, date, be(int32(-10957)), "0", nil},
		{"the first day of the year 1", wireDate, date, be(int32(daysYear1)), "-719162", nil},
		{"the day before it", wireDate, date, be(int32(daysYear1 - 1)), "", errBeforeYear1},
		{"the last day there can be", wireDate, date, be(int32(math.MaxInt32 - daysTo2000)), "2147483647", nil},
		{"a day past it", wireDate, date, be(int32(math.MaxInt32 - 1)), "", errTooLate},
		{"the day infinity", wireDate, date, be(int32(math.MaxInt32)), "", errInfinite},
		{"a microsecond before 1970", wireTimestamp, stamp, be(int64(-microsTo2000 - 1)), "-1", nil},
		{"the first moment of the year 1", wireTimestamp, stamp, be(int64(microsYear1)), "-62135596800000000", nil},
		{"the moment before it", wireTimestamp, stamp, be(int64(microsYear1 - 1)), "", errBeforeYear1},
		{"the last moment there can be", wireTimestamp, stamp, be(int64(math.MaxInt64 - microsTo2000)), "9223372036854775807", nil},
		{"a moment past it", wireTimestamp, stamp, be(int64(math.MaxInt64 - 1)), "", errTooLate},
		{"minus infinity", wireTimestamp, stamp, be(int64(math.MinInt64)), "", errInfinite},
		{"a moment in nanoseconds", wireTimestampNano, nano, be(int64(-microsTo2000 + 7)), "7000", nil},
		{"a moment that nanoseconds do not reach", wireTimestampNano, nano, be(int64(math.MaxInt64/1000 - microsTo2000 + 1)), "", errNotNano},
		{"the last moment of a day", wireTime, clock, be(int64(microsADay - 1)), "86399999999", nil},
		{"24:00:00", wireTime, clock, be(int64(microsADay)), "", errTime24},
		{"a time past it", wireTime, clock, be(int64(microsADay + 1)), "", errLayout},
		{"the least smallint", wireInt16, rowtype.Type{Kind: rowtype.Int16}, be(int16(-32768)), "-32768", nil},
		{"a smallint of two bytes", wireInt16, rowtype.Type{Kind: rowtype.Int16}, be(int16(258)), "258", nil},
		{"an integer of four bytes", wireInt32, rowtype.Type{Kind: rowtype.Int32}, be(int32(-16909060)), "-16909060", nil},
		{"a bigint of eight bytes", wireInt64, rowtype.Type{Kind: rowtype.Int64}, be(int64(-72623859790382856)), "-72623859790382856", nil},
		{"a real", wireFloat32, rowtype.Type{Kind: rowtype.Float32}, be(float32(-0.1)), "-0.1", nil},
		{"a double", wireFloat64, rowtype.Type{Kind: rowtype.Float64}, be(-0.1), "-0.1", nil},
		{"true", wireBool, rowtype.Type{Kind: rowtype.Bool}, []byte{1}, "true", nil},
		{"a uuid in the order of its text", wireUUID, rowtype.Type{Kind: rowtype.UUID}, []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"), "hex 000102030405060708090a0b0c0d0e0f", nil},
		{"bytes that are no text", wireBytes, rowtype.Type{Kind: rowtype.Binary}, []byte{0, 0xff}, "hex 00ff", nil},
		{"jsonb without its version", wireJSONB, rowtype.Type{Kind: rowtype.JSON}, []byte("\x01{}"), "{}", nil},
		{"three amounts with signs of their own", wireInterval, span, append(be(int64(-500_000)), be([]int32{-1, 14})...), "P1Y2M-1DT-0.5S", nil},
		{"hours, minutes and a microsecond", wireInterval, span, append(be(int64(3_723_000_001)), be([]int32{0, 0})...), "PT1H2M3.000001S", nil},
		{"an oid", wireOID, rowtype.Type{Kind: rowtype.Int64}, be(uint32(math.MaxUint32)), "4294967295", nil},
		{"broken UTF-8", wireText, text, []byte{'a', 0xe9}, "", errUTF8},
		{"jsonb of another version", wireJSONB, rowtype.Type{Kind: rowtype.JSON}, []byte{2, '{', '}'}, "", errLayout},
		{"an integer of three bytes", wireInt32, rowtype.Type{Kind: rowtype.Int32}, []byte{1, 2, 3}, "", errLayout},
		{"a boolean that is neither", wireBool, rowtype.Type{Kind: rowtype.Bool}, []byte{2}, "", errLayout},
		{"no time at all", wireInterval, span, make([]byte, 16), "PT0S", nil},
		{"an endless interval", wireInterval, span, append(be(int64(math.MaxInt64)), be([]int32{math.MaxInt32, math.MaxInt32})...), "", errInfiniteSpan},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := one(tc.wire, tc.typ, tc.in); err != tc.err || got != tc.want {
				t.Fatalf("%s, %v; want %s, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestNumericRefusals(t *testing.T) {
	for _, tc := range []struct {
		name string
		p, s int
		in   []byte
		err  error
	}{
		{"NaN", 10, 2, wireNumber(numericNaN, 0), errNaN},
		{"infinity", 10, 2, wireNumber(numericPlusInfinty, 0), errInfiniteSum},
		{"a digit too many before the point", 4, 2, wireNumber(0, 0, 100), errPrecision},
		{"a digit too many after it", 10, 2, wireNumber(0, 0, 1, 1250+1), errScale},
		{"a group too many after it", 40, 2, wireNumber(0, 0, 1, 0, 1), errScale},
		{"a digit too many in a cent", 10, 3, wireNumber(0, -1, 15), errScale},
		{"a digit too many in four groups", 13, 2, wireNumber(0, 2, 1234, 5678, 9012, 3400), errPrecision},
		{"a power too many", 18, 2, wireNumber(0, 4, 1), errPrecision},
		{"a power that no word has", 18, 2, wireNumber(0, 9, 1), errPrecision},
		{"a group that is none in front", 10, 2, wireNumber(0, 0, 65535), errLayout},
		{"less than the smallest step", 10, 2, wireNumber(0, -2, 1), errScale},
		{"a group that is none", 40, 2, wireNumber(0, 1, 1, 10000), errLayout},
		{"fewer groups than announced", 10, 2, wireNumber(0, 0, 1, 2)[:10], errLayout},
		{"a sign that is none", 10, 2, wireNumber(1, 0, 1), errLayout},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, extra := range []int{0, 20, 36} { // one, two and four limbs
				typ := rowtype.Type{Kind: rowtype.Decimal, Precision: tc.p, Scale: tc.s}
				if tc.err != errPrecision {
					typ.Precision += extra
				}
				if got, err := one(wireNumeric, typ, tc.in); err != tc.err {
					t.Fatalf("%s, %v as %s; want %v", got, err, typ, tc.err)
				}
			}
		})
	}
}

// Any decimal that fits its type comes out digit for digit.
func TestNumericKeepsEveryDigit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.IntRange(1, rapid.SampledFrom([]int{18, 76}).Draw(rt, "most")).Draw(rt, "precision")
		s := rapid.IntRange(0, p).Draw(rt, "scale")
		digits := rapid.StringMatching(`[0-9]{1,76}`).Draw(rt, "digits")
		digits = digits[:min(len(digits), p)]
		unscaled, _ := new(big.Int).SetString(digits, 10)
		sign := uint16(numericPositive)
		if rapid.Bool().Draw(rt, "negative") && unscaled.Sign() != 0 {
			sign = numericNegative
		}
		// Pad to whole groups on both sides of the point, as the server does.
		padded := strings.Repeat("0", 76+4-len(digits)) + digits
		whole, fraction := padded[:len(padded)-s], padded[len(padded)-s:]
		whole = strings.Repeat("0", (4-len(whole)%4)%4) + whole
		fraction += strings.Repeat("0", (4-len(fraction)%4)%4)
		var groups []uint16
		for all := whole + fraction; all != ""; all = all[4:] {
			n, _ := new(big.Int).SetString(all[:4], 10)
			groups = append(groups, uint16(n.Uint64()))
		}
		weight := len(whole)/4 - 1
		for len(groups) > 0 && groups[0] == 0 {
			groups, weight = groups[1:], weight-1
		}
		if rapid.Bool().Draw(rt, "strip") {
			for len(groups) > 0 && groups[len(groups)-1] == 0 {
				groups = groups[:len(groups)-1]
			}
		}
		if sign == numericNegative {
			unscaled.Neg(unscaled)
		}
		v := &rowbatch.New([]rowtype.Column{{Type: rowtype.Type{Kind: rowtype.Decimal, Precision: p, Scale: s}}}).Columns[0]
		if err := appendValue(wireNumeric, v, wireNumber(sign, int16(weight), groups...)); err != nil {
			rt.Fatal(err)
		}
		if got := littleEndian(v.Slice(0)); got.Cmp(unscaled) != 0 {
			rt.Fatalf("%s, want %s", got, unscaled)
		}
	})
}

// A sum that runs over its first word, by so little that no random number does,
// goes on into the next.
func TestNumericCarriesIntoTheNextWord(t *testing.T) {
	word := new(big.Int).Lsh(big.NewInt(1), 64)
	// The first number whose product with 10000 ends 16 below a whole word.
	almost := new(big.Int).ModInverse(big.NewInt(625), new(big.Int).Rsh(word, 4))
	almost.Sub(new(big.Int).Rsh(word, 4), almost)
	want := new(big.Int).Add(new(big.Int).Mul(almost, big.NewInt(10000)), big.NewInt(9999))
	digits := want.String()
	digits = strings.Repeat("0", (4-len(digits)%4)%4) + digits
	var groups []uint16
	for i := 0; i < len(digits); i += 4 {
		n, _ := new(big.Int).SetString(digits[i:i+4], 10)
		groups = append(groups, uint16(n.Uint64()))
	}
	for _, precision := range []int{38, 76} {
		got, err := one(wireNumeric, rowtype.Type{Kind: rowtype.Decimal, Precision: precision}, wireNumber(0, int16(len(groups)-1), groups...))
		if err != nil || got != want.String() {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

func littleEndian(b []byte) *big.Int {
	n := new(big.Int)
	for i := len(b) - 1; i >= 0; i-- {
		n.Lsh(n, 8).Or(n, big.NewInt(int64(b[i])))
	}
	if b[len(b)-1]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

func TestArrays(t *testing.T) {
	two := wireList(23, be(int32(1)), be(int32(2)))
	for _, tc := range []struct {
		name string
		in   []byte
		want string
		err  error
	}{
		{"two items", two, "[1,2]", nil},
		{"none", wireList(23), "[]", nil},
		{"a NULL among them", wireList(23, nil, be(int32(2))), "[null,2]", nil},
		{"subscripts that start elsewhere", bytes.Replace(two, be([]int32{2, 1}), be([]int32{2, -7}), 1), "[1,2]", nil},
		{"an array of arrays", append(be(int32(2)), two[4:]...), "", errDimensions},
		{"items of another type", wireList(25, []byte("abcd")), "", errLayout},
		{"fewer items than announced", two[:len(two)-8], "", errLayout},
		{"more bytes than items", append(two, 0), "", errLayout},
		{"no bytes", nil, "", errLayout},
		{"a negative count", bytes.Replace(two, be([]int32{2, 1}), be([]int32{-2, 1}), 1), "", errLayout},
	} {
		t.Run(tc.name, func(t *testing.T) {
			elem := rowtype.Type{Kind: rowtype.Int32}
			v := &rowbatch.New([]rowtype.Column{{Type: rowtype.Type{Kind: rowtype.List, Elem: &elem}}}).Columns[0]
			err := appendArray(wireInt32, 23, v, tc.in)
			if err != tc.err || err == nil && printed(v, 0) != tc.want {
				t.Fatalf("%v, want %s, %v", err, tc.want, tc.err)
			}
		})
	}
}

// lineitem is a row of 16 columns like TPC-H's, 205 bytes on the wire.
var lineitem = []string{"int8", "int4", "int4", "int4", "numeric(15,2)", "numeric(15,2)", "numeric(15,2)", "numeric(15,2)",
	"bpchar", "bpchar", "date", "date", "date", "bpchar", "bpchar", "varchar"}

func lineitemStream(rows int) []byte {
	s := newStream()
	for i := range rows {
		s.row(be(int64(i)), be(int32(155190)), be(int32(7706)), be(int32(i%7)),
			wireNumber(0, 0, 17), wireNumber(0, 1, 2, 1168, 2300), wireNumber(0, -1, 400), wireNumber(0, -1, 200),
			[]byte("N"), []byte("O"), be(int32(-1388)), be(int32(-1417)), be(int32(-1379)),
			[]byte("DELIVER IN PERSON        "), []byte("TRUCK     "), []byte("egular courts above the ideas"))
	}
	return s.end().Bytes()
}

// BenchmarkDecode decodes from memory, in pieces as the client library gives
// them: one row each.
func BenchmarkDecode(b *testing.B) {
	const rows = 8192
	whole := lineitemStream(rows)
	d := newDecoding(b, rows, lineitem...)
	d.full = func(full *buffer) (*buffer, error) {
		full.reset()
		return full, nil
	}
	decode := func() {
		d.state, d.decoder.rows = inHeader, 0
		header := headerSize
		_, _ = d.Write(whole[:header])
		size := (len(whole) - header - 2) / rows
		for at := header; at < len(whole)-2; at += size {
			if _, err := d.Write(whole[at : at+size]); err != nil {
				b.Fatal(err)
			}
		}
		_, _ = d.Write(whole[len(whole)-2:])
		if err := d.finish(rows); err != nil {
			b.Fatal(err)
		}
	}
	decode() // grows the buffers
	b.SetBytes(int64(len(whole)))
	b.ReportAllocs()
	for b.Loop() {
		decode()
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func TestDecodingAllocatesNothing(t *testing.T) {
	const rows = 500
	whole := sampleStream(rows)
	d := newDecoding(t, rows, sampleNatives...)
	d.full = func(full *buffer) (*buffer, error) {
		full.reset()
		return full, nil
	}
	pass := func() {
		d.state, d.decoder.rows = inHeader, 0
		for at := 0; at < len(whole); at += 100 {
			_, _ = d.Write(whole[at:min(at+100, len(whole))])
		}
	}
	pass()
	if n := testing.AllocsPerRun(5, pass); n > 0 {
		t.Fatalf("%v allocations to decode %d rows again", n, rows)
	}
}
