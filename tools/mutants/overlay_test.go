package main

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

const sample = `package sample

func (s *store) put(n int) error {
	if n < 0 || s.full {
		return errFull
	}
	s.items++
	return nil
}

func other() { s.items++ }
`

func TestSwitched(t *testing.T) {
	for _, tc := range []struct {
		name  string
		edits []named
		want  []string
	}{
		{"a condition", []named{{"m", holds("f", "store.put", "s.full", "false")}},
			[]string{`n < 0 || (mutant__.On("m") && (false) || !mutant__.On("m") && (s.full))`}},
		{"statements", []named{{"m", does("f", "store.put", "s.items++", "")}},
			[]string{`if mutant__.On("m") {  } else { s.items++ }`, `func other() { s.items++ }`}},
		{"an insertion", []named{{"m", ahead("f", "put", "s.items++", "return nil")}},
			[]string{`if mutant__.On("m") { return nil }; s.items++`}},
		{"as it is written", []named{{"m", reads("f", "put", "n < 0", "n < 0 && !$on")}},
			[]string{`if n < 0 && !mutant__.On("m") || s.full {`}},
		{"two of one piece", []named{{"m", holds("f", "put", "s.full", "false")}, {"o", holds("f", "put", "s.full", "true")}},
			[]string{`mutant__.On("o") && (true) || !mutant__.On("o") && ((mutant__.On("m") && (false) || !mutant__.On("m") && (s.full)))`}},
		{"one inside another", []named{{"m", holds("f", "put", "s.full", "false")}, {"o", does("f", "put", "if n < 0 || s.full { return errFull }", "")}},
			[]string{`if mutant__.On("o") {  } else { if n < 0 || (mutant__.On("m")`}},
		{"white space does not matter", []named{{"m", ahead("f", "put", "s.items++ return nil", "return nil")}},
			[]string{`if mutant__.On("m") { return nil }; s.items++`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body, err := switched("f", []byte(sample), tc.edits)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.ParseFile(token.NewFileSet(), "f", body, 0); err != nil {
				t.Errorf("%v:\n%s", err, body)
			}
			for _, want := range append(tc.want, `package sample; import mutant__ "`+module+`/internal/mutant"`) {
				if !strings.Contains(string(body), want) {
					t.Errorf("%s is not in:\n%s", want, body)
				}
			}
		})
	}
}

func TestStaleMutantsAreRefused(t *testing.T) {
	for name, edits := range map[string][]named{
		"no such function":        {{"m", holds("f", "get", "s.full", "false")}},
		"no such piece":           {{"m", holds("f", "put", "s.empty", "false")}},
		"in the file twice":       {{"m", does("f", "", "s.items++", "")}},
		"pieces that overlap":     {{"m", does("f", "put", "return errFull } s.items++", "")}, {"o", does("f", "put", "s.items++ return nil", "")}},
		"two that are verbatim":   {{"m", reads("f", "put", "n < 0", "$on")}, {"o", reads("f", "put", "n < 0", "!$on")}},
		"a piece of two mutants ": {{"m", reads("f", "put", "n < 0 || s.full", "$on")}, {"o", holds("f", "put", "s.full", "true")}},
	} {
		if body, err := switched("f", []byte(sample), edits); err == nil || !strings.Contains(err.Error(), `"`) {
			t.Errorf("%s: %v\n%s", name, err, body)
		}
	}
}
