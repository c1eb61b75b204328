package mysql

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source/mysql/packet"
)

// Every day that the server knows is that of Go's calendar, and what lies between
// two days is none.
func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	want := int64(-719162)
	for year := 1; year <= 9999; year++ {
		for month := 1; month <= 12; month++ {
			last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
			for day := 1; day <= 31; day++ {
				got, err := daysOf(packet.Time{Year: year, Month: month, Day: day})
				switch {
				case day > last && !errors.Is(err, errNoDay):
					t.Fatalf("%d-%d-%d is day %d, %v", year, month, day, got, err)
				case day > last:
				case err != nil || got != want:
					t.Fatalf("%d-%d-%d is day %d and not %d, %v", year, month, day, got, want, err)
				default:
					want++
				}
			}
		}
	}
	if want != time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()/86400 {
		t.Fatalf("day %d follows the last one", want)
	}
	for _, tc := range []struct {
		date packet.Time
		want error
	}{
		{packet.Time{}, errZeroDate}, {packet.Time{Year: 2024, Month: 1}, errZeroDate}, {packet.Time{Year: 2024, Day: 1}, errZeroDate},
		{packet.Time{Month: 1, Day: 1}, errBeforeYear1},
	} {
		if _, err := daysOf(tc.date); !errors.Is(err, tc.want) {
			t.Errorf("%+v: %v, want %v", tc.date, err, tc.want)
		}
	}
}

