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
	// ownResource is a policy that is a resource by itself, of some functions.
	ownResource = regexp.MustCompile(`\nresource "aws_iam_role_policy" "(\w+)" \{\n  for_each = (toset\(.*)\n`)
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
	if !ok || !end {
		return nil, fmt.Errorf("%s does not say which functions have which options", iam)
	}
	for _, own := range ownResource.FindAllStringSubmatch(string(text), -1) {
		options += "\n    " + own[1] + " = " + own[2]
	}
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
