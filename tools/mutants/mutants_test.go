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

// What the design lists, by its words, and the mutants that stand for it.
var design = map[string][]string{
	"fence read removed":                            {"fence-not-read"},
	"helper fence admits open":                      {"helper-admits-open"},
	"F6 removed":                                    {"fence-of-another-run"},
	"F2 without counting absent tasks":              {"absent-tasks-are-complete"},
	"resume without R2b":                            {"resume-puts-no-tasks"},
	"split or repair without the RUN check":         {"T9-without-the-run", "T18-without-the-run", "T18-after-the-freeze"},
	"bytes built from the first query":              {"bytes-of-the-first-query"},
	"FailRun of a finalizing run":                   {"T15-fails-a-frozen-run"},
	"TAKE without looking at the own sidecar":       {"take-ignores-own-sidecar", "open-ignores-own-sidecar"},
	"RESUME before the claim":                       {"fence-before-the-claim"},
	"quarantine that recurses into nested prefixes": {"quarantine-of-nested-prefixes"},
	"no seal":                                            {"no-seal"},
	"seal without roll-forward":                          {"seal-without-roll-forward"},
	"roll-forward without seal":                          {"roll-forward-without-seal"},
	"seal before the fence":                              {"seal-before-fence"},
	"sidecar by plain PUT":                               {"sidecar-is-a-plain-put"},
	"fence-then-capture":                                 {"capture-after-the-fence", "helper-captures-after-the-fence"},
	"CAS→PUT for manifest / _SUCCESS / cursor":           {"manifest-swap-is-a-put", "marker-swap-is-a-put", "cursor-swap-is-a-put"},
	"cursor before manifest":                             {"cursor-before-manifest"},
	"_SUCCESS before manifest":                           {"marker-before-manifest"},
	"ack before COMMIT":                                  nil, // no source has anything to acknowledge yet
	"part PUT unconditional":                             {"part-is-a-plain-put"},
	"If-Match overwrite with content ETag":               {"part-swaps-by-content"},
	"412 treated as success without Head":                {"part-exists-is-success"},
	"BatchWrite chunks":                                  {"T3-writes-over-tasks"},
	"claim without gen":                                  {"T6-for-any-generation"},
	"complete without token":                             {"T8-without-the-token"},
	"split in two writes":                                {"split-in-two-writes"},
	"duplicate of split parent acks only":                {"child-not-sent-again", "completed-task-only-acked"},
	"counter fan-in + no query":                          {"counter-and-no-query"},
	"finalizer skips query":                              {"no-second-look"},
	"manifest uses time.Now()":                           {"manifest-of-now"},
	"resume quarantines before revoking leases":          {"quarantine-before-revoke"},
	"adoption across generations":                        {"part-of-any-generation-is-adopted"},
	"part name without generation after resume":          {"part-name-without-generation"},
	"lease time used for safety":                         {"T8-by-lease-time"},
	"SDK retry of a conditional write without read-back": {"create-without-read-back", "replace-without-read-back"},
	"resume twice, resume without a swap (sealed)":       {"resume-keeps-the-generation"},
}

func TestTheDesignsMutantsAreThere(t *testing.T) {
	core := make(map[string]bool)
	for _, m := range mutants() {
		if m.core {
			core[m.name] = true
		}
	}
	for words, names := range design {
		for _, name := range names {
			if !core[name] {
				t.Errorf("%s: no mutant of the core is called %s", words, name)
			}
			delete(core, name)
		}
	}
	for name := range core {
		t.Errorf("%s is of the core, and the design does not list it", name)
	}
}
