package commit

import (
	"context"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// errOpenedByDuplicate means that a duplicate of this planner has opened the
// fence meanwhile: the predecessor is dealt with.
var errOpenedByDuplicate = errors.New("a duplicate of this planner has opened the fence")

// seal makes sure that the predecessor can never commit, by creating its
// sidecar as a tombstone; or, if it has committed, returns its sidecar's bytes
// (D15). One create-only write decides.
func (a Acquisition) seal(ctx context.Context, held Held, pred contract.Predecessor) ([]byte, error) {
	found, err := Seal(ctx, destination.Prefixed(a.Fence.Root, pred.Prefix), a.Tombstone(pred), contract.SealedBy{RunID: a.Me.RunID, Generation: held.Doc.Generation})
	if err != nil {
		return nil, fmt.Errorf("seal run %s: %w", pred.RunID, err)
	}
	return found, nil
}

// Seal creates a run's sidecar as a tombstone. It returns the sidecar's bytes
// if the run has committed before, nil if it is sealed now or was already.
func Seal(ctx context.Context, prefix destination.Store, tombstone contract.Manifest, by contract.SealedBy) ([]byte, error) {
	tombstone.ManifestVersion = contract.ManifestVersion
	tombstone.Status = contract.StatusInterrupted
	tombstone.SealedBy = &by
	tombstone.Parts = []contract.Part{}
	tombstone.PartCount, tombstone.RowCount = 0, 0
	body, err := tombstone.Encode()
	if err != nil {
		return nil, err
	}
	_, found, err := create(ctx, prefix, contract.SidecarName(tombstone.RunID), body, metaOf(body))
	if err != nil || found == nil {
		return nil, err
	}
	m, err := contract.DecodeManifest(found)
	if err != nil {
		return nil, fault.Wrap(err, fault.Integrity, "LAPSTRAKE_DEST_SIDECAR_UNREADABLE", "%s cannot be read, so whether run %s has committed is not known", contract.SidecarName(tombstone.RunID), tombstone.RunID)
	}
	if m.Status != contract.StatusSuccess {
		return nil, nil
	}
	return found, nil
}

// rollForward publishes the canonical pair of a predecessor that has committed,
// from its sidecar's bytes, verbatim. Every write is a swap on a version that
// was captured before the fence was read (D3): a stalled planner cannot
// overwrite what a later run has published.
func (a Acquisition) rollForward(ctx context.Context, held Held, pred contract.Predecessor, sidecar []byte) error {
	prefix := destination.Prefixed(a.Fence.Root, pred.Prefix)
	m, err := contract.DecodeManifest(sidecar)
	if err != nil {
		return fmt.Errorf("roll run %s forward: %w", pred.RunID, err)
	}
	if err := a.CheckParts(ctx, prefix, m); err != nil {
		return fault.Wrap(err, fault.Integrity, "LAPSTRAKE_RUN_PREDECESSOR_DAMAGED",
			"export %q: run %s has committed, but its parts are not all there, so no new run is started over it; nothing was published or changed. Restore the objects, or see docs/operations.md", a.Fence.Export, pred.RunID)
	}
	for range casTries {
		pair, err := capturePair(ctx, prefix, a.Fence.Export)
		if err != nil {
			return err
		}
		now, err := a.Fence.Read(ctx)
		switch {
		case err != nil:
			return err
		case !now.Owns(a.Me.RunID, held.Doc.Generation):
			return a.Fence.lost(a.Me.RunID, now)
		case now.Doc.State != contract.FenceOpening: // exactly opening: an open owner may have published already
			return errOpenedByDuplicate
		}
		if err := a.Fence.refuseBelow(now.Doc, pair); err != nil {
			return err
		}
		err = pair.publish(ctx, prefix, sidecar)
		if err == nil || !errors.Is(err, destination.ErrMoved) {
			return err
		}
	}
	return contended(a.Fence.Export)
}

// advanceOver moves the position of doc over the window of a rolled-forward
// predecessor, if that window starts exactly at it.
func advanceOver(doc *contract.CursorDocument, pred contract.Predecessor, sidecar []byte) {
	m, err := contract.DecodeManifest(sidecar)
	if err != nil || m.Position == nil || m.Position.To == nil {
		return
	}
	w := m.Position
	if !doc.Position.Equal(w.From) || doc.Position != nil && !doc.Position.SameCursor(*w.To) {
		return
	}
	doc.PreviousPosition = doc.Position
	doc.Position = w.To
	doc.CommittedBy = &contract.CommittedBy{
		RunID: pred.RunID, Generation: m.Generation,
		Manifest: contract.SidecarName(pred.RunID), ManifestFingerprint: contract.FingerprintOf(sidecar),
	}
}
