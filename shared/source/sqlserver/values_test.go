package sqlserver

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/standin"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// export reads all rows of a relation in one range, as one batch.
func export(t testing.TB, s *Source, rel source.Relation, change ...func(*source.ReadSpec)) (*rowbatch.Batch, error) {
	t.Helper()
	described, err := s.Describe(t.Context(), rel)
	if err != nil {
		return nil, err
	}
	spec := source.ReadSpec{Relation: rel, Columns: described.Columns}
	spec.Range.All = true
	if len(described.Keys) > 0 {
		spec.Key, spec.Ordered, spec.Unique = described.Keys[0].Columns, true, true
	}
	for _, c := range change {
		c(&spec)
	}
	r, err := s.Read(t.Context(), spec)
	if err != nil {
		return nil, err
	}
	b, err := r.Next(t.Context())
	if err == io.EOF {
		return rowbatch.New(described.Columns), nil
	}
	if closeErr := r.Close(t.Context()); closeErr != nil {
		t.Fatal(closeErr)
	}
	return b, err
}

// printed is a cell as text.
func printed(v *rowbatch.Vector, i int) string {
	if v.IsNull(i) {
		return "∅"
	}
	switch v.Type.Kind {
	case rowtype.Bool:
		return fmt.Sprint(v.Bool(i))
	case rowtype.Float32:
		return fmt.Sprint(v.F32[i])
	case rowtype.Float64:
		return fmt.Sprint(v.F64[i])
	case rowtype.Int16:
		return fmt.Sprint(v.I16[i])
	case rowtype.Int32, rowtype.Date:
		return fmt.Sprint(v.I32[i])
	case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
		return fmt.Sprint(v.I64[i])
	case rowtype.Decimal:
		return string(rowbatch.AppendDecimal(nil, v.Slice(i), v.Type.Scale))
	case rowtype.UUID, rowtype.Binary:
		return hex.EncodeToString(v.Slice(i))
	}
	return string(v.Slice(i))
}

func decimal(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}

func instant(text string) time.Time {
	at, err := time.Parse("2006-01-02T15:04:05.999999999Z07:00", text)
	if err != nil {
		panic(err)
	}
	return at
}

func columnOf(name string, sizes ...int) standin.Column {
	t := tdsfake.Type{Name: name}
	switch {
	case len(sizes) == 2:
		t.Precision, t.Scale = sizes[0], sizes[1]
	case len(sizes) == 1 && (strings.HasPrefix(name, "datetime") || name == "time"):
		t.Scale = sizes[0]
	case len(sizes) == 1:
		t.Length = sizes[0]
	}
	return standin.Column{Type: t}
}

