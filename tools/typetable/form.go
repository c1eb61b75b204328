package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/csv"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// form is how values of a type are in files.
type form struct{ parquet, csv string }

// formOf writes an example and looks at what the writers made of it.
func formOf(t rowtype.Type) (form, error) {
	columns := []rowtype.Column{{Name: "v", Type: t, Native: "example", Fidelity: rowtype.Exact}}
	batch := rowbatch.New(columns)
	if err := example(&batch.Columns[0]); err != nil {
		return form{}, err
	}
	batch.Rows = 1
	body, err := written(parquet.Format, partfile.Options{Columns: columns, Compression: "zstd"}, batch)
	if err != nil {
		return form{}, err
	}
	r, err := file.NewParquetReader(bytes.NewReader(body))
	if err != nil {
		return form{}, err
	}
	f := form{parquet: columnOf(r.MetaData().Schema.Column(0)), csv: "refused"}
	if t.Kind == rowtype.List {
		f.parquet = "LIST, its items nullable"
	}
	plain := partfile.Options{Columns: columns, Compression: "none"}
	if csv.Format.Check(plain) != nil {
		return f, nil
	}
	if body, err = written(csv.Format, plain, batch); err != nil {
		return f, err
	}
	_, cell, _ := strings.Cut(string(body), "\n")
	f.csv = "`" + strings.TrimSuffix(cell, "\n") + "`"
	return f, nil
}

func written(f partfile.Format, o partfile.Options, batch *rowbatch.Batch) ([]byte, error) {
	w, err := f.New(o)
	if err != nil {
		return nil, err
	}
	if err := w.Append(batch); err != nil {
		return nil, err
	}
	part, err := w.Close()
	return part.Body, err
}

// columnOf is a column of a file as the format's own documents write it.
func columnOf(c *schema.Column) string {
	units := map[schema.TimeUnitType]string{schema.TimeUnitMicros: "MICROS", schema.TimeUnitNanos: "NANOS"}
	switch l := c.LogicalType().(type) {
	case schema.IntLogicalType:
		if !l.IsSigned() {
			return fmt.Sprintf("UINT(%d)", l.BitWidth())
		}
		return fmt.Sprintf("INT(%d)", l.BitWidth())
	case schema.DecimalLogicalType:
		return fmt.Sprintf("DECIMAL(%d,%d)", l.Precision(), l.Scale())
	case schema.TimeLogicalType:
		return "TIME(" + units[l.TimeUnit()] + ")"
	case schema.TimestampLogicalType:
		if l.IsAdjustedToUTC() {
			return "TIMESTAMP(" + units[l.TimeUnit()] + "), UTC"
		}
		return "TIMESTAMP(" + units[l.TimeUnit()] + "), local"
	case schema.NoLogicalType:
		return c.PhysicalType().String()
	}
	return strings.ToUpper(c.LogicalType().String())
}

// example appends a value that shows how the type's values look.
func example(v *rowbatch.Vector) error {
	const micros = 1795955696789000 // 2026-11-29 12:34:56.789
	switch v.Type.Kind {
	case rowtype.Bool:
		v.AppendBool(true)
	case rowtype.Int16:
		v.AppendInt16(42)
	case rowtype.Int32:
		v.AppendInt32(42)
	case rowtype.Int64:
		v.AppendInt64(42)
	case rowtype.UInt64:
		v.AppendUint64(42)
	case rowtype.Float32:
		v.AppendFloat32(0.1)
	case rowtype.Float64:
		v.AppendFloat64(0.1)
	case rowtype.Decimal:
		return v.AppendDecimalText([]byte("12.5"))
	case rowtype.Date:
		v.AppendInt32(micros / 86_400_000_000)
	case rowtype.Time:
		v.AppendInt64(micros % 86_400_000_000)
	case rowtype.Timestamp:
		v.AppendInt64(micros)
	case rowtype.UUID:
		v.AppendFixed([]byte("\xa0\xee\xbc\x99\x9c\x0b\x4e\xf8\xbb\x6d\x6b\xb9\xbd\x38\x0a\x11"))
	case rowtype.Text, rowtype.Enum:
		v.AppendVarying([]byte("text"))
	case rowtype.JSON:
		v.AppendVarying([]byte(`{"a": 1}`))
	case rowtype.Interval:
		v.AppendVarying([]byte("P1M-1DT0.5S"))
	case rowtype.Binary:
		v.AppendVarying([]byte{0, 0xFF})
	case rowtype.List:
		if err := example(v.Items); err != nil {
			return err
		}
		v.EndList()
	default:
		return fmt.Errorf("there is no example of %s", v.Type)
	}
	return nil
}
