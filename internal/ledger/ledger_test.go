package ledger

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

const file = "../../docs/invariants.yaml"

// shapes are the columns: ways in which an export is cut, then places where it
// is kept.
var shapes = []string{"full", "chunked", "keyset", "incremental", "time_window", "local", "s3_dynamodb"}

// rules are the rows: the manifest contract, the order of state updates, the
// durability matrix and the write contracts.
var rules = strings.Fields(`
	M1 M2 M3 M4 M5 M6 M7 M8 M9 M10
	I1 I2 I3 I4 I5 I6 I7 I8
	manifest_durable_before_state_advance
	manifest_driven_recovery
	canonical_success_pair_consistent
	run_unique_sidecar_survives_shared_prefix
	repair_updates_the_run_unique_sidecar
	resume_never_quarantines_a_committed_part
	keyset_fresh_crash_before_first_page_rereads_not_skips
	keyset_post_data_failure_non_incremental_clears_anchor
	keyset_incremental_crash_before_finalize_rehydrates_not_orphans
	write_atomic
	write_finalize_on_close
	write_streaming
	write_capabilities
	write_retry_safe
	write_transit_integrity
	write_before_state`)

// ledger is the file.
type ledger struct {
	Shapes  []string `yaml:"shapes"`
	Reasons []string `yaml:"reasons"` // that several cells share
	Rules   []rule   `yaml:"rules"`
}

type rule struct {
	ID    string          `yaml:"id"`
	Title string          `yaml:"title"`
	Cells map[string]cell `yaml:",inline"`
}

// cell is exactly one of the three.
type cell struct {
	Test tests  `yaml:"test"`
	NA   string `yaml:"na"`
	Gap  string `yaml:"gap"`
}

// tests is one name or several.
type tests []string

func (t *tests) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*t = tests{n.Value}
		return nil
	}
	var many []string
	err := n.Decode(&many)
	*t = many
	return err
}

func read(t *testing.T) ledger {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var l ledger
	d := yaml.NewDecoder(strings.NewReader(string(body)))
	d.KnownFields(true)
	if err := d.Decode(&l); err != nil {
		t.Fatal(err)
	}
	return l
}

// No rule and no cell is missing, and each cell says one thing.
func TestLedgerIsComplete(t *testing.T) {
	l := read(t)
	if !slices.Equal(l.Shapes, shapes) {
		t.Errorf("the shapes are %v, want %v", l.Shapes, shapes)
	}
	var ids []string
	for _, r := range l.Rules {
		ids = append(ids, r.ID)
		if r.Title == "" {
			t.Errorf("%s has no title", r.ID)
		}
		for shape := range r.Cells {
			if !slices.Contains(shapes, shape) {
				t.Errorf("%s has a cell for %q", r.ID, shape)
			}
		}
		for _, shape := range shapes {
			c, there := r.Cells[shape]
			said := 0
			for _, says := range []bool{len(c.Test) > 0, c.NA != "", c.Gap != ""} {
				if says {
					said++
				}
			}
			if !there || said != 1 {
				t.Errorf("%s in shape %s says %d things, want one of test, na and gap", r.ID, shape, said)
			}
		}
	}
	if !slices.Equal(ids, rules) {
		t.Errorf("the rules are\n%v, want\n%v", ids, rules)
	}
}

// Every test that is named is there, with its subtests, and one that belongs to
// a rule and a shape stands in their cell.
func TestEveryTestIsThere(t *testing.T) {
	found := make(map[string]*testPackage)
	names := 0
	for _, r := range read(t).Rules {
		for _, shape := range shapes {
			for _, name := range r.Cells[shape].Test {
				names++
				if err := there(found, name); err != nil {
					t.Errorf("%s in shape %s: %v", r.ID, shape, err)
				}
				if err := misplaced(name, r.ID, shape); err != nil {
					t.Errorf("%s in shape %s: %v", r.ID, shape, err)
				}
			}
		}
	}
	if names < 100 {
		t.Fatalf("only %d names seen: the test no longer tests anything", names)
	}
}

// misplaced tells a cell that names another rule's test, or another shape's.
func misplaced(name, id, shape string) error {
	for _, table := range []string{"functions/simulation.TestLaws/", "functions/simulation.TestRules/"} {
		rest, ours := strings.CutPrefix(name, table)
		if !ours {
			continue
		}
		in, of, _ := strings.Cut(rest, "/")
		if in != shape || of != id && id != "write_before_state" {
			return fmt.Errorf("%s is the test of another cell", name)
		}
	}
	return nil
}

// Names that lead nowhere are seen.
func TestNamesThatLeadNowhereAreSeen(t *testing.T) {
	for name, want := range map[string]string{
		"internal/ledger.TestLedgerIsComplete":                                        "",
		"internal/ledger.TestNamesThatLeadNowhereAreSeen/a subtest":                   "", // this very line has it
		"internal/ledger.TestLedgerIsComplete/no such" + " subtest":                   "no such",
		"internal/ledger.TestNothing":                                                 "no test",
		"internal/nothing.TestLedgerIsComplete":                                       "no such file",
		"TestLedgerIsComplete":                                                        "no package",
		"shared/destination/localdir.TestLocaldirIsAStore/move never overwrites":      "", // in the suite that it runs
		"shared/destination/localdir.TestLocaldirIsAStore/move sometimes over" + "ws": "move sometimes",
	} {
		err := there(make(map[string]*testPackage), name)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	_ = "a subtest"
	if misplaced("functions/simulation.TestLaws/full/M1", "M2", "full") == nil || misplaced("functions/simulation.TestLaws/full/M1", "M1", "keyset") == nil {
		t.Error("a test in another cell is not seen")
	}
}

// TestInvariants prints the ledger: what is guarded how often, and each gap.
func TestInvariants(t *testing.T) {
	guarded, structural, gaps := 0, 0, 0
	for _, r := range read(t).Rules {
		for _, shape := range shapes {
			switch c := r.Cells[shape]; {
			case c.Gap != "":
				gaps++
				t.Logf("gap: %s, %s: %s", r.ID, shape, c.Gap)
			case c.NA != "":
				structural++
			default:
				guarded++
			}
		}
	}
	t.Logf("%d rules in %d shapes: %d cells with a test, %d that cannot be broken, %d gaps", len(rules), len(shapes), guarded, structural, gaps)
}
