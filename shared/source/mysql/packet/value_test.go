package packet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestValuesAsText(t *testing.T) {
	datetime := Column{Kind: DateTime, Decimals: 3}
	for _, tc := range []struct {
		name  string
		from  Column
		value []byte
		want  string // "" for none
	}{
		{"a signed byte", Column{Kind: Int8}, []byte{0x80}, "-128"},
		{"an unsigned byte", Column{Kind: Int8, Unsigned: true}, []byte{0x80}, "128"},
		{"a signed short", Column{Kind: Int16}, []byte{0xff, 0xff}, "-1"},
		{"a short of two bytes", Column{Kind: Int16}, []byte{1, 2}, "513"},
		{"a year", Column{Kind: Int16, Unsigned: true}, []byte{0x6b, 0x08}, "2155"},
		{"a mediumint", Column{Kind: Int32}, []byte{0, 0, 0x80, 0xff}, "-8388608"},
		{"an unsigned int", Column{Kind: Int32, Unsigned: true}, []byte{255, 255, 255, 255}, "4294967295"},
		{"the least bigint", Column{Kind: Int64}, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, "-9223372036854775808"},
		{"the greatest unsigned bigint", Column{Kind: Int64, Unsigned: true}, []byte{255, 255, 255, 255, 255, 255, 255, 255}, "18446744073709551615"},
		{"a float", Column{Kind: Float32}, binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1)), "0.1"},
		{"a double", Column{Kind: Float64}, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.1)), "0.1"},
		{"digits", Column{}, []byte("1.20"), "1.20"},
		{"a date", Column{Kind: Date}, []byte{4, 0, 2, 29}, "0004-02-29"},
		{"a date of zeros", Column{Kind: Date}, nil, "0000-00-00"},
		{"a date without a day", Column{Kind: Date}, []byte{0xe8, 7, 0, 0}, "2024-00-00"},
		{"a month of thirteen", Column{Kind: Date}, []byte{0xe8, 7, 13, 1}, ""},
		{"a date of three bytes", Column{Kind: Date}, []byte{0xe8, 7, 1}, ""},
		{"a date with a time", Column{Kind: Date}, []byte{0xe8, 7, 1, 1, 1, 0, 0}, ""},
		{"midnight", datetime, []byte{0xe8, 7, 2, 29}, "2024-02-29 00:00:00.000"},
		{"a second", datetime, []byte{0xe8, 7, 2, 29, 23, 59, 58}, "2024-02-29 23:59:58.000"},
		{"a microsecond", datetime, []byte{0xe8, 7, 2, 29, 23, 59, 58, 0x40, 0x42, 0x0f, 0}, ""},
		{"a millisecond", datetime, []byte{0xe8, 7, 2, 29, 23, 59, 58, 0x58, 0x3e, 0x0f, 0}, "2024-02-29 23:59:58.999"},
		{"digits that are not known", Column{Kind: DateTime, Decimals: 31}, []byte{0xe8, 7, 2, 29, 23, 59, 58, 1, 0, 0, 0}, "2024-02-29 23:59:58.000001"},
		{"hour 24 of a day", datetime, []byte{0xe8, 7, 2, 29, 24, 0, 0}, ""},
		{"minute 60", datetime, []byte{0xe8, 7, 2, 29, 23, 60, 0}, ""},
		{"no time", Column{Kind: Span}, nil, "00:00:00"},
		{"a long span back", Column{Kind: Span, Decimals: 1}, []byte{1, 34, 0, 0, 0, 22, 59, 58, 0x20, 0xa1, 7, 0}, "-838:59:58.5"},
		{"a span with a date", Column{Kind: Span}, []byte{0xe8, 7, 2, 29}, ""},
		{"a span of eleven million years", Column{Kind: Span}, []byte{0, 255, 255, 255, 255, 1, 1, 1}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.from.AppendText([]byte("> "), tc.value)
			if tc.want == "" {
				if !errors.Is(err, ErrValue) {
					t.Fatalf("%s, %v", got, err)
				}
				return
			}
			if err != nil || string(got) != "> "+tc.want {
				t.Fatalf("%s, %v; want %s", got, err, tc.want)
			}
		})
	}
}

// Every time that a server can send is read as it is, in whichever of its forms.
func TestTimesAreReadAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Time{
			Year: rapid.IntRange(0, 9999).Draw(t, "year"), Month: rapid.IntRange(0, 12).Draw(t, "month"), Day: rapid.IntRange(0, 31).Draw(t, "day"),
			Hour: rapid.IntRange(0, 23).Draw(t, "hour"), Minute: rapid.IntRange(0, 59).Draw(t, "minute"), Second: rapid.IntRange(0, 59).Draw(t, "second"),
			Micros: rapid.IntRange(0, 999_999).Draw(t, "micros"),
		}
		b := append(binary.LittleEndian.AppendUint16(nil, uint16(want.Year)), byte(want.Month), byte(want.Day), byte(want.Hour), byte(want.Minute), byte(want.Second))
		b = binary.LittleEndian.AppendUint32(b, uint32(want.Micros))
		switch n := rapid.SampledFrom([]int{4, 7, 11}).Draw(t, "size"); n {
		case 4:
			want.Hour, want.Minute, want.Second = 0, 0, 0
			fallthrough
		case 7:
			want.Micros, b = 0, b[:n]
		}
		if got, ok := (Column{Kind: DateTime}).ReadTime(b); !ok || got != want {
			t.Fatal(fmt.Sprint(got, ok, want))
		}
	})
}
