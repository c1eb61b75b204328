package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// start is P1 to P11 of architecture §2.7.
func (p *planner) start(ctx context.Context) (wire.TriggerResult, error) {
	if err := p.load(ctx); err != nil { // P1
		return wire.TriggerResult{}, err
	}
	if p.trigger.ScheduledTime == nil && p.trigger.RunID == "" {
		return wire.TriggerResult{}, fault.New(fault.Usage, "LAPSTRAKE_RUN_NO_SCHEDULED_TIME", "export %q: the trigger has no scheduled_time, so a repeated delivery could not be told from a new run", p.export.Name)
	}
	if p.trigger.Reanchor && p.trigger.RunID == "" {
		return wire.TriggerResult{}, fault.New(fault.Usage, "LAPSTRAKE_RUN_NO_RUN_ID", "export %q: a trigger that asks to re-anchor names its run, so that no schedule asks for it again and again; nothing was started", p.export.Name)
	}
	if err := p.openRoot(ctx, p.export.Destination); err != nil {
		return wire.TriggerResult{}, err
	}
	answer, err := p.createRun(ctx) // P2
	if err != nil || answer != nil {
		return orZero(answer), err
	}
	return p.continueRun(ctx)
}

// continueRun is everything after the run's item exists.
func (p *planner) continueRun(ctx context.Context) (wire.TriggerResult, error) {
	defer p.stayAlive(ctx)()
	result, err := p.takeAndPlan(ctx)
	return p.conclude(ctx, result, err)
}

// conclude turns what came of planning into an answer. A permanent failure fails
// the run; an error that may pass leaves it to be continued.
func (p *planner) conclude(ctx context.Context, result wire.TriggerResult, err error) (wire.TriggerResult, error) {
	var committed *commit.CommittedError
	var lost *commit.FenceLostError
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &committed):
		return p.finishCommitted(ctx)
	case errors.As(err, &lost):
		return p.superseded(ctx, lost)
	case fault.ClassOf(err) == fault.Busy:
		return p.refuse(ctx, err)
	case fault.Retry(err):
		return wire.TriggerResult{}, err
	}
	return p.fail(ctx, err)
}

// fail ends a run whose planning failed for good, unless it has committed: then
// its finalizer has the last word.
func (p *planner) fail(ctx context.Context, cause error) (wire.TriggerResult, error) {
	committed, err := reminded(ctx, p.dispatcher(), p.run, func() (bool, error) { return p.ender().Fail(ctx, p.run, dispatch.Failure(cause)) })
	switch {
	case err != nil:
		return wire.TriggerResult{}, errors.Join(cause, err)
	case committed:
		return p.reportSuccess(ctx)
	}
	return wire.TriggerResult{RunID: p.run.RunID, Status: wire.FailedTrigger, Reason: string(fault.CodeOf(cause))}, cause
}

func (p *planner) takeAndPlan(ctx context.Context) (wire.TriggerResult, error) {
	if err := p.checkPrefix(ctx); err != nil { // P3
		return wire.TriggerResult{}, err
	}
	draft, err := p.preflight(ctx)
	if err != nil {
		return wire.TriggerResult{}, err
	}
	defer draft.close(ctx)
	opened, err := p.acquire(ctx, draft) // P4
	if err != nil {
		return wire.TriggerResult{}, err
	}
	p.gen = opened.Generation()
	if err := p.recordFence(ctx); err != nil { // P5
		return wire.TriggerResult{}, err
	}
	if pred := opened.Settled; pred != nil {
		if err := p.settle(ctx, *pred); err != nil {
			return wire.TriggerResult{}, err
		}
	}
	for _, sealed := range opened.Sealed {
		if err := p.settle(ctx, sealed); err != nil {
			return wire.TriggerResult{}, err
		}
	}
	return p.planAndEnqueue(ctx, draft, opened.Held.Doc.Position)
}

func (p *planner) openRoot(ctx context.Context, at wire.Location) error {
	root, err := p.Destinations.Open(ctx, at)
	if err != nil {
		return err
	}
	p.root = root
	return nil
}

// stayAt opens the root that a run was created for. Whatever the config says
// now, fence, plan and parts of one run are in one place.
func (p *planner) stayAt(ctx context.Context, root wire.Location) error {
	p.export.Destination = root
	return p.openRoot(ctx, root)
}

