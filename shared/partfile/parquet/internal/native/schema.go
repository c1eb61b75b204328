package native

import (
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/thrift"
)

// walk calls visit for a node and all below it, parents first: the order in
// which a file has them.
func walk(n schema.Node, visit func(schema.Node)) {
	visit(n)
	if group, ok := n.(*schema.GroupNode); ok {
		for i := range group.NumFields() {
			walk(group.Field(i), visit)
		}
	}
}

// writeElement writes a node of the schema.
func writeElement(t *thrift.Writer, n schema.Node) {
	t.Begin()
	leaf, isLeaf := n.(*schema.PrimitiveNode)
	if isLeaf {
		t.Int32(1, int32(leaf.PhysicalType()))
		if leaf.PhysicalType() == parquet.Types.FixedLenByteArray {
			t.Int32(2, int32(leaf.TypeLength()))
		}
	}
	if n.Parent() != nil { // the root is not repeated or left out
		t.Int32(3, int32(n.RepetitionType()))
	}
	t.Text(4, n.Name())
	if group, ok := n.(*schema.GroupNode); ok {
		t.Int32(5, int32(group.NumFields()))
	}
	if converted := n.ConvertedType(); converted != schema.ConvertedTypes.None {
		t.Int32(6, int32(converted))
	}
	if isLeaf && leaf.DecimalMetadata().IsSet {
		t.Int32(7, leaf.DecimalMetadata().Scale)
		t.Int32(8, leaf.DecimalMetadata().Precision)
	}
	writeLogicalType(t, n.LogicalType())
	t.End()
}

// writeLogicalType writes the member of the union that a type is.
func writeLogicalType(t *thrift.Writer, logical schema.LogicalType) {
	if logical == nil || !logical.IsSerialized() {
		return
	}
	t.Open(10)
	switch l := logical.(type) {
	case schema.StringLogicalType:
		t.Empty(1)
	case schema.ListLogicalType:
		t.Empty(3)
	case schema.DecimalLogicalType:
		t.Open(5)
		t.Int32(1, l.Scale())
		t.Int32(2, l.Precision())
		t.End()
	case schema.DateLogicalType:
		t.Empty(6)
	case schema.TimeLogicalType:
		t.Open(7)
		writeTime(t, l.IsAdjustedToUTC(), l.TimeUnit())
		t.End()
	case schema.TimestampLogicalType:
		t.Open(8)
		writeTime(t, l.IsAdjustedToUTC(), l.TimeUnit())
		t.End()
	case schema.IntLogicalType:
		t.Open(10)
		t.Byte(1, l.BitWidth())
		t.Bool(2, l.IsSigned())
		t.End()
	case schema.JSONLogicalType:
		t.Empty(12)
	case schema.UUIDLogicalType:
		t.Empty(14)
	}
	t.End()
}

func writeTime(t *thrift.Writer, utc bool, unit schema.TimeUnitType) {
	t.Bool(1, utc)
	t.Open(2)
	switch unit {
	case schema.TimeUnitMillis:
		t.Empty(1)
	case schema.TimeUnitMicros:
		t.Empty(2)
	case schema.TimeUnitNanos:
		t.Empty(3)
	}
	t.End()
}
