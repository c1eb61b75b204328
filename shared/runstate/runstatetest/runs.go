package runstatetest

import (
	"slices"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// runStates are the states that a run can be in, at generation 5 where it has
// one.
var runStates = []struct {
	name string
	make func(*fixture) contract.RunID
}{
	{"absent", func(*fixture) contract.RunID { return "public.orders_20000101T000000.000" }},
	{"planning without generation", (*fixture).created},
	{"planning", (*fixture).fenced},
	{"running", (*fixture).running},
	{"finalizing", (*fixture).finalizing},
	{"succeeded", (*fixture).succeeded},
	{"notified", func(f *fixture) contract.RunID {
		run := f.succeeded()
		f.must(f.table.MarkNotified(f.t.Context(), run))
		return run
	}},
	{"failed", (*fixture).failed},
	{"failed without generation", func(f *fixture) contract.RunID {
		run := f.created()
		_, err := f.table.FailRun(f.t.Context(), run, gen, trouble, soon)
		f.must(err)
		return run
	}},
	{"superseded", func(f *fixture) contract.RunID {
		run := f.running()
		_, err := f.table.SupersedeRun(f.t.Context(), run, gen+1, trouble, soon)
		f.must(err)
		return run
	}},
	{"refused", func(f *fixture) contract.RunID {
		run := f.created()
		_, err := f.table.Refuse(f.t.Context(), run, trouble, soon)
		f.must(err)
		return run
	}},
}

// runOperation is one operation with fixed arguments, the states in which its
// condition holds, and what it makes of a run.
type runOperation struct {
	name   string
	do     func(*fixture, contract.RunID) (*runstate.Run, error)
	holds  []string
	change func(*runstate.Run)
}

// testRunOperations gives each operation a table of its own, so that the list
// of active runs stays short.
func testRunOperations(t *testing.T, open func(*testing.T) runstate.Table) {
	for _, op := range runOperations(open(t).FaninK()) {
		t.Run(op.name, func(t *testing.T) {
			f := newFixture(t, open(t))
			for _, state := range runStates {
				checkRunOperation(t, f, op, state.name, state.make(f))
			}
		})
	}
}

func checkRunOperation(t *testing.T, f *fixture, op runOperation, state string, id contract.RunID) {
	t.Helper()
	before, wasActive := f.run(id), f.isActive(id)
	got, err := op.do(f, id)
	after := f.run(id)
	if !slices.Contains(op.holds, state) {
		same(t, state+": the run in the error", before, refusedBy(t, err).Run)
		same(t, state+": the run, though refused", before, after)
		if f.isActive(id) != wasActive {
			t.Errorf("%s: refused, and ACTIVE changed", state)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", state, err)
	}
	var want runstate.Run
	if before != nil {
		want = *before
	}
	op.change(&want)
	same(t, state+": the run afterwards", &want, after)
	if got != nil {
		same(t, state+": the run returned", &want, got)
	}
	if active := f.isActive(id); active == after.Status.Terminal() {
		t.Errorf("%s: run is %s and active is %v", state, after.Status, active)
	}
}

func runOperations(faninK int) []runOperation {
	ended := func(status runstate.RunStatus) func(*runstate.Run) {
		return func(r *runstate.Run) { r.Status, r.Error, r.FinishedAt = status, &trouble, soon }
	}
	succeeded := func(r *runstate.Run) {
		r.Status, r.FinishedAt, r.Error = runstate.RunSucceeded, soon, nil
		r.Outcome = &runstate.RunOutcome{ManifestFingerprint: "xxh3:fedcba9876543210", Rows: 42, Bytes: 6144, Parts: 2}
	}
	claimed := func(now time.Time, intent wire.Action) func(r *runstate.Run) {
		return func(r *runstate.Run) {
			r.Status, r.Intent, r.TriggerID, r.LeaseUntil = runstate.RunPlanning, intent, "request-1", late.Add(time.Hour)
			r.FinalizeStartedAt, r.ResumedAt, r.FinishedAt = time.Time{}, now, time.Time{}
			r.Error, r.Outcome, r.Verdict, r.Notified, r.Enqueued = nil, nil, "", false, false
		}
	}
	var made runstate.Run
	planning := []string{"planning without generation", "planning"}
	unfinished := []string{"planning without generation", "planning", "running", "finalizing"}
	failed := []string{"failed", "failed without generation"}

	fenceAt := func(g contract.Generation, holds ...string) runOperation {
		return runOperation{
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				return nil, f.table.RecordFence(f.t.Context(), id, fence(g))
			},
			holds: holds,
			change: func(r *runstate.Run) {
				r.Gen, r.LeaseUntil, r.Root, r.Prefix, r.Queue = g, lease, location, "orders/", "chunk-default"
			},
		}
	}
	fenceOf := func(creation string) runOperation {
		return runOperation{do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
			r := fence(gen)
			r.Creation = creation
			return nil, f.table.RecordFence(f.t.Context(), id, r)
		}}
	}
	startBy := func(trigger string) runOperation {
		return runOperation{do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
			s := plan(gen, faninK)
			s.TriggerID = trigger
			return returned(f.table.StartRun(f.t.Context(), id, s))
		}}
	}
	startAt := func(g contract.Generation, holds ...string) runOperation {
		return runOperation{
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				return returned(f.table.StartRun(f.t.Context(), id, plan(g, faninK)))
			},
			holds: holds,
			change: func(r *runstate.Run) {
				s := plan(g, faninK)
				r.Status, r.PlanFingerprint, r.TaskCount, r.Shards = runstate.RunRunning, s.PlanFingerprint, s.TaskCount, s.Shards
				r.FaninK, r.MaxAttempts, r.LeaseUntil = s.FaninK, s.MaxAttempts, s.LeaseUntil
			},
		}
	}
	finalizeAt := func(g contract.Generation, holds ...string) runOperation {
		return runOperation{
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				return returned(f.table.BeginFinalize(f.t.Context(), id, g, late))
			},
			holds: holds,
			change: func(r *runstate.Run) {
				if r.Status == runstate.RunRunning { // the first time stays
					r.Status, r.FinalizeStartedAt = runstate.RunFinalizing, late
				}
			},
		}
	}
	succeedAt := func(g contract.Generation, adopted bool, holds ...string) runOperation {
		return runOperation{
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				s := success(g)
				s.Adopted = adopted
				return returned(f.table.SucceedRun(f.t.Context(), id, s))
			},
			holds: holds, change: succeeded,
		}
	}
	failAt := func(g contract.Generation, holds ...string) runOperation {
		return runOperation{
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				return returned(f.table.FailRun(f.t.Context(), id, g, trouble, soon))
			},
			holds: holds, change: ended(runstate.RunFailed),
		}
	}
	supersedeAt := func(g contract.Generation, holds ...string) runOperation {
		return runOperation{
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				return returned(f.table.SupersedeRun(f.t.Context(), id, g, trouble, soon))
			},
			holds: holds, change: ended(runstate.RunSuperseded),
		}
	}
	claimAt := func(now time.Time, force bool, holds ...string) runOperation {
		intent := wire.ActionResume
		if force {
			intent = wire.ActionRepair
		}
		return runOperation{
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				return returned(f.table.ClaimResume(f.t.Context(), id, runstate.ResumeClaim{RequestID: "request-1", Force: force, Now: now, LeaseUntil: late.Add(time.Hour)}))
			},
			holds: holds, change: claimed(now, intent),
		}
	}
	resumeAt := func(g contract.Generation, holds ...string) runOperation {
		return runOperation{
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				return returned(f.table.ResumeRun(f.t.Context(), id, g, late))
			},
			holds: holds, change: func(r *runstate.Run) { r.Gen, r.LeaseUntil = g, late },
		}
	}
	named := func(name string, op runOperation) runOperation { op.name = name; return op }
	return []runOperation{
		named("T2 with the generation", fenceAt(gen, planning...)),
		named("T2 with a lower generation", fenceAt(gen-1, planning[:1]...)),
		named("T2 with a higher generation", fenceAt(gen+1, planning[:1]...)),
		named("T2 of another creation", fenceOf("call-2")),
		named("T2 of no creation", fenceOf("")),
		named("T5 with the generation", startAt(gen, "planning")),
		named("T5 with a lower generation", startAt(gen-1)),
		named("T5 with a higher generation", startAt(gen+1)),
		named("T5 with generation 0", startAt(0)),
		named("T5 by another trigger", startBy("request-1")),
		named("T13 with the generation", finalizeAt(gen, "running", "finalizing")),
		named("T13 with a lower generation", finalizeAt(gen-1)),
		named("T13 with a higher generation", finalizeAt(gen+1)),
		named("T13 with generation 0", finalizeAt(0)),
		named("T14 with the generation", succeedAt(gen, false, "finalizing")),
		named("T14 with a lower generation", succeedAt(gen-1, false)),
		named("T14 with a higher generation", succeedAt(gen+1, false)),
		named("T14 for an adopted success sidecar", succeedAt(gen, true, slices.Concat(unfinished, failed, []string{"superseded", "refused"})...)),
		named("T14 for an adopted success sidecar, with a higher generation", succeedAt(gen+1, true, slices.Concat(unfinished, failed, []string{"superseded", "refused"})...)),
		named("T14 for an adopted success sidecar, with a lower generation", succeedAt(gen-1, true, "planning without generation", "failed without generation", "refused")),
		named("T15 with the generation", failAt(gen, "planning without generation", "planning", "running")),
		named("T15 with a lower generation", failAt(gen-1, planning[:1]...)),
		named("T15 with a higher generation", failAt(gen+1, planning[:1]...)),
		{
			name: "T15r",
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				return returned(f.table.Refuse(f.t.Context(), id, trouble, soon))
			},
			holds: planning[:1], change: ended(runstate.RunRefused),
		},
		named("T16 with a higher generation", supersedeAt(gen+1, unfinished...)),
		named("T16 with the run's own generation", supersedeAt(gen, planning[:1]...)),
		named("T17a while the lease is live", claimAt(soon, false, failed...)),
		named("T17a at the last moment of the lease", claimAt(lease, false, failed...)),
		named("T17a once the lease has run out", claimAt(late, false, append(unfinished, failed...)...)),
		named("T17a by force while the lease is live", claimAt(soon, true, append(failed, "succeeded", "notified")...)),
		named("T17a by force once the lease has run out", claimAt(late, true, slices.Concat(unfinished, failed, []string{"succeeded", "notified"})...)),
		named("T17b with a higher generation", resumeAt(gen+1, planning...)),
		named("T17b with the run's own generation", resumeAt(gen, planning[:1]...)),
		{
			name: "T19",
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				return nil, f.table.MarkNotified(f.t.Context(), id)
			},
			holds:  slices.Concat(unfinished, failed, []string{"succeeded", "superseded", "refused"}),
			change: func(r *runstate.Run) { r.Notified = true },
		},
		{
			name: "T20",
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				verdict := "passed"
				return returned(f.table.NoteRun(f.t.Context(), id, runstate.Note{LeaseUntil: &late, Error: &trouble, Verdict: &verdict}))
			},
			holds: append(unfinished, "succeeded", "notified"),
			change: func(r *runstate.Run) {
				if r.Status == runstate.RunSucceeded {
					r.Verdict = "passed"
				} else {
					r.LeaseUntil, r.Error = late, &trouble
				}
			},
		},
		{
			name: "T1",
			do: func(f *fixture, id contract.RunID) (*runstate.Run, error) {
				made = f.newRun()
				made.RunID = id
				return nil, f.table.CreateRun(f.t.Context(), made)
			},
			holds:  []string{"absent"}, // the last operation: now the run is there
			change: func(r *runstate.Run) { *r = made },
		},
	}
}

func returned(r runstate.Run, err error) (*runstate.Run, error) { return &r, err }
