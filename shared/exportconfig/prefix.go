package exportconfig

import (
	"slices"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
)

// Placeholders that only a run gives a value. Other words in braces stay as
// they are, as upstream.
const (
	datePlaceholder  = "{date}"
	runIDPlaceholder = "{run_id}"
)

// ResolvePrefix gives the placeholders of a template their values for one run:
// {date} is the day of date in UTC. It is called once a run, by the planner
// (PLN-28). A value is not scanned again.
func ResolvePrefix(template string, run contract.RunID, date time.Time) string {
	return strings.NewReplacer(datePlaceholder, date.UTC().Format(time.DateOnly), runIDPlaceholder, string(run)).Replace(template)
}

// RunScoped reports whether no two runs share a prefix of this template.
func RunScoped(template string) bool { return strings.Contains(template, runIDPlaceholder) }

func hasPlaceholder(segment string) bool {
	return strings.Contains(segment, datePlaceholder) || strings.Contains(segment, runIDPlaceholder)
}

// apart refuses exports that would write into one another's folders: those
// whose control folders have one name, and those whose prefixes are equal or
// nested for some day and run (MAN-13).
func (r *reader) apart(exports []Export) {
	placed := make([]placement, len(exports))
	for i, e := range exports {
		placed[i] = placement{Export: e, token: contract.Token(e.Name), folders: pattern(e)}
	}
	for i, b := range placed {
		for _, a := range placed[:i] {
			if a.Name != "" && b.Name != "" && r.meet(a, b) {
				break // b is stopped; what else it meets says nothing new
			}
		}
	}
}

// meet reports the first reason for which a and b may not stand in one file.
func (r *reader) meet(a, b placement) bool {
	both := []string{a.Name, b.Name}
	switch {
	case a.Name == b.Name:
		r.add(b.Line, CodeInvalid, both, "export %s: the name stands here and in line %d: names are unique", quote(b.Name), a.Line)
	case a.token == b.token:
		r.add(b.Line, CodePrefix, both, "export %s: its control folder would be %s, as that of export %s in line %d: rename one", quote(b.Name), b.token, quote(a.Name), a.Line)
	case overlap(a.folders, b.folders):
		r.add(b.Line, CodePrefix, both, "export %s: its destination is equal to that of export %s in line %d, or one lies inside the other: give each export a folder of its own, for example with {export}", quote(b.Name), quote(a.Name), a.Line)
	default:
		return false
	}
	return true
}

// placement is an export with what the comparison of every two needs.
type placement struct {
	Export
	token   string
	folders [][]rune
}

// overlap reports whether a run of one export and a run of the other could
// resolve to prefixes of which one contains the other. Values of placeholders
// have a fixed length, so folders are compared character by character.
func overlap(a, b [][]rune) bool {
	for i := range min(len(a), len(b)) {
		if !slices.EqualFunc(a[i], b[i], compatible) {
			return false
		}
	}
	return len(a) > 0 && len(b) > 0
}

// digit stands for any digit in a pattern. It is no character of a path.
const digit rune = -1

func compatible(x, y rune) bool {
	isDigit := func(c rune) bool { return c == digit || c >= '0' && c <= '9' }
	return x == y || (x == digit || y == digit) && isDigit(x) && isDigit(y)
}

// pattern returns the folders of an export, kind and bucket included, with
// digit where a placeholder has one; none for an export without a destination. A path cannot have the NUL that marks them meanwhile.
func pattern(e Export) [][]rune {
	const day, moment = "\x00\x00\x00\x00-\x00\x00-\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00T\x00\x00\x00\x00\x00\x00.\x00\x00\x00"
	replaced := strings.NewReplacer(datePlaceholder, day, runIDPlaceholder, e.Name+"_"+moment).Replace(e.Destination.URI + "/" + e.PrefixTemplate)
	var folders [][]rune
	for folder := range strings.SplitSeq(replaced, "/") {
		if folder == "" {
			continue
		}
		runes := []rune(folder)
		for i, c := range runes {
			if c == 0 {
				runes[i] = digit
			}
		}
		folders = append(folders, runes)
	}
	return folders
}
