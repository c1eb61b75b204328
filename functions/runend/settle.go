package runend

import (
	"context"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Ending is what Settle has made of a run.
type Ending string

const (
	// Undecided: the run has neither committed nor been sealed. Nothing was
	// done.
	Undecided Ending = "undecided"
	// Succeeded: the run has committed, and destination and item say so.
	Succeeded Ending = "succeeded"
	// Superseded: the run was sealed by another and can never commit. Nothing
	// was done.
	Superseded Ending = "superseded"
	// Resumed: the run has committed, and works under a newer generation than
	// the caller's, whose finalizer settles it.
	Resumed Ending = "resumed"
)

// Settled is what Settle found.
type Settled struct {
	Ending Ending
	// Run is the run's item when it has succeeded.
	Run runstate.Run
	// SealedBy is the owner that superseded the run.
	SealedBy *contract.SealedBy
}

// Settle brings a run whose own sidecar is a success to its end, whatever its
// item says: it finishes the publication (F5 to F10 of architecture §2.6) and
// records the success (T14). Any number of callers may do so at once.
//
// g is the newest generation that the caller knows of the run. A part that is
// gone before the pair was published is an error of class Integrity, and then
// nothing more was published.
func (e Ender) Settle(ctx context.Context, run runstate.Run, g contract.Generation) (Settled, error) {
	root, err := e.Destinations.Open(ctx, run.Root)
	if err != nil {
		return Settled{}, err
	}
	sidecar, body, err := commit.ReadSidecar(ctx, destination.Prefixed(root, run.Prefix), run.RunID)
	switch {
	case err != nil:
		return Settled{}, err
	case sidecar == nil:
		return Settled{Ending: Undecided}, nil
	case sidecar.Status != contract.StatusSuccess:
		return Settled{Ending: Superseded, SealedBy: sidecar.SealedBy}, nil
	}
	p := commit.Publication{
		Fence: commit.Fence{Root: root, Export: run.Export, Clock: e.Clock, IDs: e.IDs}, Me: commit.Owner{RunID: run.RunID, Prefix: run.Prefix},
		Generation: max(run.Gen, g), Manifest: body, Window: sidecar.Position, CheckParts: PartsThere,
	}
	done, err := p.Publish(ctx)
	if err != nil {
		return Settled{}, PublishIncomplete(run.RunID, err)
	}
	if done.Ending == commit.Stale {
		return Settled{Ending: Resumed}, nil
	}
	return e.Succeed(ctx, run, body)
}

// SettleNewest is Settle under the newest generation of the run, its item's or
// its fence's: a resume that ended between the two leaves the item behind, and a
// run that has committed is published whatever its resume has come to. A repair
// has a generation of its own, which its finalizer settles.
func (e Ender) SettleNewest(ctx context.Context, run runstate.Run) (Settled, error) {
	settled, err := e.Settle(ctx, run, run.Gen)
	if err != nil || settled.Ending != Resumed || run.Intent == wire.ActionRepair {
		return settled, err
	}
	root, err := e.Destinations.Open(ctx, run.Root)
	if err != nil {
		return Settled{}, err
	}
	held, err := (commit.Fence{Root: root, Export: run.Export, Clock: e.Clock, IDs: e.IDs}).Read(ctx)
	if err != nil || held.Doc.OwnerRunID != run.RunID {
		return settled, err
	}
	return e.Settle(ctx, run, held.Doc.Generation)
}

// PublishIncomplete is err, which kept a run that has committed from being
// published to the end.
func PublishIncomplete(run contract.RunID, err error) error {
	return fault.Wrap(err, fault.ClassOf(err), "LAPSTRAKE_RUN_PUBLISH_INCOMPLETE", "run %s has committed (%s stands), but its publication is not finished", run, contract.SidecarName(run))
}

// Succeed is F12 (T14) for a run that has committed manifest, or nothing at all
// without one: its item becomes succeeded, from whatever it is at this
// generation or an older one.
func (e Ender) Succeed(ctx context.Context, run runstate.Run, manifest []byte) (Settled, error) {
	s := runstate.SuccessRecord{Gen: run.Gen, Adopted: true, Now: e.Clock.Now()}
	if manifest != nil {
		m, err := contract.DecodeManifest(manifest)
		if err != nil {
			return Settled{}, err
		}
		s.Outcome = runstate.RunOutcome{ManifestFingerprint: contract.FingerprintOf(manifest), Rows: m.RowCount, Parts: m.PartCount}
		if x := m.Source.Extraction; x != nil && x.CursorColumn != "" {
			s.Outcome.Extraction = x
		}
		for _, part := range m.Parts {
			s.Outcome.Bytes += part.SizeBytes
		}
	}
	succeeded, err := e.State.SucceedRun(ctx, run.RunID, s)
	var refused *runstate.ConditionError
	switch {
	case errors.As(err, &refused) && refused.Run != nil && refused.Run.Status == runstate.RunSucceeded:
		return Settled{Ending: Succeeded, Run: *refused.Run}, nil
	case errors.As(err, &refused) && refused.Run != nil && refused.Run.Gen > run.Gen:
		return Settled{Ending: Resumed}, nil
	case err != nil:
		return Settled{}, fmt.Errorf("record the success of run %s, which is published: %w", run.RunID, err)
	}
	e.Log.Info("run succeeded", "run_id", run.RunID, "export", run.Export, "gen", succeeded.Gen, "rows", s.Outcome.Rows, "parts", s.Outcome.Parts, "bytes", s.Outcome.Bytes)
	return Settled{Ending: Succeeded, Run: succeeded}, nil
}

// PartsThere makes sure that every part of a committed manifest is in its
// prefix, at its size and at the content that a listing tells of.
func PartsThere(ctx context.Context, prefix destination.Store, m contract.Manifest) error {
	found, err := verify.Parts(ctx, prefix, m.Parts, verify.PartsOptions{})
	if err != nil || found.Intact() {
		return err
	}
	return fault.New(fault.Integrity, "LAPSTRAKE_DEST_PART_DAMAGED", "%d of %d parts of run %s are missing or differ, the first is %s; nothing more is published until they are restored, or made again with: lapstrake repair --execute %s",
		len(found.Failures), len(m.Parts), m.RunID, found.Failures[0].Path, m.RunID)
}
