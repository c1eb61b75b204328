package schedule

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// tally is what came of many seeds.
type tally struct {
	mu     sync.Mutex
	seeds  int
	calls  int
	first  map[string]int // the lowest seed that broke an invariant
	counts map[string]int
	kept   map[int]outcome
	events map[string]int // how many seeds came to it
}

func newTally() *tally {
	return &tally{first: make(map[string]int), counts: make(map[string]int), kept: make(map[int]outcome), events: make(map[string]int)}
}

func (l *tally) add(seed int, out outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seeds++
	l.calls += out.calls
	for event := range out.seen {
		l.events[event]++
	}
	if out.broken == nil {
		return
	}
	name := out.invariant()
	if *brief {
		fmt.Fprintf(os.Stderr, "seed %d: %v\n", seed, out.broken)
	}
	l.counts[name]++
	if at, known := l.first[name]; !known || seed < at {
		l.first[name] = seed
		l.kept[seed] = out
	}
}

// report fails the test for every invariant that was broken, with the lowest
// seed that broke it.
func (l *tally) report(t *testing.T) {
	t.Logf("%d seeds, %d calls", l.seeds, l.calls)
	if *brief {
		for _, event := range sorted(l.events) {
			t.Logf("%7d  %s", l.events[event], event)
		}
	}
	for _, name := range sorted(l.first) {
		seed := l.first[name]
		found := fmt.Sprintf("%s broke in %d of %d seeds; ", name, l.counts[name], l.seeds)
		if *brief {
			t.Errorf("%sthe first is seed %d: %v", found, seed, l.kept[seed].broken)
			continue
		}
		t.Error(found + explain(t, seed, l.kept[seed]))
	}
}
