package prove

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// docs/prove.md says of every code what it means and which exit code it leads
// to, and of no other.
func TestEveryCodeIsDocumented(t *testing.T) {
	source, err := os.ReadFile("finding.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/prove.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`"(LAPSTRAKE_PROVE_[A-Z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 20 {
		t.Fatalf("only %d codes seen: the test no longer tests anything", len(codes))
	}
	exits := map[string]string{"3": string(contract.VerdictWrong), "1": string(contract.VerdictUnverified), "0": string(contract.VerdictNote)}
	documented := make(map[string]string)
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, m := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(cells[1], -1) {
			documented["LAPSTRAKE_PROVE_"+m[1]] = exits[strings.TrimSpace(cells[2])]
		}
	}
	for _, m := range codes {
		var f findings
		for code := range documented {
			if code == m[1] {
				f.find(fault.Code(code), "", "documented")
			}
		}
		if len(f.list) != 1 || documented[m[1]] != string(f.list[0].Class) {
			t.Errorf("%s is documented as %q, and is %+v", m[1], documented[m[1]], f.list)
		}
	}
	if len(documented) != len(codes) {
		t.Errorf("%d codes are documented, there are %d", len(documented), len(codes))
	}
}

// The reasons of a record with thousands of wrong tasks stay readable, and what
// was dropped is not taken for harmless.
func TestManyFindingsAreCut(t *testing.T) {
	var f findings
	for range maxFindings {
		f.find(rowsRepeated, "", "x")
	}
	f.find(keyGap, "", "x")
	all := f.all()
	if len(all) != maxFindings || worstOf(all) != contract.VerdictWrong || !strings.HasSuffix(all[maxFindings-1].Detail, "and 1 findings more") {
		t.Errorf("%d findings, the last is %+v", len(all), all[len(all)-1])
	}
}
