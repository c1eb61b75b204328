package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// resume continues a run that failed or was left (R0 to R6 of architecture
// §2.7) under a new generation: what its table records as completed is kept,
// everything else is done again.
func (p *planner) resume(ctx context.Context) (wire.TriggerResult, error) {
	if p.trigger.RunID == "" {
		return wire.TriggerResult{}, fault.New(fault.Usage, "LAPSTRAKE_RUN_NO_RUN_ID", "a resume names the run: run_id is missing")
	}
	run, err := p.State.GetRun(ctx, p.trigger.RunID)
	switch {
	case errors.Is(err, runstate.ErrNotFound):
		return wire.TriggerResult{}, fault.New(fault.Usage, "LAPSTRAKE_RUN_UNKNOWN", "run %s is not in the table, so nothing of it can be resumed; a new run of the export starts from the destination's cursor and loses nothing", p.trigger.RunID)
	case err != nil:
		return wire.TriggerResult{}, err
	}
	p.run = run
	p.log = p.Log.With("run_id", run.RunID, "export", run.Export)
	p.inherit(run)
	if err := p.load(ctx); err != nil {
		return wire.TriggerResult{}, err
	}
	if err := p.stayAt(ctx, run.Root); err != nil {
		return wire.TriggerResult{}, err
	}
	if run.Intent == wire.ActionRepair && !run.Status.Terminal() {
		p.trigger.Force = true // what was begun is continued
	}
	sidecar, body, err := commit.ReadSidecar(ctx, p.prefix(), run.RunID)
	switch {
	case err != nil:
		return wire.TriggerResult{}, err
	case sidecar == nil || sidecar.Status != contract.StatusSuccess:
		p.trigger.Force = false // nothing of it is published: there is nothing to repair
	case p.trigger.Force:
		return p.repair(ctx, *sidecar, body)
	default:
		return p.gate(ctx, body)
	}
	if err := p.otherMarker(ctx); err != nil {
		return wire.TriggerResult{}, err
	}
	answer, err := p.claimResume(ctx) // R1a
	if err != nil || answer != nil {
		return orZero(answer), err
	}
	if p.run.Gen == 0 {
		// It never got as far as its generation, so no task of it exists: it is
		// started, under whatever fence it has.
		return p.continueRun(ctx)
	}
	defer p.stayAlive(ctx)()
	result, err := p.resumeClaimed(ctx)
	return p.conclude(ctx, result, err)
}

// inherit takes from the run's own trigger what the resume does not say.
func (p *planner) inherit(run runstate.Run) {
	var first wire.Trigger
	if json.Unmarshal(run.Trigger, &first) == nil {
		if p.trigger.ConfigURI == "" {
			p.trigger.ConfigURI = first.ConfigURI
		}
		if p.trigger.Params == nil {
			p.trigger.Params = first.Params
		}
		if p.trigger.ScheduledTime == nil {
			p.trigger.ScheduledTime = first.ScheduledTime
		}
	}
	p.trigger.Export = run.Export
}

// gate is for a run that has committed (M8). One that is complete is refused;
// of one whose publication was cut short the rest is done, and nothing is read
// again: its parts are those that its sidecar lists, so they are never replaced
// or moved but by a forced repair.
func (p *planner) gate(ctx context.Context, sidecar []byte) (wire.TriggerResult, error) {
	published, err := commit.SameManifest(ctx, p.prefix(), sidecar)
	if err != nil {
		return wire.TriggerResult{}, err
	}
	if p.run.Status == runstate.RunSucceeded {
		state := "its manifest and _SUCCESS stand"
		if !published {
			state = "its " + contract.SidecarName(p.run.RunID) + " stands, though manifest.json and _SUCCESS are not of it"
		}
		return wire.TriggerResult{}, fault.New(fault.Refused, CodeComplete, "run %s is complete: %s. Nothing was changed. To read the source again, run the export again; if parts of this run are damaged, see lapstrake repair %s", p.run.RunID, state, p.run.RunID)
	}
	if err := p.noteCallback(ctx); err != nil {
		return wire.TriggerResult{}, err
	}
	settled, err := p.ender().SettleNewest(ctx, p.run)
	switch {
	case err != nil:
		return wire.TriggerResult{}, err
	case settled.Ending != runend.Succeeded:
		return wire.TriggerResult{}, fault.New(fault.Busy, "LAPSTRAKE_RUN_ACTIVE", "run %s is being resumed or repaired; wait for it", p.run.RunID)
	}
	return p.reportSuccess(ctx)
}

// CodeComplete is the code of a refusal to resume a run that is complete.
const CodeComplete fault.Code = "LAPSTRAKE_DEST_ALREADY_COMPLETE"

// otherMarker warns of another run's manifest in the prefix, which is no reason
// to stop, and refuses another export's.
func (p *planner) otherMarker(ctx context.Context) error {
	m, err := commit.CheckPrefix(ctx, p.prefix(), p.name())
	p.saw(m)
	if err == nil && m != nil && m.RunID != p.run.RunID {
		p.log.Warn("the prefix holds the manifest of another run, which this one will replace", "manifest_of", m.RunID)
	}
	return err
}

