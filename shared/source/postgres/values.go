package postgres

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// wire is how a value is laid out in PostgreSQL's binary format.
type wire uint8

const (
	wireBytes wire = iota // as it is delivered
	wireText
	wireJSONB
	wireInterval
	wireArray
	wireBool
	wireInt16
	wireInt32
	wireInt64
	wireOID
	wireFloat32
	wireFloat64
	wireNumeric
	wireDate
	wireTime
	wireTimestamp
	wireTimestampNano
	wireUUID

	lastVarying = wireArray // up to here a value's size counts by the byte
)

// sizes are those of values that have one.
var sizes = [256]int{
	wireBool: 1, wireInt16: 2, wireInt32: 4, wireInt64: 8, wireOID: 4, wireFloat32: 4, wireFloat64: 8,
	wireDate: 4, wireTime: 8, wireTimestamp: 8, wireTimestampNano: 8, wireUUID: 16,
}

var wires = map[string]wire{
	"bool": wireBool, "int2": wireInt16, "int4": wireInt32, "int8": wireInt64, "oid": wireOID, "float4": wireFloat32, "float8": wireFloat64,
	"numeric": wireNumeric, "date": wireDate, "time": wireTime, "timestamp": wireTimestamp, "timestamptz": wireTimestamp, "uuid": wireUUID,
	"interval": wireInterval, "bytea": wireBytes, "jsonb": wireJSONB,
}

// wireOf is the layout of a type's values after a cast, if there is one.
func wireOf(t rowtype.PostgresType, cast string, delivered rowtype.Type) wire {
	switch {
	case cast == "" && t.Elem != nil:
		return wireArray
	case cast == "" && !t.BuiltIn:
		return wireText // an enum, citext
	case delivered.Nano:
		return wireTimestampNano
	}
	name := t.Name
	if cast != "" {
		name = cast
	}
	w, ok := wires[name]
	if !ok {
		return wireText
	}
	return w
}

// valueError is a value that cannot be delivered. where is a condition that
// finds such rows, with %s for the column.
type valueError struct{ why, where string }

func (e *valueError) Error() string { return e.why }

var (
	errInfinite     = &valueError{"infinity is no point in time", "%s in ('infinity', '-infinity')"}
	errBeforeYear1  = &valueError{"it is before the year 1", "%s < '0001-01-01'"}
	errTooLate      = &valueError{"it is too late for microseconds in 64 bits", "%s > '294246-12-31'"}
	errNotNano      = &valueError{"it is outside the years 1677 to 2262, which nanoseconds reach", "%s not between '1677-09-22' and '2262-04-11'"}
	errTime24       = &valueError{"24:00:00 is no time of a day", "%s = '24:00:00'"}
	errNaN          = &valueError{"NaN is no decimal number", "%s = 'NaN'"}
	errInfiniteSum  = &valueError{"infinity is no decimal number", "%s in ('Infinity', '-Infinity')"}
	errScale        = &valueError{"it has more digits after the point than the column is delivered with", ""}
	errPrecision    = &valueError{"it has more digits before the point than the column is delivered with", ""}
	errUTF8         = &valueError{"it is not valid UTF-8, which a database with encoding SQL_ASCII lets through", ""}
	errDimensions   = &valueError{"it is an array of arrays", "array_ndims(%s) > 1"}
	errInfiniteSpan = &valueError{"infinity is no interval", "not isfinite(%s)"}
)

const (
	daysTo2000   = 10957               // from 1970-01-01
	microsTo2000 = 946684800 * 1000000 // from 1970-01-01
	daysYear1    = -719162 - daysTo2000
	microsYear1  = -62135596800*1000000 - microsTo2000
	microsADay   = 86400 * 1000000
)

// appendValue decodes one value that is not NULL into v, which has it as a row
// then. Its errors are those of push.
func appendValue(w wire, v *rowbatch.Vector, b []byte) error {
	rows := v.Len
	if err := push(w, v, rows, b); err != nil {
		return err
	}
	v.Complete(rows + 1)
	return nil
}

// push decodes one value that is not NULL into v, which has values of so many
// rows. It returns a *valueError for one that cannot be delivered, or errLayout
// for bytes that are not what the type has.
func push(w wire, v *rowbatch.Vector, rows int, b []byte) error {
	if size := sizes[w]; size > 0 && len(b) != size {
		return errLayout
	}
	switch w {
	case wireText:
		if !utf8.Valid(b) {
			return errUTF8
		}
		v.PushVarying(b)
	case wireBytes:
		v.PushVarying(b)
	case wireInt32:
		v.I32 = append(v.I32, int32(binary.BigEndian.Uint32(b)))
	case wireInt64:
		v.I64 = append(v.I64, int64(binary.BigEndian.Uint64(b)))
	case wireNumeric:
		if v.Type.Precision <= smallPrecision {
			return pushSmallNumeric(v, b)
		}
		return pushLargeNumeric(v, b)
	case wireDate:
		return pushDate(v, b)
	case wireTimestamp, wireTimestampNano:
		return pushTimestamp(v, b, w == wireTimestampNano)
	case wireBool:
		if b[0] > 1 {
			return errLayout
		}
		v.Complete(rows)
		v.AppendBool(b[0] == 1)
	case wireInt16:
		v.I16 = append(v.I16, int16(binary.BigEndian.Uint16(b)))
	case wireOID:
		v.I64 = append(v.I64, int64(binary.BigEndian.Uint32(b)))
	case wireFloat32:
		v.F32 = append(v.F32, math.Float32frombits(binary.BigEndian.Uint32(b)))
	case wireFloat64:
		v.F64 = append(v.F64, math.Float64frombits(binary.BigEndian.Uint64(b)))
	case wireTime:
		return pushTime(v, b)
	case wireUUID:
		v.Data = append(v.Data, b...)
	case wireJSONB:
		if len(b) < 1 || b[0] != 1 { // the version of jsonb's wire format
			return errLayout
		}
		return push(wireText, v, rows, b[1:])
	case wireInterval:
		v.Complete(rows)
		return appendInterval(v, b)
	}
	return nil
}

func pushDate(v *rowbatch.Vector, b []byte) error {
	switch days := int32(binary.BigEndian.Uint32(b)); {
	case days == math.MaxInt32 || days == math.MinInt32:
		return errInfinite
	case days < daysYear1:
		return errBeforeYear1
	case days > math.MaxInt32-daysTo2000:
		return errTooLate
	default:
		v.I32 = append(v.I32, days+daysTo2000)
		return nil
	}
}

func pushTimestamp(v *rowbatch.Vector, b []byte, nano bool) error {
	switch micros := int64(binary.BigEndian.Uint64(b)); {
	case micros == math.MaxInt64 || micros == math.MinInt64:
		return errInfinite
	case micros < microsYear1:
		return errBeforeYear1
	case micros > math.MaxInt64-microsTo2000:
		return errTooLate
	case !nano:
		v.I64 = append(v.I64, micros+microsTo2000)
	case micros+microsTo2000 > math.MaxInt64/1000 || micros+microsTo2000 < math.MinInt64/1000:
		return errNotNano
	default:
		v.I64 = append(v.I64, (micros+microsTo2000)*1000)
	}
	return nil
}

func pushTime(v *rowbatch.Vector, b []byte) error {
	switch micros := int64(binary.BigEndian.Uint64(b)); {
	case micros == microsADay:
		return errTime24
	case micros < 0 || micros > microsADay:
		return errLayout
	default:
		v.I64 = append(v.I64, micros)
		return nil
	}
}
