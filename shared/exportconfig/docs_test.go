package exportconfig

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/configuration.md")

const (
	docs  = "../../docs/configuration.md"
	start = "<!-- The tables of keys follow: go test ./shared/exportconfig -run TestDocs -update writes them. -->\n"
	end   = "<!-- The tables of keys end. -->\n"
)

// TestDocsListEveryKey compares the tables of the documentation with the table
// that the reader works by.
func TestDocsListEveryKey(t *testing.T) {
	body, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(body), start)
	old, after, closed := strings.Cut(after, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the tables", docs)
	}
	want := tables()
	if *update && old != want {
		if err := os.WriteFile(docs, []byte(before+start+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != want {
		t.Errorf("%s does not list the keys as they are: run this test with -update", docs)
	}
}

// tables prints one table a block; a block with the keys of an earlier one
// refers to it.
func tables() string {
	var b strings.Builder
	var done []keyBlock
	all := Keys()
	for _, block := range blocks {
		title := "`" + block.path + "`"
		if block.path == "" {
			title = "The root"
		}
		b.WriteString("\n### " + title + "\n\n")
		same := slices.IndexFunc(done, func(d keyBlock) bool { return &d.keys[0] == &block.keys[0] })
		done = append(done, block)
		if same >= 0 {
			b.WriteString("The keys of `" + done[same].path + "`.\n")
			continue
		}
		var keys []Key
		for _, k := range all {
			if k.Block == block.path {
				keys = append(keys, k)
			}
		}
		b.WriteString(table(keys))
	}
	return b.String() + "\n"
}

// table prints the keys of a block; a reason that all of them are refused for
// is said once.
func table(keys []Key) string {
	head, rule := "| key | type | default | meaning | this version |\n", "|---|---|---|---|---|\n"
	allRefused := !slices.ContainsFunc(keys, func(k Key) bool { return k.Support != Refused || k.Why != keys[0].Why })
	if allRefused {
		head, rule = "Every key is "+support(keys[0])+".\n\n| key | type | default | meaning |\n", "|---|---|---|---|\n"
	}
	lines := head + rule
	for _, k := range keys {
		lines += "| `" + k.Name + "` | " + k.Type + " | " + k.Default + " | " + strings.ReplaceAll(k.Meaning, "|", `\|`) + " |"
		if !allRefused {
			lines += " " + support(k) + " |"
		}
		lines += "\n"
	}
	return lines
}

func support(k Key) string {
	switch {
	case k.Support == Refused:
		return "**refused**: " + k.Why
	case k.Support == Accepted:
		return "no effect: " + k.Why
	case k.Why != "":
		return "yes; " + k.Why
	}
	return "yes"
}

func TestEveryKeyIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		id := k.Block + "." + k.Name
		if k.Meaning == "" || k.Type == "" {
			t.Errorf("%s has no meaning or no type", id)
		}
		if seen[id] {
			t.Errorf("%s stands twice", id)
		}
		seen[id] = true
	}
	for _, b := range blocks { // a block that no key leads to would never be read
		parent, name := "", strings.TrimSuffix(b.path, "[]")
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			parent, name = name[:i], name[i+1:]
		}
		if b.path != "" && !seen[parent+"."+name] {
			t.Errorf("no key leads to %s", b.path)
		}
	}
}
