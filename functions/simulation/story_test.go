package simulation

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
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

// slow makes every batch of a chunk take d.
func (w *world) slow(d time.Duration) {
	w.db.fail = func(keyspace.Range) error {
		w.now = w.now.Add(d)
		return nil
	}
}

// A chunk that cannot finish before its deadline splits itself, in a chain, and
// the children cover the rest, also past the depth at which the sweep has to
// send them (D8) (OPS-03, OPS-13).
func TestChunksSplitBeforeTheirDeadline(t *testing.T) {
	for _, twice := range []bool{false, true} {
		w := newWorld(250, 2)
		w.config.Exports[0].ChunkSize = 1000
		w.budget = time.Minute
		w.twice = twice
		w.slow(10 * time.Second)
		triggerUntilPlanned(t, w, 1)
		w.settle(t, w.runID(1))
		_, rows := w.read(t)
		w.wantTable(t, "in the end", rows)
		deepest := 0
		for _, c := range w.chunks(t, 1) {
			deepest = max(deepest, c.ID.SplitDepth())
		}
		if deepest <= dispatch.MaxSplitDepth {
			t.Fatalf("the deepest split is %d: the test no longer tests anything", deepest)
		}
	}
}

// A crash at every call of a run whose chunks split.
func TestCrashAtEveryCallOfARunThatSplits(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(30, 0)
		w.config.Exports[0].ChunkSize = 1000
		w.budget = time.Minute
		w.slow(10 * time.Second)
		w.death = plan{at: n, landed: n%2 == 0}
		triggerUntilPlanned(t, w, 1)
		w.settle(t, w.runID(1))
		_, rows := w.read(t)
		w.wantTable(t, fmt.Sprintf("after a crash in call %d", n), rows)
		if w.calls < n {
			if len(w.chunks(t, 1)) < 3 {
				t.Fatal("the run did not split: the test no longer tests anything")
			}
			return
		}
	}
}

// A task without a key to be split by fails when its time is over, and nothing
// is published.
func TestTaskThatCannotSplitFailsInTime(t *testing.T) {
	w := newWorld(100, 2)
	w.config.Exports[0].Mode, w.config.Exports[0].ChunkColumn, w.config.Exports[0].ChunkSize = "full", "", 0
	w.budget = time.Minute
	w.slow(10 * time.Second)
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	if run := w.run(t, 1); run.Status != runstate.RunFailed || run.Error.Code != "LAPSTRAKE_RUN_DEADLINE" {
		t.Fatalf("the run is %s: %+v", run.Status, run.Error)
	}
	w.nothingPublished(t)
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
	for {
		if ok, err := w.deliver(t.Context(), chunkQueue); err != nil || !ok {
			break
		}
	}
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

// A second run of an export that is live is refused and changes nothing; with
// supersede it takes over, and the first one can never publish.
func TestOverlappingRuns(t *testing.T) {
	for step := range 12 {
		for _, conflict := range []string{"reject", "supersede"} {
			t.Run(fmt.Sprintf("%s after %d deliveries", conflict, step), func(t *testing.T) {
				w := newWorld(10, 0)
				triggerUntilPlanned(t, w, 1)
				for range step {
					if ok, err := w.deliver(t.Context(), chunkQueue); err != nil {
						t.Fatal(err)
					} else if !ok {
						_, _ = w.deliver(t.Context(), wire.FinalizeQueue)
					}
				}
				live := !w.run(t, 1).Status.Terminal()
				second := w.trigger(2)
				second.OnConflict = conflict
				answer, err := w.planner(t.Context(), second)
				if err != nil {
					t.Fatal(err)
				}
				if live && (conflict == "reject") != (answer.Status == wire.RefusedTrigger) {
					t.Fatalf("the second run is answered %+v", answer)
				}
				w.settle(t, w.runID(1), w.runID(2))
				_, rows := w.read(t)
				w.wantTable(t, "in the end", rows)
				w.wantHistory(t, "in the end")
				want := runstate.RunSucceeded
				if live && conflict == "supersede" {
					want = runstate.RunSuperseded
				}
				if got := w.run(t, 1).Status; got != want {
					t.Fatalf("the first run is %s, want %s", got, want)
				}
			})
		}
	}
}

// The whole table is lost between any two deliveries. The next run starts from
// what the destination says, and no reader ever sees half a run.
func TestTableLostAtEveryStep(t *testing.T) {
	for step := range 12 {
		w := newWorld(10, 0)
		triggerUntilPlanned(t, w, 1)
		for range step {
			if ok, err := w.deliver(t.Context(), chunkQueue); err != nil {
				t.Fatal(err)
			} else if !ok {
				_, _ = w.deliver(t.Context(), wire.FinalizeQueue)
			}
		}
		w.loseTable()
		w.drainUntilDead(t) // messages of the lost run come in vain
		triggerUntilPlanned(t, w, 2)
		w.settle(t, w.runID(2))
		_, rows := w.read(t)
		w.wantTable(t, fmt.Sprintf("table lost after %d deliveries", step), rows)
		w.wantHistory(t, fmt.Sprintf("table lost after %d deliveries", step))
	}
}

// The same trigger comes again after the table was lost: the run that held the
// fence is not entered again under its old generation.
func TestTriggerAgainAfterTheTableWasLost(t *testing.T) {
	w := newWorld(10, 0)
	triggerUntilPlanned(t, w, 1)
	_, _ = w.deliver(t.Context(), chunkQueue)
	w.loseTable()
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	m, rows := w.read(t)
	w.wantTable(t, "in the end", rows)
	if m.Generation != 2 {
		t.Fatalf("generation %d, want 2", m.Generation)
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

// sweepFor lets the clock run, with a sweep every minute.
func (w *world) sweepFor(t *testing.T, d time.Duration) {
	t.Helper()
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(time.Minute)
		if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionSweep}); err != nil {
			t.Fatal(err)
		}
	}
}

