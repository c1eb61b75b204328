package rowbatch

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"math/bits"
	"slices"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// The texts of values, as the upstream prints them wherever it prints one
// exactly. Each function appends to dst and returns it.

// Fraction says how many digits of a second's fraction are printed.
type Fraction int

// ShortestFraction prints 0, 3, 6 or 9 digits, as few as hold the value.
const ShortestFraction Fraction = -1

// AppendDate prints days since 1970-01-01 as YYYY-MM-DD. Years before 0 and
// after 9999 have a sign.
func AppendDate(dst []byte, days int64) []byte {
	year, month, day := civil(days)
	switch {
	case year < 0:
		dst, year = append(dst, '-'), -year
	case year > 9999:
		dst = append(dst, '+')
	}
	dst = append(appendPadded(dst, uint64(year), 4), '-')
	dst = append(appendPadded(dst, uint64(month), 2), '-')
	return appendPadded(dst, uint64(day), 2)
}

// AppendTime prints microseconds since midnight as HH:MM:SS and a fraction. A
// negative value and one of a day or more are printed as what they are.
func AppendTime(dst []byte, micros int64, f Fraction) []byte {
	magnitude := uint64(micros)
	if micros < 0 {
		dst, magnitude = append(dst, '-'), -magnitude
	}
	return appendClock(dst, magnitude/1_000_000, magnitude%1_000_000*1_000, f)
}

// AppendTimestamp prints a Timestamp of type t as YYYY-MM-DDTHH:MM:SS, a
// fraction and, for an instant, Z.
func AppendTimestamp(dst []byte, t rowtype.Type, value int64, f Fraction) []byte {
	perSecond, nanos := int64(1_000_000), int64(1_000)
	if t.Nano {
		perSecond, nanos = 1_000_000_000, 1
	}
	seconds, rest := floorDiv(value, perSecond)
	days, clock := floorDiv(seconds, 86_400)
	dst = append(AppendDate(dst, days), 'T')
	dst = appendClock(dst, uint64(clock), uint64(rest*nanos), f)
	if t.UTC {
		dst = append(dst, 'Z')
	}
	return dst
}

// AppendUUID prints 16 bytes with hyphens, in lower case.
func AppendUUID(dst, id []byte) []byte {
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:16]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}

// AppendDecimal prints a decimal as it is stored in a vector, with exactly
// scale digits after the point and no point for scale 0.
func AppendDecimal(dst, stored []byte, scale int) []byte {
	var magnitude [32]byte
	negative := stored[len(stored)-1]&0x80 != 0
	m := magnitude[:copy(magnitude[:], stored)]
	if negative {
		negate(m)
		dst = append(dst, '-')
	}
	start := len(dst)
	lo := binary.LittleEndian.Uint64(m)
	hi := binary.LittleEndian.Uint64(m[8:])
	switch {
	case hi == 0 && isZero(m[16:]):
		dst = strconv.AppendUint(dst, lo, 10)
	case isZero(m[16:]):
		dst = appendUint128(dst, hi, lo)
	default:
		slices.Reverse(m)
		dst = new(big.Int).SetBytes(m).Append(dst, 10)
	}
	if scale == 0 {
		return dst
	}
	for len(dst)-start <= scale {
		dst = slices.Insert(dst, start, '0')
	}
	return slices.Insert(dst, len(dst)-scale, '.')
}

// appendUint128 prints hi·2^64 + lo, by splitting off 19 digits at a time.
func appendUint128(dst []byte, hi, lo uint64) []byte {
	const group = 10_000_000_000_000_000_000
	top, rest := hi/group, hi%group
	middle, low := bits.Div64(rest, lo, group)
	if top == 0 && middle < group {
		dst = strconv.AppendUint(dst, middle, 10)
		return appendPadded(dst, low, 19)
	}
	top, middle = bits.Div64(top, middle, group)
	dst = strconv.AppendUint(dst, top, 10)
	return appendPadded(appendPadded(dst, middle, 19), low, 19)
}

func appendClock(dst []byte, seconds, nanos uint64, f Fraction) []byte {
	dst = append(appendPadded(dst, seconds/3600, 2), ':')
	dst = append(appendPadded(dst, seconds/60%60, 2), ':')
	dst = appendPadded(dst, seconds%60, 2)
	if f == ShortestFraction {
		f = 9
		if nanos == 0 {
			f = 0
		} else if nanos%1_000_000 == 0 {
			f = 3
		} else if nanos%1_000 == 0 {
			f = 6
		}
	}
	if f == 0 {
		return dst
	}
	for range 9 - f {
		nanos /= 10
	}
	return appendPadded(append(dst, '.'), nanos, int(f))
}

// appendPadded prints x with at least width digits.
func appendPadded(dst []byte, x uint64, width int) []byte {
	var digits [20]byte
	i := len(digits)
	for ; x > 0 || width > 0; x, width = x/10, width-1 {
		i--
		digits[i] = byte('0' + x%10)
	}
	return append(dst, digits[i:]...)
}

// civil returns the date of the proleptic Gregorian calendar that is days
// after 1970-01-01, by counting in the 400-year cycles that start on a first
// of March.
func civil(days int64) (year, month, day int64) {
	const daysPerCycle, cycleOfEpoch = 146_097, 719_468
	cycle, d := floorDiv(days+cycleOfEpoch, daysPerCycle)
	y := (d - d/1_460 + d/36_524 - d/146_096) / 365
	d -= 365*y + y/4 - y/100
	m := (5*d + 2) / 153 // 0 is March
	day = d - (153*m+2)/5 + 1
	year = 400*cycle + y
	if m < 10 {
		return year, m + 3, day
	}
	return year + 1, m - 9, day
}

func floorDiv(a, b int64) (quotient, remainder int64) {
	quotient, remainder = a/b, a%b
	if remainder < 0 {
		return quotient - 1, remainder + b
	}
	return quotient, remainder
}

func negate(littleEndian []byte) {
	carry := byte(1)
	for i, x := range littleEndian {
		littleEndian[i] = ^x + carry
		if littleEndian[i] != 0 {
			carry = 0
		}
	}
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
