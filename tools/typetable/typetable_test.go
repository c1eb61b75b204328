package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source/mongodb/extjson"
)

func TestTheTablesInTheDocsAreThoseOfTheCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/types.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := withTables(page)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(page, want) {
		return
	}
	have := strings.Split(string(page), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(have) || have[i] != line {
			t.Fatalf("line %d of docs/types.md is not what the code says (`make types` writes it):\n%s", i+1, line)
		}
	}
	t.Fatal("docs/types.md has more rows than the code")
}

// A row says what its own type is delivered as, and no two rows are about the
// same types.
func TestEveryRowIsOfItsOwnType(t *testing.T) {
	for name, table := range sources {
		seen := map[string]bool{}
		for _, r := range table {
			m, err := r.Of.Map()
			found, ok := table.RowOf(r.Of)
			if !ok || found.Of.Native() != r.Of.Native() || found.Declared != r.Declared || (err == nil) != (r.Type.Kind != "") {
				t.Errorf("%s: %s is delivered by the row of %s: %v", name, r.Of.Native(), found.Of.Native(), err)
			}
			if err == nil && (m.Type.Kind != r.Type.Kind || m.Fidelity != r.Fidelity || m.Fidelity == "") {
				t.Errorf("%s: %s is %s, %s; its row says %s, %s", name, r.Of.Native(), m.Type, m.Fidelity, r.Type, r.Fidelity)
			}
			cells, err := cellsOf(r)
			if err != nil || seen[cells[0]] {
				t.Errorf("%s: %s: %v, or the row is there twice", name, cells, err)
			}
			seen[cells[0]] = true
		}
	}
}

func TestEveryKindOfBSONHasAnExample(t *testing.T) {
	if len(values) != len(extjson.Kinds) {
		t.Errorf("%d examples of %d kinds", len(values), len(extjson.Kinds))
	}
}

func TestAPageWithoutAPlaceForATableIsRefused(t *testing.T) {
	if _, err := withTables([]byte("# Types\n")); !errors.Is(err, errNoPlace) {
		t.Errorf("got %v", err)
	}
	if _, err := withTables([]byte("<!-- table: oracle -->\n<!-- end -->")); err == nil {
		t.Error("a table that is none is not noticed")
	}
}

func TestOverridesThatAreTriedAreNamesOfTheConfig(t *testing.T) {
	for _, name := range candidates {
		if _, err := rowtype.ParseOverride(name); err != nil {
			t.Error(err)
		}
	}
}
