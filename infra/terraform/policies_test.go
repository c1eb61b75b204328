package terraform

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/infra/terraform/policy"
	"github.com/lapstrake/lapstrake/shared/contract"
)

// unavoidable are the statements that name every resource there is: interfaces
// of a network are made under names that nobody knows before, and a refusal is
// meant for all.
var unavoidable = map[string]bool{"network/InterfacesByLambda": true, "network/NotByTheFunction": true, "bucket/EncryptedOnTheWay": true}

func TestNoPolicyHasAWildcardThatCouldBeAName(t *testing.T) {
	for name, p := range policies(t) {
		if p.Version != "2012-10-17" {
			t.Errorf("%s: version %q", name, p.Version)
		}
		for _, s := range p.Statement {
			if unavoidable[name+"/"+s.Sid] {
				continue
			}
			for _, action := range s.Action {
				if strings.Contains(action, "*") || !strings.Contains(action, ":") {
					t.Errorf("%s/%s: action %q", name, s.Sid, action)
				}
			}
			for _, resource := range slices.Concat(s.Resource, s.NotResource) {
				if !strings.HasPrefix(resource, "<") {
					t.Errorf("%s/%s: resource %q is not below one that the module names", name, s.Sid, resource)
				}
			}
			if len(s.Action) == 0 || len(s.Resource)+len(s.NotResource) == 0 {
				t.Errorf("%s/%s: no action or no resource", name, s.Sid)
			}
		}
	}
}

// puts returns the keys that a policy allows to write, with their condition.
func puts(p policy.Document) (keys []string, createOnly bool) {
	createOnly = true
	for _, s := range p.Statement {
		if s.Effect == "Allow" && slices.Contains(s.Action, "s3:PutObject") {
			keys = append(keys, s.Resource...)
			createOnly = createOnly && slices.Equal(s.Condition["Null"]["s3:if-none-match"], policy.Texts{"false"})
		}
	}
	return keys, createOnly
}

func TestAWorkerCreatesPartsAndWritesNothingElse(t *testing.T) {
	all := policies(t)
	keys, createOnly := puts(all["chunk"])
	if want := (policy.Texts{"<objects>part-*", "<objects>*/part-*"}); !slices.Equal(keys, want) || !createOnly {
		t.Errorf("the chunk function may put %v, only if they are not there: %v", keys, createOnly)
	}
	part := contract.PartNaming{Generation: 1, Ext: "parquet"}.Name(contract.BaseTaskID(0), 0)
	if !strings.HasPrefix(part, "part-") {
		t.Errorf("parts are called %q: no policy means them", part)
	}
	for _, name := range []string{"planner", "finalizer", "validator"} {
		keys, _ := puts(all[name])
		for _, key := range keys {
			if strings.Contains(key, "part-") || strings.HasSuffix(key, ">*") {
				t.Errorf("the %s may put %s", name, key)
			}
		}
	}
}

func TestTheBucketKeepsAWorkerToNewParts(t *testing.T) {
	byID := map[string]policy.Statement{}
	for _, s := range policies(t)["bucket"].Statement {
		if s.Effect != "Deny" {
			t.Errorf("%s allows something: the roles do that", s.Sid)
		}
		byID[s.Sid] = s
	}
	parts := policy.Texts{"<objects>part-*", "<objects>*/part-*"}
	once := byID["PartsAreCreatedOnce"]
	if !slices.Equal(once.Resource, parts) || !slices.Equal(once.Action, policy.Texts{"s3:PutObject"}) || !slices.Equal(once.Condition["Null"]["s3:if-none-match"], policy.Texts{"true"}) {
		t.Errorf("a part could be replaced: %+v", once)
	}
	only := byID["WorkersWritePartsOnly"]
	if !slices.Equal(only.NotResource, parts) || len(only.Condition) != 0 {
		t.Errorf("a worker could write something else: %+v", only)
	}
	for _, s := range []policy.Statement{once, only} {
		if p, ok := s.Principal.(map[string]any); !ok || p["AWS"] != "<chunk_role>" {
			t.Errorf("%s is meant for %v", s.Sid, s.Principal)
		}
	}
}

// Keys that no role of a function may write: what the names in policies stand
// for comes from the contract.
func TestPoliciesMeanTheNamesOfTheContract(t *testing.T) {
	want := map[string][]string{
		"planner":   {contract.ControlDir + "/*", "manifest*", contract.SuccessName},
		"finalizer": {contract.ControlDir + "/*", "manifest*", contract.SuccessName},
		"validator": {contract.ControlDir + "/*/runs/*/verdict-*"},
		"chunk":     {"part-*"},
	}
	all := policies(t)
	for _, function := range slices.Sorted(maps.Keys(want)) {
		var patterns []string
		for _, name := range want[function] {
			patterns = append(patterns, "<objects>"+name, "<objects>*/"+name)
		}
		if keys, _ := puts(all[function]); !slices.Equal(keys, patterns) {
			t.Errorf("the %s may put %v, want %v", function, keys, patterns)
		}
	}
	if !strings.HasPrefix(contract.ManifestName, "manifest") {
		t.Errorf("the manifest is called %s", contract.ManifestName)
	}
}