// createRun is T1. A non-nil answer means that there is nothing to plan.
func (p *planner) createRun(ctx context.Context) (answer *wire.TriggerResult, err error) {
	now := p.Clock.Now()
	id := p.trigger.RunID
	if id == "" {
		id = contract.NewRunID(p.name(), p.trigger.ScheduledTime.Time)
	}
	if !id.MayName(p.name()) {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_RUN_ID_INVALID", "export %q: run id %q cannot name a folder of its own: use letters, digits, \".\", \"_\" and \"-\", no \".\" at the start, at most %d bytes; nothing was started", p.name(), id, contract.MaxRunIDBytes)
	}
	triggerID := p.trigger.TriggerID
	if triggerID == "" && p.trigger.ScheduledTime != nil {
		triggerID = p.trigger.ScheduledTime.String()
	}
	date := now
	if p.trigger.ScheduledTime != nil {
		date = p.trigger.ScheduledTime.Time
	}
	raw, err := json.Marshal(p.trigger)
	if err != nil {
		return nil, err
	}
	p.run = runstate.Run{
		RunID: id, Export: p.name(), TriggerID: triggerID, Creation: p.IDs.NewID(), Status: runstate.RunPlanning, Intent: wire.ActionRun,
		Trigger: raw, Callback: p.trigger.Callback, Root: p.export.Destination,
		Prefix: exportconfig.ResolvePrefix(p.export.PrefixTemplate, id, date), Queue: wire.ChunkQueue(p.source.Name),
		CreatedAt: now, LeaseUntil: now.Add(p.Settings.PlannerTimeout),
	}
	p.log = p.Log.With("run_id", id, "export", p.export.Name)
	err = p.State.CreateRun(ctx, p.run)
	var exists *runstate.ConditionError
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &exists) || exists.Run == nil:
		return nil, fmt.Errorf("create run %s: %w", id, err)
	}
	found := *exists.Run
	p.run = found
	switch {
	case found.Export != p.name():
		return nil, fault.New(fault.Refused, "LAPSTRAKE_RUN_ID_TAKEN", "run id %s belongs to export %q; nothing was started", id, found.Export)
	case found.Intent == wire.ActionRun && found.TriggerID != triggerID:
		return nil, fault.New(fault.Refused, "LAPSTRAKE_RUN_ID_TAKEN", "run id %s was made by another trigger (%s); nothing was started", id, found.TriggerID)
	case found.Status == runstate.RunPlanning && found.Intent == wire.ActionRun:
		if err := p.stayAt(ctx, found.Root); err != nil {
			return nil, err
		}
		if err := p.noteCallback(ctx); err != nil || !p.run.Status.Terminal() {
			return nil, err
		}
	case found.Status == runstate.RunRunning && !found.Enqueued:
		p.gen = found.Gen
		if err := p.noteCallback(ctx); err != nil {
			return nil, err
		}
		return p.enqueueAgain(ctx)
	default:
		if err := p.noteCallback(ctx); err != nil {
			return nil, err
		}
	}
	return answerOf(p.run), nil
}

func answerOf(r runstate.Run) *wire.TriggerResult {
	a := &wire.TriggerResult{RunID: r.RunID, Chunks: r.TaskCount, Status: wire.AlreadyRunning}
	switch r.Status {
	case runstate.RunSucceeded:
		a.Status = wire.Succeeded
	case runstate.RunRefused:
		a.Status, a.Skipped = wire.RefusedTrigger, true
	case runstate.RunFailed, runstate.RunSuperseded:
		a.Status = wire.FailedTrigger
	}
	if r.Error != nil && a.Status != wire.AlreadyRunning {
		a.Reason = string(r.Error.Code)
	}
	return a
}

// checkPrefix is P3: the prefix must not belong to another export.
func (p *planner) checkPrefix(ctx context.Context) error {
	m, err := commit.CheckPrefix(ctx, p.prefix(), p.name())
	if err != nil {
		return err
	}
	p.saw(m)
	if m != nil && m.Status == contract.StatusSuccess && m.RunID != p.run.RunID && p.export.IfSuccess == "refuse" {
		return fault.New(fault.Refused, "LAPSTRAKE_DEST_ALREADY_COMPLETE", "export %q: the destination holds the complete run %s and lapstrake.if_success is refuse; nothing was started", p.export.Name, m.RunID)
	}
	return nil
}

