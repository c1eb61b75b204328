package commit

import (
	"context"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Acquisition is one run's way to an open fence: TAKE, seal the predecessor or
// roll it forward, OPEN (architecture §2.2). Every step may be repeated by a
// duplicate of the same planner, or cut short: Acquire starts from what the
// objects say.
type Acquisition struct {
	Fence Fence
	Me    Owner
	// SourceIdentity goes into the document; an existing one must equal it.
	SourceIdentity contract.SourceIdentity
	// Position describes the cursor of the export's mode, without a value; nil
	// in modes without one. A stored position of another kind, column or type
	// is refused.
	Position *contract.Position

	// MayTake decides whether a fence that another run holds, opening or open,
	// may be taken over: nil, or the error to refuse with (§2.6, overlap).
	MayTake func(ctx context.Context, doc contract.CursorDocument) error
	// StillPlanned looks at the run's item before a generation is taken for it: an
	// error when it is no longer as the caller has found it. The document is read
	// before, and swapped after.
	StillPlanned func(ctx context.Context) error
	// CheckParts verifies that every part of a committed predecessor's manifest
	// is in its prefix, before it is rolled forward (M1, M2).
	CheckParts func(ctx context.Context, prefix destination.Store, m contract.Manifest) error
	// Tombstone fills in what a sealed run's manifest says of source and
	// destination.
	Tombstone func(sealed contract.Predecessor) contract.Manifest
	// Reanchor makes a new document when the export's is gone or cannot be
	// read, from what its runs have left (ADR-0004). Without it, such an export
	// is refused.
	Reanchor bool
}

// Opened is an open fence and what was done on the way.
type Opened struct {
	Held Held
	// Settled is the predecessor that was sealed or rolled forward, if there
	// was one: its finalizer has to settle its run.
	Settled *contract.Predecessor
	// RolledForward is true when that predecessor had committed.
	RolledForward bool
	// Sealed are the runs that were sealed, some of them perhaps before, when
	// the document was made anew: their finalizers have to settle them.
	Sealed []contract.Predecessor
}

// Generation of the fence.
func (o Opened) Generation() contract.Generation { return o.Held.Doc.Generation }

// Acquire returns the fence, open and held by a.Me.
//
// A *CommittedError means that this run has committed before: finish it. A
// *FenceLostError means that it has been sealed or superseded.
func (a Acquisition) Acquire(ctx context.Context) (Opened, error) {
	for range casTries {
		held, err := a.Fence.Read(ctx)
		// The own sidecar is looked at after the document whose version the swap
		// is made on: a run that is decided later than this loses the swap. The
		// other way round, one that committed in between, and was followed by
		// others, would take the fence and publish itself over them.
		if decided := a.checkOwnSidecar(ctx); decided != nil {
			return Opened{}, decided
		}
		if err == nil {
			err = a.checkDocument(ctx, held)
		}
		if a.Reanchor && lostDocument(err) {
			var anew Opened
			if anew, err = a.reanchor(ctx); err == nil {
				return a.opened(ctx, anew)
			}
		}
		switch {
		case errors.Is(err, destination.ErrMoved):
			continue
		case err != nil:
			return Opened{}, err
		}
		if !held.Absent() && held.Doc.OwnerRunID == a.Me.RunID {
			return a.reenter(ctx, held)
		}
		taken, err := a.take(ctx, held)
		switch {
		case err == nil:
			return a.open(ctx, taken)
		case !errors.Is(err, destination.ErrMoved):
			return Opened{}, err
		}
	}
	return Opened{}, contended(a.Fence.Export)
}

// reenter continues as the owner that this run already is.
func (a Acquisition) reenter(ctx context.Context, held Held) (Opened, error) {
	switch held.Doc.State {
	case contract.FenceOpening:
		return a.open(ctx, held)
	case contract.FenceCommitted:
		return Opened{}, &CommittedError{RunID: a.Me.RunID}
	}
	return a.opened(ctx, Opened{Held: held})
}

// ours returns the fence open, and taken for this life of the run. One that was
// released, or taken for an item of the run that the table has lost, is taken
// again, under a new generation: workers and finalizers of the old one may still
// be alive.
func (a Acquisition) ours(ctx context.Context, held Held) (Held, error) {
	already := errors.New("taken for this life already")
	mine := func(doc contract.CursorDocument) bool {
		return doc.State == contract.FenceOpen && doc.OwnerCreation == a.Me.Creation
	}
	if mine(held.Doc) {
		return held, nil
	}
	next, err := a.Fence.Resume(ctx, a.Me, func(doc contract.CursorDocument) error {
		if mine(doc) { // by a duplicate of this planner, meanwhile
			return already
		}
		return a.StillPlanned(ctx)
	})
	if errors.Is(err, already) {
		err = nil
	}
	return next, err
}

// checkDocument refuses a document that this run must not build on.
func (a Acquisition) checkDocument(ctx context.Context, held Held) error {
	if held.Absent() {
		lost := a.Fence.RefuseLostHistory(ctx, destination.Prefixed(a.Fence.Root, a.Me.Prefix))
		if lost == nil {
			return nil
		}
		// The history may be that of a run that has started meanwhile: then the
		// document is there now.
		if held, err := a.Fence.Read(ctx); err != nil || held.Absent() {
			return errors.Join(lost, err)
		}
		return destination.ErrMoved
	}
	if err := a.Fence.follow(ctx, held); err != nil {
		return err
	}
	if id := held.Doc.SourceIdentity; id != nil {
		if err := CheckSource(a.Fence.Export, "the cursor", *id, a.SourceIdentity); err != nil {
			return err
		}
	}
	if err := a.checkPosition(held.Doc.Position); err != nil {
		return err
	}
	return a.checkDelivered(ctx, held.Doc)
}

// checkDelivered refuses a position that is not the end of the window that was
// delivered last: rows between the two would be left out for ever, or come again
// (CUR-09). Where the plan of that window is gone nothing tells.
func (a Acquisition) checkDelivered(ctx context.Context, doc contract.CursorDocument) error {
	if doc.Position == nil || doc.CommittedBy == nil {
		return nil
	}
	run := doc.CommittedBy.RunID
	plan, _, err := LoadPlan(ctx, a.Fence.Root, a.Fence.Export, run)
	switch {
	case errors.Is(err, destination.ErrNotFound):
		return nil
	case err != nil:
		return err
	case plan.Window == nil || plan.Window.To == nil || plan.Window.To.Value == doc.Position.Value:
		return nil
	}
	return fault.New(fault.Refused, "LAPSTRAKE_STATE_CURSOR_EDITED",
		"export %q: %s says that %s was delivered up to %s, but run %s, the last that has committed, has delivered up to %s: the position was changed by hand. Rows would be left out or come again, so nothing was read. Put back %s, or give the export another name, which starts from the beginning",
		a.Fence.Export, contract.CursorKey(a.Fence.Export), doc.Position.Cursor(), doc.Position.Value, run, plan.Window.To.Value, plan.Window.To.Value)
}

// checkPosition refuses a stored position that the config's mode cannot go on
// from.
func (a Acquisition) checkPosition(stored *contract.Position) error {
	if p, q := stored, a.Position; p != nil && (q == nil || !p.SameCursor(*q)) {
		return ShapeChanged(a.Fence.Export, *p, q)
	}
	return nil
}

// CheckSource refuses a database that is not the one that what, the cursor or a
// plan, was made from: rows of two databases in one export are no table of any.
func CheckSource(export contract.ExportName, what string, made, now contract.SourceIdentity) error {
	if made == now {
		return nil
	}
	return fault.New(fault.Refused, "LAPSTRAKE_STATE_SOURCE_CHANGED",
		"export %q: %s was made from %s database %q (system %s), the config now names %s database %q (system %s); nothing of it was read. Name the first one again, or use another export name or destination for another database",
		export, what, made.Engine, made.Database, made.SystemIdentifier, now.Engine, now.Database, now.SystemIdentifier)
}

// take swaps the fence to the next generation, held by this run, opening.
// ErrMoved in the chain means that someone else was faster.
func (a Acquisition) take(ctx context.Context, held Held) (Held, error) {
	next := contract.CursorDocument{
		Generation:     held.Doc.Generation + 1,
		OwnerRunID:     a.Me.RunID,
		OwnerPrefix:    a.Me.Prefix,
		OwnerCreation:  a.Me.Creation,
		State:          contract.FenceOpening,
		SourceIdentity: &a.SourceIdentity,
	}
	if !held.Absent() {
		next.Position = held.Doc.Position
		next.PreviousPosition = held.Doc.PreviousPosition
		next.CommittedBy = held.Doc.CommittedBy
		next.Predecessor = predecessorOf(held.Doc)
		if p := next.Predecessor; p != nil && p.RunID == a.Me.RunID {
			return Held{}, a.Fence.lost(a.Me.RunID, held) // I am the one being sealed
		}
		switch held.Doc.State {
		case contract.FenceOpen, contract.FenceOpening:
			if err := a.MayTake(ctx, held.Doc); err != nil {
				return Held{}, err
			}
		}
	}
	if err := a.StillPlanned(ctx); err != nil {
		return Held{}, err
	}
	taken, err := a.Fence.swap(ctx, held, next)
	if err != nil {
		return Held{}, fmt.Errorf("take the fence of export %q: %w", a.Fence.Export, err)
	}
	return taken, nil
}

// predecessorOf returns the run that a new owner has to seal. An owner that is
// still opening cannot publish, but the one before it may: it is inherited.
func predecessorOf(doc contract.CursorDocument) *contract.Predecessor {
	switch doc.State {
	case contract.FenceOpen, contract.FenceReleased:
		return &contract.Predecessor{RunID: doc.OwnerRunID, Generation: doc.Generation, Prefix: doc.OwnerPrefix}
	case contract.FenceOpening:
		return doc.Predecessor
	}
	return nil
}

// open seals or rolls forward the predecessor and opens the fence.
func (a Acquisition) open(ctx context.Context, held Held) (Opened, error) {
	out := Opened{Settled: held.Doc.Predecessor}
	if err := a.Fence.leaveTrace(ctx, held); err != nil {
		if errors.Is(err, destination.ErrMoved) {
			return a.afterDuplicate(ctx, out)
		}
		return Opened{}, err
	}
	next := held.Doc
	next.State = contract.FenceOpen
	next.Predecessor = nil
	if pred := held.Doc.Predecessor; pred != nil {
		sidecar, err := a.seal(ctx, held, *pred)
		if err != nil {
			return Opened{}, err
		}
		if sidecar != nil {
			out.RolledForward = true
			if err := a.rollForward(ctx, held, *pred, sidecar); err != nil {
				if errors.Is(err, errOpenedByDuplicate) {
					return a.afterDuplicate(ctx, out)
				}
				return Opened{}, err
			}
			advanceOver(&next, *pred, sidecar)
		}
	}
	opened, err := a.Fence.swap(ctx, held, next)
	switch {
	case err == nil:
		out.Held = opened
		return a.opened(ctx, out)
	case errors.Is(err, destination.ErrMoved):
		return a.afterDuplicate(ctx, out)
	}
	return Opened{}, fmt.Errorf("open the fence of export %q: %w", a.Fence.Export, err)
}

// afterDuplicate continues when the fence was no longer where this planner left
// it: a duplicate of it has opened, or a newer run has taken over.
func (a Acquisition) afterDuplicate(ctx context.Context, out Opened) (Opened, error) {
	held, err := a.Fence.Read(ctx)
	if err != nil {
		return Opened{}, err
	}
	if held.Absent() || held.Doc.OwnerRunID != a.Me.RunID || held.Doc.State == contract.FenceOpening {
		return Opened{}, a.Fence.lost(a.Me.RunID, held)
	}
	if held.Doc.State == contract.FenceCommitted {
		return Opened{}, &CommittedError{RunID: a.Me.RunID}
	}
	out.Held = held
	return a.opened(ctx, out)
}

// opened makes sure that the fence was taken for this life of the run, and looks
// once more for a tombstone of it, which a successor may have put between TAKE
// and now, before the table learns of the generation.
func (a Acquisition) opened(ctx context.Context, out Opened) (Opened, error) {
	var err error
	if out.Held, err = a.ours(ctx, out.Held); err != nil {
		return Opened{}, err
	}
	err = a.checkOwnSidecar(ctx)
	var lost *FenceLostError
	if errors.As(err, &lost) {
		if relErr := a.Fence.Release(ctx, a.Me.RunID, out.Generation()); relErr != nil {
			return Opened{}, errors.Join(err, relErr)
		}
	}
	if err != nil {
		return Opened{}, err
	}
	return out, nil
}

// checkOwnSidecar finds out whether this run has been decided: committed, or
// sealed for ever.
func (a Acquisition) checkOwnSidecar(ctx context.Context) error {
	m, _, err := ReadSidecar(ctx, destination.Prefixed(a.Fence.Root, a.Me.Prefix), a.Me.RunID)
	switch {
	case err != nil:
		return err
	case m == nil:
		return nil
	case m.Status == contract.StatusSuccess:
		return &CommittedError{RunID: a.Me.RunID}
	}
	return sealedError(a.Fence.Export, a.Me.RunID, *m)
}

func sealedError(export contract.ExportName, run contract.RunID, tombstone contract.Manifest) error {
	e := &FenceLostError{Export: export, RunID: run}
	if by := tombstone.SealedBy; by != nil {
		e.OwnerRunID, e.OwnerGen = by.RunID, by.Generation
	}
	return e
}

// ReadSidecar returns a run's sidecar and its bytes, or nil if the run has
// neither committed nor been sealed.
func ReadSidecar(ctx context.Context, prefix destination.Store, run contract.RunID) (*contract.Manifest, []byte, error) {
	name := contract.SidecarName(run)
	body, _, err := read(ctx, prefix, name, contract.MaxManifestBytes)
	if err != nil || body == nil {
		return nil, nil, err
	}
	m, err := contract.DecodeManifest(body)
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Integrity, "LAPSTRAKE_DEST_SIDECAR_UNREADABLE", "run %s: %s cannot be read, so whether the run has committed is not known; nothing was changed", run, name)
	}
	if m.RunID != run {
		return nil, nil, fault.New(fault.Refused, "LAPSTRAKE_DEST_SIDECAR_OF_OTHER_RUN", "run %s: %s belongs to run %s; nothing was changed", run, name, m.RunID)
	}
	return &m, body, nil
}
