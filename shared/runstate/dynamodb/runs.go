package dynamodb

import (
	"context"
	"errors"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transition"
)

// The conditions of T1 to T20. A comparison with an absent attribute is false,
// and <> with one is true, so each says what absence means. "gen" is absent
// until T2, "notified" until T19; an absent lease has run out.
const (
	missing = "attribute_not_exists(#pk)"

	ifFenceable   = "#status = :planning AND #creation = :creation AND (attribute_not_exists(#gen) OR #gen = :gen)" // T2
	ifUncreated   = "#status = :planning AND attribute_not_exists(#creation) AND (attribute_not_exists(#gen) OR #gen = :gen)"
	ifPlanned     = "#status = :planning AND #gen = :gen AND #trigger_id = :trigger_id"                                // T5
	ifFinalizable = "#gen = :gen AND #status IN (:running, :finalizing)"                                               // T13
	ifFinalizing  = "#gen = :gen AND #status = :finalizing"                                                            // T14
	ifUnfinished  = "attribute_exists(#pk) AND #status <> :succeeded AND (attribute_not_exists(#gen) OR #gen <= :gen)" // T14, adopted
	ifFailable    = "#status IN (:planning, :running) AND (attribute_not_exists(#gen) OR #gen = :gen)"                 // T15
	ifRefusable   = "#status = :planning AND attribute_not_exists(#gen)"                                               // T15r
	ifOlder       = "#status IN (:planning, :running, :finalizing) AND (attribute_not_exists(#gen) OR #gen < :gen)"    // T16
	ifAbandoned   = "#status IN (:planning, :running, :finalizing) AND (attribute_not_exists(#lease_until) OR #lease_until < :now)"
	ifResumable   = "#status = :failed OR (" + ifAbandoned + ")"                          // T17a
	ifForceable   = ifResumable + " OR #status = :succeeded"                              // T17a, forced
	ifClaimed     = "#status = :planning AND (attribute_not_exists(#gen) OR #gen < :gen)" // T17b
	ifNotNotified = "attribute_exists(#pk) AND attribute_not_exists(#notified)"           // T19
	ifLive        = "#status IN (:planning, :running, :finalizing)"                       // T20
	ifEnded       = "attribute_not_exists(#pk) OR #status IN (:succeeded, :failed, :superseded, :refused)"
	ifSucceeded   = "#status = :succeeded" // T20
)

// CreateRun is T1.
func (t *Table) CreateRun(ctx context.Context, r runstate.Run) error {
	r = transition.NewRun(r)
	listed := whole(exportKey(r), item{"run_id": text(r.RunID), "ttl": t.ttl(KeepItems)})
	err := t.transact(ctx, transition.OpCreateRun, []write{
		{put: runItem(r), condition: missing},
		{put: activeItem(transition.ActiveOf(r))},
		{put: listed},
	})
	return runRefusal(transition.OpCreateRun, err)
}

// RecordFence is T2.
func (t *Table) RecordFence(ctx context.Context, run contract.RunID, f runstate.FenceRecord) error {
	var e edit
	e.set("gen", number(f.Gen))
	e.set("lease_until", optTime(f.LeaseUntil))
	e.set("root", document(f.Root))
	e.set("prefix", optText(f.Prefix))
	e.set("queue", optText(f.Queue))
	condition := ifUncreated
	if f.Creation != "" {
		condition = ifFenceable
		e.value("creation", text(f.Creation))
	}
	_, err := t.updateRun(ctx, transition.OpRecordFence, run, condition, e)
	return err
}

// StartRun is T5.
func (t *Table) StartRun(ctx context.Context, run contract.RunID, s runstate.StartRecord) (runstate.Run, error) {
	if err := transition.CheckStart(s, t.k); err != nil {
		return runstate.Run{}, err
	}
	var e edit
	e.set("status", text(runstate.RunRunning))
	e.set("plan_fp", optText(s.PlanFingerprint))
	e.set("task_count", optNumber(s.TaskCount))
	e.set("shards", optNumber(s.Shards))
	e.set("fanin_k", optNumber(s.FaninK))
	e.set("max_attempts", optNumber(s.MaxAttempts))
	e.set("lease_until", optTime(s.LeaseUntil))
	e.value("gen", number(s.Gen))
	e.value("trigger_id", text(s.TriggerID))
	return t.updateRun(ctx, transition.OpStartRun, run, ifPlanned, e)
}

