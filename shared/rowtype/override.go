package rowtype

import (
	"fmt"
	"strconv"
	"strings"
)

var overrides = map[string]Type{
	"bool": {Kind: Bool}, "boolean": {Kind: Bool},
	"int2": {Kind: Int16}, "smallint": {Kind: Int16}, "int16": {Kind: Int16},
	"int4": {Kind: Int32}, "int": {Kind: Int32}, "integer": {Kind: Int32}, "int32": {Kind: Int32},
	"int8": {Kind: Int64}, "bigint": {Kind: Int64}, "int64": {Kind: Int64},
	"float4": {Kind: Float32}, "real": {Kind: Float32}, "float32": {Kind: Float32},
	"float8": {Kind: Float64}, "double": {Kind: Float64}, "float64": {Kind: Float64},
	"date":         {Kind: Date},
	"timestamp":    {Kind: Timestamp},
	"timestamp_ns": {Kind: Timestamp, Nano: true},
	"timestamp_tz": {Kind: Timestamp, UTC: true}, "timestamptz": {Kind: Timestamp, UTC: true}, "timestamp_utc": {Kind: Timestamp, UTC: true},
	"timestamp_tz_ns": {Kind: Timestamp, UTC: true, Nano: true},
	"text":            {Kind: Text}, "varchar": {Kind: Text}, "string": {Kind: Text}, "char": {Kind: Text},
	"binary": {Kind: Binary}, "bytea": {Kind: Binary}, "blob": {Kind: Binary},
	"json": {Kind: JSON}, "jsonb": {Kind: JSON},
	"uuid": {Kind: UUID},
}

// ParseOverride reads a type as it is written under columns: in a config
// (reference §4.6). Whether a column can be delivered as that type is for its
// source to say.
func ParseOverride(s string) (Type, error) {
	name := strings.ToLower(strings.TrimSpace(s))
	if t, ok := overrides[name]; ok {
		return t, nil
	}
	args, ok := strings.CutPrefix(name, "decimal")
	if !ok {
		args, ok = strings.CutPrefix(name, "numeric")
	}
	if !ok {
		return Type{}, fmt.Errorf("%q is no type that a column can be given: see the list under columns: in the docs", s)
	}
	args = strings.TrimSpace(args)
	precision, scale, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(args, "("), ")"), ",")
	if !ok || !strings.HasPrefix(args, "(") || !strings.HasSuffix(args, ")") {
		return Type{}, fmt.Errorf("%q needs a precision and a scale, such as decimal(38,9)", s)
	}
	p, errP := strconv.ParseUint(strings.TrimSpace(precision), 10, 8)
	q, errQ := strconv.ParseUint(strings.TrimSpace(scale), 10, 8)
	if errP != nil || errQ != nil || p < 1 || p > MaxPrecision || q > p {
		return Type{}, fmt.Errorf("%q is out of range: the precision is 1 to %d and the scale 0 to the precision", s, MaxPrecision)
	}
	return Type{Kind: Decimal, Precision: int(p), Scale: int(q)}, nil
}
