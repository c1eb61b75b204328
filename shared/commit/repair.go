package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Repair takes a new generation for a run that has committed, to repair what it
// has published (ADR-0003): (g, me, committed, p) to (g+1, me, committed, p).
// The fence stays committed, so that a successor has nothing to seal and is
// never kept waiting by a repair.
//
// sidecar is the run's success sidecar. A run that has committed but not
// finished its publication is committed by the same swap, position included: its
// rows are those of its sidecar, whatever the canonical pair says.
//
// check is called with the document that is about to be replaced and can refuse
// it. A *FenceLostError means that another run owns the export.
func (f Fence) Repair(ctx context.Context, me Owner, sidecar []byte, check func(contract.CursorDocument) error) (Held, error) {
	for range casTries {
		held, err := f.Read(ctx)
		if err != nil {
			return Held{}, err
		}
		if !held.Absent() {
			if err := f.follow(ctx, held); errors.Is(err, destination.ErrMoved) {
				continue
			} else if err != nil {
				return Held{}, err
			}
		}
		switch {
		case held.Absent() || held.Doc.OwnerRunID != me.RunID:
			return Held{}, f.lost(me.RunID, held)
		case held.Doc.State == contract.FenceOpening:
			return Held{}, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_FENCE_STATE", "export %q: run %s has committed, but its fence is opening at generation %d; nothing was changed", f.Export, me.RunID, held.Doc.Generation)
		}
		if err := check(held.Doc); err != nil {
			return Held{}, err
		}
		doc := held.Doc
		if doc.State != contract.FenceCommitted {
			if doc, err = f.committed(doc, me.RunID, held.Doc.Generation, nil, sidecar); err != nil {
				return Held{}, err
			}
		}
		doc.Generation++
		doc.OwnerPrefix, doc.OwnerCreation = me.Prefix, me.Creation
		next, err := f.swap(ctx, held, doc)
		if err == nil {
			err = f.leaveTrace(ctx, next)
		}
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, destination.ErrMoved) {
			return Held{}, fmt.Errorf("repair: take a new generation of export %q: %w", f.Export, err)
		}
	}
	return Held{}, contended(f.Export)
}

// replaceSidecar is the commit point of a repair (F7): a swap on the version
// that is read now, after the fence. Of two generations of one run that repair
// at once the newer one's manifest stays. ErrMoved in the chain means that
// another one has written in between.
func (p Publication) replaceSidecar(ctx context.Context, prefix destination.Store) ([]byte, *Published, error) {
	name := contract.SidecarName(p.Me.RunID)
	body, version, err := read(ctx, prefix, name, contract.MaxManifestBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("repair run %s: %w", p.Me.RunID, err)
	}
	if body == nil {
		return nil, nil, fault.New(fault.Integrity, "LAPSTRAKE_DEST_SIDECAR_GONE", "run %s: %s, which is to be repaired, is gone; nothing was published. Restore it and repair again", p.Me.RunID, name)
	}
	m, err := contract.DecodeManifest(body)
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Integrity, "LAPSTRAKE_DEST_SIDECAR_UNREADABLE", "run %s: %s cannot be read; nothing was published", p.Me.RunID, name)
	}
	switch {
	case m.RunID != p.Me.RunID || m.Status != contract.StatusSuccess:
		return nil, nil, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_REPAIR_OF_UNCOMMITTED", "run %s is repaired, but %s is %s of run %s; nothing was published", p.Me.RunID, name, m.Status, m.RunID)
	case m.Generation > p.Generation:
		return nil, &Published{Ending: Stale}, nil
	case m.Generation == p.Generation && !bytes.Equal(body, p.Manifest):
		return nil, nil, p.notDeterministic(name, p.Manifest, body)
	case m.Generation == p.Generation:
		return body, nil, nil
	}
	if _, err := replace(ctx, prefix, name, version, p.Manifest); err != nil {
		return nil, nil, fmt.Errorf("repair: replace %s: %w", name, err)
	}
	return p.Manifest, nil, nil
}

// CheckRepair refuses a repair that has read rows of the next run: rows that
// have come to the end of the window since it was published, and that the
// position does not name as delivered. Both runs would deliver them (V10).
// Without a key nobody can tell, and no promise is made.
func (f Frozen) CheckRepair(position *contract.Position) error {
	w := f.Window()
	if w == nil || w.To == nil || position == nil || position.Value != w.To.Value {
		return nil
	}
	for _, key := range w.To.DeliveredKeys {
		if !slices.ContainsFunc(position.DeliveredKeys, func(k []string) bool { return slices.Equal(k, key) }) {
			return fault.New(fault.Refused, "LAPSTRAKE_RUN_REPAIR_TIES", "run %s cannot be repaired: since it was published rows have come to the end of its window, %s = %s, which belong to the next run and cannot be told from its own while reading; what was published stands. Restore the damaged objects from the bucket's versions or a copy",
				f.Plan.RunID, w.Column, w.To.Value)
		}
	}
	return nil
}

// Damage is a part of a manifest that is not as the manifest says.
type Damage struct {
	contract.Part
	// Missing is true when nothing has the part's name. Otherwise another object
	// has it.
	Missing bool
	// Size is that of the object that is there.
	Size int64
}

// Damaged returns the committed parts of a manifest that are missing or differ,
// as a resume would see them (M8): by size, and by the checksums that the store
// vouches for.
func Damaged(ctx context.Context, prefix destination.Store, m contract.Manifest) ([]Damage, error) {
	found := make([]*Damage, len(m.Parts))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for i, p := range m.Parts {
		if p.Status == contract.PartCommitted {
			g.Go(func() (err error) {
				found[i], err = damageOf(gctx, prefix, p)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var damaged []Damage
	for _, d := range found {
		if d != nil {
			damaged = append(damaged, *d)
		}
	}
	return damaged, nil
}

func damageOf(ctx context.Context, prefix destination.Store, p contract.Part) (*Damage, error) {
	var there *contract.Found
	o, err := prefix.Head(ctx, p.Path)
	switch {
	case err == nil:
		there = &contract.Found{SizeBytes: o.Size, Fingerprint: o.Fingerprint, MD5: o.MD5}
	case !errors.Is(err, destination.ErrNotFound):
		return nil, fmt.Errorf("look at %s: %w", p.Path, err)
	}
	recorded := contract.Recorded{SizeBytes: p.SizeBytes, Fingerprint: p.ContentFingerprint, MD5: p.ContentMD5}
	if contract.Decide(&recorded, there) == contract.Skip {
		return nil, nil
	}
	return &Damage{Part: p, Missing: there == nil, Size: o.Size}, nil
}
