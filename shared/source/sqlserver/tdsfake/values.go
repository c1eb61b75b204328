package tdsfake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"
)

// write writes one value: nil, bool, int64, float64, string, []byte, [16]byte in
// the order of a uniqueidentifier's text, *big.Rat or time.Time.
func (t Type) write(a *answer, v any) error {
	if v == nil {
		t.null(a)
		return nil
	}
	switch v := v.(type) {
	case bool:
		bit := byte(0)
		if v {
			bit = 1
		}
		a.bytes(1, bit)
	case int64:
		width := widths[t.Name]
		a.bytes(width)
		a.bytes(binary.LittleEndian.AppendUint64(nil, uint64(v))[:width]...)
	case float64:
		if a.bytes(widths[t.Name]); t.Name == "real" {
			a.u32(math.Float32bits(float32(v)))
		} else {
			a.u64(math.Float64bits(v))
		}
	case *big.Rat:
		return t.number(a, v)
	case [16]byte:
		a.bytes(16, v[3], v[2], v[1], v[0], v[5], v[4], v[7], v[6])
		a.bytes(v[8:]...)
	case time.Time:
		return t.time(a, v)
	case []byte:
		t.varying(a, v)
	case string:
		return t.text(a, v)
	default:
		return fmt.Errorf("%s from %T", t.Name, v)
	}
	return nil
}

func (t Type) null(a *answer) {
	switch t.Name {
	case "nvarchar", "nchar", "varchar", "char", "varbinary", "binary", "timestamp", "xml":
		if t.max() {
			a.u64(math.MaxUint64)
		} else {
			a.u16(math.MaxUint16)
		}
	default:
		a.bytes(0)
	}
}

// varying writes bytes behind their length, or in pieces.
func (t Type) varying(a *answer, b []byte) {
	if !t.max() {
		a.sized(b)
		return
	}
	const unknown, piece = math.MaxUint64 - 1, 8000
	a.u64(unknown)
	for len(b) > 0 {
		n := min(len(b), piece)
		a.u32(uint32(n))
		a.bytes(b[:n]...)
		b = b[n:]
		a.flush()
	}
	a.u32(0)
}

// text writes Unicode, or the part of it that Latin-1 has.
func (t Type) text(a *answer, s string) error {
	if t.Name == "nvarchar" || t.Name == "nchar" || t.Name == "xml" {
		t.varying(a, toUTF16(s))
		return nil
	}
	var b []byte
	for _, r := range s {
		if r > 0xFF {
			return fmt.Errorf("%q is not in the code page", r)
		}
		b = append(b, byte(r))
	}
	t.varying(a, b)
	return nil
}

func (t Type) number(a *answer, r *big.Rat) error {
	scale := t.Scale
	if t.Name == "money" || t.Name == "smallmoney" {
		scale = 4
	}
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	if !scaled.IsInt() {
		return errors.New("more digits than the scale")
	}
	n := scaled.Num()
	if width, money := widths[t.Name]; money {
		x := uint64(n.Int64())
		if a.bytes(width); width == 8 {
			a.u32(uint32(x >> 32))
		}
		a.u32(uint32(x))
		return nil
	}
	width := decimalWidth(t.Precision)
	sign := byte(1)
	if n.Sign() < 0 {
		sign = 0
	}
	a.bytes(width+1, sign)
	digits := new(big.Int).Abs(n).FillBytes(make([]byte, width))
	for i := len(digits) - 1; i >= 0; i-- {
		a.bytes(digits[i])
	}
	return nil
}

const secondsADay = 86400

// day is how many days lie between the first one of a year and that of a time.
func day(at time.Time, year int) int64 {
	at = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	return (at.Unix() - time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix()) / secondsADay
}

func second(at time.Time) int64 { return int64(at.Hour()*3600 + at.Minute()*60 + at.Second()) }

func (t Type) time(a *answer, at time.Time) error {
	clock := func(at time.Time) {
		n := second(at)*1_000_000_000 + int64(at.Nanosecond())
		for i := t.Scale; i < 9; i++ {
			n /= 10
		}
		a.bytes(binary.LittleEndian.AppendUint64(nil, uint64(n))[:timeWidth(t.Scale)]...)
	}
	date := func(at time.Time) {
		d := day(at, 1)
		a.bytes(byte(d), byte(d>>8), byte(d>>16))
	}
	switch t.Name {
	case "smalldatetime":
		a.bytes(4)
		a.u16(uint16(day(at, 1900)))
		a.u16(uint16(second(at) / 60))
	case "datetime":
		a.bytes(8)
		a.u32(uint32(int32(day(at, 1900))))
		a.u32(uint32(second(at)*300 + (int64(at.Nanosecond())*300+500_000_000)/1_000_000_000))
	case "date":
		a.bytes(3)
		date(at)
	case "time":
		a.bytes(timeWidth(t.Scale))
		clock(at)
	case "datetime2":
		a.bytes(timeWidth(t.Scale) + 3)
		clock(at)
		date(at)
	case "datetimeoffset":
		_, offset := at.Zone()
		a.bytes(timeWidth(t.Scale) + 5)
		clock(at.UTC())
		date(at.UTC())
		a.u16(uint16(int16(offset / 60)))
	default:
		return fmt.Errorf("%s from a time", t.Name)
	}
	return nil
}