// The time that a run may take begins again with its resume: a sweep does not
// fail a run of last week that was resumed just now.
func TestOldRunIsResumed(t *testing.T) {
	w := newWorld(10, 0)
	w.db.fail = func(keyspace.Range) error { return errPermanent }
	triggerUntilPlanned(t, w, 1)
	w.settle(t, w.runID(1))
	w.db.fail = nil
	w.now = w.now.Add(7 * 24 * time.Hour)
	if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}); err != nil {
		t.Fatal(err)
	}
	w.sweepFor(t, 2*time.Minute)
	w.settle(t, w.runID(1))
	if run := w.run(t, 1); run.Status != runstate.RunSucceeded {
		t.Fatalf("the run is %s: %+v", run.Status, run.Error)
	}
	_, rows := w.read(t)
	w.wantTable(t, "in the end", rows)
}

// A worker that sends its heartbeats keeps its run live, however long its chunk
// takes: another run of the export is refused, and the other tasks are not sent
// again and again.
func TestLongChunkKeepsItsRunLive(t *testing.T) {
	w := newWorld(10, 0)
	triggerUntilPlanned(t, w, 1)
	if _, err := w.table.Claim(t.Context(), runstate.ClaimRequest{
		Run: w.runID(1), Task: contract.BaseTaskID(0), Gen: 1, Token: "slow", Now: w.now, LeaseUntil: w.now.Add(2 * time.Hour),
	}); err != nil {
		t.Fatal(err)
	}
	messages := len(w.queues.Pending(chunkQueue))
	w.sweepFor(t, time.Hour)
	if n := len(w.queues.Pending(chunkQueue)); n != messages {
		t.Errorf("%d messages are there, there were %d", n, messages)
	}
	if answer, err := w.planner(t.Context(), w.trigger(2)); err != nil || answer.Status != wire.RefusedTrigger {
		t.Errorf("the next run is answered %+v (%v)", answer, err)
	}
}

