// Package rowtype holds the logical types that every source maps to and every
// writer writes. Layer: leaf.
//
// A column's type comes from the plan, never from the data, so that all parts
// of a run have one schema (WRT-07).
package rowtype

import (
	"fmt"
	"strings"
)

// Kind is a logical type without its parameters.
type Kind string

// The kinds of reference §4.
const (
	Bool      Kind = "bool"
	Int16     Kind = "int16"
	Int32     Kind = "int32"
	Int64     Kind = "int64"
	UInt64    Kind = "uint64"
	Float32   Kind = "float32"
	Float64   Kind = "float64"
	Decimal   Kind = "decimal"   // Precision 1 to 76, Scale 0 to Precision
	Date      Kind = "date"      // days since 1970-01-01
	Time      Kind = "time"      // microseconds since midnight
	Timestamp Kind = "timestamp" // Unit since 1970-01-01T00:00:00, an instant if UTC
	UUID      Kind = "uuid"      // 16 bytes in RFC 9562 order
	Text      Kind = "text"
	JSON      Kind = "json"     // text, byte for byte as the server gives it
	Enum      Kind = "enum"     // text
	Interval  Kind = "interval" // ISO 8601 text
	Binary    Kind = "binary"
	List      Kind = "list" // of Elem, whose items may be NULL
)

// MaxPrecision is how many digits a Decimal can have: what 32 bytes hold.
const MaxPrecision = 76

// Values of Column.Fidelity (reference §4).
const (
	Exact         = "exact"          // the same type
	Compatible    = "compatible"     // another type with every value of the source's
	LogicalString = "logical_string" // text that stands for a type of its own
	Lossy         = "lossy"          // some values lose something
)

// Values of Column.TextForm.
const (
	ServerText   = "server_text"   // what the server itself makes of the value
	DecimalPlain = "decimal_plain" // digits and a point, no sign but minus
	HexBytes     = "hex_bytes"     // the bytes that the source holds, in hex
)

// Type is a logical type. Two types are equal when their String is.
type Type struct {
	Kind      Kind  `json:"kind"`
	Precision int   `json:"precision,omitempty"`
	Scale     int   `json:"scale,omitempty"`
	Nano      bool  `json:"nano,omitempty"` // Timestamp counts nanoseconds, not microseconds
	UTC       bool  `json:"utc,omitempty"`  // Timestamp is an instant
	Elem      *Type `json:"elem,omitempty"`
}

// Column is a column of an export as it is written.
type Column struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	// Native is the source's own type, such as "int8" or "numeric(18,2)"; it
	// goes into the field metadata rivet.native_type.
	Native string `json:"native"`
	// Fidelity is "exact", "compatible", "logical_string" or "lossy"
	// (reference §4).
	Fidelity string `json:"fidelity"`
	// TextForm names the canonical text when a value without a type of its own
	// is delivered as text by an override, such as "server_text".
	TextForm string `json:"text_form,omitempty"`
	// NotNull is true for columns that we add; source columns are all nullable
	// in the file, whatever the source says (reference §4).
	NotNull bool `json:"not_null,omitempty"`
}

// IsText reports whether values are UTF-8 text.
func (t Type) IsText() bool {
	switch t.Kind {
	case Text, JSON, Enum, Interval:
		return true
	}
	return false
}

// Width is the number of bytes of one value in a batch's Data for kinds that
// are stored as fixed-size bytes: 16 for a UUID, 16 or 32 for a decimal; 0 for
// all others.
func (t Type) Width() int {
	switch {
	case t.Kind == UUID, t.Kind == Decimal && t.Precision <= 38:
		return 16
	case t.Kind == Decimal:
		return 32
	}
	return 0
}

// String prints the type for messages and reports.
func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case Timestamp:
		s := "timestamp"
		if t.UTC {
			s = "timestamptz"
		}
		if t.Nano {
			s += "(ns)"
		}
		return s
	case List:
		if t.Elem != nil {
			return "list<" + t.Elem.String() + ">"
		}
	}
	return string(t.Kind)
}

// ArrowDebug is the text of the Arrow type as the upstream's schema
// fingerprint hashes it (reference §5.6, "debug" rows of the golden vectors).
func (t Type) ArrowDebug() string {
	switch t.Kind {
	case Bool:
		return "Boolean"
	case Int16, Int32, Int64, Float32, Float64:
		return strings.ToUpper(string(t.Kind[:1])) + string(t.Kind[1:])
	case UInt64:
		return "UInt64"
	case Decimal:
		bits := 128
		if t.Precision > 38 {
			bits = 256
		}
		return fmt.Sprintf("Decimal%d(%d, %d)", bits, t.Precision, t.Scale)
	case Date:
		return "Date32"
	case Time:
		return "Time64(Microsecond)"
	case Timestamp:
		unit, zone := "Microsecond", "None"
		if t.Nano {
			unit = "Nanosecond"
		}
		if t.UTC {
			zone = `Some("UTC")`
		}
		return fmt.Sprintf("Timestamp(%s, %s)", unit, zone)
	case UUID:
		return "FixedSizeBinary(16)"
	case Text, JSON, Enum, Interval:
		return "Utf8"
	case Binary:
		return "Binary"
	case List:
		return "List(Field { data_type: " + t.Elem.ArrowDebug() + ", nullable: true })"
	}
	return string(t.Kind)
}
