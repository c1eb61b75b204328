package packet

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// ErrValue reports a value that its column's kind does not have.
var ErrValue = errors.New("the bytes are not what the column's type has")

// Integer reads a value of a column of integers; of an unsigned one, the bits of
// an uint64.
func (c Column) Integer(b []byte) int64 {
	switch len(b) {
	case 1:
		if c.Unsigned {
			return int64(b[0])
		}
		return int64(int8(b[0]))
	case 2:
		if c.Unsigned {
			return int64(binary.LittleEndian.Uint16(b))
		}
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		if c.Unsigned {
			return int64(binary.LittleEndian.Uint32(b))
		}
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// Whole reports whether the column holds integers.
func (c Column) Whole() bool { return c.Kind >= Int8 && c.Kind <= Int64 }

// Time is a date, a time of a date, or a span. A date may have a month and day
// of zero; a span has hours above 23 and no date.
type Time struct {
	Year, Month, Day             int
	Hour, Minute, Second, Micros int
	Negative                     bool
}

// ReadTime reads a value of a temporal column; ok is false if it is none.
func (c Column) ReadTime(b []byte) (t Time, ok bool) {
	if len(b) == 0 {
		return t, true // all of it is zero
	}
	clock := 4 // where the hour is
	switch {
	case c.Kind == Span && (len(b) == 8 || len(b) == 12):
		clock = 5
		days := binary.LittleEndian.Uint32(b[1:])
		if days > math.MaxInt16 || b[0] > 1 || b[clock] > 23 {
			return t, false
		}
		t.Negative, t.Hour = b[0] == 1, int(days)*24+int(b[clock])
	case (c.Kind == Date || c.Kind == DateTime) && (len(b) == 4 || len(b) == 7 || len(b) == 11):
		t.Year, t.Month, t.Day = int(binary.LittleEndian.Uint16(b)), int(b[2]), int(b[3])
		if len(b) > clock {
			t.Hour = int(b[clock])
		}
		if t.Hour > 23 || t.Year > 9999 || t.Month > 12 || t.Day > 31 {
			return t, false
		}
	default:
		return t, false
	}
	if len(b) > clock {
		t.Minute, t.Second = int(b[clock+1]), int(b[clock+2])
	}
	if len(b) > clock+3 {
		t.Micros = int(binary.LittleEndian.Uint32(b[clock+3:]))
	}
	zero := t.Hour|t.Minute|t.Second|t.Micros == 0
	return t, t.Minute < 60 && t.Second < 60 && t.Micros < 1_000_000 && (c.Kind != Date || zero)
}

// AppendText appends a value as the server would write it, but floats in all
// their digits.
func (c Column) AppendText(text, b []byte) ([]byte, error) {
	switch c.Kind {
	case Bytes:
		return append(text, b...), nil
	case Int8, Int16, Int32, Int64:
		n := c.Integer(b)
		if c.Unsigned {
			return strconv.AppendUint(text, uint64(n), 10), nil
		}
		return strconv.AppendInt(text, n, 10), nil
	case Float32:
		return strconv.AppendFloat(text, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32), nil
	case Float64:
		return strconv.AppendFloat(text, math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64), nil
	}
	t, ok := c.ReadTime(b)
	if !ok {
		return nil, ErrValue
	}
	if c.Kind != Span {
		text = appendPadded(append(appendPadded(append(appendPadded(text, t.Year, 4), '-'), t.Month, 2), '-'), t.Day, 2)
		if c.Kind == Date {
			return text, nil
		}
		text = append(text, ' ')
	}
	if t.Negative {
		text = append(text, '-')
	}
	text = appendPadded(append(appendPadded(append(appendPadded(text, t.Hour, 2), ':'), t.Minute, 2), ':'), t.Second, 2)
	digits := int(c.Decimals)
	if digits > 6 { // unknown: as many as it takes
		if digits = 6; t.Micros == 0 {
			digits = 0
		}
	}
	if digits > 0 {
		text = append(text, '.')
		text = appendPadded(text, t.Micros, 6)
		text = text[:len(text)-6+digits]
	}
	return text, nil
}

// appendPadded appends n with zeros before it, width digits at least.
func appendPadded(text []byte, n, width int) []byte {
	var room [20]byte
	digits := strconv.AppendInt(room[:0], int64(n), 10)
	for range width - len(digits) {
		text = append(text, '0')
	}
	return append(text, digits...)
}
