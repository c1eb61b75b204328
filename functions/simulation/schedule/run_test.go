package schedule

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
)

var (
	seeds     = flag.Int("seeds", 10_000, "how many seeds are tried; with -short, or under the race detector, 300 at most")
	firstSeed = flag.Int("first-seed", 1, "the first of them")
	oneSeed   = flag.Int("seed", 0, "try this seed alone, and print its trace")
	keepGoing = flag.Bool("keep-going", false, "try every seed, and count what breaks")
	brief     = flag.Bool("brief", false, "print one line a broken seed, and no trace")
)

// outcome is what came of one simulation.
type outcome struct {
	broken    error
	decisions []decision // of the disorder
	trace     []string
	calls     int
	seen      map[string]bool
}

// simulate runs one seed with the decisions of a chooser.
func simulate(t *testing.T, seed int, c chooser, tracing bool) (out outcome) {
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t.Context(), seed)
		s.tracing = tracing
		s.run(c)
		out.decisions = s.decisions
		s.end()
		s.killAll()
		out.broken, out.trace, out.calls, out.seen = s.check.broken, s.trace, s.calls, s.seen
	})
	return out
}

// Most of what is allocated is garbage at once: collecting it seldom is a third
// of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// TestSimulation runs every seed of a range. See the package comment.
func TestSimulation(t *testing.T) {
	first, n := *firstSeed, *seeds
	if testing.Short() || underRace {
		n = min(n, 300)
	}
	if *oneSeed != 0 {
		first, n = *oneSeed, 1
	}
	l := newTally()
	var next atomic.Int64
	var stop atomic.Bool
	t.Run("workers", func(t *testing.T) {
		for w := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				for !stop.Load() && !timeIsUp(t) {
					seed := first + int(next.Add(1)) - 1
					if seed >= first+n {
						return
					}
					out := simulate(t, seed, newDisorder(seed), *oneSeed != 0)
					l.add(seed, out)
					if out.broken != nil && !*keepGoing {
						stop.Store(true)
					}
					if out.broken == nil && *oneSeed != 0 {
						t.Log("\n" + strings.Join(out.trace, "\n"))
					}
				}
			})
		}
	})
	if l.seeds < n && !stop.Load() {
		t.Logf("only %d of %d seeds: this machine is too slow for more before the tests' deadline", l.seeds, n)
	}
	l.report(t)
	if *oneSeed == 0 && !stop.Load() {
		l.judge(t)
	}
}

// timeIsUp reports whether the tests' deadline is near: on a machine that is
// busy with something else, fewer seeds are better than none.
func timeIsUp(t *testing.T) bool {
	deadline, limited := t.Deadline()
	return limited && deadline.Sub(clock.System{}.Now()) < 3*time.Minute
}

// The same seed makes the same calls, however the goroutines of the handlers
// are scheduled.
func TestSameSeedSameTrace(t *testing.T) {
	for seed := 1; seed <= 40; seed++ {
		first := simulate(t, seed, newDisorder(seed), true)
		again := simulate(t, seed, newDisorder(seed), true)
		if a, b := strings.Join(first.trace, "\n"), strings.Join(again.trace, "\n"); a != b || first.calls < 20 {
			t.Fatalf("seed %d, %d calls:\n%s\n\nand then:\n%s", seed, first.calls, a, b)
		}
		replayed := simulate(t, seed, &replay{first.decisions}, true)
		if a, b := strings.Join(first.trace, "\n"), strings.Join(replayed.trace, "\n"); a != b {
			t.Fatalf("seed %d:\n%s\n\nits decisions again:\n%s", seed, a, b)
		}
	}
}
