package terraform

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/infra/terraform/policy"
)

const (
	awsModule  = "modules/aws"
	repository = "../.."
)

var (
	blockLine     = regexp.MustCompile(`^(\w+)((?: "[^"]+")*) \{$`)
	attributeLine = regexp.MustCompile(`^  ([\w-]+)\s+= (.*)$`)
	innerLine     = regexp.MustCompile(`^  (?:dynamic ")?(\w+)"? \{$`)
)

// block is a top-level block of a formatted .tf file: its arguments as text,
// and the names of the blocks in it.
type block struct {
	file, name string // `resource "aws_sqs_queue" "this"`
	arguments  map[string]string
	blocks     map[string]string
}

// configuration reads the blocks of a folder. It relies on the format that
// `tofu fmt` writes, which the suite terraform checks.
func configuration(t *testing.T, folder string) []block {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.tf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no configuration in %s: %v", folder, err)
	}
	var all []block
	for _, file := range files {
		var current *block
		into, name := map[string]string(nil), ""
		for line := range strings.Lines(read(t, file)) {
			line = strings.TrimRight(line, "\n")
			if m := blockLine.FindStringSubmatch(line); m != nil {
				all = append(all, block{file: file, name: m[1] + m[2], arguments: map[string]string{}, blocks: map[string]string{}})
				current = &all[len(all)-1]
				into, name = nil, ""
				continue
			}
			if line == "}" || current == nil {
				current = nil
				continue
			}
			if m := attributeLine.FindStringSubmatch(line); m != nil {
				into, name = current.arguments, m[1]
				into[name] = m[2]
			} else if m := innerLine.FindStringSubmatch(line); m != nil {
				into, name = current.blocks, m[1]
				into[name] = ""
			} else if into != nil && continues(line) {
				into[name] += "\n" + line
			}
		}
	}
	return all
}

// continues reports whether a line belongs to the argument before it: comments
// and empty lines stand before one.
func continues(line string) bool {
	return strings.HasPrefix(line, "   ") || strings.HasPrefix(line, "  }") || strings.HasPrefix(line, "  ]")
}

// resources returns the blocks of a resource type by their local name.
func resources(all []block, kind string) map[string]block {
	found := map[string]block{}
	for _, b := range all {
		if name, ok := strings.CutPrefix(b.name, `resource "`+kind+`" "`); ok {
			found[strings.TrimSuffix(name, `"`)] = b
		}
	}
	return found
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// policies reads the templates of a module. The values that a template leaves
// open appear by their names: <table_arn>.
func policies(t *testing.T) map[string]policy.Document {
	t.Helper()
	all, err := policy.Read(filepath.Join(awsModule, "policies"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
