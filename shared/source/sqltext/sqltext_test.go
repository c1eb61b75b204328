package sqltext

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPostgresQuotes(t *testing.T) {
	for _, tc := range []struct {
		name, got, want string
	}{
		{"a plain name", Postgres.Name("orders"), `"orders"`},
		{"a name with a quote", Postgres.Name(`a"b`), `"a""b"`},
		{"a name that would end the statement", Postgres.Name(`x"; drop table y; --`), `"x""; drop table y; --"`},
		{"a name outside ASCII", Postgres.Name("ümlaut"), `"ümlaut"`},
		{"a dot inside a name is no separator", Postgres.Table("s", "a.b"), `"s"."a.b"`},
		{"a table on the search path", Postgres.Table("", "t"), `"t"`},
		{"several names", Postgres.Names([]string{"a", `b"`}), `"a", "b"""`},
		{"a constant", Postgres.Literal("it's"), `'it''s'`},
		{"a backslash needs the escape form", Postgres.Literal(`a\'b`), `E'a\\''b'`},
		{"an empty constant", Postgres.Literal(""), `''`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Fatalf("%s, want %s", tc.got, tc.want)
			}
		})
	}
}

// A quoted text never ends before its last byte: inside it, every closing
// quote is doubled, and in the escape form every backslash too.
func TestNothingEscapesItsQuotes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune(`a'"\ ;-é`))).Draw(rt, "text")
		name := Postgres.Name(text)
		if inner := name[1 : len(name)-1]; strings.ReplaceAll(strings.ReplaceAll(inner, `""`, ""), `"`, "!") != strings.ReplaceAll(text, `"`, "") {
			rt.Fatalf("%s lets a quote through", name)
		}
		literal := strings.TrimPrefix(Postgres.Literal(text), "E")
		inner := literal[1 : len(literal)-1]
		if strings.Contains(text, `\`) {
			inner = strings.ReplaceAll(inner, `\\`, `\`)
		}
		if strings.ReplaceAll(inner, `''`, `'`) != text {
			rt.Fatalf("%s is not %q", literal, text)
		}
	})
}

func TestSendable(t *testing.T) {
	if Sendable("select 1\x00; select 2") || !Sendable("select 1") {
		t.Fatal("a NUL byte cuts a statement short and must be refused")
	}
}

func TestMySQLQuotes(t *testing.T) {
	for _, tc := range []struct {
		name, got, want string
	}{
		{"a plain name", MySQL.Name("orders"), "`orders`"},
		{"a name with a quote", MySQL.Name("a`b\"'"), "`a``b\"'`"},
		{"a table of a database", MySQL.Table("s", "a.b"), "`s`.`a.b`"},
		{"a constant", MySQL.Literal("it's"), `'it\'s'`},
		{"a backslash is an escape", MySQL.Literal(`a\'b`), `'a\\\'b'`},
		{"a NUL byte is one too", MySQL.Literal("a\x00b"), `'a\0b'`},
		{"an empty constant", MySQL.Literal(""), `''`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Fatalf("%s, want %s", tc.got, tc.want)
			}
		})
	}
}

func TestSQLServerQuotes(t *testing.T) {
	for _, tc := range []struct {
		name, got, want string
	}{
		{"a plain name", SQLServer.Name("orders"), "[orders]"},
		{"a name with brackets", SQLServer.Name("[we]ird"), "[[we]]ird]"},
		{"a table of a schema", SQLServer.Table("dbo", "a.b"), "[dbo].[a.b]"},
		{"a constant", SQLServer.Literal("it's"), "N'it''s'"},
		{"a backslash is no escape", SQLServer.Literal(`a\'b`), `N'a\''b'`},
		{"a line that ends with one is not joined to the next", SQLServer.Literal("a\\\nb"), "(convert(nvarchar(max), N'') + N'a\\' + N'\nb')"},
		{"nor by the other line break", SQLServer.Literal("a\\\r\nb"), "(convert(nvarchar(max), N'') + N'a\\' + N'\r\nb')"},
		{"an empty constant", SQLServer.Literal(""), "N''"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Fatalf("%s, want %s", tc.got, tc.want)
			}
		})
	}
}
