package simulation

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/runstate"
)

// durableSteps are all the steps that the functions take in the stories. A step
// that is not here has no crash tested; one that is here and is never taken is
// tested no more.
var durableSteps = []string{
	"chunk: Claim",
	"chunk: Complete",
	"chunk: Fail",
	"chunk: FaninAdd",
	"chunk: Split",
	"chunk: create part",
	"chunk: send chunk-default",
	"chunk: send finalize",
	"finalize: BeginFinalize",
	"finalize: FailRun",
	"finalize: MarkNotified",
	"finalize: NoteRun",
	"finalize: Repair",
	"finalize: SucceedRun",
	"finalize: SupersedeRun",
	"finalize: create record",
	"finalize: create sidecar",
	"finalize: replace _SUCCESS",
	"finalize: replace cursor.json",
	"finalize: replace manifest.json",
	"finalize: replace summary.html",
	"finalize: replace summary.json",
	"finalize: replace summary.md",
	"finalize: send chunk-default",
	"resume: ClaimResume",
	"resume: FaninAdd",
	"resume: NoteRun",
	"resume: PutChunk",
	"resume: PutFanin",
	"resume: Repair",
	"resume: ResumeChunk",
	"resume: ResumeRun",
	"resume: StartRun",
	"resume: create generation",
	"resume: create record",
	"resume: move to quarantine",
	"resume: replace cursor.json",
	"resume: send chunk-default",
	"run: CreateRun",
	"run: FailRun",
	"run: NoteRun",
	"run: PutChunk",
	"run: PutFanin",
	"run: RecordFence",
	"run: Refuse",
	"run: StartRun",
	"run: create generation",
	"run: create plan.json",
	"run: create sidecar",
	"run: replace _SUCCESS",
	"run: replace cursor.json",
	"run: replace manifest.json",
	"run: send chunk-default",
	"run: send finalize",
	"sweep: Expire",
	"sweep: NoteRun",
	"sweep: send chunk-default",
	"sweep: send finalize",
	"validate: send validate",
}

// untestedOperations are operations of a table in which no process dies here,
// and why.
var untestedOperations = map[string]string{
	"Heartbeat":  "a heartbeat that is missing is a lease that runs out, and a chunk that dies in any other step has one",
	"DropActive": "the ACTIVE item goes in the transaction that ends its run: only the expiry of a RUN item leaves one behind",
}

// A process dies in every durable step of every function, with the step taken
// and not taken, on real stores and tables. The next invocations complete what
// it began, and a reader of Success manifests gets the table, each row once.
func TestCrashAtEveryDurableStep(t *testing.T) {
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			store, table := b.store(t), b.table(t)
			var mu sync.Mutex
			var seen []string
			t.Run("stories", func(t *testing.T) {
				for _, s := range durableStories {
					t.Run(s.name, func(t *testing.T) {
						t.Parallel()
						steps := crashInEveryStep(t, s, store, table)
						mu.Lock()
						defer mu.Unlock()
						seen = append(seen, steps...)
					})
				}
			})
			if !t.Failed() {
				wantEveryStep(t, seen)
			}
		})
	}
}

// crashInEveryStep tells a story once without a crash, which says how many steps
// it has, and then once for each way of dying in one of them.
func crashInEveryStep(t *testing.T, s durableStory, store stores, table tables) []string {
	tell := func(t *testing.T, at int, landed bool) *mortality {
		w := newWorld(6, 1)
		w.pace = 4 * time.Minute // every sweep is many requests
		m := &mortality{w: w}
		var reopen func() runstate.Table
		w.bucket = store(t)
		if w.table, reopen = table(t, w); reopen != nil {
			m.reopen = func() { w.table = reopen() }
		}
		m.haunt()
		if s.before != nil {
			s.before(t, m)
		}
		m.of, m.at, m.landed = s.of, at, landed
		s.act(t, m)
		return m
	}
	steps := tell(t, 0, false).steps
	deaths := 0
	for n := range steps {
		for _, landed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %s, landed %v", n+1, steps[n], landed), func(t *testing.T) {
				m := tell(t, n+1, landed)
				if !m.died || m.steps[n] != steps[n] {
					t.Fatalf("no process died in step %d, %s: %q", n+1, steps[n], m.steps)
				}
				deaths++
			})
		}
	}
	if deaths != 2*len(steps) || len(steps) == 0 {
		t.Errorf("%d crashes for %d steps: the test no longer tests anything", deaths, len(steps))
	}
	return steps
}

// wantEveryStep fails the test unless the steps are exactly those that are
// listed, and every operation of a table that writes is among them.
func wantEveryStep(t *testing.T, seen []string) {
	t.Helper()
	slices.Sort(seen)
	seen = slices.Compact(seen)
	for _, step := range seen {
		if !slices.Contains(durableSteps, step) {
			t.Errorf("%q is a new step: list it", step)
		}
	}
	for _, step := range durableSteps {
		if !slices.Contains(seen, step) {
			t.Errorf("no process takes the step %q any more", step)
		}
	}
	operations := reflect.TypeFor[runstate.Table]()
	for i := range operations.NumMethod() {
		name := operations.Method(i).Name
		tested := slices.ContainsFunc(seen, func(step string) bool { return strings.HasSuffix(step, ": "+name) })
		exempt := slices.Contains(reads, name) || untestedOperations[name] != "" || name == "FaninK"
		if tested == exempt {
			t.Errorf("operation %s: crashes tested %v, exempt %v", name, tested, exempt)
		}
	}
}
