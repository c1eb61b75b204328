package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// asText is a type whose values are delivered as text by an override: what
// PostgreSQL has no mapping for, and what other readers want as text.
type asText struct {
	native string
	row    string // as of a column
	since  int    // the first version that has it
	values []string
	// want is the SQL of the text of %s; "" for the server's own.
	want string
}

var textTypes = []asText{
	{native: "money", values: list("92233720368547758.07", "-92233720368547758.08", "1234.56", "0"), want: "%s::numeric::text"},
	{native: "money[]", values: list(`{1234.56,NULL,-0.01}`, "{}", "{{1,2},{3,4}}"), want: "%s::numeric[]::text"},
	{native: "cash", values: list("0.07"), want: "%s::numeric::text"},
	{native: "bit(5)", values: list("10101", "00000")},
	{native: "bit varying", row: "varbit", values: list("", "1", strings.Repeat("10", 500))},
	{native: "timetz", values: list("00:00:00+15:59:59", "24:00:00-15:59:59", "12:34:56.000001+05:45")},
	{native: "inet", values: list("0.0.0.0/0", "255.255.255.255", "10.0.0.1/8", "::ffff:1.2.3.4", "fe80::1/64")},
	{native: "cidr", values: list("10.0.0.0/8", "::/0", "2001:db8::/32")},
	{native: "macaddr", values: list("00:00:00:00:00:00", "FF-FF-FF-FF-FF-FE")},
	{native: "macaddr8", values: list("08:00:2b:01:02:03:04:05", "08002b010203")},
	{native: "xml", values: list(`<?xml version="1.0" encoding="ISO-8859-1"?><a b="ü">&amp; </a>`, "only text", "<a/><b/>", "")},
	{native: "int4range", values: list("[-2147483648,2147483646]", "empty", "(,5]", "(,)")},
	{native: "int8range", values: list("[-9223372036854775808,9223372036854775807)")},
	{native: "numrange", values: list("[0.10,1e40)", "(-0.00000000000000000001,]")},
	{native: "tsrange", values: list("[0044-03-15 BC,infinity]", "[1969-12-31 23:59:59.999999,)")},
	{native: "tstzrange", values: list("[2024-03-31 02:30+01,2024-03-31 03:30+02)", "(-infinity,infinity)")},
	{native: "daterange", values: list("[4713-01-01 BC,5874897-12-30]", "(2024-02-28,2024-02-29]")},
	{native: "spans", values: list("[0.1,0.30000000000000004)", "(-Infinity,NaN]")},
	{native: "int4multirange", since: 14, values: list("{[1,3),[5,8)}", "{}", "{(,)}")},
	{native: "tstzmultirange", since: 14, values: list("{[2024-03-31 02:30+01,2024-03-31 03:30+02),[2025-01-01+00,)}")},
	{native: "datemultirange[]", since: 14, values: list(`{"{[2024-01-01,2024-01-02)}",NULL}`)},
	{native: "numeric", values: list("0.10", "-1e40", "1e-16383", "NaN", "9"+strings.Repeat("0", 131071))},
	{native: "numeric(5,-2)", row: "numeric(5,-2)", since: 15, values: list("123456", "-1234567")},
	{native: "numeric(2,5)", since: 15, values: list("0.00099")},
	{native: "numeric", since: 14, values: list("Infinity", "-Infinity")},
	{native: "numeric(80,1)", values: list(strings.Repeat("9", 79), "NaN")},
	{native: "int4[]", values: list("{{1,2},{3,NULL}}", "[2:3][0:1]={{1,2},{3,4}}", "[7:8]={1,2}", "{}", "{{{-2147483648}}}")},
	{native: "text[]", values: list(`{{"a,b","NULL"},{NULL,""}}`, `{"q\"q","b\\b"}`)},
	{native: "numeric[]", values: list("{1.50,NaN,NULL}", "{{1},{2}}")},
	{native: "float8[]", values: list("{-0,NaN,Infinity,5e-324,0.30000000000000004}")},
	{native: "timestamptz[]", values: list("{{2024-03-31 02:30+01},{infinity}}")},
	{native: "interval[]", values: list("{1 mon -1 day 00:00:00.5,NULL}")},
	{native: "bytea[]", values: list(`{"\\x00ff","\\x"}`)},
	{native: "inet[]", row: "_inet", values: list("{10.0.0.1,::1/128}")},
	{native: "mood[]", values: list(`{{sad,"so so"},{NULL,😀}}`)},
	{native: "positive[]", values: list("{{1,2},{3,NULL}}", "[0:0]={5}")},
	{native: "pairs[]", values: list(`{"{1,2}",NULL}`)},
	{native: "box[]", values: list("{(1,1),(0,0);(2,2),(1,1)}")},
	{native: "point", values: list("(0.1,-0)", "(Infinity,NaN)")},
	{native: "line", values: list("{1,-2,0.30000000000000004}")},
	{native: "lseg", values: list("[(0,0),(1,1e-300)]")},
	{native: "box", values: list("(1,1),(0,0)")},
	{native: "path", values: list("[(0,0),(1,1)]", "((0,0),(1,1))")},
	{native: "polygon", values: list("((0,0),(1,1),(1,0))")},
	{native: "circle", values: list("<(0,0),1.5>")},
	{native: "hstore", values: list(`a=>1, "b c"=>NULL, "q\"q"=>"NULL"`, "")},
	{native: "hstore[]", values: list(`{"a=>1",NULL}`)},
	{native: "ltree", values: list("a.b.c", "")},
	{native: "cube", values: list("(0.1,2),(3,4)")},
	{native: "address", values: list(`("a ""b"", c",1,"2024-03-31 02:30+01","{x,NULL}")`, "(,,,)", `("",-1,,{})`)},
	{native: "home", values: list("(b,2,,)")},
	{native: "address[]", values: list(`{"(a,1,,{})",NULL}`)},
	{native: "household", values: list(`("(a,1,\"2024-01-01 00:00+00\",{})",1.50)`)},
	{native: "tsvector", values: list(`'a':1A,3 'b c':2`, "")},
	{native: "tsquery", values: list("a & !b | c:*", "'it''s' <2> b")},
	{native: "pg_lsn", values: list("FFFFFFFF/FFFFFFFF", "0/0")},
	{native: `"char"`, row: "char", values: list("a", "", `"`)},
	{native: "oid", values: list("4294967295", "0")},
	{native: "cid", values: list("4294967295")},
	{native: "oidvector", values: list("1 4294967295", "")},
	{native: "xid", values: list("4294967295")},
	{native: "xid8", since: 13, values: list("18446744073709551615")},
	{native: "tid", values: list("(4294967295,65535)")},
	{native: "jsonpath", values: list(`$.a[*] ? (@ > 1.50)`)},
	{native: "pg_snapshot", since: 13, values: list("10:20:10,14,15")},
	{native: "txid_snapshot", values: list("10:20:10,14,15")},
	{native: "int2vector", values: list("1 -2 3", "")},
	{native: "refcursor", values: list("a b")},
	{native: "aclitem", values: list("=r/postgres")},
	{native: "boolean", values: list("true", "false")},
	{native: "real", values: list("0.1", "NaN", "-0", "3.4028235e38")},
	{native: "date", values: list("infinity", "4713-01-01 BC", "5874897-12-31")},
	{native: "time", values: list("24:00:00", "00:00:00.000001")},
	{native: "timestamp", values: list("-infinity", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999")},
	{native: "timestamptz", values: list("infinity", "0044-03-15 12:00+00 BC", "2024-03-31 02:30+01")},
	{native: "interval", since: 17, values: list("infinity", "-infinity")},
	{native: "interval", values: list("178000000 years", "-178000000 years -1 day", "1 mon -1 day 00:00:00.5")},
	{native: "bytea", values: list(`\x00ff`, `\x`)},
	{native: "uuid", values: list("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")},
	{native: "json", values: list(`{"b": 1,  "a": 1.0}`)},
}

// createTextTypes makes the table t with a column of each type that the server
// has, and returns its columns. Its last row has no values.
func createTextTypes(t *testing.T, db *database) (columns []column) {
	t.Helper()
	major, err := strconv.Atoi(db.texts(t, "SELECT (current_setting('server_version_num')::int / 10000)::text")[0])
	if err != nil {
		t.Fatal(err)
	}
	db.exec(t, `CREATE EXTENSION hstore; CREATE EXTENSION ltree; CREATE EXTENSION cube;
		CREATE TYPE mood AS ENUM ('sad', 'so so', '😀'); CREATE DOMAIN positive AS integer CHECK (value > 0); CREATE DOMAIN pairs AS integer[]; CREATE DOMAIN cash AS money;
		CREATE TYPE spans AS RANGE (subtype = float8); CREATE TYPE address AS (street text, no integer, since timestamptz, tags text[]);
		CREATE DOMAIN home AS address; CREATE TYPE household AS (home address, rent numeric)`)
	var define []string
	rows := [][]string{}
	for _, x := range textTypes {
		if x.since > major {
			continue
		}
		c := column{name: fmt.Sprintf("c%d", len(columns)), native: x.native, override: "text", canonical: x.want}
		if c.canonical == "" {
			c.canonical = "%s::text"
		}
		columns, define = append(columns, c), append(define, c.name+" "+c.native)
		for i := range max(5, len(x.values)) {
			if i == len(rows) {
				rows = append(rows, nil)
			}
			rows[i] = append(rows[i], "'"+strings.ReplaceAll(x.values[i%len(x.values)], "'", "''")+"'")
		}
	}
	db.exec(t, "CREATE TABLE t (id integer PRIMARY KEY, "+strings.Join(define, ", ")+")")
	for i, values := range rows {
		db.exec(t, fmt.Sprintf("INSERT INTO t VALUES (%d, %s)", i, strings.Join(values, ", ")))
	}
	db.exec(t, fmt.Sprintf("INSERT INTO t VALUES (%d); ANALYZE t", len(rows)))
	return columns
}

func TestEveryTypeWithoutAMappingArrivesAsTheServersText(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	for name, variable := range map[string]string{"oldest": testenv.PostgresOldURL, "newest": testenv.PostgresNewURL} {
		t.Run(name, func(t *testing.T) {
			db := newDatabaseOn(t, variable)
			columns := createTextTypes(t, db)
			expressions, overrides := []string{"id::text"}, []string{}
			for _, c := range columns {
				expressions = append(expressions, c.expression())
				overrides = append(overrides, c.name+": text")
			}
			db.exec(t, "SET intervalstyle = iso_8601; SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET extra_float_digits = 1; SET bytea_output = hex")
			want := normalized(t, db.texts(t, "SELECT jsonb_build_array(VARIADIC array["+strings.Join(expressions, ", ")+"])::text FROM t"), nil)
			d := newDesk(t)
			d.env["DATABASE_URL"] = db.url
			config := "source: { type: postgres, url_env: DATABASE_URL }\nexports:\n"
			for _, format := range []string{"parquet", "csv"} {
				config += fmt.Sprintf("  - { name: %s, table: t, mode: chunked, chunk_size: 2, format: %[1]s, columns: { %s }, destination: { type: local, path: out/%[1]s } }\n", format, strings.Join(overrides, ", "))
			}
			d.write(t, "rivet.yaml", config)
			d.must(t, "run")
			names := append([]string{"id"}, namesOf(columns)...)
			for _, reader := range []string{"pyarrow", "duckdb", "csv"} {
				folder := map[bool]string{true: "out/csv", false: "out/parquet"}[reader == "csv"]
				p := published(t, inFolder(t, filepath.Join(d.dir, folder)))
				sameRows(t, want, normalized(t, p.rows(t, reader, names), nil))
			}
		})
	}
}

// Without an override, an array of arrays is an error and never a list of all
// that is in it.
func TestAnArrayOfArraysIsRefused(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE t (id integer PRIMARY KEY, grid integer[]); INSERT INTO t VALUES (1, '{1,2}'), (2, '{{1,2},{3,4}}')")
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	d.write(t, "rivet.yaml", "source: { type: postgres, url_env: DATABASE_URL }\nexports:\n  - { name: t, table: t, format: parquet, destination: { type: local, path: out } }\n")
	o := d.start(t, nil, "run").wait(t)
	if o.code != fault.ExitRefused {
		t.Fatalf("want exit code %d: %s", fault.ExitRefused, o)
	}
	for _, word := range []string{`"grid"`, "array of arrays", "text under columns:", `array_ndims("grid") > 1`} {
		if !strings.Contains(o.stderr, word) {
			t.Errorf("the error does not say %q: %s", word, o)
		}
	}
	unpublished(t, d.dir)
}
