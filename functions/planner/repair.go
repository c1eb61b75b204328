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
	unfinished := p.run.Intent == wire.ActionRepair && !p.run.Status.Terminal()
	doc, err := p.stillOwner(ctx)
	switch {
	case err != nil && unfinished && doc.OwnerRunID != "" && doc.OwnerRunID != p.run.RunID:
		// What it had published before stands, and is its end.
		return p.superseded(ctx, &commit.FenceLostError{Export: p.name(), RunID: p.run.RunID, OwnerRunID: doc.OwnerRunID, OwnerGen: doc.Generation})
	case err != nil:
		return wire.TriggerResult{}, err
	}
	damaged, err := commit.Damaged(ctx, p.prefix(), sidecar)
	if err != nil {
		return wire.TriggerResult{}, err
	}
	if len(damaged) == 0 && !unfinished {
		return p.republish(ctx)
	}
	plan, fp, err := commit.LoadPlan(ctx, p.root, p.name(), p.run.RunID)
	switch {
	case err != nil:
		return wire.TriggerResult{}, commit.StartedWith(p.run, err)
	}
	if err := atItsEnd(doc, plan, sidecar); err != nil { // R0
		return wire.TriggerResult{}, err
	}
	if answer, err := p.claimResume(ctx); err != nil || answer != nil {
		return orZero(answer), err
	}
	defer p.stayAlive(ctx)()
	result, err := p.repairClaimed(ctx, plan, fp, sidecar, body)
	return p.conclude(ctx, result, err)
}

// stillOwner returns the fence document, or refuses the repair of a run that a
// later one has followed.
func (p *planner) stillOwner(ctx context.Context) (contract.CursorDocument, error) {
	held, err := p.fence().ReadNewest(ctx)
	switch {
	case err != nil:
		return contract.CursorDocument{}, err
	case held.Absent():
		return held.Doc, fault.New(fault.Refused, "LAPSTRAKE_STATE_CURSOR_MISSING", "export %q: %s is gone, so run %s cannot show that it is the last run of the export; nothing was changed. Restore the document", p.name(), contract.CursorKey(p.name()), p.run.RunID)
	case held.Doc.OwnerRunID != p.run.RunID:
		return held.Doc, notLast(p.name(), p.run.RunID, held.Doc.OwnerRunID, held.Doc.Generation)
	}
	return held.Doc, nil
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

// atItsEnd is R0: the cursor has to be where the run's window ends, or, while
// the run has not come to move it, where it begins. Where the cursor is else,
// nobody knows which rows are the run's.
func atItsEnd(doc contract.CursorDocument, plan chunkplan.Plan, sidecar contract.Manifest) error {
	if plan.Window == nil || sidecar.Position == nil {
		return nil
	}
	want := sidecar.Position.From
	if doc.State == contract.FenceCommitted {
		want = sidecar.Position.To
	}
	if want == nil && doc.Position == nil || want != nil && doc.Position != nil && doc.Position.SameCursor(*want) && doc.Position.Value == want.Value {
		return nil
	}
	return fault.New(fault.Refused, "LAPSTRAKE_PLAN_STALE", "run %s cannot be repaired: the cursor of export %q is not where its window ends; nothing was changed. Restore the damaged objects from the bucket's versions or a copy", plan.RunID, doc.Export)
}

func (p *planner) repairClaimed(ctx context.Context, plan chunkplan.Plan, fp contract.Fingerprint, sidecar contract.Manifest, body []byte) (wire.TriggerResult, error) {
	held, err := p.fence().Repair(ctx, p.owner(), body, func(doc contract.CursorDocument) error {
		if err := p.stillPlanned(ctx); err != nil {
			return err
		}
		if id := doc.SourceIdentity; id != nil {
			if err := commit.CheckSource(p.name(), "the cursor", *id, plan.SourceIdentity); err != nil {
				return err
			}
		}
		return atItsEnd(doc, plan, sidecar)
	})
	if err != nil {
		return wire.TriggerResult{}, err
	}
	if err := p.recordGeneration(ctx, held); err != nil {
		return wire.TriggerResult{}, fmt.Errorf("repair: %w", err)
	}
	return p.reviveTasks(ctx, plan, fp)
}
