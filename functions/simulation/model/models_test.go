package model

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write the results into docs/protocol-models.md")

// raceDetector is set when the tests run under it. A model has one goroutine and
// nothing to race with, so only the small ones are explored then.
var raceDetector bool

const docs = "../../../docs/protocol-models.md"

// exploreAll reports whether the large explorations run too (make explore).
func exploreAll() bool { return os.Getenv("LAPSTRAKE_EXPLORE") == "all" }

// bound is above every exploration that closes. Those that do not are stopped
// at a smaller one of their own.
const bound = 40_000_000

// TestModels explores every variant of every model, and compares what it saw
// with the table in the documentation.
func TestModels(t *testing.T) {
	all := chapters()
	documented := readTable(t)
	var mutex sync.Mutex
	lines := map[string]string{}
	t.Run("explore", func(t *testing.T) {
		for _, c := range all {
			for _, v := range c.variants {
				key := c.name + "\x00" + v.rule
				t.Run(c.name+"/"+v.rule, func(t *testing.T) {
					skipUnaffordable(t, v.size)
					t.Parallel()
					line := explore(t, v)
					mutex.Lock()
					lines[key] = line
					mutex.Unlock()
					if !*update && documented[key] != line {
						t.Errorf("docs/protocol-models.md says\n%s\nthe exploration\n%s\nrun LAPSTRAKE_EXPLORE=all go test ./functions/simulation/model -update if the rule has changed", documented[key], line)
					}
				})
			}
		}
	})
	variants := 0
	for _, c := range all {
		for _, v := range c.variants {
			key := c.name + "\x00" + v.rule
			if variants++; lines[key] == "" {
				lines[key] = documented[key]
			}
			if lines[key] == "" {
				t.Errorf("%s: %s is not in the table: run LAPSTRAKE_EXPLORE=all go test ./functions/simulation/model -update", c.name, v.rule)
			}
		}
	}
	if !*update && len(documented) != variants {
		t.Errorf("the table has %d rows, there are %d variants", len(documented), variants)
	}
	if *update {
		writeTable(t, all, lines)
	}
}

func skipUnaffordable(t *testing.T, s size) {
	switch {
	case s == huge && !exploreAll():
		t.Skip("a large exploration: LAPSTRAKE_EXPLORE=all, or make explore")
	case s != small && (testing.Short() || raceDetector):
		t.Skip("takes seconds")
	}
}

// explore runs one variant and returns its row. A variant that leaves a part of
// its rule out must be violated as it says; the rule itself must not be.
func explore(t *testing.T, v variant) string {
	limit := bound
	if v.stopsAt != 0 {
		limit = v.stopsAt
	}
	got := v.explore(limit)
	result := "closed, holds"
	switch {
	case got.Violated != "":
		result = "RED: " + got.Violated
	case !got.Closed:
		result = "bound reached, holds so far"
		got.States = limit
	}
	t.Logf("%d states, %s", got.States, result)
	switch {
	case v.broken == "" && got.Violated != "":
		t.Errorf("%s, by\n  %s", got.Violated, strings.Join(got.Trace, "\n  "))
	case v.broken != "" && !strings.HasPrefix(got.Violated, v.broken+":"):
		t.Errorf("%q is violated, want %s: the property does not see what the rule is for", got.Violated, v.broken)
	case v.broken == "" && got.Closed == (v.stopsAt != 0):
		t.Errorf("closed is %v after %d states", got.Closed, got.States)
	}
	return fmt.Sprintf("| %s | %s | %s |", v.rule, grouped(got.States), result)
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
	tableBegin = "<!-- table: written by the test of functions/simulation/model -->\n"
	tableEnd   = "<!-- end of the table -->\n"
)

func readDocs(t *testing.T) (before, table, after string) {
	t.Helper()
	body, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(body), tableBegin)
	table, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatalf("%s has no table between its two comments", docs)
	}
	return before, table, after
}

// readTable returns the rows of the documentation by chapter and rule.
func readTable(t *testing.T) map[string]string {
	t.Helper()
	_, table, _ := readDocs(t)
	rows, chapter := map[string]string{}, ""
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "### "); ok {
			chapter = name
		}
		if cells := strings.Split(line, " | "); len(cells) == 3 && strings.ContainsAny(cells[1], "0123456789") {
			rows[chapter+"\x00"+strings.TrimPrefix(cells[0], "| ")] = line
		}
	}
	return rows
}

func writeTable(t *testing.T, all []chapter, lines map[string]string) {
	t.Helper()
	before, _, after := readDocs(t)
	var table strings.Builder
	for _, c := range all {
		fmt.Fprintf(&table, "\n### %s\n\n%s\n\n| Variant | States seen | Result |\n|---|---:|---|\n", c.name, c.about)
		for _, v := range c.variants {
			if line := lines[c.name+"\x00"+v.rule]; line != "" {
				fmt.Fprintln(&table, line)
			}
		}
	}
	table.WriteString("\n")
	if err := os.WriteFile(docs, []byte(before+tableBegin+table.String()+tableEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
