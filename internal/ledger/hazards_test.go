package ledger

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// families are the sections of docs/hazards.md, in order, and how many ids each has.
var families = []struct {
	name string
	ids  int
}{
	{"PLN", 31}, {"CUR", 16}, {"TPG", 21}, {"TMY", 12}, {"TMS", 10}, {"TMO", 7}, {"WRT", 22},
	{"DST", 18}, {"MAN", 19}, {"QUE", 24}, {"CDC", 15}, {"SEC", 10}, {"OPS", 17},
}

const notYet = "not yet looked at"

var (
	hazardRow = regexp.MustCompile(`^\| ([A-Z]{3})-(\d\d)(?: to ([A-Z]{3})-(\d\d))? \|(.*)\|(.*)\|$`)
	testName  = regexp.MustCompile("`([^`]+\\.Test[^`]*)`")
)

// hazard is one row: an id, or several that share their fate.
type hazard struct {
	family      string
	first, last int
	fault, says string
}

// hazards returns the rows of a page. A line that looks like a row and is none
// is an error.
func hazards(page string) ([]hazard, error) {
	var rows []hazard
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| id |") || strings.HasPrefix(line, "|---") {
			continue
		}
		m := hazardRow.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("%q is no row of three cells that begins with an id", line)
		}
		h := hazard{family: m[1], fault: strings.TrimSpace(m[5]), says: strings.TrimSpace(m[6])}
		h.first, _ = strconv.Atoi(m[2])
		h.last = h.first
		if m[3] != "" {
			h.last, _ = strconv.Atoi(m[4])
			if m[3] != h.family || h.last <= h.first {
				return nil, fmt.Errorf("%q is no range of ids", line)
			}
		}
		rows = append(rows, h)
	}
	return rows, nil
}

// complete returns an error unless every id has its row, once and in order, and
// no row is empty.
func complete(rows []hazard) error {
	for _, family := range families {
		for next := 1; next <= family.ids; {
			if len(rows) == 0 || rows[0].family != family.name || rows[0].first != next || rows[0].last > family.ids {
				return fmt.Errorf("%s-%02d has no row where it belongs", family.name, next)
			}
			row := rows[0]
			rows, next = rows[1:], row.last+1
			if row.says == "" || row.fault == "" && row.says != notYet {
				return fmt.Errorf("the row of %s-%02d has an empty cell", row.family, row.first)
			}
		}
	}
	if len(rows) > 0 {
		return fmt.Errorf("%s-%02d is one id too many", rows[0].family, rows[0].first)
	}
	return nil
}

// Every hazard has its row, and every test that a row names is there.
func TestHazards(t *testing.T) {
	page, err := os.ReadFile("../../docs/hazards.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := hazards(string(page))
	if err != nil {
		t.Fatal(err)
	}
	if err := complete(rows); err != nil {
		t.Error(err)
	}
	found := make(map[string]*testPackage)
	ids, tested, open := 0, 0, 0
	for _, row := range rows {
		several := row.last - row.first + 1
		ids += several
		names := testName.FindAllStringSubmatch(row.says, -1)
		switch {
		case row.says == notYet:
			open += several
			t.Logf("%s: %s-%02d to %02d", notYet, row.family, row.first, row.last)
		case len(names) > 0:
			tested += several
		}
		for _, name := range names {
			if err := there(found, name[1]); err != nil {
				t.Errorf("%s-%02d: %v", row.family, row.first, err)
			}
		}
	}
	t.Logf("%d hazards: %d with a test, %d with a reason, %d %s", ids, tested, ids-tested-open, open, notYet)
}

// Rows that say nothing, that are missing, doubled or misspelt are seen.
func TestHazardsThatSayNothingAreSeen(t *testing.T) {
	var good strings.Builder
	for _, family := range families {
		fmt.Fprintf(&good, "| %s-01 to %s-%02d | a fault | a reason |\n", family.name, family.name, family.ids)
	}
	for _, tc := range []struct{ name, from, to, want string }{
		{"a whole page", "", "", ""},
		{"a missing row", "| TMO-01 to TMO-07 | a fault | a reason |\n", "", "TMO-01 has no row"},
		{"a row that ends early", "TMO-07", "TMO-06", "TMO-07 has no row"},
		{"a row that ends late", "TMO-07", "TMO-08", "TMO-01 has no row"},
		{"a range of two families", "TMO-07", "WRT-07", "no range"},
		{"a range that goes back", "TMO-01 to TMO-07", "TMO-07 to TMO-01", "no range"},
		{"a doubled row", "| SEC-01", "| CDC-15 | a fault | a reason |\n| SEC-01", "SEC-01 has no row"},
		{"a row after the last", "OPS-17 | a fault | a reason |", "OPS-17 | a fault | a reason |\n| OPS-18 | a fault | a reason |", "OPS-18 is one id too many"},
		{"an empty last cell", "TMO-07 | a fault | a reason |", "TMO-07 | a fault | |", "TMO-01 has an empty cell"},
		{"an empty middle cell", "TMO-07 | a fault |", "TMO-07 | |", "TMO-01 has an empty cell"},
		{"a cell too few", "TMO-07 | a fault |", "TMO-07 |", "no row of three cells"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, err := hazards(strings.Replace(good.String(), tc.from, tc.to, 1))
			if err == nil {
				err = complete(rows)
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
