package parquet

import (
	"bytes"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// readArrow reads a file by way of Arrow, which shares no code with the
// conversion of batches to column chunks.
func readArrow(t *testing.T, body []byte, columns []rowtype.Column) *rowbatch.Batch {
	t.Helper()
	table, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(body), parquet.NewReaderProperties(nil), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	if int(table.NumCols()) != len(columns) {
		t.Fatalf("%d columns, want %d", table.NumCols(), len(columns))
	}
	b := rowbatch.New(columns)
	b.Rows = int(table.NumRows())
	for i, c := range columns {
		column := table.Column(i)
		if column.Name() != c.Name {
			t.Fatalf("column %d is called %q, want %q", i, column.Name(), c.Name)
		}
		for _, chunk := range column.Data().Chunks() {
			appendArrow(t, &b.Columns[i], chunk)
		}
	}
	return b
}

func appendArrow(t *testing.T, v *rowbatch.Vector, a arrow.Array) {
	t.Helper()
	if ext, ok := a.(array.ExtensionArray); ok {
		a = ext.Storage()
	}
	for i := range a.Len() {
		if a.IsNull(i) {
			v.AppendNull()
			continue
		}
		switch a := a.(type) {
		case *array.Boolean:
			v.AppendBool(a.Value(i))
		case *array.Int16:
			v.AppendInt16(a.Value(i))
		case *array.Int32:
			v.AppendInt32(a.Value(i))
		case *array.Int64:
			v.AppendInt64(a.Value(i))
		case *array.Uint64:
			v.AppendUint64(a.Value(i))
		case *array.Float32:
			v.AppendFloat32(a.Value(i))
		case *array.Float64:
			v.AppendFloat64(a.Value(i))
		case *array.Decimal128:
			v.AppendBytes(storedDecimal(a.Value(i).BigInt().FillBytes(make([]byte, 16)), a.Value(i).Sign()))
		case *array.Decimal256:
			v.AppendBytes(storedDecimal(a.Value(i).BigInt().FillBytes(make([]byte, 32)), a.Value(i).Sign()))
		case *array.Date32:
			v.AppendInt32(int32(a.Value(i)))
		case *array.Time64:
			v.AppendInt64(int64(a.Value(i)))
		case *array.Timestamp:
			v.AppendInt64(int64(a.Value(i)))
		case *array.FixedSizeBinary:
			v.AppendBytes(a.Value(i))
		case *array.String:
			v.AppendBytes([]byte(a.Value(i)))
		case *array.Binary:
			v.AppendBytes(a.Value(i))
		case *array.List:
			lo, hi := a.ValueOffsets(i)
			items := array.NewSlice(a.ListValues(), lo, hi)
			appendArrow(t, v.Items, items)
			items.Release()
			v.EndList()
		default:
			t.Fatalf("%s comes back as %s", v.Type, a.DataType())
		}
	}
}

// storedDecimal turns a magnitude, most significant byte first, into the form
// of a vector.
func storedDecimal(magnitude []byte, sign int) []byte {
	slices.Reverse(magnitude)
	if sign < 0 {
		carry := byte(1)
		for i := range magnitude {
			magnitude[i] = ^magnitude[i] + carry
			if magnitude[i] != 0 {
				carry = 0
			}
		}
	}
	return magnitude
}
