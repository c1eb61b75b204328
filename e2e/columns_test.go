package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// column is one column of the table of every type.
type column struct {
	name, native string
	// row is the native name of a type of the row of the type table that the
	// column stands for; "" is as native says.
	row string
	// canonical is the SQL that turns %s, a value, into what testdata/read.py
	// prints for it.
	canonical string
	// values are SQL literals: the extremes and the pitfalls.
	values []string
	// generated is the SQL of an ordinary value, from the row's number i and its
	// md5 h.
	generated string
	override  string // of the config's columns:
	list      bool
	notDuckDB bool // DuckDB reads such a Parquet column as something else
	notCSV    bool
	csv       func(string) string // from CSV's text to the canonical one; nil for the same
}

// micros is exact on servers whose extract answers a double, too.
const (
	wholeMicros = "(extract(epoch from date_trunc('second', %s))::numeric * 1000000 + extract(microseconds from %s)::numeric % 1000000)::numeric(30)"
	micros      = wholeMicros + "::text"
)

// everyType has every type of PostgreSQL that has a mapping (reference §4.1),
// and overrides that deliver the others.
var everyType = []column{
	{name: "c_bool", native: "bool", canonical: "%s::text", values: list("true", "false"), generated: "i % 3 = 0"},
	{name: "c_int2", native: "int2", canonical: "%s::text", values: list("-32768", "32767", "0", "-1"), generated: "(i * 7919 % 65536 - 32768)::int2"},
	{name: "c_int4", native: "int4", canonical: "%s::text", values: list("'-2147483648'", "2147483647", "0"), generated: "('x' || substr(h, 1, 8))::bit(32)::int4"},
	{name: "c_int8", native: "int8", canonical: "%s::text", values: list("'-9223372036854775808'", "9223372036854775807", "9007199254740993"), generated: "('x' || substr(h, 1, 16))::bit(64)::int8"},
	{name: "c_oid", native: "oid", canonical: "%s::text", values: list("0", "4294967295", "2147483648"), generated: "(i::int8 * 104729)::oid"},
	{name: "c_float4", native: "float4", canonical: "encode(float4send(%s), 'hex')", csv: floatBits(32), values: list("0.1", "'-0'", "'NaN'", "'Infinity'", "'-Infinity'", "'1.17549435e-38'", "'1e-45'", "'3.4028235e38'", "16777217"), generated: "(i * 1.1)::float4"},
	{name: "c_float8", native: "float8", canonical: "encode(float8send(%s), 'hex')", csv: floatBits(64), values: list("0.1::float8 + 0.2::float8", "'-0'", "'NaN'", "'Infinity'", "'-Infinity'", "'5e-324'", "'1.7976931348623157e308'", "9007199254740993"), generated: "sqrt(i)"},
	{name: "c_small", native: "numeric(10,2)", canonical: "%s::text", values: list("0.10", "-99999999.99", "99999999.99", "0"), generated: "i * 1.01"},
	{name: "c_deep", native: "numeric(38,18)", canonical: "%s::text", values: list("0.000000000000000001", "-99999999999999999999.999999999999999999", "0"), generated: "i / 7.0"},
	{name: "c_wide", native: "numeric(38,0)", canonical: "%s::text", values: list("99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"), generated: "i::numeric * 1000000000000000000000000000003"},
	{name: "c_huge", native: "numeric(76,20)", canonical: "%s::text", notDuckDB: true, notCSV: true, values: list(strings.Repeat("9", 56)+"."+strings.Repeat("9", 20), "-0.00000000000000000001", "0"), generated: "i * 12345678901234567890123456789.5"},
	{name: "c_date", native: "date", canonical: "(%s - date '1970-01-01')::text", csv: days, values: list("'0001-01-01'", "'9999-12-31'", "'1970-01-01'", "'1969-12-31'", "'2024-02-29'", "'10000-01-01'", "'5874897-12-31'"), generated: "date '1900-01-01' + i * 13"},
	{name: "c_time", native: "time", canonical: micros, csv: microsOfTime, values: list("'00:00:00'", "'23:59:59.999999'", "'00:00:00.000001'"), generated: "time '00:00' + i * interval '17.000003 s'"},
	{name: "c_timestamp", native: "timestamp", canonical: micros, csv: microsOfTimestamp, values: list("'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'", "'1969-12-31 23:59:59.999999'", "'1900-02-28 12:34:56.000001'", "'294246-12-31 23:59:59.999999'"), generated: "timestamp '1970-01-01' + (i - 2000) * interval '31 days 1.234567 s'"},
	{name: "c_timestamptz", native: "timestamptz", canonical: micros, csv: microsOfTimestamp, values: list("'0001-01-01 00:00:00+00'", "'2024-03-31 02:30:00+01'", "'1969-12-31 23:59:59.999999+00'", "'294246-12-31 23:59:59.999999+00'"), generated: "timestamptz '1970-01-01 00:00:00+00' + i * interval '1 day 0.000001 s'"},
	{name: "c_nano", native: "timestamp", override: "timestamp_ns", canonical: "(" + wholeMicros + " * 1000)::text", notCSV: true, values: list("'1677-09-22 00:00:00'", "'2262-04-11 23:47:16.854775'", "'1969-12-31 23:59:59.999999'"), generated: "timestamp '1970-01-01' + i * interval '1.234567 s'"},
	{name: "c_text", native: "text", canonical: "%s", values: list("''", "' '", "E'a\\nb\\r\\n\\tc'", "'null'", "'\\N'", "E'\"quoted\", comma'", "'Zażółć gęślą jaźń'", "'漢字 😀 👩‍👩‍👧'", "E'e\\u0301 is not \\u00e9'", "E'\\u200b\\ufeff\\u0001'", "repeat('long ', 20000)"), generated: "h || repeat('x', i % 50)"},
	{name: "c_varchar", native: "varchar(20)", canonical: "%s::text", values: list("''", "'trailing  '"), generated: "substr(h, 1, i % 20)"},
	{name: "c_char", native: "char(5)", row: "bpchar", canonical: "convert_from(bpcharsend(%s), 'UTF8')", values: list("''", "'ab'", "'漢'"), generated: "substr(h, 1, i % 5)"},
	{name: "c_citext", native: "citext", canonical: "%s::text", values: list("''", "'Ab'", "'漢'"), generated: "substr(h, 1, i % 20)"},
	{name: "c_name", native: "name", canonical: "%s::text", values: list("'pg_class'", "''"), generated: "h::name"},
	{name: "c_bytea", native: "bytea", canonical: "encode(%s, 'hex')", values: list(`'\x'`, `'\x00'`, `'\x00ff5c27220a'`), generated: "decode(h, 'hex')"},
	{name: "c_uuid", native: "uuid", canonical: "replace(%s::text, '-', '')", csv: withoutDashes, values: list("'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"), generated: "h::uuid"},
	{name: "c_json", native: "json", canonical: "%s::text", values: list("'null'", `'{"b": 1,  "a": [1.0, 1e400], "b": 2}'`, `'"\u0000"'`, "'[]'"), generated: "json_build_object('i', i, 'h', h)"},
	{name: "c_jsonb", native: "jsonb", canonical: "%s::text", values: list("'null'", `'{"b": 1,  "a": [1.00, null], "b": 2}'`, `'"😀"'`), generated: "jsonb_build_object('i', i, 'h', h)"},
	{name: "c_interval", native: "interval", canonical: "%s::text", values: list("'1 mon -1 day 00:00:00.5'", "'-00:00:01'", "'0'", "'30 days'", "'1 year 2 mons 3 days 04:05:06.789'", "'-1 year +1 mon'"), generated: "i * interval '1 day 0.000001 s' + (i % 5) * interval '1 month'"},
	{name: "c_enum", native: "mood", canonical: "%s::text", values: list("'sad'", "'so so'", "'😀'"), generated: "(array['sad', 'so so', '😀'])[i % 3 + 1]::mood"},
	{name: "c_domain", native: "positive", row: "int4", canonical: "%s::text", values: list("1", "2147483647"), generated: "i + 1"},
	{name: "c_money", native: "money", override: "decimal(19,2)", canonical: "%s::numeric::text", values: list("1234.56::numeric::money", "(-92233720368547758.08)::numeric::money", "0::money"), generated: "(i * 0.07)::numeric::money"},
	{name: "c_unbounded", native: "numeric", override: "decimal(38,10)", canonical: "(%s)::numeric(38,10)::text", values: list("1.5", "1.50", "-0.0000000001", "1234567890123456789012345678.0123456789"), generated: "i / 8.0"},
	{name: "c_inet", native: "inet", override: "text", canonical: "%s::text", values: list("'::1'", "'10.0.0.1/8'"), generated: "'10.0.0.0'::inet + i"},
	{name: "c_range", native: "int4range", override: "text", canonical: "%s::text", values: list("'empty'", "'(,)'"), generated: "int4range(i, i + 5)"},
	{name: "l_int8", native: "bigint[]", row: "_int4", list: true, canonical: "%s::text", values: list("'{}'", "'{NULL}'", "'{9223372036854775807,NULL,-9223372036854775808}'"), generated: "array[i, NULL, i * 1000000007::int8]"},
	{name: "l_text", native: "text[]", list: true, canonical: "%s", values: list("'{}'", `'{"",NULL,"NULL","a,b","漢"}'`), generated: "string_to_array(repeat(h || ',', i % 4), ',')"},
	{name: "l_float4", native: "real[]", list: true, canonical: "encode(float4send(%s), 'hex')", values: list("'{NaN,-0,0.1}'", "'{}'"), generated: "array[(i * 0.1)::float4]"},
	{name: "l_timestamptz", native: "timestamptz[]", list: true, canonical: micros, values: list("'{2024-03-31 02:30:00+01,NULL}'", "'{}'"), generated: "array[timestamptz '2000-01-01 00:00:00+00' + i * interval '1 h']"},
	{name: "l_bool", native: "boolean[]", list: true, canonical: "%s::text", values: list("'{t,NULL,f}'", "'{}'"), generated: "array[i % 2 = 0]"},
	{name: "l_uuid", native: "uuid[]", list: true, canonical: "replace(%s::text, '-', '')", values: list("'{00000000-0000-0000-0000-000000000000,NULL}'"), generated: "array[h::uuid]"},
	{name: "l_bytea", native: "bytea[]", list: true, canonical: "encode(%s, 'hex')", values: list(`array['\x'::bytea, NULL, '\x00ff']`, "'{}'"), generated: "array[decode(h, 'hex')]"},
}