// BeginFinalize is T13.
func (t *Table) BeginFinalize(ctx context.Context, run contract.RunID, g contract.Generation, now time.Time) (runstate.Run, error) {
	var e edit
	e.set("status", text(runstate.RunFinalizing))
	e.expression("finalize_started_at", "if_not_exists(#finalize_started_at, :now)")
	e.value("now", milliseconds(now))
	e.value("gen", number(g))
	return t.updateRun(ctx, transition.OpBeginFinalize, run, ifFinalizable, e)
}

// SucceedRun is T14.
func (t *Table) SucceedRun(ctx context.Context, run contract.RunID, s runstate.SuccessRecord) (runstate.Run, error) {
	var e edit
	e.set("outcome", document(s.Outcome))
	e.remove("error")
	e.value("gen", number(s.Gen))
	condition := ifFinalizing
	if s.Adopted {
		condition = ifUnfinished
	}
	return t.endRun(ctx, transition.OpSucceedRun, run, runstate.RunSucceeded, condition, e, s.Now)
}

// FailRun is T15.
func (t *Table) FailRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	var e edit
	e.set("error", document(f))
	e.value("gen", number(g))
	return t.endRun(ctx, transition.OpFailRun, run, runstate.RunFailed, ifFailable, e, now)
}

// Refuse is T15r.
func (t *Table) Refuse(ctx context.Context, run contract.RunID, f fault.Failure, now time.Time) (runstate.Run, error) {
	var e edit
	e.set("error", document(f))
	return t.endRun(ctx, transition.OpRefuse, run, runstate.RunRefused, ifRefusable, e, now)
}

// SupersedeRun is T16.
func (t *Table) SupersedeRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	var e edit
	e.set("error", document(f))
	e.value("gen", number(g))
	return t.endRun(ctx, transition.OpSupersedeRun, run, runstate.RunSuperseded, ifOlder, e, now)
}

// endRun makes a run terminal and drops its ACTIVE item.
func (t *Table) endRun(ctx context.Context, op string, run contract.RunID, status runstate.RunStatus, condition string, e edit, now time.Time) (runstate.Run, error) {
	e.set("status", text(status))
	e.set("finished_at", optTime(now))
	e.set("ttl", t.ttl(KeepRuns))
	err := t.transact(ctx, op, []write{{key: runKey(run), edit: e, condition: condition}}, activeKey(run))
	if err != nil {
		return runstate.Run{}, runRefusal(op, err)
	}
	return t.GetRun(ctx, run)
}

// ClaimResume is T17a. Export and creation time of a run never change, so they
// may be read before.
func (t *Table) ClaimResume(ctx context.Context, run contract.RunID, c runstate.ResumeClaim) (runstate.Run, error) {
	found, err := t.GetRun(ctx, run)
	switch {
	case errors.Is(err, runstate.ErrNotFound):
		return runstate.Run{}, &runstate.ConditionError{Op: transition.OpClaimResume}
	case err != nil:
		return runstate.Run{}, err
	}
	var e edit
	e.set("status", text(runstate.RunPlanning))
	e.set("intent", text(c.Intent()))
	e.set("trigger_id", text(c.RequestID))
	e.set("lease_until", optTime(c.LeaseUntil))
	e.set("resumed_at", optTime(c.Now))
	if c.Trigger != nil {
		e.set("trigger", text(string(c.Trigger)))
	}
	if c.Callback != nil {
		e.set("callback", document(c.Callback))
	}
	e.remove("finalize_started_at", "finished_at", "error", "outcome", "verdict", "notified", "enqueued", "ttl")
	e.value("now", milliseconds(c.Now))
	condition := ifResumable
	if c.Force {
		condition = ifForceable
	}
	err = t.transact(ctx, transition.OpClaimResume, []write{
		{key: runKey(run), edit: e, condition: condition},
		{put: activeItem(transition.ActiveOf(found))},
	})
	if err != nil {
		return runstate.Run{}, runRefusal(transition.OpClaimResume, err)
	}
	return t.GetRun(ctx, run)
}

