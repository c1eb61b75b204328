package commit

import (
	"context"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// StorePlan writes a run's plan unless it has one, and returns the one that
// stands: the first plan wins, so a planner that is started again does not make
// a second one.
func StorePlan(ctx context.Context, root destination.Store, p chunkplan.Plan) (chunkplan.Plan, contract.Fingerprint, error) {
	body, err := p.Encode()
	if err != nil {
		return chunkplan.Plan{}, "", err
	}
	export := contract.ExportName(p.Export.Name)
	_, found, err := create(ctx, root, contract.PlanKey(export, p.RunID), body, metaOf(body))
	if err != nil {
		return chunkplan.Plan{}, "", fmt.Errorf("store the plan of run %s: %w", p.RunID, err)
	}
	if found == nil {
		return p, contract.FingerprintOf(body), nil
	}
	return decodePlan(found, export, p.RunID)
}

// LoadPlan returns a run's plan and its fingerprint. ErrNotFound is in the
// chain if it has none.
func LoadPlan(ctx context.Context, root destination.Store, export contract.ExportName, run contract.RunID) (chunkplan.Plan, contract.Fingerprint, error) {
	body, _, err := root.Get(ctx, contract.PlanKey(export, run), chunkplan.MaxPlanBytes)
	if err != nil {
		return chunkplan.Plan{}, "", fmt.Errorf("read the plan of run %s: %w", run, err)
	}
	return decodePlan(body, export, run)
}

// ErrPlanMissing is in the chain of the failure of a run that was started and
// whose plan is gone.
var ErrPlanMissing = errors.New("the plan that the run was started with is gone")

// StartedWith turns err, from loading the plan of a run, into ErrPlanMissing if
// the plan is not there though the run was started with it. No attempt brings it
// back, and without it nobody knows what the run's tasks were.
func StartedWith(run runstate.Run, err error) error {
	if !errors.Is(err, destination.ErrNotFound) || run.PlanFingerprint == "" {
		return err
	}
	return fault.Wrap(ErrPlanMissing, fault.Permanent, "LAPSTRAKE_RUN_PLAN_MISSING",
		"export %q: %s of run %s is not there; nothing more of the run is read or published. Restore the object and resume the run, or run the export again, which loses nothing", run.Export, contract.PlanKey(run.Export, run.RunID), run.RunID)
}

// HasPlan reports whether a run has a plan.
func HasPlan(ctx context.Context, root destination.Store, export contract.ExportName, run contract.RunID) (bool, error) {
	_, err := root.Head(ctx, contract.PlanKey(export, run))
	if errors.Is(err, destination.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func decodePlan(body []byte, export contract.ExportName, run contract.RunID) (chunkplan.Plan, contract.Fingerprint, error) {
	p, err := chunkplan.Decode(body)
	if err != nil {
		return p, "", fmt.Errorf("read the plan of run %s: %w", run, err)
	}
	if p.RunID != run || contract.ExportName(p.Export.Name) != export {
		return p, "", fault.New(fault.Refused, "LAPSTRAKE_RUN_PLAN_OF_OTHER_RUN", "the plan found for run %s of export %q is that of run %s of export %q", run, export, p.RunID, p.Export.Name)
	}
	return p, contract.FingerprintOf(body), nil
}
