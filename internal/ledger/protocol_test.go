package ledger

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	mermaid    = regexp.MustCompile("(?s)```mermaid\n(.+?)```")
	transition = regexp.MustCompile(`^    (\[\*\]|\w+) --> (\[\*\]|\w+)( : [^:;]+)?$`)
	command    = regexp.MustCompile("(?m)^make ([a-z-]+)$|`make ([a-z-]+)`")
	recipe     = regexp.MustCompile(`(?m)^([a-z-]+):.*\n\t(.+)$`)
	benchmark  = regexp.MustCompile(`-bench (\w+) .*\./(\S+)`)
)

// docs/protocol.md can be drawn, and what it tells to run is there: its state
// chart has transitions only, its commands are targets of the Makefile, and the
// benchmark behind its numbers exists.
func TestProtocolPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	charts := mermaid.FindAllStringSubmatch(string(page), -1)
	if len(charts) != 1 {
		t.Fatalf("%d state charts, want one", len(charts))
	}
	head, rest, _ := strings.Cut(charts[0][1], "\n")
	if head != "stateDiagram-v2" {
		t.Errorf("the chart is a %s", head)
	}
	reached := map[string]bool{"[*]": true}
	for line := range strings.Lines(rest) {
		m := transition.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Errorf("%q is no transition", line)
			continue
		}
		if !reached[m[1]] {
			t.Errorf("%s is left before it is reached", m[1])
		}
		reached[m[2]] = true
	}
	recipes := make(map[string]string)
	for _, m := range recipe.FindAllStringSubmatch(string(makefile), -1) {
		recipes[m[1]] = m[2]
	}
	seen := make(map[string]bool)
	for _, m := range command.FindAllStringSubmatch(string(page), -1) {
		target := m[1] + m[2]
		seen[target] = true
		if recipes[target] == "" {
			t.Errorf("make %s is no target", target)
		}
	}
	m := benchmark.FindStringSubmatch(recipes["crash-tax"])
	if !seen["crash-tax"] || m == nil {
		t.Fatalf("the page runs %v, crash-tax is %q", seen, recipes["crash-tax"])
	}
	p := testPackage{functions: make(map[string]bool), texts: make(map[string]bool)}
	if err := p.read(m[2], "_test.go"); err != nil {
		t.Fatal(err)
	}
	if !p.functions["Benchmark"+m[1]] {
		t.Errorf("%s has no Benchmark%s", m[2], m[1])
	}
}