// saw notes the generation of the prefix's manifest, and the columns that it
// shows. Since it is read before the fence, no document of the export may be
// below its generation.
func (p *planner) saw(m *contract.Manifest) {
	if m == nil {
		return
	}
	p.seen = max(p.seen, m.Generation)
	if m.Status == contract.StatusSuccess && m.RunID != p.run.RunID {
		p.shown = m.SchemaFingerprint
	}
}

// recordFence is T2.
func (p *planner) recordFence(ctx context.Context) error {
	err := p.State.RecordFence(ctx, p.run.RunID, runstate.FenceRecord{
		Gen: p.gen, Creation: p.run.Creation, LeaseUntil: p.Clock.Now().Add(p.Settings.RunLease), Root: p.run.Root, Prefix: p.run.Prefix, Queue: p.run.Queue,
	})
	var refused *runstate.ConditionError
	if !errors.As(err, &refused) {
		p.run.Gen = p.gen
		return err
	}
	switch found := refused.Run; {
	case found == nil || found.Creation != p.run.Creation: // the table was lost meanwhile
	case found.Gen == p.gen && found.Status == runstate.RunRunning:
		p.run.Gen = p.gen
		return nil // a duplicate of this planner is ahead
	case !found.Status.Terminal() && found.Gen < p.gen:
		return fault.New(fault.Retryable, "LAPSTRAKE_RUN_GENERATION_BEHIND", "run %s holds the fence at generation %d, its item says %d: it has to be resumed", p.run.RunID, p.gen, found.Gen)
	}
	return &commit.FenceLostError{Export: p.name(), RunID: p.run.RunID, OwnerRunID: p.run.RunID, OwnerGen: p.gen}
}

// settle has the predecessor's finalizer settle its run: succeeded if it was
// rolled forward, superseded if it was sealed.
func (p *planner) settle(ctx context.Context, pred contract.Predecessor) error {
	ref := wire.RunRef{Export: p.name(), RunID: pred.RunID, Generation: pred.Generation, Root: p.run.Root}
	return p.dispatcher().SendFinalize(ctx, ref)
}

// finishCommitted brings a run that has committed before to its end. What it has
// committed is not damaged by this run, but may be: then it fails, to be
// repaired.
func (p *planner) finishCommitted(ctx context.Context) (wire.TriggerResult, error) {
	held, err := p.fence().Read(ctx)
	if err != nil {
		return wire.TriggerResult{}, err
	}
	_, err = p.ender().Settle(ctx, p.run, held.Doc.Generation)
	if err != nil && !fault.Retry(err) {
		return p.fail(ctx, err)
	}
	if err != nil {
		return wire.TriggerResult{}, err
	}
	return p.reportSuccess(ctx)
}

// reportSuccess has the finalizer do what follows a success, and settle a run
// that has committed without a sidecar.
func (p *planner) reportSuccess(ctx context.Context) (wire.TriggerResult, error) {
	ref := dispatch.Ref(p.run)
	ref.Generation = max(ref.Generation, p.gen)
	if err := p.dispatcher().SendFinalize(ctx, ref); err != nil {
		return wire.TriggerResult{}, err
	}
	return wire.TriggerResult{RunID: p.run.RunID, Status: wire.AlreadyRunning, Reason: "committed"}, nil
}

// superseded is T16: another run owns the export, or has sealed this one.
func (p *planner) superseded(ctx context.Context, lost *commit.FenceLostError) (wire.TriggerResult, error) {
	switch lost.OwnerRunID {
	case p.run.RunID:
		return wire.TriggerResult{RunID: p.run.RunID, Status: wire.AlreadyRunning}, nil
	case "": // the fence document is gone: nobody has taken over
		answer, err := p.fail(ctx, lost)
		if errors.Is(err, lost) {
			err = nil // the answer says it
		}
		return answer, err
	}
	committed, err := reminded(ctx, p.dispatcher(), p.run, func() (bool, error) { return p.ender().Supersede(ctx, p.run, lost) })
	switch {
	case err != nil:
		return wire.TriggerResult{}, err
	case !committed:
		return wire.TriggerResult{RunID: p.run.RunID, Status: wire.FailedTrigger, Reason: string(fault.CodeOf(lost))}, nil
	}
	answer, err := p.reportSuccess(ctx)
	if err == nil && p.trigger.Force {
		err = notLast(p.name(), p.run.RunID, lost.OwnerRunID, lost.OwnerGen)
	}
	return answer, err
}

