package finalizer

import (
	"context"
	"errors"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// repair finalizes a run that has committed and is being repaired (ADR-0003):
// its tasks are completed again, and then its manifest is replaced. The old one
// stands until then, and for good if another run takes the export over.
func (f *finalizer) repair(ctx context.Context) (wire.Outcome, error) {
	held, err := f.fence().Read(ctx)
	if err != nil {
		return wire.Outcome{}, err
	}
	switch doc := held.Doc; {
	case !held.Absent() && doc.OwnerRunID != f.run.RunID:
		f.log.Warn("run was overtaken while it was being repaired; what it had published before stands", "by", doc.OwnerRunID)
		return f.settle(ctx)
	case !held.Owns(f.run.RunID, f.run.Gen) || f.run.Status == runstate.RunPlanning:
		return wire.Done("run %s is about to be repaired", f.run.RunID), nil
	}
	sidecar, _, err := commit.ReadSidecar(ctx, f.prefix, f.run.RunID)
	switch {
	case err != nil:
		return wire.Outcome{}, err
	case sidecar != nil && sidecar.Status == contract.StatusSuccess && sidecar.Generation >= f.run.Gen:
		return f.settle(ctx) // repaired, and cut short after that
	}
	if ready, err := f.complete(ctx); err != nil || ready != nil {
		return orDone(ready), err
	}
	frozen := commit.Frozen{Plan: f.plan, Chunks: f.chunks}
	if err := frozen.CheckRepair(held.Doc.Position); err != nil {
		ended, failErr := f.fail(ctx, dispatch.Failure(err))
		return orDone(ended), errors.Join(err, failErr)
	}
	return f.freezeAndPublish(ctx, true)
}

// settle brings the run to its end from what it has committed.
func (f *finalizer) settle(ctx context.Context) (wire.Outcome, error) {
	settled, err := f.ender().Settle(ctx, f.run, f.ref.Generation)
	if err != nil {
		return wire.Outcome{}, err
	}
	return f.end(ctx, settled)
}
