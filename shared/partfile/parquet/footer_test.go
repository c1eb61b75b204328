package parquet

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/google/go-cmp/cmp"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

func write(t *testing.T, o partfile.Options, batches ...*rowbatch.Batch) []byte {
	t.Helper()
	if err := Format.Check(o); err != nil {
		t.Fatal(err)
	}
	w, err := Format.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return part.Body
}

func open(t *testing.T, body []byte) *file.Reader {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// The types in the footer, as readers of other languages see them: physical,
// logical and converted (WRT-05, WRT-06, WRT-08).
func TestTypesInTheFooter(t *testing.T) {
	want := strings.TrimSpace(`
bool                BOOLEAN                  None                                                      NONE
int16               INT32                    Int(bitWidth=16, isSigned=true)                           INT_16
int32               INT32                    None                                                      NONE
int64               INT64                    None                                                      NONE
uint64              INT64                    Int(bitWidth=64, isSigned=false)                          UINT_64
float32             FLOAT                    None                                                      NONE
float64             DOUBLE                   None                                                      NONE
decimal(1,0)        INT32                    Decimal(precision=1, scale=0)                             DECIMAL
decimal(9,4)        INT32                    Decimal(precision=9, scale=4)                             DECIMAL
decimal(10,0)       INT64                    Decimal(precision=10, scale=0)                            DECIMAL
decimal(18,18)      INT64                    Decimal(precision=18, scale=18)                           DECIMAL
decimal(19,2)       FIXED_LEN_BYTE_ARRAY(9)  Decimal(precision=19, scale=2)                            DECIMAL
decimal(38,9)       FIXED_LEN_BYTE_ARRAY(16) Decimal(precision=38, scale=9)                            DECIMAL
decimal(39,0)       FIXED_LEN_BYTE_ARRAY(17) Decimal(precision=39, scale=0)                            DECIMAL
decimal(76,38)      FIXED_LEN_BYTE_ARRAY(32) Decimal(precision=76, scale=38)                           DECIMAL
date                INT32                    Date                                                      DATE
time                INT64                    Time(isAdjustedToUTC=false, timeUnit=microseconds)        NONE
timestamp           INT64                    Timestamp(isAdjustedToUTC=false, timeUnit=microseconds)   NONE
timestamptz         INT64                    Timestamp(isAdjustedToUTC=true, timeUnit=microseconds)    TIMESTAMP_MICROS
timestamp(ns)       INT64                    Timestamp(isAdjustedToUTC=false, timeUnit=nanoseconds)    NONE
timestamptz(ns)     INT64                    Timestamp(isAdjustedToUTC=true, timeUnit=nanoseconds)     NONE
uuid                FIXED_LEN_BYTE_ARRAY(16) UUID                                                      NONE
text                BYTE_ARRAY               String                                                    UTF8
json                BYTE_ARRAY               JSON                                                      JSON
enum                BYTE_ARRAY               String                                                    UTF8
interval            BYTE_ARRAY               String                                                    UTF8
binary              BYTE_ARRAY               None                                                      NONE`)
	eachWriter(t, func(t *testing.T, o partfile.Options) {
		o.Columns, o.Compression = rowbatchtest.AllTypes(), "zstd"
		var got []string
		fields := open(t, write(t, o)).MetaData().Schema
		for i := range fields.NumColumns() {
			c := fields.Column(i)
			if c.MaxRepetitionLevel() > 0 {
				if want := c.ColumnPath()[0] + ".list.element"; c.Path() != want || c.MaxDefinitionLevel() != 3 {
					t.Errorf("list column %s, want %s with three levels, all optional", c.Path(), want)
				}
				continue
			}
			physical := c.PhysicalType().String()
			if c.PhysicalType() == parquet.Types.FixedLenByteArray {
				physical += fmt.Sprintf("(%d)", c.TypeLength())
			}
			logical := strings.Replace(c.LogicalType().String(), ", is_from_converted_type=false, force_set_converted_type=false", "", 1)
			got = append(got, fmt.Sprintf("%-19s %-24s %-57s %s", c.Name(), physical, logical, c.ConvertedType()))
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestColumnsAreOptionalUnlessTheyAreOurs(t *testing.T) {
	integer := rowtype.Type{Kind: rowtype.Int64}
	columns := []rowtype.Column{{Name: "id", Type: integer}, {Name: "_rivet_row_hash", Type: integer, NotNull: true}}
	eachWriter(t, func(t *testing.T, o partfile.Options) {
		o.Columns, o.Compression = columns, "none"
		root := open(t, write(t, o, rowbatchtest.Rows(columns, 50, 1))).MetaData().Schema.Root()
		for i, want := range []parquet.Repetition{parquet.Repetitions.Optional, parquet.Repetitions.Required} {
			if got := root.Field(i).RepetitionType(); got != want {
				t.Errorf("%s is %v", root.Field(i).Name(), got)
			}
		}
	})
}

func TestMetadataOfFileAndFields(t *testing.T) {
	columns := []rowtype.Column{
		{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}, Native: "int8", Fidelity: "exact"},
		{Name: "doc", Type: rowtype.Type{Kind: rowtype.JSON}, Native: "jsonb", Fidelity: "logical_string"},
		{Name: "uid", Type: rowtype.Type{Kind: rowtype.UUID}, Native: "uuid", Fidelity: "exact"},
		{Name: "ip", Type: rowtype.Type{Kind: rowtype.Text}, Native: "inet", Fidelity: "logical_string", TextForm: "inet_text"},
		{Name: "span", Type: rowtype.Type{Kind: rowtype.Interval}, Native: "interval", Fidelity: "compatible"},
		{Name: "mood", Type: rowtype.Type{Kind: rowtype.Enum}, Native: "mood", Fidelity: "compatible"},
		{Name: "_rivet_exported_at", Type: rowtype.Type{Kind: rowtype.Timestamp, UTC: true}, NotNull: true},
	}
	eachWriter(t, func(t *testing.T, o partfile.Options) {
		o.Columns, o.Compression = columns, "zstd"
		m := open(t, write(t, o)).MetaData()
		if m.GetCreatedBy() != "lapstrake" {
			t.Errorf("created by %q", m.GetCreatedBy())
		}
		kv := m.KeyValueMetadata()
		if kv.Len() != 1 {
			t.Errorf("%d keys in the file: %v", kv.Len(), kv.Keys())
		}
		raw, err := base64.StdEncoding.DecodeString(*kv.FindValue("ARROW:schema"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := ipc.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		var got []string
		for _, f := range r.Schema().Fields() {
			storage := f.Type
			if ext, ok := f.Type.(arrow.ExtensionType); ok {
				storage = ext.StorageType()
				got = append(got, f.Name+" is "+ext.ExtensionName())
			}
			got = append(got, fmt.Sprintf("%s %s nullable=%v", f.Name, storage, f.Nullable))
			for i, k := range f.Metadata.Keys() {
				got = append(got, fmt.Sprintf("%s %s=%s", f.Name, k, f.Metadata.Values()[i]))
			}
		}
		want := []string{
			"id int64 nullable=true", "id rivet.native_type=int8", "id rivet.fidelity=exact",
			"doc utf8 nullable=true", "doc rivet.native_type=jsonb", "doc rivet.fidelity=logical_string", "doc rivet.logical_type=json",
			"uid is arrow.uuid", "uid fixed_size_binary[16] nullable=true", "uid rivet.native_type=uuid", "uid rivet.fidelity=exact", "uid rivet.logical_type=uuid",
			"ip utf8 nullable=true", "ip rivet.native_type=inet", "ip rivet.fidelity=logical_string", "ip rivet.text_form=inet_text",
			"span utf8 nullable=true", "span rivet.native_type=interval", "span rivet.fidelity=compatible", "span rivet.logical_type=interval",
			"mood utf8 nullable=true", "mood rivet.native_type=mood", "mood rivet.fidelity=compatible", "mood rivet.logical_type=enum",
			"_rivet_exported_at timestamp[us, tz=UTC] nullable=false",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestCodecs(t *testing.T) {
	columns := []rowtype.Column{{Name: "c", Type: rowtype.Type{Kind: rowtype.Int64}}}
	rows := rowbatchtest.Rows(columns, 1000, 1)
	eachWriter(t, func(t *testing.T, o partfile.Options) {
		for name, want := range map[string]compress.Compression{
			"zstd": compress.Codecs.Zstd, "snappy": compress.Codecs.Snappy, "gzip": compress.Codecs.Gzip, "none": compress.Codecs.Uncompressed,
			"lz4": compress.Codecs.Lz4Raw, // WRT-18
		} {
			o.Columns, o.Compression = columns, name
			chunk, err := open(t, write(t, o, rows)).MetaData().RowGroup(0).ColumnChunk(0)
			if err != nil {
				t.Fatal(err)
			}
			if got := chunk.Compression(); got != want {
				t.Errorf("%s is written as %s", name, got)
			}
		}
	})
}

func statistics(t *testing.T, o partfile.Options, c rowtype.Column, fill func(v *rowbatch.Vector)) metadata.TypedStatistics {
	t.Helper()
	columns := []rowtype.Column{c}
	b := rowbatch.New(columns)
	fill(&b.Columns[0])
	b.Rows = b.Columns[0].Len
	o.Columns, o.Compression = columns, "zstd"
	chunk, err := open(t, write(t, o, b)).MetaData().RowGroup(0).ColumnChunk(0)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := chunk.Statistics()
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// WRT-01 and its relatives: bounds that would make a reader skip a row that
// matches its filter.
func TestStatistics(t *testing.T) { eachWriter(t, testStatistics) }

func testStatistics(t *testing.T, o partfile.Options) {
	negativeZero := math.Copysign(0, -1)
	floats := func(values ...float64) metadata.TypedStatistics {
		return statistics(t, o, rowtype.Column{Name: "c", Type: rowtype.Type{Kind: rowtype.Float64}}, func(v *rowbatch.Vector) {
			for _, x := range values {
				v.AppendFloat64(x)
			}
		})
	}
	for _, tc := range []struct {
		name     string
		values   []float64
		min, max float64
		none     bool
	}{
		{"NaN first", []float64{math.NaN(), 1, -1}, -1, 1, false},
		{"NaN last", []float64{1, -1, math.NaN()}, -1, 1, false},
		{"NaN alone", []float64{math.NaN(), math.NaN()}, 0, 0, true},
		{"zero covers both zeros", []float64{0}, negativeZero, 0, false},
		{"negative zero covers both zeros", []float64{negativeZero}, negativeZero, 0, false},
		{"infinities", []float64{math.Inf(1), 2, math.Inf(-1)}, math.Inf(-1), math.Inf(1), false},
	} {
		s := floats(tc.values...)
		if s.HasMinMax() == tc.none {
			t.Errorf("%s: has bounds %v", tc.name, s.HasMinMax())
			continue
		}
		if tc.none {
			continue
		}
		f := s.(*metadata.Float64Statistics)
		if math.Float64bits(f.Min()) != math.Float64bits(tc.min) || math.Float64bits(f.Max()) != math.Float64bits(tc.max) {
			t.Errorf("%s: from %v to %v, want %v to %v", tc.name, f.Min(), f.Max(), tc.min, tc.max)
		}
	}

	wide := rowtype.Type{Kind: rowtype.Decimal, Precision: 38, Scale: 2}
	s := statistics(t, o, rowtype.Column{Name: "c", Type: wide}, func(v *rowbatch.Vector) {
		for _, x := range []string{"5", "-7", "300", "-100000000000000000000"} {
			v.AppendBytes(rowbatchtest.Decimal(wide, x))
		}
		v.AppendNull()
	})
	low, high := s.EncodeMin(), s.EncodeMax()
	if low[0] != 0xFF || !bytes.HasSuffix(high, []byte{1, 44}) || high[0] != 0 || s.NullCount() != 1 {
		t.Errorf("decimals from % x to % x with %d NULL: not ordered as numbers", low, high, s.NullCount())
	}

	u := statistics(t, o, rowtype.Column{Name: "c", Type: rowtype.Type{Kind: rowtype.UInt64}}, func(v *rowbatch.Vector) {
		v.AppendUint64(math.MaxUint64)
		v.AppendUint64(1)
	}).(*metadata.Int64Statistics)
	if uint64(u.Min()) != 1 || uint64(u.Max()) != math.MaxUint64 {
		t.Errorf("unsigned from %d to %d", uint64(u.Min()), uint64(u.Max()))
	}
}

// WRT-02 and WRT-07: a part whose values are all NULL has the same types as
// the others.
func TestAPartOfNULLsHasTheSameSchema(t *testing.T) {
	eachWriter(t, testNULLsHaveTheSameSchema)
}

func testNULLsHaveTheSameSchema(t *testing.T, o partfile.Options) {
	o.Columns, o.Compression = rowbatchtest.AllTypes(), "zstd"
	nulls := rowbatch.New(o.Columns)
	for i := range nulls.Columns {
		nulls.Columns[i].AppendNull()
	}
	nulls.Rows = 1
	of := func(b ...*rowbatch.Batch) *schema.Schema { return open(t, write(t, o, b...)).MetaData().Schema }
	want := of(rowbatchtest.Rows(o.Columns, 100, 1))
	for name, got := range map[string]*schema.Schema{"all NULL": of(nulls), "no rows": of()} {
		if !got.Equals(want) {
			t.Errorf("%s: schema\n%s\nwant\n%s", name, got, want)
		}
	}
}
