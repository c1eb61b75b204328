package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Publication is what one generation of one run publishes. Its bytes are a pure
// function of the plan and of the table frozen by BeginFinalize, so any number
// of finalizers publish the same (D10, V18).
type Publication struct {
	Fence      Fence
	Me         Owner
	Generation contract.Generation

	// Record is the run record; it is created before the commit point. nil when
	// Manifest is the run's own sidecar, whose record stands already.
	RecordKey string
	Record    []byte
	// Manifest is the success manifest. nil publishes no files and only
	// commits the fence: a run without rows whose export says skip_empty.
	Manifest []byte
	// Window is what the manifest covers, in modes with a cursor.
	Window *contract.PositionWindow
	// Tombstone fills in a tombstone of this run itself, for the case that it
	// finds itself superseded before its successor has sealed it.
	Tombstone contract.Manifest
	// CheckParts verifies that every part of a manifest that was not made just
	// now is still in the prefix, before it is published (M1, M5). nil checks
	// nothing.
	CheckParts func(ctx context.Context, prefix destination.Store, m contract.Manifest) error
	// Repair replaces the run's success sidecar by Manifest instead of creating
	// it: only in a forced repair, whose generation [Fence.Repair] has taken.
	Repair bool
}

// Ending says how a publication ended.
type Ending string

const (
	// Committed: this call or a duplicate of it has published everything.
	Committed Ending = "committed"
	// RolledForward: the run has committed, and a successor owns the fence and
	// publishes the pair.
	RolledForward Ending = "rolled_forward"
	// Superseded: the run was sealed before it committed; nothing of it is
	// visible.
	Superseded Ending = "superseded"
	// Stale: this finalizer acts for an older generation of its own run, or for
	// one that has failed and given its fence back before it committed; nothing
	// more is written.
	Stale Ending = "stale"
)

// Published is what stands at the destination after Publish.
type Published struct {
	Ending Ending
	// Manifest is the run's committed manifest: this publication's, or the one
	// of another generation of the run that committed first. nil when there is
	// none.
	Manifest []byte
	// SealedBy is the owner that superseded the run.
	SealedBy *contract.SealedBy
}

// Publish does F5 to F10 of architecture §2.6: capture the pair, read the
// fence, create the sidecar (the commit point, D15), then swap manifest, marker
// and cursor. It may be called again at any time, by any number of finalizers.
//
// An error before the commit point has published nothing. After it the run is
// committed and can no longer fail: an error says that publishing has to be
// repeated, and Published.Manifest is set.
func (p Publication) Publish(ctx context.Context) (Published, error) {
	prefix := destination.Prefixed(p.Fence.Root, p.Me.Prefix)
	var out Published
	for range casTries {
		pair, err := capturePair(ctx, prefix, p.Fence.Export) // F5: before the fence is read (D3)
		if err != nil {
			return out, err
		}
		held, ending, err := p.readFence(ctx, prefix, out.Manifest) // F6
		if err != nil || ending != nil {
			if ending != nil {
				out = *ending
			}
			return out, err
		}
		if err := p.Fence.refuseBelow(held.Doc, pair); err != nil {
			return out, err
		}
		if p.Manifest != nil {
			manifest, ending, err := p.commitPoint(ctx, prefix) // F6b, F7
			if errors.Is(err, destination.ErrMoved) {           // another repair was faster: look at the fence again
				continue
			}
			if err != nil || ending != nil {
				if ending != nil {
					out = *ending
				}
				return out, err
			}
			out.Manifest = manifest
			if err := p.checkAdopted(ctx, prefix, pair, manifest); err != nil {
				return out, err
			}
			err = pair.publish(ctx, prefix, manifest) // F8, F9
			if errors.Is(err, destination.ErrMoved) {
				continue
			}
			if err != nil {
				return out, err
			}
		}
		done, err := p.commitCursor(ctx, held, out.Manifest) // F10
		if err != nil {
			return out, err
		}
		if done {
			out.Ending = Committed
			return out, nil
		}
	}
	return out, contended(p.Fence.Export)
}

// checkAdopted looks for the parts of a manifest that was found instead of made,
// unless it is published already: a marker never appears over a part that has
// gone since (M5).
func (p Publication) checkAdopted(ctx context.Context, prefix destination.Store, there pair, manifest []byte) error {
	if p.CheckParts == nil || p.Record != nil && bytes.Equal(p.Manifest, manifest) || there.is(manifest) {
		return nil
	}
	m, err := contract.DecodeManifest(manifest)
	if err != nil {
		return err
	}
	return p.CheckParts(ctx, prefix, m)
}

