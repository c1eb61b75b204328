package packet

import "encoding/binary"

// Kind is how the values of a column are laid out.
type Kind uint8

const (
	Bytes    Kind = iota // as they are: text, bytes, bits, and the digits of a decimal
	Int8                 // this one and the next ones little-endian
	Int16                // also a year
	Int32                // also a mediumint
	Int64                //
	Float32              //
	Float64              //
	Date                 // see [ReadTime] for this one and the next ones
	DateTime             // also a timestamp
	Span                 // a time, which may be negative and longer than a day
	Null                 // of a column that holds nothing else
)

// Column is a column of a result.
type Column struct {
	Kind     Kind
	Unsigned bool
	Decimals uint8 // digits of the seconds after the point; above 6 is unknown
}

// kinds are by the protocol's number of a type.
var kinds = map[byte]Kind{
	1: Int8, 2: Int16, 13: Int16, 3: Int32, 9: Int32, 8: Int64, 4: Float32, 5: Float64, 6: Null,
	10: Date, 14: Date, 7: DateTime, 12: DateTime, 11: Span,
	0: Bytes, 246: Bytes, 15: Bytes, 16: Bytes, 242: Bytes, 245: Bytes, 247: Bytes, 248: Bytes, 249: Bytes, 250: Bytes, 251: Bytes, 252: Bytes, 253: Bytes, 254: Bytes, 255: Bytes,
}

const flagUnsigned = 1 << 5

// columnOf reads the definition of a column.
func columnOf(p []byte) (Column, error) {
	at := 0
	for range 6 { // catalog, schema, table, its original name, name, original name
		_, end, ok := stringAt(p, at)
		if !ok {
			return Column{}, brokenf("the definition of a column is cut off")
		}
		at = end
	}
	const fixed = 1 + 2 + 4 + 1 + 2 + 1 // their length, character set, length, type, flags, decimals
	p = p[at:]
	if len(p) < fixed || p[0] < fixed-1 {
		return Column{}, brokenf("the definition of a column is cut off")
	}
	kind, known := kinds[p[7]]
	if !known {
		return Column{}, brokenf("a column is of type %d, which the protocol does not have", p[7])
	}
	return Column{Kind: kind, Unsigned: binary.LittleEndian.Uint16(p[8:])&flagUnsigned != 0, Decimals: p[10]}, nil
}