// What a server sends is decoded to the value that it has, or refused.
func TestDecodedValues(t *testing.T) {
	le := func(n uint64, size int) []byte { return binary.LittleEndian.AppendUint64(nil, n)[:size] }
	text := packet.Column{}
	datetime := packet.Column{Kind: packet.DateTime, Decimals: 6}
	local := rowtype.Type{Kind: rowtype.Timestamp}
	for _, tc := range []struct {
		name string
		form form
		to   rowtype.Type
		from packet.Column
		in   []byte
		want string
		err  error
	}{
		{"a signed byte", formInt, rowtype.Type{Kind: rowtype.Int16}, packet.Column{Kind: packet.Int8}, []byte{0x80}, "-128", nil},
		{"an unsigned byte", formInt, rowtype.Type{Kind: rowtype.Int16}, packet.Column{Kind: packet.Int8, Unsigned: true}, []byte{0x80}, "128", nil},
		{"a signed short", formInt, rowtype.Type{Kind: rowtype.Int16}, packet.Column{Kind: packet.Int16}, le(0xfefe, 2), "-258", nil},
		{"an unsigned short", formInt, rowtype.Type{Kind: rowtype.Int32}, packet.Column{Kind: packet.Int16, Unsigned: true}, le(0x8001, 2), "32769", nil},
		{"a signed int", formInt, rowtype.Type{Kind: rowtype.Int32}, packet.Column{Kind: packet.Int32}, le(0xfefdfcfb, 4), "-16909061", nil},
		{"an unsigned int", formInt, rowtype.Type{Kind: rowtype.Int64}, packet.Column{Kind: packet.Int32, Unsigned: true}, le(0x80000001, 4), "2147483649", nil},
		{"the least bigint", formInt, rowtype.Type{Kind: rowtype.Int64}, packet.Column{Kind: packet.Int64}, le(1<<63, 8), "-9223372036854775808", nil},
		{"the greatest unsigned bigint", formInt, rowtype.Type{Kind: rowtype.UInt64}, packet.Column{Kind: packet.Int64, Unsigned: true}, le(math.MaxUint64, 8), "18446744073709551615", nil},
		{"an unsigned bigint as a signed one", formInt, rowtype.Type{Kind: rowtype.Int64}, packet.Column{Kind: packet.Int64, Unsigned: true}, le(1<<63, 8), "", errRange},
		{"an int that a short does not hold", formInt, rowtype.Type{Kind: rowtype.Int16}, packet.Column{Kind: packet.Int32}, le(32768, 4), "", errRange},
		{"a bigint that an int does not hold", formInt, rowtype.Type{Kind: rowtype.Int32}, packet.Column{Kind: packet.Int64}, le(1<<31, 8), "", errRange},
		{"bits, the highest first", formInt, rowtype.Type{Kind: rowtype.Int64}, text, []byte{1, 2, 3}, "66051", nil},
		{"bit 63", formInt, rowtype.Type{Kind: rowtype.Int64}, text, []byte{0x80, 0, 0, 0, 0, 0, 0, 0}, "", errRange},
		{"true", formBool, rowtype.Type{Kind: rowtype.Bool}, packet.Column{Kind: packet.Int8}, []byte{1}, "true", nil},
		{"a two for a boolean", formBool, rowtype.Type{Kind: rowtype.Bool}, packet.Column{Kind: packet.Int8}, []byte{2}, "", errBool},
		{"a bit for a boolean", formBool, rowtype.Type{Kind: rowtype.Bool}, text, []byte{0}, "false", nil},
		{"a float", formFloat32, rowtype.Type{Kind: rowtype.Float32}, packet.Column{Kind: packet.Float32}, le(uint64(math.Float32bits(-0.1)), 4), "-0.1", nil},
		{"a float as a double", formFloat64, rowtype.Type{Kind: rowtype.Float64}, packet.Column{Kind: packet.Float32}, le(uint64(math.Float32bits(0.5)), 4), "0.5", nil},
		{"a double", formFloat64, rowtype.Type{Kind: rowtype.Float64}, packet.Column{Kind: packet.Float64}, le(math.Float64bits(-0.1), 8), "-0.1", nil},
		{"a decimal", formDecimal, rowtype.Type{Kind: rowtype.Decimal, Precision: 20, Scale: 2}, text, []byte("-1.20"), "-1.20", nil},
		{"an unsigned bigint as a decimal", formDecimal, rowtype.Type{Kind: rowtype.Decimal, Precision: 20}, packet.Column{Kind: packet.Int64, Unsigned: true}, le(math.MaxUint64, 8), "18446744073709551615", nil},
		{"a date", formDate, rowtype.Type{Kind: rowtype.Date}, packet.Column{Kind: packet.Date}, []byte{0xe8, 7, 2, 29}, "19782", nil},
		{"a date of zeros", formDate, rowtype.Type{Kind: rowtype.Date}, packet.Column{Kind: packet.Date}, nil, "", errZeroDate},
		{"a time of a day", formTime, rowtype.Type{Kind: rowtype.Time}, packet.Column{Kind: packet.Span}, []byte{0, 0, 0, 0, 0, 23, 59, 58, 1, 0, 0, 0}, "86398000001", nil},
		{"a time below 0", formTime, rowtype.Type{Kind: rowtype.Time}, packet.Column{Kind: packet.Span}, []byte{1, 0, 0, 0, 0, 0, 0, 1}, "", errTime},
		{"a time of a day and more", formTime, rowtype.Type{Kind: rowtype.Time}, packet.Column{Kind: packet.Span}, []byte{0, 1, 0, 0, 0, 0, 0, 0}, "", errTime},
		{"a local time", formTimestamp, local, datetime, []byte{0xe8, 7, 2, 29, 23, 59, 58, 1, 0, 0, 0}, "1709251198000001", nil},
		{"before 1970", formTimestamp, local, datetime, []byte{0xb1, 7, 12, 31, 23, 59, 59, 0x3f, 0x42, 0x0f, 0}, "-1", nil},
		{"in nanoseconds", formTimestamp, rowtype.Type{Kind: rowtype.Timestamp, Nano: true}, datetime, []byte{0xb2, 7, 1, 1, 0, 0, 0, 1, 0, 0, 0}, "1000", nil},
		{"a year that nanoseconds do not reach", formTimestamp, rowtype.Type{Kind: rowtype.Timestamp, Nano: true}, datetime, []byte{1, 0, 1, 1}, "", errNotNano},
		{"text", formText, rowtype.Type{Kind: rowtype.Text}, text, []byte("é "), "é ", nil},
		{"text that is none", formText, rowtype.Type{Kind: rowtype.Text}, text, []byte{'a', 0xe9}, "", errUTF8},
		{"bytes", formBytes, rowtype.Type{Kind: rowtype.Binary}, text, []byte{0, 0xff}, "00ff", nil},
		{"a uuid of bytes", formUUIDBytes, rowtype.Type{Kind: rowtype.UUID}, text, []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"), "000102030405060708090a0b0c0d0e0f", nil},
		{"a uuid of text", formUUIDText, rowtype.Type{Kind: rowtype.UUID}, text, []byte("00010203-0405-0607-0809-0A0B0C0D0E0F"), "000102030405060708090a0b0c0d0e0f", nil},
		{"a uuid with a hyphen elsewhere", formUUIDText, rowtype.Type{Kind: rowtype.UUID}, text, []byte("0001020-30405-0607-0809-0A0B0C0D0E0F"), "", errUUID},
		{"a number as text", formText, rowtype.Type{Kind: rowtype.Text}, packet.Column{Kind: packet.Int8}, []byte{0xff}, "-1", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := &rowbatch.New([]rowtype.Column{{Type: tc.to}}).Columns[0]
			err := appendValue(tc.form, v, tc.from, tc.in)
			if !errors.Is(err, tc.err) || (err == nil) != (v.Len == 1) {
				t.Fatalf("%v with %d values, want %v", err, v.Len, tc.err)
			}
			if err == nil && printed(v, 0) != tc.want {
				t.Fatalf("%s, want %s", printed(v, 0), tc.want)
			}
		})
	}
}
