package rowtype

import (
	"strings"
	"testing"
)

func made(class byte, name string, parts ...PostgresType) PostgresType {
	return PostgresType{Name: name, Class: class, Modifier: -1, Parts: parts}
}

func extension(name string) PostgresType { return PostgresType{Name: name, Class: 'b', Modifier: -1} }

func TestPostgresMap(t *testing.T) {
	enum := PostgresType{Name: "mood", Class: 'e', Modifier: -1}
	for _, tc := range []struct {
		name     string
		from     PostgresType
		want     string // of the type, or part of the error after "refused: "
		native   string
		fidelity string
	}{
		{"a boolean", inCatalog("bool"), "bool", "bool", Exact},
		{"a smallint", inCatalog("int2"), "int16", "int2", Exact},
		{"a bigint", inCatalog("int8"), "int64", "int8", Exact},
		{"an oid is unsigned and needs 64 bits", inCatalog("oid"), "int64", "oid", Compatible},
		{"a numeric with a scale", numericOf(18, 2), "decimal(18,2)", "numeric(18,2)", Exact},
		{"a numeric without a scale", numericOf(38, 0), "decimal(38,0)", "numeric(38,0)", Exact},
		{"the widest numeric", numericOf(76, 76), "decimal(76,76)", "numeric(76,76)", Exact},
		{"a numeric that is too wide", numericOf(77, 0), "refused: set it to text", "", ""},
		{"a numeric with a negative scale", numericOf(5, -2), "refused: set it to decimal(7,0) or text", "", ""},
		{"a numeric with more scale than digits", numericOf(3, 5), "refused: set it to decimal(5,5) or text", "", ""},
		{"a numeric without precision", inCatalog("numeric"), "refused: set it to the decimal(p,s)", "", ""},
		{"a local timestamp", inCatalog("timestamp"), "timestamp", "timestamp", Exact},
		{"an instant", inCatalog("timestamptz"), "timestamptz", "timestamptz", Exact},
		{"padded text", inCatalog("bpchar"), "text", "bpchar", Exact},
		{"json", inCatalog("json"), "json", "json", LogicalString},
		{"an interval", inCatalog("interval"), "interval", "interval", LogicalString},
		{"an enum", enum, "enum", "mood", LogicalString},
		{"citext, which is an extension's", extension("citext"), "text", "citext", Compatible},
		{"an array of text", arrayOf(inCatalog("text")), "list<text>", "_text", Compatible},
		{"an array of enums", arrayOf(enum), "list<enum>", "_mood", Compatible},
		{"an array of numerics", arrayOf(numericOf(10, 2)), "refused: set it to text", "", ""},
		{"an array of what has no mapping", arrayOf(inCatalog("inet")), "refused: set it to text", "", ""},
		{"money", inCatalog("money"), "refused: set it to decimal(19,2) or text", "", ""},
		{"an array of money", arrayOf(inCatalog("money")), "refused: set it to text", "", ""},
		{"an array of domains over arrays", arrayOf(arrayOf(inCatalog("int4"))), "refused: set it to text", "", ""},
		{"a time with a zone", inCatalog("timetz"), "refused: set it to text", "", ""},
		{"bits", inCatalog("varbit"), "refused: set it to text", "", ""},
		{"inet", inCatalog("inet"), "refused: set it to text", "", ""},
		{"hstore", extension("hstore"), "refused: set it to text", "", ""},
		{"a range", PostgresType{Name: "int4range", BuiltIn: true, Class: 'r', Modifier: -1}, "refused: set it to text", "", ""},
		{"regclass, whose text depends on the search path", inCatalog("regclass"), "refused: use a query:", "", ""},
		{"a composite", made('c', "address", inCatalog("text"), inCatalog("int4")), "refused: set it to text", "", ""},
		{"a composite with money in it", made('c', "price", inCatalog("text"), arrayOf(inCatalog("money"))), "refused: use a query: that turns it into to_jsonb", "", ""},
		{"a record of a query", PostgresType{Name: "record", BuiltIn: true, Class: 'p', Modifier: -1}, "refused: use a query: that casts it", "", ""},
		{"a type of the user's with a built-in name", extension("int4"), "refused: set it to text", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.from.Map()
			check(t, got, err, tc.want)
			if err == nil && (got.Fidelity != tc.fidelity || tc.from.Native() != tc.native) {
				t.Fatalf("fidelity %s of native %s, want %s of %s", got.Fidelity, tc.from.Native(), tc.fidelity, tc.native)
			}
		})
	}
}

