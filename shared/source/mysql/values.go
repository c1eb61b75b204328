package mysql

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source/mysql/packet"
)

// form is how a value of a column is turned into the one that is delivered.
type form uint8

const (
	formBytes form = iota // as it is
	formText
	formBool
	formInt
	formFloat32
	formFloat64
	formDecimal
	formDate
	formTime
	formTimestamp
	formUUIDBytes
	formUUIDText
)

// formOf is that of a column by what it is delivered as.
func formOf(c column) form {
	switch c.Type.Kind {
	case rowtype.Bool:
		return formBool
	case rowtype.Int16, rowtype.Int32, rowtype.Int64, rowtype.UInt64:
		return formInt
	case rowtype.Float32:
		return formFloat32
	case rowtype.Float64:
		return formFloat64
	case rowtype.Decimal:
		return formDecimal
	case rowtype.Date:
		return formDate
	case rowtype.Time:
		return formTime
	case rowtype.Timestamp:
		return formTimestamp
	case rowtype.UUID:
		if c.family() == bytesFamily {
			return formUUIDBytes
		}
		return formUUIDText
	case rowtype.Binary:
		return formBytes
	}
	return formText
}

// valueError is a value that cannot be delivered. where is a condition that
// finds such rows, with %s for the column; noText is true where text would not
// help.
type valueError struct {
	why, where string
	noText     bool
}

func (e *valueError) Error() string { return e.why }

var (
	errTooLarge    = errors.New("the value is too large")
	errLayout      = packet.ErrValue
	errZeroDate    = &valueError{why: "a date with a month or day of zero is no day", where: "month(%[1]s) = 0 or dayofmonth(%[1]s) = 0"}
	errNoDay       = &valueError{why: "there is no such day in the calendar"}
	errBeforeYear1 = &valueError{why: "it is before the year 1", where: "year(%s) = 0"}
	errNotNano     = &valueError{why: "it is outside the years 1677 to 2262, which nanoseconds reach", where: "%s not between '1677-09-22' and '2262-04-11'"}
	errTime        = &valueError{why: "it is a span of time, and no time of a day", where: "%s not between '00:00:00' and '23:59:59.999999'"}
	errBool        = &valueError{why: "it is neither 0 nor 1, and the column is delivered as a boolean: set it to int16 under columns: if it holds numbers", where: "%s not in (0, 1)", noText: true}
	errRange       = &valueError{why: "it is a larger number than the column is delivered with"}
	errUTF8        = &valueError{why: "it is not valid UTF-8", noText: true}
	errUnconverted = &valueError{why: "it has bytes that its character set has no character for", noText: true}
	errUUID        = &valueError{why: "it is no UUID"}
)

// appendValue decodes one value that is not NULL into v. It returns a
// *valueError for one that cannot be delivered, and has appended nothing then.
func appendValue(f form, v *rowbatch.Vector, from packet.Column, b []byte) error {
	switch f {
	case formInt:
		return appendInteger(v, from, b)
	case formDecimal:
		if from.Kind == packet.Bytes {
			return v.AppendDecimalText(b)
		}
		var room [24]byte
		text, err := from.AppendText(room[:0], b)
		if err != nil {
			return err
		}
		return v.AppendDecimalText(text)
	case formDate:
		return appendDate(v, from, b)
	case formTimestamp:
		return appendTimestamp(v, from, b)
	case formTime:
		return appendTime(v, from, b)
	case formFloat32, formFloat64:
		return appendFloat(v, from, b)
	case formBool:
		n, err := wholeOf(from, b)
		if err != nil || n > 1 {
			return errBool
		}
		v.AppendBool(n == 1)
		return nil
	}
	if from.Kind != packet.Bytes { // a number or time where text was expected
		return appendAsText(f, v, from, b)
	}
	switch f {
	case formText:
		if !utf8.Valid(b) {
			return errUTF8
		}
		v.AppendVarying(b)
	case formBytes:
		v.AppendVarying(b)
	case formUUIDBytes:
		if len(b) != 16 {
			return errUUID
		}
		v.AppendFixed(b)
	case formUUIDText:
		return appendUUID(v, b)
	}
	return nil
}

// appendAsText delivers the text of a value that does not come as text.
func appendAsText(f form, v *rowbatch.Vector, from packet.Column, b []byte) error {
	text, err := from.AppendText(nil, b)
	if err != nil {
		return err
	}
	return appendValue(f, v, packet.Column{}, text)
}

// wholeOf is a number that is not negative. Bits come as bytes, most significant
// first.
func wholeOf(from packet.Column, b []byte) (uint64, error) {
	switch {
	case from.Whole():
		n := from.Integer(b)
		if n < 0 && !from.Unsigned {
			return 0, errRange
		}
		return uint64(n), nil
	case from.Kind == packet.Bytes && len(b) <= 8:
		bits := uint64(0)
		for _, x := range b {
			bits = bits<<8 | uint64(x)
		}
		return bits, nil
	}
	return 0, errLayout
}

