package planner

import (
	"context"
	"fmt"

	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// repair is a resume by force, of a run that has committed and is still the
// last one of its export (ADR-0003): the parts that are missing or damaged are
// made again under a new generation, and the run's manifest is replaced as a
// whole. It may be repeated, and cut short, at any point; until the manifest is
// replaced the old one stands.
//
// Rows that are read again are as the source has them now, which need not be
// what the run delivered first.
func (p *planner) repair(ctx context.Context, sidecar contract.Manifest, body []byte) (wire.TriggerResult, error) {
	if err := p.otherMarker(ctx); err != nil {
		return wire.TriggerResult{}, err
	}
	if err := p.stillOwner(ctx); err != nil {
		return wire.TriggerResult{}, err
	}
	damaged, err := commit.Damaged(ctx, p.prefix(), sidecar)
	if err != nil {
		return wire.TriggerResult{}, err
	}
	unfinished := p.run.Intent == wire.ActionRepair && !p.run.Status.Terminal()
	if len(damaged) == 0 && !unfinished {
		return p.republish(ctx)
	}
	plan, fp, err := commit.LoadPlan(ctx, p.root, p.name(), p.run.RunID)
	switch {
	case err != nil:
		return wire.TriggerResult{}, commit.StartedWith(p.run, err)
	case plan.Window != nil && len(damaged) > 0:
		return wire.TriggerResult{}, noRepairWithCursor(p.name(), plan, damaged)
	}
	if answer, err := p.claimResume(ctx); err != nil || answer != nil {
		return orZero(answer), err
	}
	defer p.stayAlive(ctx)()
	result, err := p.repairClaimed(ctx, plan, fp, body)
	return p.conclude(ctx, result, err)
}

// stillOwner refuses the repair of a run that a later one has followed.
func (p *planner) stillOwner(ctx context.Context) error {
	held, err := p.fence().Read(ctx)
	switch {
	case err != nil:
		return err
	case held.Absent():
		return fault.New(fault.Refused, "LAPSTRAKE_STATE_CURSOR_MISSING", "export %q: %s is gone, so run %s cannot show that it is the last run of the export; nothing was changed. Restore the document", p.name(), contract.CursorKey(p.name()), p.run.RunID)
	case held.Doc.OwnerRunID != p.run.RunID:
		return notLast(p.name(), p.run.RunID, held.Doc.OwnerRunID, held.Doc.Generation)
	}
	return nil
}

func notLast(export contract.ExportName, run, owner contract.RunID, g contract.Generation) error {
	return fault.New(fault.Refused, "LAPSTRAKE_RUN_NOT_LAST", "run %s is not the last run of export %q any more: run %s holds the fence at generation %d; nothing of %s was changed. Only the last run can be repaired: restore the damaged objects from the bucket's versions or a copy, or run the export again",
		run, export, owner, g, run)
}

// republish makes manifest and marker those of the sidecar again, for a run
// whose parts are all there: somebody may have deleted the marker.
func (p *planner) republish(ctx context.Context) (wire.TriggerResult, error) {
	settled, err := p.ender().Settle(ctx, p.run, p.run.Gen)
	switch {
	case err != nil:
		return wire.TriggerResult{}, err
	case settled.Ending != runend.Succeeded:
		return wire.TriggerResult{}, fault.New(fault.Busy, "LAPSTRAKE_RUN_ACTIVE", "run %s is being resumed or repaired; wait for it", p.run.RunID)
	}
	if !settled.Run.Notified {
		return p.reportSuccess(ctx)
	}
	return wire.TriggerResult{RunID: p.run.RunID, Status: wire.Succeeded, Reason: "intact"}, nil
}

// noRepairWithCursor refuses what cannot be done exactly: rows that share the
// last value of the window and came after it belong to the next run, and a task
// that is read again would deliver them too.
func noRepairWithCursor(export contract.ExportName, plan chunkplan.Plan, damaged []commit.Damage) error {
	return fault.New(fault.Refused, "LAPSTRAKE_RUN_REPAIR_UNSUPPORTED", "export %q, run %s: %d parts are damaged, the first is %s, and a run of mode %s is not repaired: rows that have come to the end of its window since would be delivered twice. Nothing was changed. Restore the objects from the bucket's versions or a copy",
		export, plan.RunID, len(damaged), damaged[0].Path, plan.Export.Mode)
}

func (p *planner) repairClaimed(ctx context.Context, plan chunkplan.Plan, fp contract.Fingerprint, sidecar []byte) (wire.TriggerResult, error) {
	me := commit.Owner{RunID: p.run.RunID, Prefix: p.run.Prefix}
	held, err := p.fence().Repair(ctx, me, sidecar, func(doc contract.CursorDocument) error {
		if id := doc.SourceIdentity; id != nil {
			return commit.CheckSource(p.name(), "the cursor", *id, plan.SourceIdentity)
		}
		return nil
	})
	if err != nil {
		return wire.TriggerResult{}, err
	}
	if err := p.recordGeneration(ctx, held); err != nil {
		return wire.TriggerResult{}, fmt.Errorf("repair: %w", err)
	}
	return p.reviveTasks(ctx, plan, fp)
}
