package sqlserver

import (
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// form is how a value of a column is turned into the one that is delivered.
type form uint8

const (
	formBytes form = iota // as it is
	formUnicode
	formHex
	formBool
	formInt
	formFloat32
	formFloat64
	formDecimal
	formDate
	formTime
	formTimestamp
	formTicks // a datetime
	formGUID
	formUUIDText
)

// formOf is that of a column by what it is delivered as.
func formOf(c column) form {
	switch c.Type.Kind {
	case rowtype.Bool:
		return formBool
	case rowtype.Int16, rowtype.Int32, rowtype.Int64:
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
		if c.server.Name == "datetime" {
			return formTicks
		}
		return formTimestamp
	case rowtype.UUID:
		if c.family() == guidFamily {
			return formGUID
		}
		return formUUIDText
	case rowtype.Binary:
		return formBytes
	}
	if c.server.CLR() {
		return formHex
	}
	return formUnicode
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
	errNotNano     = &valueError{why: "it is outside the years 1677 to 2262, which nanoseconds reach", where: "%s not between '16770922' and '22620411'"}
	errRange       = &valueError{why: "it is a larger number than the column is delivered with"}
	errSurrogate   = &valueError{why: "it has half of a surrogate pair, for which UTF-8 has no bytes", noText: true}
	errUnconverted = &valueError{why: "it has bytes that its code page has no character for", noText: true}
	errUUID        = &valueError{why: "it is no UUID"}
)

// append decodes one value that is not NULL into v and returns its variable
// size. It returns a *valueError for one that cannot be delivered.
func (r *reader) append(f form, v *rowbatch.Vector, value driver.Value) (size int64, err error) {
	switch value := value.(type) {
	case bool:
		return 0, appendBool(f, v, value)
	case int64:
		return 0, appendInteger(f, v, value)
	case float64:
		return 0, appendFloat(f, v, value)
	case float32:
		return 0, appendFloat(f, v, float64(value))
	case time.Time:
		return 0, appendTime(f, v, value)
	case []byte:
		return r.appendBytes(f, v, value)
	}
	return 0, errLayout
}

func appendBool(f form, v *rowbatch.Vector, value bool) error {
	switch f {
	case formBool:
		v.AppendBool(value)
	case formInt:
		n := int64(0)
		if value {
			n = 1
		}
		return appendInteger(f, v, n)
	default:
		return errLayout
	}
	return nil
}

func appendInteger(f form, v *rowbatch.Vector, n int64) error {
	switch {
	case f == formDecimal:
		return v.AppendDecimalText(strconv.AppendInt(nil, n, 10))
	case f != formInt:
		return errLayout
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

// appendFloat takes a real for what it is: the client library has it as a
// float, which it was before it was widened.
func appendFloat(f form, v *rowbatch.Vector, x float64) error {
	switch {
	case f == formFloat64:
		v.AppendFloat64(x)
	case f == formFloat32 && (float64(float32(x)) == x || math.IsNaN(x)):
		v.AppendFloat32(float32(x))
	default:
		return errLayout
	}
	return nil
}

func appendTime(f form, v *rowbatch.Vector, at time.Time) error {
	switch f {
	case formDate:
		v.AppendInt32(int32(at.Unix() / 86400)) // midnight: nothing is left over
	case formTime:
		seconds := at.Hour()*3600 + at.Minute()*60 + at.Second()
		v.AppendInt64(int64(seconds)*1_000_000 + int64(at.Nanosecond()/1000))
	case formTimestamp:
		return appendInstant(v, at.Unix(), int64(at.Nanosecond()))
	default:
		return errLayout
	}
	return nil
}

// appendInstant leaves out what is less than a microsecond, which is said of the
// column, unless it counts nanoseconds.
func appendInstant(v *rowbatch.Vector, seconds, nanos int64) error {
	if !v.Type.Nano {
		v.AppendInt64(seconds*1_000_000 + nanos/1000)
		return nil
	}
	if seconds >= math.MaxInt64/1_000_000_000 || seconds <= math.MinInt64/1_000_000_000 {
		return errNotNano
	}
	v.AppendInt64(seconds*1_000_000_000 + nanos)
	return nil
}

func (r *reader) appendBytes(f form, v *rowbatch.Vector, b []byte) (size int64, err error) {
	switch f {
	case formDecimal:
		return 0, v.AppendDecimalText(b)
	case formTicks:
		return 0, appendTicks(v, b)
	case formGUID:
		return 0, appendGUID(v, b)
	case formBytes:
		if r.limit > 0 && int64(len(b)) > r.limit {
			return 0, errTooLarge
		}
		v.AppendVarying(b)
		return int64(len(b)), nil
	case formHex:
		r.scratch = hex.AppendEncode(r.scratch[:0], b)
	case formUnicode, formUUIDText:
		if r.limit > 0 && int64(len(b)) > 2*r.limit {
			return 0, errTooLarge
		}
		if r.scratch, err = appendUTF8(r.scratch[:0], b); err != nil {
			return 0, err
		}
	default:
		return 0, errLayout
	}
	if r.limit > 0 && int64(len(r.scratch)) > r.limit {
		return 0, errTooLarge
	}
	if f == formUUIDText {
		return 0, appendUUID(v, r.scratch)
	}
	v.AppendVarying(r.scratch)
	return int64(len(r.scratch)), nil
}

// appendTicks reads a datetime: days since 1900 and three-hundredths of a second
// since midnight, each in four bytes. A third of a microsecond is rounded.
func appendTicks(v *rowbatch.Vector, b []byte) error {
	if len(b) != 8 {
		return errLayout
	}
	const to1970 = 25567 // days
	days, ticks := int64(int32(binary.BigEndian.Uint32(b))), int64(binary.BigEndian.Uint32(b[4:]))
	seconds := (days-to1970)*86400 + ticks/300
	if ticks %= 300; v.Type.Nano {
		return appendInstant(v, seconds, (ticks*10_000_000+1)/3)
	}
	return appendInstant(v, seconds, (ticks*10_000+1)/3*1000)
}

// appendGUID puts the bytes of a uniqueidentifier into the order of its text:
// the server keeps the first three groups with their lowest byte first.
func appendGUID(v *rowbatch.Vector, b []byte) error {
	if len(b) != 16 {
		return errLayout
	}
	id := [16]byte{b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6]}
	copy(id[8:], b[8:])
	v.AppendFixed(id[:])
	return nil
}

// appendUUID reads the 32 digits of a UUID, with hyphens in their places or
// without any.
func appendUUID(v *rowbatch.Vector, b []byte) error {
	plain := b
	if len(b) == 36 && b[8] == '-' && b[13] == '-' && b[18] == '-' && b[23] == '-' {
		plain = make([]byte, 0, 32)
		for _, group := range [][2]int{{0, 8}, {9, 13}, {14, 18}, {19, 23}, {24, 36}} {
			plain = append(plain, b[group[0]:group[1]]...)
		}
	}
	var id [16]byte
	if n, err := hex.Decode(id[:], plain[:min(len(plain), 32)]); err != nil || n != 16 || len(plain) != 32 {
		return errUUID
	}
	v.AppendFixed(id[:])
	return nil
}
