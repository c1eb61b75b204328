package simulation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func (w *world) run(t *testing.T, id int) runstate.Run {
	t.Helper()
	run, err := w.table.GetRun(t.Context(), w.runID(id))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (w *world) chunks(t *testing.T, id int) []runstate.Chunk {
	t.Helper()
	var all []runstate.Chunk
	for shard := range w.run(t, id).Shards {
		chunks, err := w.table.ListChunks(t.Context(), w.runID(id), shard)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, chunks...)
	}
	return all
}

// nothingPublished fails the test if a reader could see anything of a run.
func (w *world) nothingPublished(t *testing.T) {
	t.Helper()
	err := destination.Prefixed(w.bucket, "out/").List(t.Context(), "", func(o destination.Object) error {
		if !strings.HasPrefix(o.Key, "part-") {
			return fmt.Errorf("%s stands", o.Key)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		name string
		fail error
		// times is how often the read of the second task fails.
		times    int
		want     runstate.RunStatus
		attempts int
	}{
		{"one attempt fails, the next one does it", errPassing, 1, runstate.RunSucceeded, 2}, // MAN-06, QUE-23
		{"every attempt fails", errPassing, 99, runstate.RunFailed, 3},
		{"a permanent failure is not tried again", errPermanent, 1, runstate.RunFailed, 3}, // QUE-20
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(10, 0)
			failed := 0
			w.db.fail = func(r keyspace.Range) error {
				if r.After != nil && r.After[0] == "4" && failed < tc.times {
					failed++
					return tc.fail
				}
				return nil
			}
			triggerUntilPlanned(t, w, 1)
			w.settle(t, w.runID(1))
			run := w.run(t, 1)
			if run.Status != tc.want {
				t.Fatalf("the run is %s: %+v", run.Status, run.Error)
			}
			second := w.chunks(t, 1)[1]
			if tc.fail == errPassing && second.Attempts != tc.attempts || tc.fail == errPermanent && failed != 1 {
				t.Fatalf("attempts %d, reads %d", second.Attempts, failed)
			}
			if tc.want == runstate.RunSucceeded {
				_, rows := w.read(t)
				w.wantTable(t, "in the end", rows)
				return
			}
			w.nothingPublished(t)
			w.db.fail = nil
			triggerUntilPlanned(t, w, 2) // the fence was given back: nobody waits for a lease
			w.settle(t, w.runID(2))
			_, rows := w.read(t)
			w.wantTable(t, "the next run", rows)
		})
	}
}

// A failed run is resumed: completed chunks are kept, their parts too (MAN-07).
func TestResumeKeepsWhatIsCompleted(t *testing.T) {
	w := newWorld(22, 0)
	reads := make(map[string]int)
	broken := true
	w.db.fail = func(r keyspace.Range) error {
		reads[r.String()]++
		if broken && r.UpTo == nil {
			return errPermanent
		}
		return nil
	}
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	if run := w.run(t, 1); run.Status != runstate.RunFailed {
		t.Fatalf("the run is %s", run.Status)
	}
	broken = false
	before := fmt.Sprint(reads["(-∞, 4]"])
	if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}); err != nil {
		t.Fatal(err)
	}
	w.settle(t, w.runID(1))
	m, rows := w.read(t)
	w.wantTable(t, "after the resume", rows)
	if m.Generation != 2 || fmt.Sprint(reads["(-∞, 4]"]) != before {
		t.Fatalf("generation %d, the first chunk was read %s and then %d times", m.Generation, before, reads["(-∞, 4]"])
	}
	if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}); err == nil {
		t.Fatal("a complete run was resumed (M8)")
	}
}

// A part that vanishes before the run is frozen is made again; one that was
// damaged is quarantined by a resume and made again (T18, M8, M9).
func TestLostPartIsMadeAgain(t *testing.T) {
	w := newWorld(10, 0)
	triggerUntilPlanned(t, w, 1)
	w.deliverChunks(t)
	prefix := destination.Prefixed(w.bucket, "out/")
	o, err := prefix.Head(t.Context(), "part-000002.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := prefix.Move(t.Context(), o.Key, "elsewhere/x", o.Version); err != nil {
		t.Fatal(err)
	}
	w.settle(t, w.runID(1))
	m, rows := w.read(t)
	w.wantTable(t, "in the end", rows)
	if m.PartCount != 3 {
		t.Fatalf("%d parts are listed, want 3", m.PartCount)
	}
}

// skip_empty publishes nothing and still ends well (MAN-05).
func TestSkipEmpty(t *testing.T) {
	w := newWorld(0, 0)
	w.config.Exports[0].SkipEmpty = true
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	if run := w.run(t, 1); run.Status != runstate.RunSucceeded || run.Outcome.ManifestFingerprint != "" {
		t.Fatalf("the run is %s with outcome %+v", run.Status, run.Outcome)
	}
	w.nothingPublished(t)
	if _, _, err := w.bucket.Get(t.Context(), contract.CursorKey("orders"), 1<<20); err != nil {
		t.Fatal(err)
	}
}

// A trigger may ask for a verdict without a run.
func TestTriggerAsksForAVerdict(t *testing.T) {
	w := newWorld(1, 0)
	trigger := w.trigger(1)
	trigger.Action = wire.ActionValidate
	if answer, err := w.planner(t.Context(), trigger); err != nil || answer.Status != wire.Started {
		t.Fatalf("%+v (%v)", answer, err)
	}
	pending := w.queues.Pending(wire.ValidateQueue)
	if len(pending) != 1 || !strings.Contains(string(pending[0].Body), `"prefix":"out/"`) {
		t.Fatalf("the validate queue holds %+v", pending)
	}
}

// A run that is resumed while its config leads to another database reads
// nothing of it: one manifest never holds the rows of two.
func TestResumeReadsNoOtherDatabase(t *testing.T) {
	for _, step := range []int{0, 1} { // with and without a completed chunk
		w := newWorld(10, 0)
		if step == 0 { // the planner dies before it has a plan
			w.death = plan{at: callNumber(t, "get _lapstrake/orders/runs/")}
			_, _ = w.planner(t.Context(), w.trigger(1))
		} else {
			triggerUntilPlanned(t, w, 1)
			_, _ = w.deliver(t.Context(), chunkQueue)
		}
		w.dropMessages(t)
		w.now = w.now.Add(planTimeout)
		resume := wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}
		w.db.system = "2"
		_, _ = w.planner(t.Context(), resume)
		w.settle(t, w.runID(1))
		if run := w.run(t, 1); run.Status != runstate.RunFailed || run.Error.Code != "LAPSTRAKE_STATE_SOURCE_CHANGED" {
			t.Fatalf("step %d: the run is %s: %+v", step, run.Status, run.Error)
		}
		w.nothingPublished(t)
		w.db.system = "1"
		if _, err := w.planner(t.Context(), resume); err != nil {
			t.Fatal(err)
		}
		w.settle(t, w.runID(1))
		_, rows := w.read(t)
		w.wantTable(t, "resumed from its own database", rows)
	}
}

// callNumber returns which call of a first run begins with op.
func callNumber(t *testing.T, op string) int {
	t.Helper()
	w, found := newWorld(10, 0), 0
	w.before = func(now string) {
		if found == 0 && strings.HasPrefix(now, op) {
			found = w.calls
		}
	}
	triggerUntilPlanned(t, w, 1)
	if found == 0 {
		t.Fatalf("no call begins with %q", op)
	}
	return found
}