// refuse is T15r: another run is active, and this one steps back.
func (p *planner) refuse(ctx context.Context, cause error) (wire.TriggerResult, error) {
	_, err := p.State.Refuse(ctx, p.run.RunID, dispatch.Failure(cause), p.Clock.Now())
	if err != nil && !errors.Is(err, runstate.ErrCondition) {
		return wire.TriggerResult{}, errors.Join(cause, err)
	}
	p.log.Info("refused", "reason", cause)
	return wire.TriggerResult{RunID: p.run.RunID, Status: wire.RefusedTrigger, Reason: cause.Error(), Skipped: true}, nil
}

func orZero(r *wire.TriggerResult) wire.TriggerResult {
	if r == nil {
		return wire.TriggerResult{}
	}
	return *r
}

func (p *planner) fence() commit.Fence {
	return commit.Fence{Root: p.root, Export: p.name(), Clock: p.Clock, IDs: p.IDs, Seen: p.seen}
}

// acquire is P4.
func (p *planner) acquire(ctx context.Context, draft *draft) (commit.Opened, error) {
	a := commit.Acquisition{
		Fence: p.fence(), Me: p.owner(), SourceIdentity: draft.identity,
		Position:     draft.cursor(),
		MayTake:      p.mayTake,
		StillPlanned: p.stillPlanned,
		CheckParts:   runend.PartsThere,
		Tombstone: func(sealed contract.Predecessor) contract.Manifest {
			return p.tombstone(sealed.RunID)
		},
		Reanchor: p.trigger.Reanchor,
	}
	return a.Acquire(ctx)
}

func (p *planner) owner() commit.Owner {
	return commit.Owner{RunID: p.run.RunID, Prefix: p.run.Prefix, Creation: p.run.Creation}
}

// stillPlanned refuses a new generation to a planner whose run has moved on while
// it was asleep: it was started, claimed by another resume, or created anew after
// the table was lost. Nothing would come of that generation but a run whose
// finalizers are all of an older one (ADR-0006).
func (p *planner) stillPlanned(ctx context.Context) error {
	run, err := p.State.GetRun(ctx, p.run.RunID)
	switch {
	case err != nil && !errors.Is(err, runstate.ErrNotFound):
		return err
	case err == nil && run.Status == runstate.RunPlanning && run.Creation == p.run.Creation && run.TriggerID == p.run.TriggerID:
		return nil
	}
	return p.overtaken(run)
}

// mayTake refuses to take the fence from a run that is live, unless the trigger
// or the config says supersede. A run that the table does not know is not live:
// the table was lost, and the run with it.
func (p *planner) mayTake(ctx context.Context, doc contract.CursorDocument) error {
	if p.trigger.OnConflict == "supersede" || p.trigger.OnConflict == "" && p.export.OnConflict == "supersede" {
		return nil
	}
	owner, err := p.State.GetRun(ctx, doc.OwnerRunID)
	switch {
	case errors.Is(err, runstate.ErrNotFound):
		return nil
	case err != nil:
		return err
	case owner.Status.Terminal() || owner.LeaseUntil.Before(p.Clock.Now()):
		return nil
	}
	return fault.New(fault.Busy, "LAPSTRAKE_RUN_ACTIVE", "export %q: run %s is active (%s); run %s was not started. Wait for it, resume it, or trigger with on_conflict: supersede", p.export.Name, owner.RunID, owner.Status, p.run.RunID)
}

// tombstone is the manifest of a run of this export that is sealed.
func (p *planner) tombstone(run contract.RunID) contract.Manifest {
	return commit.TombstoneOf(run, p.export, p.source.Type, p.Clock.Now())
}