// ResumeRun is T17b.
func (t *Table) ResumeRun(ctx context.Context, run contract.RunID, g contract.Generation, leaseUntil time.Time) (runstate.Run, error) {
	var e edit
	e.set("gen", number(g))
	e.set("lease_until", optTime(leaseUntil))
	return t.updateRun(ctx, transition.OpResumeRun, run, ifClaimed, e)
}

// MarkNotified is T19.
func (t *Table) MarkNotified(ctx context.Context, run contract.RunID) error {
	var e edit
	e.set("notified", optFlag(true))
	_, err := t.updateRun(ctx, transition.OpMarkNotified, run, ifNotNotified, e)
	return err
}

// NoteRun is T20: one update for a live run, another for one that has
// succeeded, and the run's status decides which of them is made. What does not
// belong to it changes nothing.
func (t *Table) NoteRun(ctx context.Context, run contract.RunID, n runstate.Note) (runstate.Run, error) {
	live, succeeded := noteEdits(n)
	status := runstate.RunRunning
	if n.LeaseUntil == nil && n.Enqueued == nil && n.Callback == nil && n.Error == nil {
		status = runstate.RunSucceeded
	}
	for try := 1; ; try++ {
		condition, e := ifLive, live
		if status == runstate.RunSucceeded {
			condition, e = ifSucceeded, succeeded
		}
		left, err := t.noteAs(ctx, run, condition, e)
		var refused *runstate.ConditionError
		if !errors.As(err, &refused) || refused.Run == nil || try == mostTries {
			return left, err
		}
		was := status
		if status = refused.Run.Status; status.Terminal() && status != runstate.RunSucceeded || status == was {
			return left, err
		}
	}
}

// noteAs makes one of the two updates, or reads whether it would be made.
func (t *Table) noteAs(ctx context.Context, run contract.RunID, condition string, e edit) (runstate.Run, error) {
	if e.update() != "" {
		return t.updateRun(ctx, transition.OpNoteRun, run, condition, e)
	}
	found, err := t.read(ctx, transition.OpNoteRun, runKey(run))
	if err != nil {
		return runstate.Run{}, err
	}
	if found == nil {
		return runstate.Run{}, &runstate.ConditionError{Op: transition.OpNoteRun}
	}
	r, err := readRun(found)
	if err != nil {
		return runstate.Run{}, err
	}
	return transition.NoteRun(&r, runstate.Note{})
}

func noteEdits(n runstate.Note) (live, succeeded edit) {
	if n.LeaseUntil != nil {
		live.set("lease_until", optTime(*n.LeaseUntil))
	}
	if n.Enqueued != nil {
		live.set("enqueued", optFlag(*n.Enqueued))
	}
	if n.Callback != nil {
		live.set("callback", document(n.Callback))
	}
	if n.Error != nil {
		live.set("error", document(n.Error))
	}
	if n.Verdict != nil {
		succeeded.set("verdict", optText(*n.Verdict))
	}
	return live, succeeded
}

func (t *Table) updateRun(ctx context.Context, op string, run contract.RunID, condition string, e edit) (runstate.Run, error) {
	left, err := t.write(ctx, write{op: op, key: runKey(run), edit: e, condition: condition})
	if err != nil {
		return runstate.Run{}, runRefusal(op, err)
	}
	return readRun(left)
}

// runRefusal turns a refusal of the first item, a run, into a ConditionError.
func runRefusal(op string, err error) error {
	var refused *refusal
	if !errors.As(err, &refused) {
		return err
	}
	e := &runstate.ConditionError{Op: op}
	if refused.found[0] == nil {
		return e
	}
	r, err := readRun(refused.found[0])
	if err != nil {
		return err
	}
	e.Run = &r
	return e
}

// GetRun returns a run.
func (t *Table) GetRun(ctx context.Context, run contract.RunID) (runstate.Run, error) {
	found, err := t.read(ctx, "GetRun", runKey(run))
	if err != nil {
		return runstate.Run{}, err
	}
	if found == nil {
		return runstate.Run{}, transition.NoRun(run)
	}
	return readRun(found)
}
