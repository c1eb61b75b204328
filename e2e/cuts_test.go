package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
)

// sourceCut is a way of cutting a table, and how many parts it has at least.
type sourceCut struct {
	name, config string
	parts        int
}

// runCuts exports what keys name from the source in every cut and format, in one
// run of the command, and hands the publications of each cut to check, by their
// formats. title begins the names of the tests.
func runCuts(t *testing.T, d *desk, title, source, keys string, cuts []sourceCut, formats []string, check func(t *testing.T, of map[string]publication)) {
	t.Helper()
	config := "source: " + source + "\nexports:\n"
	for i, c := range cuts {
		for _, format := range formats {
			config += fmt.Sprintf("  - { name: %s%d, %s, %s, format: %s, destination: { type: local, path: out/%s%d } }\n", format, i, keys, c.config, format, format, i)
		}
	}
	d.write(t, "rivet.yaml", config)
	d.must(t, "run", "--workers", "3")
	for i, c := range cuts {
		t.Run(title+c.name, func(t *testing.T) {
			of := make(map[string]publication)
			for _, format := range formats {
				p := published(t, inFolder(t, filepath.Join(d.dir, fmt.Sprintf("out/%s%d", format, i))))
				if parts := len(p.manifest.Parts); parts < c.parts {
					t.Errorf("%d parts of %s, want %d: nothing was cut", parts, format, c.parts)
				}
				of[format] = p
			}
			check(t, of)
		})
	}
}
