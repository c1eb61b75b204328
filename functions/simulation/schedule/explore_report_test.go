package schedule

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

var (
	atMost = flag.Int("bound", -1, "explore this many preemptions and faults, whatever the scope says")
	again  = flag.String("schedule", "", "take this schedule of the scope alone, and print its trace")
	update = flag.Bool("update", false, "write what the explorations saw into docs/protocol-models.md")
)

// mostStates ends an exploration that turns out to be larger than was thought.
const mostStates = 3_000_000

// TestExplore visits every schedule of every scope, up to the scope's bound, and
// compares what it saw with docs/protocol-models.md. make explore goes deeper.
func TestExplore(t *testing.T) {
	documented := readScopes(t)
	var mu sync.Mutex
	rows := make(map[string]scopeRow)
	everything := os.Getenv("LAPSTRAKE_EXPLORE") == "all"
	brisk := testing.Short() || underRace || *atMost >= 0
	t.Run("scopes", func(t *testing.T) {
		for _, c := range scopes {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				if *again != "" {
					t.Log(c.replay(t, parseChoices(t, *again)))
					return
				}
				x := &exploration{scope: c, t: t, visits: mostStates}
				switch {
				case *atMost >= 0:
					x.run(*atMost)
				case brisk:
					x.run(0)
				case everything:
					x.run(c.deep)
				default:
					x.run(c.bound)
				}
				if x.found != nil {
					t.Errorf("RED after %d schedules with at most %d preemptions and faults: %s", x.schedules, x.round, c.explain(t, x.found))
				}
				for k, seen := range x.done {
					r := scopeRow{c.name, k, seen.schedules, seen.states, x.resultOf(k)}
					t.Logf("up to %d: %s schedules, %s states, %s", k, grouped(r.schedules), grouped(r.states), r.result)
					if x.late && k == len(x.done)-1 {
						t.Log("this machine is too slow for more before the tests' deadline")
						continue
					}
					if brisk || k != c.bound && k != c.deep {
						continue
					}
					mu.Lock()
					rows[r.key()] = r
					mu.Unlock()
					said, known := documented[r.key()]
					if !*update && !*brief && known && !r.like(said) {
						t.Errorf("docs/protocol-models.md says\n%s\nthe exploration\n%s\nrun LAPSTRAKE_EXPLORE=all go test ./functions/simulation/schedule -run TestExplore -update if the handlers have changed", said, r)
					}
				}
			})
		}
	})
	if *update && !t.Failed() {
		writeScopes(t, documented, rows)
	}
}

// explain is the message of a schedule that breaks an invariant: the shortest
// one that was found, and how to take the whole one again.
func (c scope) explain(t *testing.T, f *finding) string {
	if *brief {
		return f.broken.Error()
	}
	small := shrink(f.outcome, func(list []decision) outcome { return c.again(t, list, false) })
	small = c.again(t, small.decisions, true)
	return fmt.Sprintf("%v\n\n%d decisions, shrunk from %d:\n%s\n\ngo test ./functions/simulation/schedule -run '^TestExplore$/^scopes$/^%s$' -v -args -schedule %s",
		small.broken, len(small.decisions), len(f.decisions), strings.Join(small.trace, "\n"), strings.ReplaceAll(c.name, " ", "_"), printChoices(f.choices))
}

// replay takes one schedule and returns its trace.
func (c scope) replay(t *testing.T, choices []int) (trace string) {
	synctest.Test(t, func(t *testing.T) {
		s := c.begin(t)
		defer s.killAll()
		s.tracing = true
		w := newWatch(s, c)
		for _, i := range choices {
			if options := w.options(); i < len(options) {
				w.take(options[i])
			}
		}
		s.trace = append(s.trace, "and then:")
		s.end()
		trace = fmt.Sprintf("%v\n%s", s.check.broken, strings.Join(s.trace, "\n"))
	})
	return trace
}

// printChoices writes 0, 0, 0, 2, 0 as 0x3.2.0.
func printChoices(choices []int) string {
	var all []string
	for i := 0; i < len(choices); {
		n := 1
		for i+n < len(choices) && choices[i+n] == choices[i] {
			n++
		}
		one := strconv.Itoa(choices[i])
		if n > 1 {
			one += fmt.Sprintf("x%d", n)
		}
		all = append(all, one)
		i += n
	}
	return strings.Join(all, ".")
}

func parseChoices(t *testing.T, text string) (choices []int) {
	t.Helper()
	for _, one := range strings.Split(text, ".") {
		choice, times := 0, 1
		if _, err := fmt.Sscanf(one, "%dx%d", &choice, &times); err != nil && choice == 0 && one != "0" {
			t.Fatalf("-schedule: %q: %v", one, err)
		}
		for range times {
			choices = append(choices, choice)
		}
	}
	return choices
}

func TestSchedulesArePrintedAndParsed(t *testing.T) {
	for _, choices := range [][]int{{0}, {0, 0, 0, 2, 0}, {7, 7, 12}} {
		if got := parseChoices(t, printChoices(choices)); !slices.Equal(got, choices) {
			t.Errorf("%v is printed as %s and parsed as %v", choices, printChoices(choices), got)
		}
	}
}

// What the checker remembers decides what it will find, so two states that
// differ in it must not be taken for one.
func TestEveryMemoryOfTheCheckerIsPartOfAState(t *testing.T) {
	known := []string{
		"s", "broken", // not a memory
		"delivered", // follows from the sidecars
		"objects", "plans", "runs", "chunks", "tokens", "recorded", "frozen", "cursor", "committed", "opened", "sidecars", "manifests", "stood", "pairs", "emptied", "repaired", "repairing", "over", "publications",
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[checker]()) {
		if !slices.Contains(known, f.Name) {
			t.Errorf("checker.%s is not in checker.memory", f.Name)
		}
	}
}

// An exploration sees the same whenever it is made.
func TestSameScopeSameStates(t *testing.T) {
	c := scopes[slices.IndexFunc(scopes, func(c scope) bool { return c.name == "three attempts on one part" })]
	first, again := &exploration{scope: c, t: t, visits: mostStates}, &exploration{scope: c, t: t, visits: mostStates}
	first.run(1)
	again.run(1)
	if !slices.Equal(first.done, again.done) || len(first.done) != 2 || first.found != nil || len(first.seen) < 100 {
		t.Errorf("first %+v, then %+v", first.done, again.done)
	}
}
