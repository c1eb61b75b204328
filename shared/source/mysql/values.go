package mysql

import (
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"database/sql/driver"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
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
	errLayout      = errors.New("the bytes are not what the column's type has")
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
// *valueError for one that cannot be delivered.
func appendValue(f form, v *rowbatch.Vector, value driver.Value) error {
	switch f {
	case formInt:
		return appendInteger(v, value)
	case formFloat32, formFloat64:
		return appendFloat(v, value)
	case formBool:
		n, err := wholeOf(value)
		if err != nil || n > 1 {
			return errBool
		}
		v.AppendBool(n == 1)
		return nil
	}
	var b []byte
	switch text := value.(type) {
	case []byte:
		b = text
	case string: // the library's text of a zero date
		b = []byte(text)
	default: // a number where text was expected, such as a year
		b = textOf(value)
	}
	switch f {
	case formText:
		if !utf8.Valid(b) {
			return errUTF8
		}
		v.AppendVarying(b)
	case formBytes:
		v.AppendVarying(b)
	case formDecimal:
		return v.AppendDecimalText(b)
	case formDate:
		days, rest, err := dateOf(b)
		if err == nil && len(rest) > 0 {
			err = errLayout
		}
		if err != nil {
			return err
		}
		v.AppendInt32(int32(days))
	case formTime:
		return appendTime(v, b)
	case formTimestamp:
		return appendTimestamp(v, b)
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

// wholeOf is a number that is not negative. Bits come as bytes, most
// significant first, and so does the text of a number that 63 bits do not hold.
func wholeOf(value driver.Value) (uint64, error) {
	switch n := value.(type) {
	case int64:
		if n < 0 {
			return 0, errRange
		}
		return uint64(n), nil
	case uint64:
		return n, nil
	case []byte:
		if len(n) > 8 {
			return strconv.ParseUint(string(n), 10, 64)
		}
		bits := uint64(0)
		for _, b := range n {
			bits = bits<<8 | uint64(b)
		}
		return bits, nil
	}
	return 0, errLayout
}

func appendInteger(v *rowbatch.Vector, value driver.Value) error {
	n, signed := value.(int64)
	if v.Type.Kind == rowtype.UInt64 || !signed {
		whole, err := wholeOf(value)
		if err != nil {
			return errLayout
		}
		if v.Type.Kind == rowtype.UInt64 {
			v.AppendUint64(whole)
			return nil
		}
		if whole > math.MaxInt64 {
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

func appendFloat(v *rowbatch.Vector, value driver.Value) error {
	switch x := value.(type) {
	case float32:
		if v.Type.Kind == rowtype.Float32 {
			v.AppendFloat32(x)
		} else {
			v.AppendFloat64(float64(x))
		}
	case float64:
		if v.Type.Kind == rowtype.Float32 {
			return errLayout
		}
		v.AppendFloat64(x)
	default:
		return errLayout
	}
	return nil
}

// digits reads n decimal digits from the start of b.
func digits(b []byte, n int) (value int, rest []byte, ok bool) {
	if len(b) < n {
		return 0, nil, false
	}
	for _, c := range b[:n] {
		if c < '0' || c > '9' {
			return 0, nil, false
		}
		value = value*10 + int(c-'0')
	}
	return value, b[n:], true
}

// dateOf reads YYYY-MM-DD as days since 1970-01-01.
func dateOf(b []byte) (days int64, rest []byte, err error) {
	year, rest, ok := digits(b, 4)
	month, day := 0, 0
	if ok = ok && len(rest) > 0 && rest[0] == '-'; ok {
		month, rest, ok = digits(rest[1:], 2)
	}
	if ok = ok && len(rest) > 0 && rest[0] == '-'; ok {
		day, rest, ok = digits(rest[1:], 2)
	}
	switch {
	case !ok:
		return 0, nil, errLayout
	case month == 0 || day == 0:
		return 0, nil, errZeroDate
	case year == 0:
		return 0, nil, errBeforeYear1
	}
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if at.Day() != day || int(at.Month()) != month {
		return 0, nil, errNoDay // the server allows it with ALLOW_INVALID_DATES
	}
	seconds := at.Unix()
	days = seconds / 86400
	if seconds%86400 < 0 {
		days--
	}
	return days, rest, nil
}

// clockOf reads HH:MM:SS with a fraction of at most six digits as microseconds.
// The hours may have three digits.
func clockOf(b []byte) (micros int64, err error) {
	hour, rest, ok := digits(b, 2)
	if ok && len(rest) > 0 && rest[0] != ':' {
		hour, rest, ok = digits(b, 3)
	}
	minute, second := 0, 0
	if ok = ok && len(rest) > 0 && rest[0] == ':'; ok {
		minute, rest, ok = digits(rest[1:], 2)
	}
	if ok = ok && len(rest) > 0 && rest[0] == ':'; ok {
		second, rest, ok = digits(rest[1:], 2)
	}
	if !ok || minute > 59 || second > 59 {
		return 0, errLayout
	}
	micros = (int64(hour)*3600 + int64(minute)*60 + int64(second)) * 1_000_000
	if len(rest) == 0 {
		return micros, nil
	}
	n := len(rest) - 1
	fraction, _, ok := digits(rest[1:], n)
	if rest[0] != '.' || !ok || n < 1 || n > 6 {
		return 0, errLayout
	}
	for ; n < 6; n++ {
		fraction *= 10
	}
	return micros + int64(fraction), nil
}

const microsADay = 86400 * 1_000_000

func appendTime(v *rowbatch.Vector, b []byte) error {
	if len(b) > 0 && b[0] == '-' {
		return errTime
	}
	micros, err := clockOf(b)
	switch {
	case err != nil:
		return err
	case micros >= microsADay:
		return errTime
	}
	v.AppendInt64(micros)
	return nil
}

func appendTimestamp(v *rowbatch.Vector, b []byte) error {
	days, rest, err := dateOf(b)
	if err != nil {
		return err
	}
	micros := int64(0)
	if len(rest) > 0 {
		if rest[0] != ' ' {
			return errLayout
		}
		if micros, err = clockOf(rest[1:]); err != nil || micros >= microsADay {
			return errLayout
		}
	}
	micros += days * microsADay
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