func TestPostgresOverride(t *testing.T) {
	for _, tc := range []struct {
		name string
		from PostgresType
		to   string
		want string
		cast string
	}{
		{"an unbounded numeric as a decimal", inCatalog("numeric"), "decimal(50,20)", "decimal(50,20)", ""},
		{"an unbounded numeric as text", inCatalog("numeric"), "string", "text", "text"},
		{"a numeric as a narrower decimal is settled at the row", numericOf(10, 2), "decimal(10,0)", "decimal(10,0)", ""},
		{"the type it has anyway", inCatalog("int8"), "bigint", "int64", ""},
		{"text stays as it is, padding and all", inCatalog("bpchar"), "text", "text", ""},
		{"a wider integer", inCatalog("int2"), "int8", "int64", "int8"},
		{"a narrower integer", inCatalog("int8"), "int4", "refused: leave the override out for int64", ""},
		{"an integer as a decimal that holds it", inCatalog("int4"), "decimal(12,2)", "decimal(12,2)", "numeric"},
		{"an integer as a decimal that does not", inCatalog("int4"), "decimal(11,2)", "refused: leave the override out", ""},
		{"a wider float", inCatalog("float4"), "double", "float64", "float8"},
		{"a float as a decimal", inCatalog("float8"), "decimal(38,9)", "refused: leave the override out", ""},
		{"money as a decimal", inCatalog("money"), "decimal(19,2)", "decimal(19,2)", "numeric"},
		{"money as text, in digits that no locale changes", inCatalog("money"), "text", "text", "numeric text"},
		{"an array of money as text", arrayOf(inCatalog("money")), "text", "text", "numeric[] text"},
		{"an array of arrays of money as text", arrayOf(arrayOf(inCatalog("money"))), "text", "refused: use a query:", ""},
		{"a range of money as text", made('r', "prices", inCatalog("money")), "text", "refused: use a query:", ""},
		{"a composite as text", made('c', "address", inCatalog("text"), arrayOf(inCatalog("inet"))), "text", "text", "text"},
		{"a composite of a composite with regclass in it", made('c', "outer", made('c', "inner", inCatalog("regclass"))), "text", "refused: use a query:", ""},
		{"an array of composites as text", arrayOf(made('c', "address", inCatalog("text"))), "text", "text", "text"},
		{"a multirange as text", made('m', "days", inCatalog("date")), "text", "text", "text"},
		{"a range as text", PostgresType{Name: "int4range", BuiltIn: true, Class: 'r', Modifier: -1}, "text", "text", "text"},
		{"an array as text", arrayOf(inCatalog("numeric")), "text", "text", "text"},
		{"regclass as text", inCatalog("regclass"), "text", "refused: use a query:", ""},
		{"nanoseconds", inCatalog("timestamptz"), "timestamp_tz_ns", "timestamptz(ns)", ""},
		{"nanoseconds of another meaning", inCatalog("timestamp"), "timestamp_tz_ns", "refused: leave the override out", ""},
		{"a wall clock as an instant", inCatalog("timestamp"), "timestamptz", "refused: leave the override out", ""},
		{"text as a uuid", inCatalog("text"), "uuid", "refused: leave the override out", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to, err := ParseOverride(tc.to)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tc.from.Override(to)
			check(t, got, err, tc.want)
			form := map[string]string{"text": ServerText, "numeric text": DecimalPlain, "numeric[] text": DecimalPlain}[tc.cast]
			if strings.Join(got.Casts, " ") != tc.cast || got.TextForm != form {
				t.Fatalf("casts %q with text form %q, want %q with %q", got.Casts, got.TextForm, tc.cast, form)
			}
		})
	}
}

func check(t *testing.T, got Mapping, err error, want string) {
	t.Helper()
	refusal, refused := strings.CutPrefix(want, "refused: ")
	switch {
	case refused && (err == nil || !strings.Contains(err.Error(), refusal)):
		t.Fatalf("got %s, %v; want a refusal with %q", got.Type, err, refusal)
	case !refused && err != nil:
		t.Fatal(err)
	case !refused && got.Type.String() != want:
		t.Fatalf("got %s, want %s", got.Type, want)
	}
}

func TestParseOverride(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"text", "text"}, {" BIGINT ", "int64"}, {"decimal(18, 2)", "decimal(18,2)"}, {"numeric(76,76)", "decimal(76,76)"},
		{"timestamp_ns", "timestamp(ns)"}, {"timestamp_utc", "timestamptz"}, {"jsonb", "json"},
		{"decimal", ""}, {"decimal(18)", ""}, {"decimal(0,0)", ""}, {"decimal(77,0)", ""}, {"decimal(5,6)", ""}, {"decimal(5,-1)", ""},
		{"decimal 5,2", ""}, {"decimals(5,2)", ""}, {"int[]", ""}, {"", ""},
	} {
		got, err := ParseOverride(tc.in)
		if (err == nil) != (tc.want != "") || err == nil && got.String() != tc.want {
			t.Errorf("%q: %s, %v; want %q", tc.in, got, err, tc.want)
		}
	}
}
