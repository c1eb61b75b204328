package terraform

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/infra/terraform/policy"
)

// Words of the page's table that stand for actions.
var shorthand = map[string][]string{
	"its queue":  consuming,
	"its secret": {"secretsmanager:GetSecretValue", "ssm:GetParameter"},
}

var (
	codeSpan   = regexp.MustCompile("`([^`]+)`")
	actionName = regexp.MustCompile(`^(?:([a-z][a-z0-9-]*):)?([A-Z][a-z]\w+|connect)$`)
)

// actionsIn returns the actions that a cell of the table names: a service holds
// for the names that follow it, up to the next semicolon.
func actionsIn(cell string) []string {
	found := map[string]bool{}
	for words, actions := range shorthand {
		if strings.Contains(cell, words) {
			for _, a := range actions {
				found[a] = true
			}
		}
	}
	for clause := range strings.SplitSeq(cell, ";") {
		service := ""
		for _, span := range codeSpan.FindAllStringSubmatch(clause, -1) {
			for name := range strings.SplitSeq(span[1], ", ") {
				m := actionName.FindStringSubmatch(name)
				if m == nil {
					continue
				}
				if m[1] != "" {
					service = m[1]
				}
				found[service+":"+m[2]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// actionsOf returns what policies allow.
func actionsOf(all map[string]policy.Document, names ...string) []string {
	found := map[string]bool{}
	for _, g := range policy.Grants(all) {
		if slices.Contains(names, g.Policy) {
			found[g.Action] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func TestThePageNamesWhatEachRoleMayDo(t *testing.T) {
	all := policies(t)
	given, err := policy.Given(awsModule + "/iam.tf")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(read(t, repository+"/docs/aws.md"), "\n## Permissions\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string][]string{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			rows[strings.TrimSpace(cells[1])] = actionsIn(cells[2])
		}
	}
	// The table has what the functions' work takes; text has the rest.
	inTable := []string{"planner", "chunk", "finalizer", "validator", "configs", "secrets", "parameters", "tokens"}
	for _, function := range functions {
		var names []string
		for _, name := range given[function] {
			if slices.Contains(inTable, name) {
				names = append(names, name)
			}
		}
		if want := actionsOf(all, names...); !slices.Equal(rows[function], want) {
			t.Errorf("the page's row of the %s names\n %v, the policies %v have\n %v", function, rows[function], names, want)
		}
	}
	if got, want := rows["planner, with `allow_quarantine`"], actionsOf(all, "quarantine"); !slices.Equal(got, want) {
		t.Errorf("the page's row of quarantine names %v, the policy has %v", got, want)
	}
	for name := range all {
		if slices.Contains(inTable, name) || name == "quarantine" || name == "network" || name == "bucket" || name == "scheduler" {
			continue
		}
		for _, action := range actionsOf(all, name) {
			_, short, _ := strings.Cut(action, ":")
			if !strings.Contains(section, short) {
				t.Errorf("the page does not say that %s allows %s", name, action)
			}
		}
	}
}

func TestEveryPolicyIsGivenToSomebody(t *testing.T) {
	given, err := policy.Given(awsModule + "/iam.tf")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"bucket": true, "scheduler": true} // of the bucket, and of the schedules' role
	for _, names := range given {
		for _, name := range names {
			seen[name] = true
		}
	}
	if got, want := slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(policies(t))); !slices.Equal(got, want) {
		t.Errorf("policies that are given to a role: %v, there are %v", got, want)
	}
}