// claimResume is T17a. One request claims once: another that is alive answers
// for both.
func (p *planner) claimResume(ctx context.Context) (*wire.TriggerResult, error) {
	raw, err := json.Marshal(p.trigger)
	if err != nil {
		return nil, err
	}
	now := p.Clock.Now()
	request := p.IDs.NewID()
	run, err := p.State.ClaimResume(ctx, p.run.RunID, runstate.ResumeClaim{
		RequestID: request, Trigger: raw, Callback: p.trigger.Callback, Force: p.trigger.Force, Now: now, LeaseUntil: now.Add(p.Settings.PlannerTimeout),
	})
	var refused *runstate.ConditionError
	if errors.As(err, &refused) && refused.Run != nil {
		switch found := *refused.Run; {
		case found.Status == runstate.RunPlanning && found.TriggerID == request:
			run, err = found, nil // our own claim, whose answer was lost
		case found.Status == runstate.RunSucceeded:
			return nil, fault.New(fault.Refused, CodeComplete, "run %s is complete; nothing was changed", found.RunID)
		case found.Status == runstate.RunSuperseded || found.Status == runstate.RunRefused:
			return nil, fault.New(fault.Refused, "LAPSTRAKE_RUN_NOT_RESUMABLE", "run %s is %s and cannot be resumed; run the export again", found.RunID, found.Status)
		default:
			return nil, fault.New(fault.Busy, "LAPSTRAKE_RUN_ACTIVE", "run %s is active (%s, live until %s); wait for it, or for its lease to end", found.RunID, found.Status, found.LeaseUntil.Format("15:04:05Z"))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("claim the resume of run %s: %w", p.run.RunID, err)
	}
	p.run = run
	return nil, nil
}

func (p *planner) resumeClaimed(ctx context.Context) (wire.TriggerResult, error) {
	me := p.owner()
	sidecar, _, err := commit.ReadSidecar(ctx, p.prefix(), me.RunID)
	switch {
	case err != nil:
		return wire.TriggerResult{}, err
	case sidecar != nil && sidecar.Tombstone():
		return wire.TriggerResult{}, &commit.FenceLostError{Export: p.name(), RunID: me.RunID, OwnerRunID: sidecar.SealedBy.RunID, OwnerGen: sidecar.SealedBy.Generation}
	case sidecar != nil: // a finalizer that nobody knew of has committed it since
		return wire.TriggerResult{}, &commit.CommittedError{RunID: me.RunID}
	}
	plan, fp, planned, err := p.storedPlan(ctx)
	if err != nil {
		return wire.TriggerResult{}, err
	}
	held, err := p.fence().Resume(ctx, me, func(doc contract.CursorDocument) error { // R0, R1b
		if err := p.stillPlanned(ctx); err != nil {
			return err
		}
		if planned {
			return fromPosition(plan, doc.Position)
		}
		return nil
	})
	if err != nil {
		return wire.TriggerResult{}, err
	}
	if err := p.recordGeneration(ctx, held); err != nil { // R2
		return wire.TriggerResult{}, err
	}
	if !planned { // the first planner died before it had a plan
		draft, err := p.preflight(ctx)
		if err != nil {
			return wire.TriggerResult{}, err
		}
		defer draft.close(ctx)
		if made := held.Doc.SourceIdentity; made != nil {
			if err := commit.CheckSource(p.name(), "the cursor", *made, draft.identity); err != nil {
				return wire.TriggerResult{}, err
			}
		}
		if plan, fp, err = p.makePlan(ctx, draft, held.Doc.Position); err != nil {
			return wire.TriggerResult{}, err
		}
	}
	return p.reviveTasks(ctx, plan, fp)
}

// storedPlan returns the plan that the run was planned with, if it was. The plan
// of a run that has been started is not made again: its tasks are those of the
// one that is gone.
func (p *planner) storedPlan(ctx context.Context) (plan chunkplan.Plan, fp contract.Fingerprint, planned bool, err error) {
	plan, fp, err = commit.LoadPlan(ctx, p.root, p.name(), p.run.RunID)
	if errors.Is(commit.StartedWith(p.run, err), destination.ErrNotFound) {
		return plan, fp, false, nil
	}
	return plan, fp, err == nil, commit.StartedWith(p.run, err)
}

// recordGeneration is T17b. A run that another resume has claimed meanwhile is
// left to that one, which takes a generation of its own.
func (p *planner) recordGeneration(ctx context.Context, held commit.Held) error {
	p.gen = held.Doc.Generation
	run, err := p.State.ResumeRun(ctx, p.run.RunID, p.gen, p.Clock.Now().Add(p.Settings.RunLease))
	var refused *runstate.ConditionError
	if errors.As(err, &refused) && refused.Run != nil {
		run, err = *refused.Run, nil
		if run.Gen == p.gen && run.Status == runstate.RunPlanning && run.TriggerID == p.run.TriggerID {
			p.run = run
			return nil // our own write, whose answer was lost
		}
		return p.overtaken(run)
	}
	if err != nil {
		return fmt.Errorf("resume run %s: %w", p.run.RunID, err)
	}
	if run.TriggerID != p.run.TriggerID {
		return p.overtaken(run)
	}
	p.run = run
	return nil
}

// overtaken ends a planner whose run is planned, or was planned, by another one.
func (p *planner) overtaken(run runstate.Run) error {
	return &commit.FenceLostError{Export: p.name(), RunID: p.run.RunID, OwnerRunID: p.run.RunID, OwnerGen: run.Gen}
}
