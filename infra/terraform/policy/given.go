package policy

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Functions are the functions that have a role.
var Functions = []string{"planner", "chunk", "finalizer", "validator"}

var (
	optionLine = regexp.MustCompile(`^    ([\w-]+)\s+= (.*)$`)
	quoted     = regexp.MustCompile(`"(\w+)"`)
)

// Given returns which policies of the module's folder each function's role is
// given, by its iam.tf: its own, that of its logs, and those of options, which
// a deployment may leave out.
func Given(iam string) (map[string][]string, error) {
	text, err := os.ReadFile(iam)
	if err != nil {
		return nil, err
	}
	given := make(map[string][]string)
	for _, function := range Functions {
		given[function] = []string{function, "logs"}
	}
	_, options, ok := strings.Cut(string(text), "\n  options = {\n")
	options, _, end := strings.Cut(options, "\n  }\n")
	_, callbacks, also := strings.Cut(string(text), "\nresource \"aws_iam_role_policy\" \"callbacks\" {\n  for_each = ")
	callbacks, _, _ = strings.Cut(callbacks, "\n")
	if !ok || !end || !also {
		return nil, fmt.Errorf("%s does not say which functions have which options", iam)
	}
	options += "\n    callbacks = " + callbacks // a resource of its own
	for line := range strings.Lines(options) {
		m := optionLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		for _, function := range Functions {
			if strings.Contains(m[2], "local.functions") || strings.Contains(m[2], `"`+function+`"`) {
				given[function] = append(given[function], m[1])
			}
		}
	}
	return given, nil
}
