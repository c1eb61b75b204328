package main

import (
	"strings"
	"testing"
)

// A mutant whose piece of code is gone proves nothing: it has to follow the
// code, or to go with its rule.
func TestEveryMutantFitsTheCode(t *testing.T) {
	all := mutants()
	if len(all) < 80 {
		t.Fatalf("only %d mutants: the test no longer tests anything", len(all))
	}
	if _, err := writeOverlay("../..", t.TempDir(), all); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, m := range all {
		if names[m.name] {
			t.Errorf("%s is there twice", m.name)
		}
		names[m.name] = true
		if m.rule == "" || m.removes == "" || len(m.edits) == 0 || m.caughtBy.test == "" || strings.Contains(m.caughtBy.test, "?") {
			t.Errorf("%s does not say what it breaks and who notices: %+v", m.name, m)
		}
	}
}
