package wiring

import (
	"context"

	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// Damage is what of a published run is not as its manifest says.
type Damage struct {
	Manifest contract.Manifest
	Parts    []commit.Damage
}

// Damage compares what a run has published with its prefix. Nothing is written.
func (l *Local) Damage(ctx context.Context, run runstate.Run) (Damage, error) {
	root, err := l.Destinations.Open(ctx, run.Root)
	if err != nil {
		return Damage{}, err
	}
	prefix := destination.Prefixed(root, run.Prefix)
	m, _, err := commit.ReadSidecar(ctx, prefix, run.RunID)
	switch {
	case err != nil:
		return Damage{}, err
	case m == nil && run.Status == runstate.RunSucceeded:
		return Damage{}, nil // it had no rows, and published nothing
	case m == nil || m.Status != contract.StatusSuccess:
		return Damage{}, fault.New(fault.Refused, "LAPSTRAKE_RUN_NOT_PUBLISHED", "run %s is %s and has published nothing that could be repaired; resume it, or run the export again", run.RunID, run.Status)
	}
	parts, err := commit.Damaged(ctx, prefix, *m)
	return Damage{Manifest: *m, Parts: parts}, err
}
