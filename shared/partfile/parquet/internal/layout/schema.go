package layout

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

const (
	noFieldID   = -1
	elementName = "element" // of a list's item, in both schemas: some readers match them by name
)

// Schema returns the Parquet schema of the columns.
func Schema(columns []rowtype.Column) (*schema.GroupNode, error) {
	fields := make(schema.FieldList, len(columns))
	for i, c := range columns {
		repetition := parquet.Repetitions.Optional
		if c.NotNull {
			repetition = parquet.Repetitions.Required
		}
		node, err := fieldNode(c.Name, repetition, c.Type)
		if err != nil {
			return nil, ColumnError(c, err)
		}
		fields[i] = node
	}
	return schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, noFieldID)
}

func fieldNode(name string, repetition parquet.Repetition, t rowtype.Type) (schema.Node, error) {
	if t.Kind == rowtype.List {
		item, err := fieldNode(elementName, parquet.Repetitions.Optional, *t.Elem)
		if err != nil {
			return nil, err
		}
		return schema.ListOfWithName(name, item, repetition, noFieldID)
	}
	physical, length, logical := columnType(t)
	return schema.NewPrimitiveNodeLogical(name, repetition, logical, physical, length, noFieldID)
}

// columnType returns how values of a type are stored, the length of
// fixed-length ones, and what they mean.
func columnType(t rowtype.Type) (parquet.Type, int, schema.LogicalType) {
	types := parquet.Types
	switch t.Kind {
	case rowtype.Bool:
		return types.Boolean, 0, nil
	case rowtype.Int16:
		return types.Int32, 0, schema.NewIntLogicalType(16, true)
	case rowtype.Int32:
		return types.Int32, 0, nil
	case rowtype.Int64:
		return types.Int64, 0, nil
	case rowtype.UInt64:
		return types.Int64, 0, schema.NewIntLogicalType(64, false)
	case rowtype.Float32:
		return types.Float, 0, nil
	case rowtype.Float64:
		return types.Double, 0, nil
	case rowtype.Decimal:
		logical := schema.NewDecimalLogicalType(int32(t.Precision), int32(t.Scale))
		switch {
		case t.Precision <= 9:
			return types.Int32, 0, logical
		case t.Precision <= 18:
			return types.Int64, 0, logical
		}
		return types.FixedLenByteArray, decimalLength(t.Precision), logical
	case rowtype.Date:
		return types.Int32, 0, schema.DateLogicalType{}
	case rowtype.Time:
		return types.Int64, 0, schema.NewTimeLogicalType(false, schema.TimeUnitMicros)
	case rowtype.Timestamp:
		unit := schema.TimeUnitMicros
		if t.Nano {
			unit = schema.TimeUnitNanos
		}
		return types.Int64, 0, schema.NewTimestampLogicalType(t.UTC, unit)
	case rowtype.UUID:
		return types.FixedLenByteArray, 16, schema.UUIDLogicalType{}
	case rowtype.JSON:
		return types.ByteArray, 0, schema.JSONLogicalType{}
	case rowtype.Binary:
		return types.ByteArray, 0, nil
	}
	return types.ByteArray, 0, schema.StringLogicalType{}
}

// decimalLength returns how many bytes hold every decimal of a precision.
func decimalLength(precision int) int {
	length := 1
	for digitsIn(length) < precision {
		length++
	}
	return length
}

// digitsIn returns how many decimal digits always fit into a two's complement
// of n bytes: the floor of (8n-1)·log10(2).
func digitsIn(n int) int { return (8*n - 1) * 30103 / 100000 }

// ArrowSchemaKey is the one key of the file's own metadata.
const ArrowSchemaKey = "ARROW:schema"

// ArrowSchema returns the value of that key: the Arrow schema, which carries
// the metadata of the fields.
func ArrowSchema(columns []rowtype.Column) (string, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrowField(c.Name, c.Type, !c.NotNull, fieldMetadata(c))
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema(fields, nil)))
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("encode Arrow schema: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

type pair struct{ key, value string }

// fieldMetadata returns what the upstream says of a column (reference §4).
func fieldMetadata(c rowtype.Column) []pair {
	pairs := []pair{{"rivet.native_type", c.Native}, {"rivet.fidelity", c.Fidelity}}
	switch c.Type.Kind {
	case rowtype.JSON, rowtype.UUID, rowtype.Enum, rowtype.Interval:
		pairs = append(pairs, pair{"rivet.logical_type", string(c.Type.Kind)})
	}
	if c.TextForm != "" {
		pairs = append(pairs, pair{"rivet.text_form", c.TextForm})
	}
	return pairs
}

// arrowField returns the Arrow field with the metadata that is not empty. A
// UUID has its extension name. JSON has none: arrow-go's reader fails on files
// that state it, and other readers take it from the logical type in the footer.
func arrowField(name string, t rowtype.Type, nullable bool, pairs []pair) arrow.Field {
	var keys, values []string
	for _, p := range pairs {
		if p.value != "" {
			keys, values = append(keys, p.key), append(values, p.value)
		}
	}
	if t.Kind == rowtype.UUID {
		keys, values = append(keys, "ARROW:extension:name", "ARROW:extension:metadata"), append(values, "arrow.uuid", "")
	}
	return arrow.Field{Name: name, Type: arrowType(t), Nullable: nullable, Metadata: arrow.NewMetadata(keys, values)}
}

func arrowType(t rowtype.Type) arrow.DataType {
	switch t.Kind {
	case rowtype.Bool:
		return arrow.FixedWidthTypes.Boolean
	case rowtype.Int16:
		return arrow.PrimitiveTypes.Int16
	case rowtype.Int32:
		return arrow.PrimitiveTypes.Int32
	case rowtype.Int64:
		return arrow.PrimitiveTypes.Int64
	case rowtype.UInt64:
		return arrow.PrimitiveTypes.Uint64
	case rowtype.Float32:
		return arrow.PrimitiveTypes.Float32
	case rowtype.Float64:
		return arrow.PrimitiveTypes.Float64
	case rowtype.Decimal:
		if t.Precision > 38 {
			return &arrow.Decimal256Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
		}
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case rowtype.Date:
		return arrow.FixedWidthTypes.Date32
	case rowtype.Time:
		return arrow.FixedWidthTypes.Time64us
	case rowtype.Timestamp:
		ts := &arrow.TimestampType{Unit: arrow.Microsecond}
		if t.Nano {
			ts.Unit = arrow.Nanosecond
		}
		if t.UTC {
			ts.TimeZone = "UTC"
		}
		return ts
	case rowtype.UUID:
		return &arrow.FixedSizeBinaryType{ByteWidth: 16}
	case rowtype.Binary:
		return arrow.BinaryTypes.Binary
	case rowtype.List:
		return arrow.ListOfField(arrowField(elementName, *t.Elem, true, nil))
	}
	return arrow.BinaryTypes.String
}