// Every type, at its edges: delivered exactly, or refused by name (TMS-01 to
// TMS-10).
func TestValues(t *testing.T) {
	s := newServer(t)
	guid := [16]byte{0x6f, 0x96, 0x19, 0xff, 0x8b, 0x86, 0xd0, 0x11, 0xb4, 0x2d, 0x00, 0xc0, 0x4f, 0xc9, 0x64, 0xff}
	japanese := columnOf("varchar", 10)
	japanese.Collation = "Japanese_BIN2"
	latin := columnOf("varchar", 20)
	latin.Collation = "SQL_Latin1_General_CP1_CI_AS"
	wide := columnOf("varchar", 8000)
	wide.Collation = latin.Collation
	for _, tc := range []struct {
		name     string
		of       standin.Column
		override string
		value    any
		want     string // printed, or part of the refusal after "refused: "
	}{
		{"no bit", columnOf("bit"), "", nil, "∅"},
		{"a bit", columnOf("bit"), "", true, "true"},
		{"a bit as a number", columnOf("bit"), "int16", true, "1"},
		{"a tinyint has no sign", columnOf("tinyint"), "", int64(255), "255"},
		{"the least smallint", columnOf("smallint"), "", int64(-32768), "-32768"},
		{"the least int", columnOf("int"), "", int64(math.MinInt32), "-2147483648"},
		{"the greatest bigint", columnOf("bigint"), "", int64(math.MaxInt64), "9223372036854775807"},
		{"the least bigint as a decimal", columnOf("bigint"), "decimal(19,0)", int64(math.MinInt64), "-9223372036854775808"},
		{"an int in a smaller type", columnOf("int"), "int16", int64(32768), "refused: larger number"},
		{"a bigint in a smaller type", columnOf("bigint"), "int32", int64(1 << 31), "refused: larger number"},
		{"the greatest money", columnOf("money"), "", decimal("922337203685477.5807"), "922337203685477.5807"},
		{"the least money", columnOf("money"), "", decimal("-922337203685477.5808"), "-922337203685477.5808"},
		{"the least smallmoney", columnOf("smallmoney"), "", decimal("-214748.3648"), "-214748.3648"},
		{"money as text", columnOf("money"), "text", decimal("0.0001"), "0.0001"},
		{"the smallest decimal", columnOf("decimal", 38, 38), "", decimal("1e-38"), "0.00000000000000000000000000000000000001"},
		{"a decimal just above minus one", columnOf("decimal", 38, 38), "", decimal("-0.99999999999999999999999999999999999999"), "-0.99999999999999999999999999999999999999"},
		{"the greatest decimal", columnOf("numeric", 38, 0), "", decimal("99999999999999999999999999999999999999"), "99999999999999999999999999999999999999"},
		{"a decimal with a zero at its end", columnOf("decimal", 10, 2), "", decimal("1.10"), "1.10"},
		{"a decimal with fewer digits", columnOf("decimal", 10, 2), "decimal(10,1)", decimal("1.11"), "refused: decimal(p,s)"},
		{"a real", columnOf("real"), "", float64(float32(0.1)), "0.1"},
		{"a real as a double", columnOf("real"), "double", float64(float32(0.5)), "0.5"},
		{"a float that is almost none", columnOf("float"), "", 5e-324, "5e-324"},
		{"a float as text, with every digit", columnOf("float"), "text", 0.1, "1.0000000000000001e-01"},
		{"the first date", columnOf("date"), "", instant("0001-01-01T00:00:00Z"), "-719162"},
		{"the last date", columnOf("date"), "", instant("9999-12-31T00:00:00Z"), "2932896"},
		{"a time", columnOf("time", 6), "", instant("0001-01-01T23:59:59.999999Z"), "86399999999"},
		{"a time of a hundred nanoseconds", columnOf("time", 7), "", instant("0001-01-01T23:59:59.9999999Z"), "86399999999"},
		{"the same as text", columnOf("time", 7), "text", instant("0001-01-01T23:59:59.9999999Z"), "23:59:59.9999999"},
		{"the first datetime", columnOf("datetime"), "", instant("1753-01-01T00:00:00Z"), "-6847804800000000"},
		{"a third of a second", columnOf("datetime"), "", instant("2024-09-25T13:39:40.833Z"), "1727271580833333"},
		{"the last datetime", columnOf("datetime"), "", instant("9999-12-31T23:59:59.997Z"), "253402300799996667"},
		{"a third of a second in nanoseconds", columnOf("datetime"), "timestamp_ns", instant("2024-09-25T13:39:40.833Z"), "1727271580833333333"},
		{"a third of a second as text", columnOf("datetime"), "text", instant("2024-09-25T13:39:40.837Z"), "2024-09-25T13:39:40.837"},
		{"a smalldatetime", columnOf("smalldatetime"), "", instant("2079-06-06T23:59:00Z"), "3453321540000000"},
		{"before 1970", columnOf("datetime2", 6), "", instant("1969-12-31T23:59:59.999999Z"), "-1"},
		{"the first datetime2", columnOf("datetime2", 6), "", instant("0001-01-01T00:00:00Z"), "-62135596800000000"},
		{"a hundred nanoseconds before 1970 are cut towards the past", columnOf("datetime2", 7), "", instant("1969-12-31T23:59:59.9999999Z"), "-1"},
		{"a hundred nanoseconds are cut", columnOf("datetime2", 7), "", instant("2024-01-01T00:00:00.1234567Z"), "1704067200123456"},
		{"or kept", columnOf("datetime2", 7), "timestamp_ns", instant("2024-01-01T00:00:00.1234567Z"), "1704067200123456700"},
		{"or kept as text", columnOf("datetime2", 7), "text", instant("2024-01-01T00:00:00.1234567Z"), "2024-01-01T00:00:00.1234567"},
		{"a year that nanoseconds do not reach", columnOf("datetime2", 7), "timestamp_ns", instant("1600-01-01T00:00:00Z"), "refused: 1677 to 2262"},
		{"an instant", columnOf("datetimeoffset", 6), "", instant("2024-03-31T02:30:00.000001+05:30"), "1711832400000001"},
		{"an instant with its offset", columnOf("datetimeoffset", 3), "text", instant("2024-03-31T02:30:00.001+05:30"), "2024-03-31T02:30:00.001+05:30"},
		{"a guid in the order of its text", columnOf("uniqueidentifier"), "", guid, "6f9619ff8b86d011b42d00c04fc964ff"},
		{"a guid as text", columnOf("uniqueidentifier"), "text", guid, "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
		{"the guid of zeros", columnOf("uniqueidentifier"), "", [16]byte{}, "00000000000000000000000000000000"},
		{"no guid", columnOf("uniqueidentifier"), "", nil, "∅"},
		{"text as a uuid", columnOf("char", 36), "uuid", "6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff8b86d011b42d00c04fc964ff"},
		{"text that is none", columnOf("char", 36), "uuid", "no", "refused: no UUID"},
		{"empty text", columnOf("nvarchar", 20), "", "", ""},
		{"text beyond the basic plane", columnOf("nvarchar", 20), "", "café € 漢 😀", "café € 漢 😀"},
		{"half of a pair", columnOf("nvarchar", 20), "", []byte{'a', 0, 0x3d, 0xd8}, "refused: half of a surrogate pair"},
		{"the other half", columnOf("nvarchar", -1), "", []byte{0x00, 0xde, 'a', 0}, "refused: half of a surrogate pair"},
		{"text of a code page", latin, "", "café €", "café €"},
		{"text of a code page that may be long", wide, "", "café €", "café €"},
		{"bytes that a code page has no character for", japanese, "", []byte{'a', 0x81}, "refused: no character"},
		{"bytes that it has one for", japanese, "", "a", "a"},
		{"no bytes", japanese, "", nil, "∅"},
		{"padding", columnOf("char", 5), "", "ab", "ab   "},
		{"text without a limit", columnOf("ntext"), "", "x", "x"},
		{"json", columnOf("nvarchar", -1), "json", `{"a":1}`, `{"a":1}`},
		{"padded bytes", columnOf("binary", 4), "", []byte{0x41, 0, 0, 0}, "41000000"},
		{"bytes", columnOf("varbinary", -1), "", []byte{0, 0xff, 0x27}, "00ff27"},
		{"an image", columnOf("image"), "", []byte{1}, "01"},
		{"a rowversion", columnOf("timestamp"), "", nil, "rowversion"},
		{"xml", columnOf("xml"), "", "<a/>", "refused: set it to text"},
		{"xml as text", columnOf("xml"), "text", `<a b="1"><c/>&lt;</a>`, `<a b="1"><c/>&lt;</a>`},
		{"a variant", columnOf("sql_variant"), "", nil, "refused: sql_variant"},
		{"a variant as text", columnOf("sql_variant"), "text", nil, "refused: sql_variant"},
		{"a shape", columnOf("geography"), "", nil, "refused: geography"},
		{"a shape as text", columnOf("geography"), "text", []byte{0xE6, 0x10}, "e610"},
		{"a place in a tree as text", columnOf("hierarchyid"), "text", []byte{0x58}, "58"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rel := s.made("value", tc.of, tc.value)
			if tc.override != "" {
				rel.Overrides = map[string]string{"v": tc.override}
			}
			b, err := export(t, s.source(t), rel)
			if why, refused := strings.CutPrefix(tc.want, "refused: "); refused {
				code := failure.Value
				class := fault.Refused
				if fault.CodeOf(err) == failure.Type {
					class, code = fault.Permanent, failure.Type
				}
				sourcetest.WantRefusal(t, err, class, code, "[v]", why)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := printed(&b.Columns[1], 0)
			if tc.want == "rowversion" {
				if len(got) != 16 || b.Columns[1].Type.Kind != rowtype.Binary {
					t.Fatalf("%s of %s", got, b.Columns[1].Type)
				}
				return
			}
			if got != tc.want {
				t.Fatalf("%q, want %q", got, tc.want)
			}
		})
	}
}

// A value is refused above the limit in bytes of UTF-8, and is not sent whole.
func TestTheLimitOfAValueIsThatOfItsUTF8(t *testing.T) {
	s := newServer(t)
	for _, tc := range []struct {
		name  string
		of    standin.Column
		value any
		fits  int64
	}{
		{"ascii", columnOf("nvarchar", -1), strings.Repeat("a", 100), 100},
		{"three bytes a character", columnOf("nvarchar", -1), strings.Repeat("漢", 100), 300},
		{"four bytes a pair", columnOf("nvarchar", 4000), strings.Repeat("😀", 100), 400},
		{"bytes", columnOf("varbinary", -1), make([]byte, 100), 100},
		{"bytes in the row", columnOf("varbinary", 200), make([]byte, 100), 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rel := s.made("limits", tc.of, tc.value)
			src := s.source(t)
			for limit, fits := range map[int64]bool{tc.fits: true, tc.fits - 1: false, 1: false} {
				_, err := export(t, src, rel, func(spec *source.ReadSpec) { spec.MaxValueBytes = limit })
				if fits != (err == nil) {
					t.Fatalf("at %d bytes: %v", limit, err)
				}
				if !fits {
					sourcetest.WantRefusal(t, err, fault.Refused, failure.TooLarge, "[v]", "row 1")
				}
			}
		})
	}
}
