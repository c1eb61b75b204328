package transition

import (
	"slices"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// NewRun returns r as T1 stores it, which the caller does only if no run has
// its id.
func NewRun(r runstate.Run) runstate.Run {
	r.Status, r.Gen = runstate.RunPlanning, 0
	r.LeaseUntil, r.CreatedAt = Milli(r.LeaseUntil), Milli(r.CreatedAt)
	r.FinalizeStartedAt, r.ResumedAt, r.FinishedAt = Milli(r.FinalizeStartedAt), Milli(r.ResumedAt), Milli(r.FinishedAt)
	return r
}

// ActiveOf is the ACTIVE item of a run.
func ActiveOf(r runstate.Run) runstate.Active {
	return runstate.Active{RunID: r.RunID, Export: r.Export, CreatedAt: r.CreatedAt}
}

// CreateRun is T1.
func CreateRun(found *runstate.Run, r runstate.Run) (runstate.Run, error) {
	if found != nil {
		return runRefused(OpCreateRun, found)
	}
	return NewRun(r), nil
}

// RecordFence is T2.
func RecordFence(found *runstate.Run, f runstate.FenceRecord) (runstate.Run, error) {
	if found == nil || found.Status != runstate.RunPlanning || found.Creation != f.Creation || !allows(found, f.Gen) {
		return runRefused(OpRecordFence, found)
	}
	r := *found
	r.Gen, r.LeaseUntil = f.Gen, Milli(f.LeaseUntil)
	r.Root, r.Prefix, r.Queue = f.Root, f.Prefix, f.Queue
	return r, nil
}

// StartRun is T5.
func StartRun(found *runstate.Run, s runstate.StartRecord) (runstate.Run, error) {
	if !at(found, s.Gen) || found.Status != runstate.RunPlanning || found.TriggerID != s.TriggerID {
		return runRefused(OpStartRun, found)
	}
	r := *found
	r.Status, r.LeaseUntil = runstate.RunRunning, Milli(s.LeaseUntil)
	r.PlanFingerprint, r.MaxAttempts = s.PlanFingerprint, s.MaxAttempts
	r.TaskCount, r.Shards, r.FaninK = s.TaskCount, s.Shards, s.FaninK
	return r, nil
}

// BeginFinalize is T13.
func BeginFinalize(found *runstate.Run, g contract.Generation, now time.Time) (runstate.Run, error) {
	if !at(found, g) || found.Status != runstate.RunRunning && found.Status != runstate.RunFinalizing {
		return runRefused(OpBeginFinalize, found)
	}
	r := *found
	r.Status = runstate.RunFinalizing
	if r.FinalizeStartedAt.IsZero() {
		r.FinalizeStartedAt = Milli(now)
	}
	return r, nil
}

// SucceedRun is T14. The error goes: whatever failed on the way, the run has
// committed.
func SucceedRun(found *runstate.Run, s runstate.SuccessRecord) (runstate.Run, error) {
	holds := at(found, s.Gen) && found.Status == runstate.RunFinalizing
	if s.Adopted {
		holds = found != nil && found.Status != runstate.RunSucceeded && found.Gen <= s.Gen
	}
	if !holds {
		return runRefused(OpSucceedRun, found)
	}
	r := *found
	r.Status, r.FinishedAt, r.Error = runstate.RunSucceeded, Milli(s.Now), nil
	outcome := s.Outcome
	r.Outcome = &outcome
	return r, nil
}

// FailRun is T15.
func FailRun(found *runstate.Run, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	if found == nil || found.Status != runstate.RunPlanning && found.Status != runstate.RunRunning || !allows(found, g) {
		return runRefused(OpFailRun, found)
	}
	return ended(*found, runstate.RunFailed, f, now), nil
}

// Refuse is T15r.
func Refuse(found *runstate.Run, f fault.Failure, now time.Time) (runstate.Run, error) {
	if found == nil || found.Status != runstate.RunPlanning || found.Gen != 0 {
		return runRefused(OpRefuse, found)
	}
	return ended(*found, runstate.RunRefused, f, now), nil
}

// SupersedeRun is T16.
func SupersedeRun(found *runstate.Run, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	if found == nil || found.Status.Terminal() || found.Gen != 0 && found.Gen >= g {
		return runRefused(OpSupersedeRun, found)
	}
	return ended(*found, runstate.RunSuperseded, f, now), nil
}

func ended(r runstate.Run, status runstate.RunStatus, f fault.Failure, now time.Time) runstate.Run {
	r.Status, r.Error, r.FinishedAt = status, &f, Milli(now)
	return r
}

// ClaimResume is T17a. The verdict of a succeeded run goes too: it was on a
// manifest that a forced repair replaces.
func ClaimResume(found *runstate.Run, c runstate.ResumeClaim) (runstate.Run, error) {
	if found == nil || !resumable(*found, c) {
		return runRefused(OpClaimResume, found)
	}
	r := *found
	r.Status, r.Intent, r.TriggerID, r.LeaseUntil = runstate.RunPlanning, c.Intent(), c.RequestID, Milli(c.LeaseUntil)
	r.FinalizeStartedAt, r.ResumedAt, r.FinishedAt = time.Time{}, Milli(c.Now), time.Time{}
	r.Error, r.Outcome, r.Verdict, r.Notified, r.Enqueued = nil, nil, "", false, false
	if c.Trigger != nil {
		r.Trigger = slices.Clone(c.Trigger)
	}
	if c.Callback != nil {
		r.Callback = c.Callback
	}
	return r, nil
}

func resumable(r runstate.Run, c runstate.ResumeClaim) bool {
	switch r.Status {
	case runstate.RunFailed:
		return true
	case runstate.RunSucceeded:
		return c.Force
	case runstate.RunPlanning, runstate.RunRunning, runstate.RunFinalizing:
		return expired(r.LeaseUntil, c.Now)
	}
	return false
}

// ResumeRun is T17b.
func ResumeRun(found *runstate.Run, g contract.Generation, leaseUntil time.Time) (runstate.Run, error) {
	if found == nil || found.Status != runstate.RunPlanning || found.Gen >= g {
		return runRefused(OpResumeRun, found)
	}
	r := *found
	r.Gen, r.LeaseUntil = g, Milli(leaseUntil)
	return r, nil
}

// MarkNotified is T19.
func MarkNotified(found *runstate.Run) (runstate.Run, error) {
	if found == nil || found.Notified {
		return runRefused(OpMarkNotified, found)
	}
	r := *found
	r.Notified = true
	return r, nil
}

// NoteRun is T20.
func NoteRun(found *runstate.Run, n runstate.Note) (runstate.Run, error) {
	if found == nil || found.Status.Terminal() && found.Status != runstate.RunSucceeded {
		return runRefused(OpNoteRun, found)
	}
	r := *found
	if r.Status == runstate.RunSucceeded {
		if n.Verdict != nil {
			r.Verdict = *n.Verdict
		}
		return r, nil
	}
	if n.LeaseUntil != nil {
		r.LeaseUntil = Milli(*n.LeaseUntil)
	}
	if n.Enqueued != nil {
		r.Enqueued = *n.Enqueued
	}
	if n.Callback != nil {
		r.Callback = n.Callback
	}
	if n.Error != nil {
		r.Error = n.Error
	}
	return r, nil
}
