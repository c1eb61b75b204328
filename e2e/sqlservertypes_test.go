package e2e

import (
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/standin"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// cell is a value as the stand-in takes it, and as testdata/read.py prints it.
type cell struct {
	value any
	want  string
}

// sqlServerType is a column of the table of every type of SQL Server.
type sqlServerType struct {
	column
	of        tdsfake.Type
	collation string
	cells     []cell
}

// sqlServerTypes has every row of the type table that is delivered, and the
// overrides that deliver the others.
var sqlServerTypes = []sqlServerType{
	{column: column{name: "c_bit", native: "bit"}, of: sqlType("bit"), cells: cells(true, "true", false, "false")},
	{column: column{name: "c_tiny", native: "tinyint"}, of: sqlType("tinyint"), cells: cells(0, "0", 255, "255", 128, "128")},
	{column: column{name: "c_small", native: "smallint"}, of: sqlType("smallint"), cells: cells(-32768, "-32768", 32767, "32767", -1, "-1")},
	{column: column{name: "c_int", native: "int"}, of: sqlType("int"), cells: cells(-2147483648, "-2147483648", 2147483647, "2147483647", -1, "-1")},
	{column: column{name: "c_big", native: "bigint"}, of: sqlType("bigint"), cells: cells(-9223372036854775808, "-9223372036854775808", 9223372036854775807, "9223372036854775807", 9007199254740993, "9007199254740993")},
	{column: column{name: "c_real", native: "real", csv: floatBits(32)}, of: sqlType("real"), cells: cells(float64(float32(0.1)), "3dcccccd", 16777216.0, "4b800000", -1.5, "bfc00000", 0x1p-149, "00000001")},
	{column: column{name: "c_float", native: "float", csv: floatBits(64)}, of: sqlType("float"), cells: cells(0.1, "3fb999999999999a", 5e-324, "0000000000000001", -1.7976931348623157e308, "ffefffffffffffff", 0.0, "0000000000000000")},
	{column: column{name: "c_decimal", native: "decimal(38,10)"}, of: sqlDecimal("decimal", 38, 10), cells: cells("9999999999999999999999999999.9999999999", "=", "-9999999999999999999999999999.9999999999", "=", "-0.0000000001", "=", "0.0000000000", "=")},
	{column: column{name: "c_numeric", native: "numeric(9,2)"}, of: sqlDecimal("numeric", 9, 2), cells: cells("9999999.99", "=", "-9999999.99", "=", "-0.01", "=")},
	{column: column{name: "c_decimal19", native: "decimal(19,0)"}, of: sqlDecimal("decimal", 19, 0), cells: cells("9999999999999999999", "=", "-9999999999999999999", "=", "4294967296", "=")},
	{column: column{name: "c_decimal28", native: "decimal(28,28)"}, of: sqlDecimal("decimal", 28, 28), cells: cells("0.9999999999999999999999999999", "=", "-0.0000000000000000000000000001", "=")},
	{column: column{name: "c_money", native: "money"}, of: sqlType("money"), cells: cells("922337203685477.5807", "=", "-922337203685477.5808", "=", "-0.0001", "=", "429496.7296", "=")},
	{column: column{name: "c_smallmoney", native: "smallmoney"}, of: sqlType("smallmoney"), cells: cells("214748.3647", "=", "-214748.3648", "=", "-0.0001", "=")},
	{column: column{name: "c_date", native: "date", csv: days}, of: sqlType("date"), cells: cells(at("0001-01-01T00:00:00"), "-719162", at("9999-12-31T00:00:00"), "2932896", at("1969-12-31T00:00:00"), "-1", at("2024-02-29T00:00:00"), "19782")},
	{column: column{name: "c_time", native: "time(6)", csv: microsOfTime}, of: sqlScaled("time", 6), cells: cells(at("0001-01-01T00:00:00"), "0", at("0001-01-01T23:59:59.999999"), "86399999999", at("0001-01-01T12:34:56.000001"), "45296000001")},
	{column: column{name: "c_time0", native: "time(0)", csv: microsOfTime}, of: sqlScaled("time", 0), cells: cells(at("0001-01-01T23:59:59"), "86399000000")},
	{column: column{name: "c_time7", native: "time(7)", csv: microsOfTime}, of: sqlScaled("time", 7), cells: cells(at("0001-01-01T23:59:59.9999999"), "86399999999", at("0001-01-01T00:00:00.0000009"), "0")},
	{column: column{name: "c_datetime2", native: "datetime2(6)", csv: microsOfTimestamp}, of: sqlScaled("datetime2", 6), cells: cells(at("0001-01-01T00:00:00"), "-62135596800000000", at("9999-12-31T23:59:59.999999"), "253402300799999999", at("1969-12-31T23:59:59.999999"), "-1")},
	{column: column{name: "c_datetime23", native: "datetime2(3)", csv: microsOfTimestamp}, of: sqlScaled("datetime2", 3), cells: cells(at("2026-11-29T12:34:56.789"), "1795955696789000", at("1900-02-28T00:00:00.001"), "-2203977599999000")},
	{column: column{name: "c_datetime27", native: "datetime2(7)", csv: microsOfTimestamp}, of: sqlScaled("datetime2", 7), cells: cells(at("2024-01-01T00:00:00.1234567"), "1704067200123456", at("1969-12-31T23:59:59.9999999"), "-1")},
	{column: column{name: "c_nano", native: "datetime2(7)", override: "timestamp_ns", notCSV: true}, of: sqlScaled("datetime2", 7), cells: cells(at("2024-01-01T00:00:00.1234567"), "1704067200123456700", at("1969-12-31T23:59:59.9999999"), "-100")},
	{column: column{name: "c_smalldatetime", native: "smalldatetime", csv: microsOfTimestamp}, of: sqlType("smalldatetime"), cells: cells(at("2079-06-06T23:59:00"), "3453321540000000", at("1900-01-01T00:00:00"), "-2208988800000000")},
	{column: column{name: "c_datetime", native: "datetime", csv: microsOfTimestamp}, of: sqlType("datetime"), cells: cells(at("1753-01-01T00:00:00"), "-6847804800000000", at("9999-12-31T23:59:59.997"), "253402300799996667", at("2024-09-25T13:39:40.833"), "1727271580833333", at("1899-12-31T00:00:00"), "-2209075200000000")},
	{column: column{name: "c_offset", native: "datetimeoffset(6)", csv: microsOfTimestamp}, of: sqlScaled("datetimeoffset", 6), cells: cells(at("2024-03-31T02:30:00.000001+05:30"), "1711832400000001", at("0001-01-01T14:00:00+14:00"), "-62135596800000000", at("2024-03-31T02:30:00-14:00"), "1711902600000000")},
	{column: column{name: "c_char", native: "char(5)"}, of: sqlSized("char", 5), collation: "SQL_Latin1_General_CP1_CI_AS", cells: cells("ab", "ab   ", "", "     ")},
	{column: column{name: "c_varchar", native: "varchar(20)"}, of: sqlSized("varchar", 20), collation: "SQL_Latin1_General_CP1_CI_AS", cells: cells("café €", "=", "", "=", "trailing  ", "=", `"a",b`, "=")},
	{column: column{name: "c_text", native: "text"}, of: sqlType("text"), collation: "SQL_Latin1_General_CP1_CI_AS", cells: cells("old é", "=", "line\r\nbreak", "=")},
	{column: column{name: "c_nchar", native: "nchar(4)"}, of: sqlSized("nchar", 4), cells: cells("漢", "漢   ", "abcd", "=")},
	{column: column{name: "c_nvarchar", native: "nvarchar(50)"}, of: sqlSized("nvarchar", 50), cells: cells("漢字 😀 👩‍👩‍👧", "=", "", "=", "e\u0301 \u200b\ufeff", "=", "\u0001\t", "=")},
	{column: column{name: "c_nvarcharmax", native: "nvarchar(max)"}, of: sqlSized("nvarchar", -1), cells: cells(strings.Repeat("long 😀 ", 3000), "=", "", "=")},
	{column: column{name: "c_ntext", native: "ntext"}, of: sqlType("ntext"), cells: cells("漢", "=", "\\N", "=")},
	{column: column{name: "c_binary", native: "binary(4)"}, of: sqlSized("binary", 4), cells: cells([]byte{0x41, 0, 0, 0}, "41000000", []byte{0xFF, 0xFE, 1, 2}, "fffe0102")},
	{column: column{name: "c_varbinary", native: "varbinary(300)"}, of: sqlSized("varbinary", 300), cells: cells([]byte{}, "", []byte{0}, "00", []byte{0, 0xFF, 0x27, '\n'}, "00ff270a")},
	{column: column{name: "c_image", native: "image"}, of: sqlType("image"), cells: cells([]byte{1, 0}, "0100", []byte{}, "")},
	{column: column{name: "c_rowversion", native: "rowversion"}, of: sqlType("timestamp")},
	{column: column{name: "c_guid", native: "uniqueidentifier", csv: withoutDashes}, of: sqlType("uniqueidentifier"), cells: cells([16]byte{0x6f, 0x96, 0x19, 0xff, 0x8b, 0x86, 0xd0, 0x11, 0xb4, 0x2d, 0x00, 0xc0, 0x4f, 0xc9, 0x64, 0xff}, "6f9619ff8b86d011b42d00c04fc964ff", [16]byte{}, strings.Repeat("00", 16))},
	{column: column{name: "c_xml", native: "xml", override: "text"}, of: sqlType("xml"), cells: cells(`<a b="1"><c/>&lt;漢</a>`, "=")},
	{column: column{name: "c_tree", native: "hierarchyid", override: "text"}, of: sqlType("hierarchyid"), cells: cells([]byte{0x58}, "58", []byte{}, "")},
	{column: column{name: "c_shape", native: "geometry", override: "text"}, of: sqlType("geometry"), cells: cells([]byte{0, 0xE6, 0x10}, "00e610")},
	{column: column{name: "c_place", native: "geography", override: "text"}, of: sqlType("geography"), cells: cells([]byte{0xE6, 0x10, 0}, "e61000")},
	{column: column{name: "c_offsettext", native: "datetimeoffset(7)", override: "text"}, of: sqlScaled("datetimeoffset", 7), cells: cells(at("2024-03-31T02:30:00.1234567+05:30"), "2024-03-31T02:30:00.1234567+05:30")},
}

func sqlType(name string) tdsfake.Type              { return tdsfake.Type{Name: name} }
func sqlSized(name string, length int) tdsfake.Type { return tdsfake.Type{Name: name, Length: length} }
func sqlScaled(name string, scale int) tdsfake.Type { return tdsfake.Type{Name: name, Scale: scale} }
func sqlDecimal(name string, precision, scale int) tdsfake.Type {
	return tdsfake.Type{Name: name, Precision: precision, Scale: scale}
}

// cells pairs values with their texts; "=" is the value itself.
func cells(pairs ...any) (all []cell) {
	for i := 0; i < len(pairs); i += 2 {
		c := cell{value: pairs[i], want: pairs[i+1].(string)}
		if n, ok := c.value.(int); ok {
			c.value = int64(n)
		}
		if c.want == "=" {
			c.want = c.value.(string)
		}
		all = append(all, c)
	}
	return all
}

func at(text string) time.Time {
	if i := strings.IndexByte(text, 'T'); !strings.ContainsAny(text[i:], "+-") {
		text += "Z"
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return at
}

// createSQLServerTypes makes dbo.t: a row of NULLs and so many in which the
// columns go through their cells, each at its own pace; and returns the rows as
// testdata/read.py prints them.
func createSQLServerTypes(t *testing.T, n int) (at string, want []string) {
	t.Helper()
	at, d := sqlServer(t, 0, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	columns := []standin.Column{{Name: "id", Type: sqlType("bigint"), NotNull: true}, {Name: "code", Type: sqlSized("nvarchar", 20), NotNull: true}}
	for _, c := range sqlServerTypes {
		columns = append(columns, standin.Column{Name: c.name, Type: c.of, Collation: c.collation})
	}
	d.Create("dbo", "t", columns, "code")
	for i := range n {
		id, code := int64(i)*1_000_003-5, fmt.Sprintf("code %03d", i*7919%n)
		row, texts := []any{id, code}, []any{fmt.Sprint(id), code}
		for k, c := range sqlServerTypes {
			if len(c.cells) == 0 { // a rowversion is given by the server
				row, texts = append(row, nil), append(texts, fmt.Sprintf("%016x", i+1))
				continue
			}
			if i == 0 || (i+k)%11 == 0 {
				row, texts = append(row, nil), append(texts, nil)
				continue
			}
			cell := c.cells[(i+k)%len(c.cells)]
			value := cell.value
			if text, ok := value.(string); ok && (c.of.Precision > 0 || strings.HasSuffix(c.of.Name, "money")) {
				value, ok = new(big.Rat).SetString(text)
				if !ok {
					t.Fatal(text)
				}
			}
			row, texts = append(row, value), append(texts, cell.want)
		}
		d.Insert("dbo", "t", row)
		body, err := json.Marshal(texts)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(body))
	}
	return at, normalized(t, want, nil)
}

func TestEveryValueOfTheStandInForSQLServerArrives(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	at, want := createSQLServerTypes(t, 300)
	columns := []column{{name: "id"}, {name: "code"}}
	for _, c := range sqlServerTypes {
		columns = append(columns, c.column)
	}
	cuts := []sourceCut{
		{"full", "mode: full", 1},
		{"ranges of a column", "mode: chunked, chunk_column: id, chunk_count: 6", 6},
		{"a text key", "mode: chunked, chunk_by_key: code, chunk_size: 40", 4},
	}
	d := newDesk(t)
	d.env["DATABASE_URL"] = at
	keys := fmt.Sprintf("table: dbo.t, columns: { %s }", overridesOf(columns))
	runCuts(t, d, "", "{ type: mssql, url_env: DATABASE_URL }", keys, cuts, []string{"parquet"}, func(t *testing.T, of map[string]publication) {
		sameRows(t, want, normalized(t, of["parquet"].rows(t, "pyarrow", namesOf(columns)), nil))
		sameRows(t, want, normalized(t, of["parquet"].rows(t, "duckdb", namesOf(columns)), nil))
	})
}

// What no CSV holds is left out by an override.
func TestEveryValueOfTheStandInForSQLServerArrivesInCSV(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	at, want := createSQLServerTypes(t, 100)
	columns := []column{{name: "id"}, {name: "code"}}
	overrides := []column{}
	for _, c := range sqlServerTypes {
		if columns, overrides = append(columns, c.column), append(overrides, c.column); c.notCSV {
			overrides[len(overrides)-1].override = "timestamp"
		}
	}
	d := newDesk(t)
	d.env["DATABASE_URL"] = at
	d.write(t, "rivet.yaml", fmt.Sprintf("source: { type: mssql, url_env: DATABASE_URL }\nexports:\n  - { name: t, table: dbo.t, mode: full, format: csv, columns: { %s }, destination: { type: local, path: out } }\n", overridesOf(overrides)))
	d.must(t, "run")
	got := published(t, inFolder(t, filepath.Join(d.dir, "out"))).rows(t, "csv", namesOf(columns))
	without := func(rows []string) []string {
		for i, row := range rows {
			var values []any
			if err := json.Unmarshal([]byte(row), &values); err != nil {
				t.Fatal(err)
			}
			for k, c := range columns {
				if c.notCSV {
					values[k] = nil
				}
			}
			body, err := json.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			rows[i] = string(body)
		}
		return rows
	}
	sameRows(t, without(want), without(normalized(t, got, columns)))
}