func appendInteger(v *rowbatch.Vector, from packet.Column, b []byte) error {
	n := int64(0)
	if v.Type.Kind != rowtype.UInt64 && from.Whole() && (!from.Unsigned || from.Kind != packet.Int64) {
		n = from.Integer(b)
	} else {
		whole, err := wholeOf(from, b)
		switch {
		case err != nil:
			return errLayout
		case v.Type.Kind == rowtype.UInt64:
			v.AppendUint64(whole)
			return nil
		case whole > math.MaxInt64:
			return errRange
		}
		n = int64(whole)
	}
	switch v.Type.Kind {
	case rowtype.Int16:
		if n != int64(int16(n)) {
			return errRange
		}
		v.AppendInt16(int16(n))
	case rowtype.Int32:
		if n != int64(int32(n)) {
			return errRange
		}
		v.AppendInt32(int32(n))
	default:
		v.AppendInt64(n)
	}
	return nil
}

func appendFloat(v *rowbatch.Vector, from packet.Column, b []byte) error {
	switch {
	case from.Kind == packet.Float32 && v.Type.Kind == rowtype.Float32:
		v.AppendFloat32(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case from.Kind == packet.Float32:
		v.AppendFloat64(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case from.Kind == packet.Float64 && v.Type.Kind == rowtype.Float64:
		v.AppendFloat64(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	default:
		return errLayout
	}
	return nil
}

// daysBefore are those of a year that has no leap day, before each month.
var daysBefore = [...]int{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// daysOf is a date as days since 1970-01-01, in the Gregorian calendar for all
// years, as the server counts.
func daysOf(t packet.Time) (int64, error) {
	switch {
	case t.Month == 0 || t.Day == 0:
		return 0, errZeroDate
	case t.Year == 0:
		return 0, errBeforeYear1
	}
	leap := 0
	if t.Year%4 == 0 && (t.Year%100 != 0 || t.Year%400 == 0) {
		leap = 1
	}
	day, length := daysBefore[t.Month]+t.Day, daysBefore[t.Month+1]-daysBefore[t.Month]
	if t.Month > 2 {
		day += leap
	} else if t.Month == 2 {
		length += leap
	}
	if t.Day > length {
		return 0, errNoDay // the server allows it with ALLOW_INVALID_DATES
	}
	const before1970 = 719163 // days from 0001-01-01, which is the first
	years := t.Year - 1
	return int64(years*365+years/4-years/100+years/400+day) - before1970, nil
}

func appendDate(v *rowbatch.Vector, from packet.Column, b []byte) error {
	t, ok := from.ReadTime(b)
	if !ok || from.Kind != packet.Date {
		return errLayout
	}
	days, err := daysOf(t)
	if err != nil {
		return err
	}
	v.AppendInt32(int32(days))
	return nil
}

const microsADay = 86400 * 1_000_000

// microsOf is the part of a day, or longer, that a time is.
func microsOf(t packet.Time) int64 {
	return (int64(t.Hour)*3600+int64(t.Minute)*60+int64(t.Second))*1_000_000 + int64(t.Micros)
}

func appendTime(v *rowbatch.Vector, from packet.Column, b []byte) error {
	t, ok := from.ReadTime(b)
	if !ok || from.Kind != packet.Span {
		return errLayout
	}
	micros := microsOf(t)
	if t.Negative || micros >= microsADay {
		return errTime
	}
	v.AppendInt64(micros)
	return nil
}

func appendTimestamp(v *rowbatch.Vector, from packet.Column, b []byte) error {
	t, ok := from.ReadTime(b)
	if !ok || from.Kind != packet.DateTime {
		return errLayout
	}
	days, err := daysOf(t)
	if err != nil {
		return err
	}
	micros := days*microsADay + microsOf(t)
	switch {
	case !v.Type.Nano:
		v.AppendInt64(micros)
	case micros > math.MaxInt64/1000 || micros < math.MinInt64/1000:
		return errNotNano
	default:
		v.AppendInt64(micros * 1000)
	}
	return nil
}

// appendUUID reads the 32 digits of a UUID, with hyphens in their places or
// without any.
func appendUUID(v *rowbatch.Vector, b []byte) error {
	var plain [32]byte
	switch {
	case len(b) == 32:
		copy(plain[:], b)
	case len(b) == 36 && b[8] == '-' && b[13] == '-' && b[18] == '-' && b[23] == '-':
		copy(plain[copy(plain[:], b[:8]):], b[9:13])
		copy(plain[12:], b[14:18])
		copy(plain[16:], b[19:23])
		copy(plain[20:], b[24:])
	default:
		return errUUID
	}
	var id [16]byte
	if _, err := hex.Decode(id[:], plain[:]); err != nil {
		return errUUID
	}
	v.AppendFixed(id[:])
	return nil
}
