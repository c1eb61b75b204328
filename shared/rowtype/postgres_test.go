package rowtype

import (
	"strings"
	"testing"
)

func builtIn(name string) PostgresType {
	return PostgresType{Name: name, BuiltIn: true, Class: 'b', Modifier: -1}
}

func numeric(p, s int32) PostgresType {
	t := builtIn("numeric")
	t.Modifier = p<<16 | s&0x7ff + 4
	return t
}

func array(of PostgresType) PostgresType {
	t := builtIn("_" + of.Name)
	t.Elem = &of
	return t
}

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
		{"a boolean", builtIn("bool"), "bool", "bool", Exact},
		{"a smallint", builtIn("int2"), "int16", "int2", Exact},
		{"a bigint", builtIn("int8"), "int64", "int8", Exact},
		{"an oid is unsigned and needs 64 bits", builtIn("oid"), "int64", "oid", Compatible},
		{"a numeric with a scale", numeric(18, 2), "decimal(18,2)", "numeric(18,2)", Exact},
		{"a numeric without a scale", numeric(38, 0), "decimal(38,0)", "numeric(38,0)", Exact},
		{"the widest numeric", numeric(76, 76), "decimal(76,76)", "numeric(76,76)", Exact},
		{"a numeric that is too wide", numeric(77, 0), "refused: set it to text", "", ""},
		{"a numeric with a negative scale", numeric(5, -2), "refused: set it to decimal(7,0) or text", "", ""},
		{"a numeric with more scale than digits", numeric(3, 5), "refused: set it to decimal(5,5) or text", "", ""},
		{"a numeric without precision", builtIn("numeric"), "refused: set it to the decimal(p,s)", "", ""},
		{"a local timestamp", builtIn("timestamp"), "timestamp", "timestamp", Exact},
		{"an instant", builtIn("timestamptz"), "timestamptz", "timestamptz", Exact},
		{"padded text", builtIn("bpchar"), "text", "bpchar", Exact},
		{"json", builtIn("json"), "json", "json", LogicalString},
		{"an interval", builtIn("interval"), "interval", "interval", LogicalString},
		{"an enum", enum, "enum", "mood", LogicalString},
		{"citext, which is an extension's", extension("citext"), "text", "citext", Compatible},
		{"an array of text", array(builtIn("text")), "list<text>", "_text", Compatible},
		{"an array of enums", array(enum), "list<enum>", "_mood", Compatible},
		{"an array of numerics", array(numeric(10, 2)), "refused: set it to text", "", ""},
		{"an array of what has no mapping", array(builtIn("inet")), "refused: set it to text", "", ""},
		{"money", builtIn("money"), "refused: set it to decimal(19,2) or text", "", ""},
		{"an array of money", array(builtIn("money")), "refused: set it to text", "", ""},
		{"an array of domains over arrays", array(array(builtIn("int4"))), "refused: set it to text", "", ""},
		{"a time with a zone", builtIn("timetz"), "refused: set it to text", "", ""},
		{"bits", builtIn("varbit"), "refused: set it to text", "", ""},
		{"inet", builtIn("inet"), "refused: set it to text", "", ""},
		{"hstore", extension("hstore"), "refused: set it to text", "", ""},
		{"a range", PostgresType{Name: "int4range", BuiltIn: true, Class: 'r', Modifier: -1}, "refused: set it to text", "", ""},
		{"regclass, whose text depends on the search path", builtIn("regclass"), "refused: use a query:", "", ""},
		{"a composite", made('c', "address", builtIn("text"), builtIn("int4")), "refused: set it to text", "", ""},
		{"a composite with money in it", made('c', "price", builtIn("text"), array(builtIn("money"))), "refused: use a query: that turns it into to_jsonb", "", ""},
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
		{"an unbounded numeric as a decimal", builtIn("numeric"), "decimal(50,20)", "decimal(50,20)", ""},
		{"an unbounded numeric as text", builtIn("numeric"), "string", "text", "text"},
		{"a numeric as a narrower decimal is settled at the row", numeric(10, 2), "decimal(10,0)", "decimal(10,0)", ""},
		{"the type it has anyway", builtIn("int8"), "bigint", "int64", ""},
		{"text stays as it is, padding and all", builtIn("bpchar"), "text", "text", ""},
		{"a wider integer", builtIn("int2"), "int8", "int64", "int8"},
		{"a narrower integer", builtIn("int8"), "int4", "refused: leave the override out for int64", ""},
		{"an integer as a decimal that holds it", builtIn("int4"), "decimal(12,2)", "decimal(12,2)", "numeric"},
		{"an integer as a decimal that does not", builtIn("int4"), "decimal(11,2)", "refused: leave the override out", ""},
		{"a wider float", builtIn("float4"), "double", "float64", "float8"},
		{"a float as a decimal", builtIn("float8"), "decimal(38,9)", "refused: leave the override out", ""},
		{"money as a decimal", builtIn("money"), "decimal(19,2)", "decimal(19,2)", "numeric"},
		{"money as text, in digits that no locale changes", builtIn("money"), "text", "text", "numeric text"},
		{"an array of money as text", array(builtIn("money")), "text", "text", "numeric[] text"},
		{"an array of arrays of money as text", array(array(builtIn("money"))), "text", "refused: use a query:", ""},
		{"a range of money as text", made('r', "prices", builtIn("money")), "text", "refused: use a query:", ""},
		{"a composite as text", made('c', "address", builtIn("text"), array(builtIn("inet"))), "text", "text", "text"},
		{"a composite of a composite with regclass in it", made('c', "outer", made('c', "inner", builtIn("regclass"))), "text", "refused: use a query:", ""},
		{"an array of composites as text", array(made('c', "address", builtIn("text"))), "text", "text", "text"},
		{"a multirange as text", made('m', "days", builtIn("date")), "text", "text", "text"},
		{"a range as text", PostgresType{Name: "int4range", BuiltIn: true, Class: 'r', Modifier: -1}, "text", "text", "text"},
		{"an array as text", array(builtIn("numeric")), "text", "text", "text"},
		{"regclass as text", builtIn("regclass"), "text", "refused: use a query:", ""},
		{"nanoseconds", builtIn("timestamptz"), "timestamp_tz_ns", "timestamptz(ns)", ""},
		{"nanoseconds of another meaning", builtIn("timestamp"), "timestamp_tz_ns", "refused: leave the override out", ""},
		{"a wall clock as an instant", builtIn("timestamp"), "timestamptz", "refused: leave the override out", ""},
		{"text as a uuid", builtIn("text"), "uuid", "refused: leave the override out", ""},
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

func check(t *testing.T, got PostgresMapping, err error, want string) {
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
