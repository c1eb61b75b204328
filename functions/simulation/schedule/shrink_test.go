package schedule

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tries bounds how often a failing trace is run again to shrink it.
const tries = 600

// invariant returns the name of the invariant that was broken.
func (o outcome) invariant() string {
	if o.broken == nil {
		return ""
	}
	name, _, _ := strings.Cut(o.broken.Error(), ":")
	return name
}

// shrink takes decisions out of a failing list, as long as the same invariant
// breaks without them: long stretches first, then single ones. again runs a list.
func shrink(failing outcome, again func(list []decision) outcome) outcome {
	left := tries
	for size := len(failing.decisions) / 2; size > 0 && left > 0; {
		shorter := false
		for at := 0; at+size <= len(failing.decisions) && left > 0; {
			left--
			out := again(slices.Delete(slices.Clone(failing.decisions), at, at+size))
			if out.invariant() == failing.invariant() {
				failing, shorter = out, true
				continue
			}
			at += size
		}
		switch {
		case size > 1:
			size /= 2
		case !shorter:
			size = 0
		}
	}
	return failing
}

// explain is the message of a failing seed.
func explain(t *testing.T, seed int, failing outcome) string {
	small := shrink(failing, func(list []decision) outcome { return simulate(t, seed, &replay{list}, false) })
	small = simulate(t, seed, &replay{small.decisions}, true)
	return fmt.Sprintf("seed %d: %v\n\n%d decisions, shrunk from %d:\n%s\n\ngo test ./functions/simulation/schedule -run Simulation -seed %d",
		seed, small.broken, len(small.decisions), len(failing.decisions), strings.Join(small.trace, "\n"), seed)
}