// readFence decides whether this run may still commit. A non-nil Published is
// final. committed is the run's manifest if this call has committed it already.
func (p Publication) readFence(ctx context.Context, prefix destination.Store, committed []byte) (Held, *Published, error) {
	held, err := p.Fence.Read(ctx)
	if err != nil {
		return Held{}, nil, err
	}
	doc := held.Doc
	if held.Absent() {
		return Held{}, nil, fault.New(fault.Refused, "LAPSTRAKE_STATE_CURSOR_MISSING",
			"export %q: %s is gone, so run %s cannot show that it owns the export; nothing more was published. Restore the document and finalize again", p.Fence.Export, contract.CursorKey(p.Fence.Export), p.Me.RunID)
	}
	if doc.OwnerRunID == p.Me.RunID {
		switch {
		case doc.Generation > p.Generation:
			return held, &Published{Ending: Stale, Manifest: committed}, nil
		case doc.Generation < p.Generation: // it was taken by a swap of this very document
			return Held{}, nil, p.Fence.refusedAsOld(doc, "this run's item", p.Generation)
		case doc.Generation == p.Generation && (doc.State == contract.FenceOpen && !p.Repair || doc.State == contract.FenceCommitted):
			return held, nil, nil
		case doc.Generation == p.Generation && doc.State == contract.FenceReleased && (committed != nil || p.adopts()):
			return held, nil, nil // committed before its item was failed: a successor would roll it forward
		case doc.Generation == p.Generation && doc.State == contract.FenceReleased:
			return held, &Published{Ending: Stale}, nil
		case doc.Generation == p.Generation && doc.State == contract.FenceOpening: // a run has tasks only once it has opened
			return Held{}, nil, p.Fence.refusedAsOld(doc, "this run's plan", p.Generation)
		}
		return Held{}, nil, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_FENCE_STATE", "export %q: run %s finalizes generation %d, but its fence is %s at generation %d; nothing was published", p.Fence.Export, p.Me.RunID, p.Generation, doc.State, doc.Generation)
	}
	switch {
	case p.adopts(): // its own sidecar: there is nothing to seal
		return held, &Published{Ending: RolledForward, Manifest: p.Manifest}, nil
	case doc.CommittedEmpty(p.Me.RunID):
		return held, &Published{Ending: RolledForward}, nil
	}
	ending, err := p.superseded(ctx, prefix, contract.SealedBy{RunID: doc.OwnerRunID, Generation: doc.Generation})
	return held, ending, err
}

// adopts reports whether what is published is the run's own sidecar.
func (p Publication) adopts() bool { return p.Record == nil && p.Manifest != nil }

// superseded settles a run whose fence another run holds: it has committed, or
// it is sealed now, by a tombstone like the one that the successor puts.
func (p Publication) superseded(ctx context.Context, prefix destination.Store, by contract.SealedBy) (*Published, error) {
	committed, err := Seal(ctx, prefix, p.Tombstone, by)
	switch {
	case err != nil:
		return nil, fmt.Errorf("seal run %s, which run %s has superseded: %w", p.Me.RunID, by.RunID, err)
	case committed != nil:
		return &Published{Ending: RolledForward, Manifest: committed}, nil
	}
	return &Published{Ending: Superseded, SealedBy: &by}, nil
}