// The config names another destination when a dead planner's run is planned
// again: the run stays where it was created for, with fence, plan and parts.
func TestDestinationChangesBetweenTwoPlanners(t *testing.T) {
	total := 0
	for n := 1; total == 0 || n <= total; n++ {
		w := newWorld(10, 0)
		w.death = plan{at: n, landed: n%2 == 0}
		_, err := w.planner(t.Context(), w.trigger(1))
		if err == nil {
			total = n
			if n < 20 {
				t.Fatalf("a planner has %d calls: the test no longer tests anything", n)
			}
		}
		created := w.calls > 1 || n%2 == 0 && n > 1
		if _, err := w.table.GetRun(t.Context(), w.runID(1)); err != nil {
			created = false
		}
		w.config.Exports[0].Destination.URI = "memory://bucket/elsewhere"
		triggerUntilPlanned(t, w, 1)
		w.settle(t, w.runID(1))
		run := w.run(t, 1)
		if run.Status != runstate.RunSucceeded {
			t.Fatalf("after a crash in call %d the run is %s: %+v", n, run.Status, run.Error)
		}
		if !created {
			continue
		}
		m, rows := w.read(t)
		w.wantTable(t, fmt.Sprintf("after a crash in call %d", n), rows)
		if m.Destination.URI != "memory://bucket/out" {
			t.Fatalf("the manifest names %s", m.Destination.URI)
		}
	}
}

// The first run has committed and lost a part since, before its pair was
// published: it is not rolled forward, and nothing is started over it (M1).
func TestPredecessorWithoutItsPartIsNotRolledForward(t *testing.T) {
	w := newWorld(10, 0)
	prefix := destination.Prefixed(w.bucket, "out/")
	sidecar := contract.SidecarName(w.runID(1))
	w.before = func(string) { // it dies as soon as its sidecar stands
		if _, err := prefix.Head(t.Context(), sidecar); err == nil && w.death.at == 0 {
			w.death.at = w.calls + 1
		}
	}
	triggerUntilPlanned(t, w, 1)
	w.drainUntilDead(t)
	w.before = nil
	w.dropMessages(t)
	part, err := prefix.Head(t.Context(), "part-000001.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := prefix.Move(t.Context(), part.Key, "elsewhere", part.Version); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(planTimeout)
	if _, err := w.planner(t.Context(), w.trigger(2)); fault.CodeOf(err) != "LAPSTRAKE_RUN_PREDECESSOR_DAMAGED" {
		t.Fatalf("the next run ends with %v", err)
	}
	if _, err := prefix.Head(t.Context(), contract.SuccessName); err == nil {
		t.Fatal("a marker stands")
	}
	moved, err := prefix.Head(t.Context(), "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if err := prefix.Move(t.Context(), "elsewhere", part.Key, moved.Version); err != nil {
		t.Fatal(err)
	}
	triggerUntilPlanned(t, w, 3) // the part is restored: rolled forward, and a run of its own
	w.settle(t, w.runID(1), w.runID(3))
	if run := w.run(t, 1); run.Status != runstate.RunSucceeded {
		t.Fatalf("the run that had committed is %s", run.Status)
	}
	w.wantHistory(t, "in the end")
}

// A planner that slept since before its run was started wakes up after a resume
// has claimed the run, and before that has a generation: it does not start the
// run at the old one, which the fence no longer admits.
func TestPlannerWakesUpInAResume(t *testing.T) {
	w := newWorld(10, 0)
	w.death = plan{at: callNumber(t, "StartRun")}
	_, _ = w.planner(t.Context(), w.trigger(1))
	w.now = w.now.Add(planTimeout)
	asleep := w.run(t, 1)
	woken := false
	w.before = func(op string) {
		if op != "replace _lapstrake/orders/cursor.json" || woken {
			return
		}
		woken = true
		_, err := w.table.StartRun(t.Context(), asleep.RunID, runstate.StartRecord{
			Gen: asleep.Gen, TriggerID: asleep.TriggerID, TaskCount: 3, Shards: 2, FaninK: 2, MaxAttempts: 3, LeaseUntil: w.now.Add(planTimeout),
		})
		if !errors.Is(err, runstate.ErrCondition) {
			t.Errorf("the run is started under the resume (%v)", err)
		}
	}
	if _, err := w.planner(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionResume, RunID: w.runID(1)}); err != nil {
		t.Error(err)
	}
	w.settle(t, w.runID(1))
	m, rows := w.read(t)
	w.wantTable(t, "in the end", rows)
	if !woken || m.Generation != 2 {
		t.Fatalf("woken %v, generation %d", woken, m.Generation)
	}
}
