package rowtype

import (
	"strings"
	"testing"
)

func TestMySQLMap(t *testing.T) {
	for _, tc := range []struct {
		name string
		from MySQLType
		over string
		want string // of the type, or part of the error after "refused: "
		as   string // the native name
		text bool   // the server makes the text
	}{
		{"a boolean", MySQLType{Name: "tinyint", Width: 1}, "", "bool", "tinyint(1)", false},
		{"an unsigned tinyint(1) is a number", MySQLType{Name: "tinyint", Width: 1, Unsigned: true}, "", "int16", "tinyint unsigned", false},
		{"a tinyint whose width is unknown", MySQLType{Name: "tinyint"}, "", "int16", "tinyint", false},
		{"a boolean as a number", MySQLType{Name: "tinyint", Width: 1}, "int2", "int16", "tinyint(1)", false},
		{"an unsigned smallint", MySQLType{Name: "smallint", Unsigned: true}, "", "int32", "smallint unsigned", false},
		{"an unsigned int", MySQLType{Name: "int", Unsigned: true}, "", "int64", "int unsigned", false},
		{"an unsigned bigint", MySQLType{Name: "bigint", Unsigned: true}, "", "uint64", "bigint unsigned", false},
		{"one bit", MySQLType{Name: "bit", Width: 1}, "", "bool", "bit(1)", false},
		{"some bits", MySQLType{Name: "bit", Width: 9}, "", "int64", "bit(9)", false},
		{"a decimal", MySQLType{Name: "decimal", Precision: 65, Scale: 30}, "", "decimal(65,30)", "decimal(65,30)", false},
		{"a decimal without precision", MySQLType{Name: "decimal"}, "", "refused: set it to text", "", false},
		{"an instant", MySQLType{Name: "timestamp", Scale: 3}, "", "timestamptz", "timestamp(3)", false},
		{"a local time", MySQLType{Name: "datetime"}, "", "timestamp", "datetime", false},
		{"MariaDB's json", MySQLType{Name: "longtext", JSON: true}, "", "json", "json", false},
		{"a set", MySQLType{Name: "set"}, "", "enum", "set", false},
		{"a time as text", MySQLType{Name: "time"}, "text", "text", "time", true},
		{"text as text is no cast", MySQLType{Name: "varchar"}, "json", "json", "varchar", false},
		{"a uuid", MySQLType{Name: "uuid"}, "", "refused: set it to uuid or text", "", false},
		{"a uuid as one", MySQLType{Name: "uuid"}, "uuid", "uuid", "uuid", false},
		{"a point", MySQLType{Name: "point"}, "", "refused: st_asbinary", "", false},
		{"a point as text", MySQLType{Name: "point"}, "text", "refused: st_asbinary", "", false},
		{"the text of a float has six digits", MySQLType{Name: "float"}, "text", "refused: leave the override out for float32", "", false},
		{"bytes as text", MySQLType{Name: "blob"}, "text", "refused: leave the override out for binary", "", false},
		{"bytes as a uuid", MySQLType{Name: "binary", Width: 16}, "uuid", "uuid", "binary", false},
		{"a wide integer as a narrow decimal", MySQLType{Name: "bigint"}, "decimal(19,0)", "refused: leave the override out for int64", "", false},
		{"a local time is no instant", MySQLType{Name: "datetime"}, "timestamptz", "refused: leave the override out for timestamp", "", false},
		{"what is not known", MySQLType{Name: "vector"}, "", "refused: use a query:", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := tc.from.Map()
			if tc.over != "" {
				to, parseErr := ParseOverride(tc.over)
				if parseErr != nil {
					t.Fatal(parseErr)
				}
				m, err = tc.from.Override(to)
			}
			part, refused := strings.CutPrefix(tc.want, "refused: ")
			switch {
			case refused && (err == nil || !strings.Contains(err.Error(), part)):
				t.Fatalf("%v %v, want a refusal with %q", m, err, part)
			case refused:
			case err != nil:
				t.Fatal(err)
			case m.Type.String() != tc.want || tc.from.Native() != tc.as || m.ServerText != tc.text || (m.TextForm != "") != tc.text || m.Fidelity == "":
				t.Fatalf("%+v of %s, want %s of %s", m, tc.from.Native(), tc.want, tc.as)
			}
		})
	}
}