// commitPoint creates the run record and then the sidecar: from that write on
// the run has committed. It returns the manifest that stands as this run's. A
// generation whose record was created by a later one, to revoke it, is stale.
func (p Publication) commitPoint(ctx context.Context, prefix destination.Store) ([]byte, *Published, error) {
	if p.Record != nil {
		_, found, err := create(ctx, p.Fence.Root, p.RecordKey, p.Record, metaOf(p.Record))
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("store the run record: %w", err)
		case found != nil:
			record, err := decodeStanding(p.RecordKey, found)
			switch {
			case err != nil:
				return nil, nil, err
			case record.RevokedBy != 0: // a resume has moved what the table of its life does not record
				return nil, &Published{Ending: Stale}, nil
			}
			return nil, nil, p.notDeterministic(p.RecordKey, p.Record, found)
		}
	}
	if p.Repair {
		return p.replaceSidecar(ctx, prefix)
	}
	name := contract.SidecarName(p.Me.RunID)
	_, found, err := create(ctx, prefix, name, p.Manifest, metaOf(p.Manifest)) // F7
	if err != nil {
		return nil, nil, fmt.Errorf("commit run %s: %w", p.Me.RunID, err)
	}
	if found == nil {
		return p.Manifest, nil, nil
	}
	m, err := contract.DecodeManifest(found)
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Integrity, "LAPSTRAKE_DEST_SIDECAR_UNREADABLE", "run %s: %s cannot be read, so whether the run has committed is not known", p.Me.RunID, name)
	}
	switch {
	case m.Status != contract.StatusSuccess:
		return nil, &Published{Ending: Superseded, SealedBy: m.SealedBy}, nil
	case m.RunID != p.Me.RunID:
		return nil, nil, fault.New(fault.Refused, "LAPSTRAKE_DEST_SIDECAR_OF_OTHER_RUN", "run %s: %s belongs to run %s; nothing was published", p.Me.RunID, name, m.RunID)
	case m.Generation == p.Generation:
		return nil, nil, p.notDeterministic(name, p.Manifest, found)
	}
	return found, nil, nil // another generation of this run has committed: its bytes stand
}

func (p Publication) notDeterministic(name string, mine, found []byte) error {
	return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_NOT_DETERMINISTIC",
		"run %s generation %d: %s holds %d bytes with fingerprint %s, this finalizer made %d bytes with %s from the same state; nothing more was published, please report it",
		p.Me.RunID, p.Generation, name, len(found), contract.FingerprintOf(found), len(mine), contract.FingerprintOf(mine))
}

// commitCursor moves the fence from open to committed and the position to the
// end of the window (M10, I3: only after manifest and marker). After a repair
// the fence is committed already, and only learns of the new manifest. false
// means that the fence has changed hands in between: look again.
func (p Publication) commitCursor(ctx context.Context, held Held, manifest []byte) (bool, error) {
	if held.Doc.State == contract.FenceCommitted && (!p.Repair || held.Doc.CommittedBy.Names(manifest)) {
		return true, nil
	}
	next, err := p.Fence.committed(held.Doc, p.Me.RunID, p.Generation, p.Window, manifest)
	if err != nil {
		return false, err
	}
	_, err = p.Fence.swap(ctx, held, next)
	switch {
	case err == nil:
		return true, nil
	case !errors.Is(err, destination.ErrMoved):
		return false, fmt.Errorf("commit the cursor of export %q: %w", p.Fence.Export, err)
	}
	now, err := p.Fence.Read(ctx)
	if err != nil {
		return false, err
	}
	return now.Owns(p.Me.RunID, p.Generation) && now.Doc.State == contract.FenceCommitted && (!p.Repair || now.Doc.CommittedBy.Names(manifest)), nil
}

// committed returns doc as it is once its owner has committed manifest, or
// window alone without one. A document that was committed before keeps its
// position: a repair delivers the same window again.
func (f Fence) committed(doc contract.CursorDocument, me contract.RunID, g contract.Generation, window *contract.PositionWindow, manifest []byte) (contract.CursorDocument, error) {
	next := doc
	next.State = contract.FenceCommitted
	by := contract.CommittedBy{RunID: me, Generation: g}
	if manifest != nil {
		m, err := contract.DecodeManifest(manifest)
		if err != nil {
			return next, err
		}
		window = m.Position
		by.Generation = m.Generation
		by.Manifest = contract.SidecarName(me)
		by.ManifestFingerprint = contract.FingerprintOf(manifest)
	}
	next.CommittedBy = &by
	if window == nil || doc.State == contract.FenceCommitted {
		return next, nil
	}
	if !doc.Position.Equal(window.From) {
		return next, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_CURSOR_REGRESS", "export %q: run %s covers a window that does not start at the cursor; the cursor was left as it is", f.Export, me)
	}
	next.PreviousPosition = next.Position
	next.Position = window.To
	return next, nil
}

// SameManifest reports whether the prefix's canonical pair is exactly these
// bytes and their marker.
func SameManifest(ctx context.Context, prefix destination.Store, manifest []byte) (bool, error) {
	body, _, err := read(ctx, prefix, contract.ManifestName, contract.MaxManifestBytes)
	if err != nil || !bytes.Equal(body, manifest) {
		return false, err
	}
	marker, _, err := read(ctx, prefix, contract.SuccessName, contract.MaxSuccessBytes)
	return bytes.Equal(marker, contract.SuccessBody(manifest)), err
}