// keys are columns that make every way of cutting possible.
var keys = []column{
	{name: "id", canonical: "%s::text"},
	{name: "bucket", canonical: "%s::text"},
	{name: "uid", canonical: "replace(%s::text, '-', '')", csv: withoutDashes},
	{name: "part_a", canonical: "%s"},
	{name: "part_b", canonical: "%s::text"},
}

func list(literals ...string) []string { return literals }

// expression is the SQL of the column's canonical value.
func (c column) expression() string {
	if !c.list {
		return strings.ReplaceAll(c.canonical, "%s", c.name)
	}
	item := strings.ReplaceAll(c.canonical, "%s", "v")
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN array_to_json(array(SELECT %s FROM unnest(%s) WITH ORDINALITY u(v, n) ORDER BY n)) END", c.name, item, c.name)
}

// createEveryType makes the table t: a row of NULLs, rows of extremes, and
// generated rows.
func createEveryType(t *testing.T, db *database, generated int) {
	t.Helper()
	var define, generate, names []string
	most := 0
	for _, c := range everyType {
		define = append(define, c.name+" "+c.native)
		generate = append(generate, fmt.Sprintf("CASE WHEN (i + %d) %% 11 > 0 THEN %s END", len(names), c.generated))
		names = append(names, c.name)
		most = max(most, len(c.values))
	}
	db.exec(t, "CREATE EXTENSION IF NOT EXISTS citext; CREATE TYPE mood AS ENUM ('sad', 'so so', '😀'); CREATE DOMAIN positive AS integer CHECK (value > 0)")
	db.exec(t, "CREATE TABLE t (id bigint PRIMARY KEY, bucket integer, uid uuid NOT NULL UNIQUE, part_a text NOT NULL, part_b integer NOT NULL, "+
		strings.Join(define, ", ")+", UNIQUE (part_a, part_b))")
	const key = "%[1]d, CASE WHEN %[1]d %% 5 > 0 THEN %[1]d / 10 END, md5('%[1]d')::uuid, 'a%[1]d', %[1]d"
	for row := range most {
		values := make([]string, len(everyType))
		for i, c := range everyType {
			values[i] = c.values[row%len(c.values)]
		}
		db.exec(t, fmt.Sprintf("INSERT INTO t VALUES ("+key+", %s)", row-100, strings.Join(values, ", ")))
	}
	db.exec(t, fmt.Sprintf("INSERT INTO t VALUES ("+key+")", -200))
	db.exec(t, fmt.Sprintf(`INSERT INTO t (id, bucket, uid, part_a, part_b, %s)
		SELECT i, CASE WHEN i %% 10 > 0 THEN i / 7 END, h::uuid, 'p' || i %% 17, i, %s FROM (SELECT i, md5(i::text || ' row') h FROM generate_series(1, %d) i) g`,
		strings.Join(names, ", "), strings.Join(generate, ", "), generated))
	db.exec(t, "ANALYZE t")
}

// sourceRows are the rows of a table as testdata/read.py prints them.
func sourceRows(t *testing.T, db *database, table string, columns []column) []string {
	t.Helper()
	db.exec(t, "SET intervalstyle = iso_8601; SET timezone = 'Asia/Kathmandu'")
	expressions := make([]string, len(columns))
	for i, c := range columns {
		expressions[i] = c.expression()
	}
	rows := db.texts(t, "SELECT json_build_array("+strings.Join(expressions, ", ")+")::text FROM "+table)
	for i, r := range rows {
		rows[i] = normal(t, r, nil)
	}
	return rows
}

// normal writes a row's JSON in one way, after its columns have been turned
// from CSV's texts if there are columns.
func normal(t *testing.T, row string, fromCSV []column) string {
	t.Helper()
	var values []any
	if err := json.Unmarshal([]byte(row), &values); err != nil {
		t.Fatalf("%v: %.300s", err, row)
	}
	for i, c := range fromCSV {
		if s, ok := values[i].(string); ok && c.csv != nil {
			values[i] = c.csv(s)
		}
	}
	body, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func namesOf(columns []column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}
