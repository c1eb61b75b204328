package schedule

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// scopeRow is a row of the table.
type scopeRow struct {
	scope             string
	bound             int
	schedules, states int
	result            string
}

func (r scopeRow) key() string { return fmt.Sprint(r.scope, " ", r.bound) }

func (r scopeRow) String() string {
	return fmt.Sprintf("| %s | %d | %s | %s | %s |", r.scope, r.bound, grouped(r.schedules), grouped(r.states), r.result)
}

// like reports whether two rows say the same. A handler that makes a call more
// has a few schedules more; what counts is that no schedule is left out.
func (r scopeRow) like(o scopeRow) bool {
	return r.result == o.result && r.schedules <= 2*o.schedules && o.schedules <= 2*r.schedules
}

// grouped writes 1234567 as 1,234,567.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

const (
	docs        = "../../../docs/protocol-models.md"
	scopesBegin = "<!-- scopes: written by the test of functions/simulation/schedule -->\n"
	scopesEnd   = "<!-- end of the scopes -->\n"
	scopesHead  = "\n| Scope | Preemptions and faults | Schedules | States | Result |\n|---|---:|---:|---:|---|\n"
)

func scopesOfDocs(t *testing.T) (before, table, after string) {
	t.Helper()
	body, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(body), scopesBegin)
	table, after, ended := strings.Cut(rest, scopesEnd)
	if !found || !ended {
		t.Fatalf("%s has no table between %q and %q", docs, scopesBegin, scopesEnd)
	}
	return before, table, after
}

func readScopes(t *testing.T) map[string]scopeRow {
	t.Helper()
	_, table, _ := scopesOfDocs(t)
	rows := make(map[string]scopeRow)
	number := func(s string) int {
		n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
		if err != nil {
			t.Fatalf("%s: %v", docs, err)
		}
		return n
	}
	for _, line := range strings.Split(strings.TrimPrefix(table, scopesHead), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 5 {
			continue
		}
		r := scopeRow{cells[0], number(cells[1]), number(cells[2]), number(cells[3]), cells[4]}
		rows[r.key()] = r
	}
	return rows
}

func writeScopes(t *testing.T, documented, rows map[string]scopeRow) {
	t.Helper()
	before, _, after := scopesOfDocs(t)
	var table strings.Builder
	table.WriteString(scopesHead)
	for _, c := range scopes {
		for _, k := range slices.Compact([]int{c.bound, c.deep}) {
			r := scopeRow{scope: c.name, bound: k}
			if seen, ok := rows[r.key()]; ok {
				fmt.Fprintln(&table, seen)
			} else if seen, ok := documented[r.key()]; ok {
				fmt.Fprintln(&table, seen)
			}
		}
	}
	table.WriteString("\n")
	if err := os.WriteFile(docs, []byte(before+scopesBegin+table.String()+scopesEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
