package exportconfig

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestStatement(t *testing.T) {
	for _, tc := range []struct {
		name, query string
		want        string // the statement, or what is wrong
	}{
		{"as it is", "select 1", "select 1"},
		{"white space and semicolons at the end", " select 1 ; ;\n", "select 1"},
		{"a comment behind the semicolon", "select 1; -- end", "select 1"},
		{"a line comment at the end gets its line break", "select 1 -- end", "select 1 -- end\n"},
		{"FROM in a comment, and beyond ASCII", "/* FROM x; */ SELECT é FROM t -- end;", "/* FROM x; */ SELECT é FROM t -- end;\n"},
		{"WITH, ORDER BY and LIMIT", "with a as (select 1) select * from a order by 1 limit 3", "with a as (select 1) select * from a order by 1 limit 3"},
		{"semicolons in text and names", `select ';', ";", ''';', """;" from t`, `select ';', ";", ''';', """;" from t`},
		{"a backslash ends no text", `select '\'; `, `select '\'`},
		{"but escapes in E text", `select E'\';', e'\\'`, `select E'\';', e'\\'`},
		{"a name that ends in e is no E", `select a.some'x\'`, `select a.some'x\'`},
		{"dollar quotes", "select $$;$$, $a$ $$;( $a$ from t", "select $$;$$, $a$ $$;( $a$ from t"},
		{"a parameter is no dollar quote", "select $1", "select $1"},
		{"a dollar sign in a name", "select a$b$ from t", "select a$b$ from t"},
		{"comments nest", "select /* a /* b; */ c; */ 1", "select /* a /* b; */ c; */ 1"},

		{"nothing", "  ", "holds no statement"},
		{"only a comment", "-- select 1", "holds no statement"},
		{"only a semicolon", ";", "holds no statement"},
		{"a second statement", "select 1; select 2", "has more than one statement: only one SELECT is read"},
		{"a second statement behind a comment", "select 1; /* x */ drop table t", "has more than one statement: only one SELECT is read"},
		{"a statement that leaves its parentheses", "select 1) as a, (select 2", "closes a parenthesis that it does not open"},
		{"an open parenthesis", "select (1", "opens a parenthesis that it does not close"},
		{"a semicolon between parentheses", "select (1; 2)", "has a semicolon between parentheses"},
		{"text without an end", "select 'a", "has a quoted text that does not end"},
		{"E text without an end", `select E'a\'`, "has a quoted text that does not end"},
		{"a name without an end", `select "a`, "has a quoted name that does not end"},
		{"a dollar quotation without an end", "select $a$ b $$", "has a dollar quotation that does not end"},
		{"a comment without an end", "select 1 /* /* */", "has a comment that does not end"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := statement(tc.query, "postgres")
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestStatementOfMySQL(t *testing.T) {
	for _, tc := range []struct {
		name, query string
		want        string // the statement, or what is wrong
	}{
		{"escapes in every text", `select '\';', ";\";", 'a'';';`, `select '\';', ";\";", 'a'';'`},
		{"names between backticks", "select `;``)\\` from t;", "select `;``)\\` from t"},
		{"a comment from a number sign", "select 1 # ; ( end", "select 1 # ; ( end\n"},
		{"two hyphens before white space", "select 1 --\t;", "select 1 --\t;\n"},
		{"two hyphens that are none", "select 1--1;", "select 1--1"},
		{"two hyphens before the last semicolon", "select 1 --;", "has two hyphens before its last semicolon, which are no comment there"},
		{"two hyphens before a space that is none", "select 1 --\u00a0", "select 1 --\u00a0"},
		{"dollar signs quote nothing", "select $$ from t; select $$", "has more than one statement: only one SELECT is read"},
		{"comments do not nest", "select /* a /* b; */ 1", "select /* a /* b; */ 1"},
		{"a hint", "select /*+ max_execution_time(5) */ 1", "select /*+ max_execution_time(5) */ 1"},
		{"a comment that is run", "select 1 /*!50000 ) */", "has a comment that some servers run: write it out"},
		{"one of MariaDB", "select 1 /*M!100100 ) */", "has a comment that some servers run: write it out"},
		{"text without an end", `select 'a\'`, "has a quoted text that does not end"},
		{"a name without an end", "select `a", "has a quoted name that does not end"},
		{"a comment without an end", "select 1 /*", "has a comment that does not end"},
		{"a second statement", "select 1 # x\n; drop table t", "has more than one statement: only one SELECT is read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := statement(tc.query, mysql)
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestStatementOfSQLServer(t *testing.T) {
	for _, tc := range []struct {
		name, query string
		want        string // the statement, or what is wrong
	}{
		{"names between brackets", "select [a;)'b], [c]];] from [t]", "select [a;)'b], [c]];] from [t]"},
		{"dollars are no quotation", "select $1, $$ from t; -- $$", "select $1, $$ from t"},
		{"a backslash ends no text", `select E'\';`, `select E'\'`},
		{"a name without an end", "select [a", "has a quoted name that does not end"},
		{"a statement that leaves its parentheses", "select 1) as a, (select [)]", "closes a parenthesis that it does not open"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := statement(tc.query, mssql)
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestStatementsStayInTheirParentheses puts what statement returns between
// parentheses, as a reader does, and has it looked at as a whole.
func TestStatementsStayInTheirParentheses(t *testing.T) {
	pieces := []string{"select", " ", "\n", "'", `"`, "`", "#", "/*!", "-- ", "$$", "$a$", "$1", "--", "\u00a0", "/*", "*/", ";", "(", ")", "[", "]", `\`, "E'", "é", "x", "1"}
	rapid.Check(t, func(t *rapid.T) {
		query := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		engine := rapid.SampledFrom([]string{"postgres", mysql, mssql}).Draw(t, "engine")
		one, err := statement(query, engine)
		if err != nil {
			return
		}
		again, err := statement(one, engine)
		if err != nil || again != one {
			t.Fatalf("%q became %q, which became %q: %v", query, one, again, err)
		}
		whole := "select * from (" + one + ") as q"
		if got, err := statement(whole, engine); err != nil || got != whole {
			t.Fatalf("%q: %q became %q: %v", query, whole, got, err)
		}
	})
}

func TestQueryFile(t *testing.T) {
	cfg, err := Parse("rivet.yaml", []byte(file("query_file: ./sql/orders.sql\nformat: csv\n"+out)), env())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cfg.Exports[0].Query, "select * from orders\n where day = '2026-11-28'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAQueryMayBeAVariableAsAWhole(t *testing.T) {
	e := env()
	e.Params = map[string]string{"q": "select 'x' from t;"}
	cfg, err := Parse("rivet.yaml", []byte(file("query: ${q}\nformat: csv\n"+out)), e)
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Exports[0].Query; got != "select 'x' from t" {
		t.Errorf("got %q", got)
	}
}

func TestValuesInAQueryCannotChangeTheStatement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z'"\\;$/*\n-]{0,6}`)).Draw(t, "value")
		e := Env{Params: map[string]string{"v": value}}
		v := variables{env: e, used: map[string]bool{}}
		got, errs := v.expand("'${v}'", inQuery)
		if len(errs) > 0 {
			return
		}
		s := scanner{text: got}
		if _, err := s.next(); err != nil || !s.done() {
			t.Fatalf("%q leaves the literal that it is inserted in", value)
		}
	})
}
