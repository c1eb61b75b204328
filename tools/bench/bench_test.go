package main

import (
	"strings"
	"testing"
	"time"
)

// The last lines are what others compare: how many times as much CPU time the
// best of the others took.
func TestRatiosAreOfTheBestThatDidNotFail(t *testing.T) {
	all := []tool{{"lapstrake", ours, nil}, {"copy", floors, nil}, {"quick but wrong", peer, nil}, {"good", peer, nil}, {"slow", peer, nil}, {"rivet", upstream, nil}}
	took := func(cpu, wall float64) result {
		return result{usage: usage{cpu: time.Duration(cpu * 1e9), wall: time.Duration(wall * 1e9)}}
	}
	wrong := took(1, 1)
	wrong.failed = "its output has half the rows"
	got := ratiosOf("postgres", tables[0], all, []result{took(2, 3), took(1, 2), wrong, took(6.2, 9), took(9, 9), took(12, 12)})
	want := []string{
		"lineitem postgres lapstrake/thrown-away wall ratio 1.50",
		"lineitem postgres lapstrake/upstream cpu ratio 6.0",
		"lineitem postgres lapstrake/best-peer cpu ratio 3.1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("%s", strings.Join(got, "\n"))
	}
	if got := ratiosOf("postgres", tables[0], all[:1], []result{took(2, 3)}); len(got) != 0 {
		t.Fatalf("ratios with nobody: %s", got)
	}
}

// Every table has its statements, which say how many rows are wanted.
func TestTablesHaveTheirStatements(t *testing.T) {
	for _, name := range []string{"lineitem", "events", "narrow"} {
		chosen, err := options{tables: name, scale: 0.5}.chosen()
		if err != nil {
			t.Fatal(err)
		}
		for _, engine := range []string{"", ".mariadb"} {
			body, err := definitions.ReadFile("tables/" + name + engine + ".sql")
			if err != nil || !strings.Contains(string(body), "{rows}") {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, full := range tables {
			if full.name == name && chosen[0].rows != full.rows/2 {
				t.Errorf("%s has %d rows at half the scale of %d", name, chosen[0].rows, full.rows)
			}
		}
	}
	if _, err := (options{tables: "orders"}).chosen(); err == nil {
		t.Error("a table that is not there is chosen")
	}
}
