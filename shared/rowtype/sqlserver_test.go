package rowtype

import (
	"strings"
	"testing"
)

func TestSQLServerMap(t *testing.T) {
	for _, tc := range []struct {
		name     string
		of       SQLServerType
		override string
		want     string // type, fidelity and text form, or part of the refusal after "refused: "
		native   string
	}{
		{"a bit", SQLServerType{Name: "bit"}, "", "bool exact", "bit"},
		{"a tinyint, which is unsigned", SQLServerType{Name: "tinyint"}, "", "int16 compatible", "tinyint"},
		{"money", SQLServerType{Name: "money"}, "", "decimal(19,4) compatible", "money"},
		{"the widest decimal", SQLServerType{Name: "decimal", Precision: 38, Scale: 38}, "", "decimal(38,38) exact", "decimal(38,38)"},
		{"microseconds", SQLServerType{Name: "datetime2", Scale: 6}, "", "timestamp exact", "datetime2(6)"},
		{"a hundred nanoseconds", SQLServerType{Name: "datetime2", Scale: 7}, "", "timestamp lossy", "datetime2(7)"},
		{"all of a hundred nanoseconds", SQLServerType{Name: "datetime2", Scale: 7}, "timestamp_ns", "timestamp(ns) compatible", "datetime2(7)"},
		{"all of them as text", SQLServerType{Name: "datetime2", Scale: 7}, "text", "text logical_string server_text", "datetime2(7)"},
		{"a time of day", SQLServerType{Name: "time", Scale: 7}, "", "time lossy", "time(7)"},
		{"an instant, without its offset", SQLServerType{Name: "datetimeoffset", Scale: 3}, "", "timestamptz lossy", "datetimeoffset(3)"},
		{"an instant as a local time", SQLServerType{Name: "datetimeoffset", Scale: 3}, "timestamp_ns", "refused: without changing values", ""},
		{"an instant with its offset", SQLServerType{Name: "datetimeoffset", Scale: 3}, "text", "text logical_string server_text", "datetimeoffset(3)"},
		{"a rowversion, which is no date", SQLServerType{Name: "timestamp"}, "", "binary exact", "rowversion"},
		{"a uniqueidentifier", SQLServerType{Name: "uniqueidentifier"}, "", "uuid exact", "uniqueidentifier"},
		{"text that is a uuid", SQLServerType{Name: "char", Length: 36}, "uuid", "uuid compatible", "char"},
		{"xml", SQLServerType{Name: "xml"}, "", "refused: set it to text", ""},
		{"xml as text", SQLServerType{Name: "xml"}, "text", "text logical_string server_text", "xml"},
		{"a variant", SQLServerType{Name: "sql_variant"}, "", "refused: use a query:", ""},
		{"a variant as text", SQLServerType{Name: "sql_variant"}, "text", "refused: without changing values", ""},
		{"a place in a tree", SQLServerType{Name: "hierarchyid"}, "", "refused: bytes in hex", ""},
		{"a shape as text", SQLServerType{Name: "geography"}, "text", "text logical_string hex_bytes", "geography"},
		{"an integer as a decimal", SQLServerType{Name: "int"}, "decimal(10,0)", "decimal(10,0) compatible", "int"},
		{"an integer as a decimal that is too small", SQLServerType{Name: "int"}, "decimal(9,0)", "refused: leave the override out", ""},
		{"a float as text", SQLServerType{Name: "float"}, "text", "text logical_string server_text", "float"},
		{"a type of a later version", SQLServerType{Name: "vector"}, "", "refused: has no mapping", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := tc.of.Map()
			if tc.override != "" {
				to, parseErr := ParseOverride(tc.override)
				if parseErr != nil {
					t.Fatal(parseErr)
				}
				m, err = tc.of.Override(to)
			}
			if why, refused := strings.CutPrefix(tc.want, "refused: "); refused {
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Fatalf("%v, want a refusal with %q", err, why)
				}
				return
			}
			got := strings.TrimSpace(m.Type.String() + " " + m.Fidelity + " " + m.TextForm)
			if err != nil || got != tc.want || tc.of.Native() != tc.native {
				t.Fatalf("%s of %s, %v, want %s of %s", got, tc.of.Native(), err, tc.want, tc.native)
			}
		})
	}
}
