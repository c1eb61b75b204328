package commit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Fence is the fence and cursor of one export, in its root. Every change is one
// compare-and-swap on one object (D1, D4).
type Fence struct {
	Root   destination.Store
	Export contract.ExportName
	Clock  clock.Clock
	IDs    contract.IDSource
	// Seen is the highest generation that the caller has read of elsewhere, in the
	// manifest.json of the prefix, before the document is read; 0 for none. A
	// document below it is refused as an older copy.
	Seen contract.Generation
}

// Owner is a run as the fence knows it.
type Owner struct {
	RunID    contract.RunID
	Prefix   string // below the root, "" or ending in "/"
	Creation string // of the run's item, where a generation is taken
}

// Held is the fence document as it was read or written, with its version.
type Held struct {
	Doc     contract.CursorDocument
	Version destination.Version
}

// Absent reports whether no document exists: nobody has run this export here.
func (h Held) Absent() bool { return h.Version == destination.Absent }

// Owns reports whether run holds the fence at generation g.
func (h Held) Owns(run contract.RunID, g contract.Generation) bool {
	return !h.Absent() && h.Doc.OwnerRunID == run && h.Doc.Generation == g
}

// Read returns the document. A document that cannot be read is refused and
// never taken for absent: re-anchoring would lose or repeat rows (ADR-0012).
func (f Fence) Read(ctx context.Context) (Held, error) {
	key := contract.CursorKey(f.Export)
	body, v, err := read(ctx, f.Root, key, contract.MaxCursorBytes)
	if err != nil {
		return Held{}, fmt.Errorf("read the fence of export %q: %w", f.Export, err)
	}
	if body == nil {
		return Held{}, nil
	}
	doc, err := contract.DecodeCursor(body)
	if err != nil {
		return Held{}, fault.Wrap(err, fault.Refused, "LAPSTRAKE_STATE_CURSOR_UNREADABLE",
			"export %q: %s cannot be read, and nothing is started from a cursor that is not understood; restore its newest version, or start a run with --reanchor", f.Export, key)
	}
	if doc.Export != f.Export {
		return Held{}, fault.New(fault.Refused, "LAPSTRAKE_STATE_CURSOR_OF_OTHER_EXPORT",
			"export %q: %s belongs to export %q; give one of the two another destination", f.Export, key, doc.Export)
	}
	return Held{Doc: doc, Version: v}, nil
}

// RefuseLostHistory returns an error if runs of the export have left traces
// though its fence document is gone: starting again at generation 1 could
// repeat rows that earlier manifests hold.
func (f Fence) RefuseLostHistory(ctx context.Context, prefix destination.Store) error {
	found := ""
	stop := errors.New("found")
	err := f.Root.List(ctx, contract.ExportDir(f.Export)+"/", func(o destination.Object) error {
		if !strings.HasPrefix(o.Key, contract.RunsDir(f.Export)) && !strings.HasPrefix(o.Key, contract.GenerationsDir(f.Export)) {
			return nil
		}
		found = o.Key
		return stop
	})
	if err != nil && !errors.Is(err, stop) {
		return fmt.Errorf("look for earlier runs of export %q: %w", f.Export, err)
	}
	if found == "" && f.Seen > 0 {
		found = contract.ManifestName
	}
	if found == "" {
		if found, err = f.sidecarOfThisExport(ctx, prefix); err != nil {
			return fmt.Errorf("look for earlier runs of export %q: %w", f.Export, err)
		}
	}
	if found == "" {
		return nil
	}
	return fault.New(fault.Refused, "LAPSTRAKE_STATE_CURSOR_MISSING",
		"export %q: %s is gone, but %s shows that the export has run here; nothing was started. Restore its newest version, choose an empty destination, or start a run with --reanchor, which makes a new document from what the runs have left",
		f.Export, contract.CursorKey(f.Export), found)
}

// sidecarOfThisExport returns the name of a manifest copy that names this
// export and a generation, so one that lapstrake wrote.
func (f Fence) sidecarOfThisExport(ctx context.Context, prefix destination.Store) (string, error) {
	var names []string
	err := prefix.List(ctx, "manifest-", func(o destination.Object) error {
		if contract.IsSidecarName(o.Key) {
			names = append(names, o.Key)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, name := range names {
		body, _, err := read(ctx, prefix, name, contract.MaxManifestBytes)
		if err != nil {
			return "", err
		}
		m, err := contract.DecodeManifest(body)
		if err == nil && m.ExportName == f.Export && m.Generation > 0 {
			return name, nil
		}
	}
	return "", nil
}

// swap writes doc over what was held. It returns the new document as held, or
// ErrMoved in the chain if someone else changed it first.
func (f Fence) swap(ctx context.Context, prev Held, doc contract.CursorDocument) (Held, error) {
	doc.CursorVersion = contract.CursorVersion
	doc.Export = f.Export
	doc.Nonce = f.IDs.NewID() // every body is unique: a content-derived version never returns
	doc.UpdatedAt = contract.NewTime(f.Clock.Now())
	body, err := doc.Encode()
	if err != nil {
		return Held{}, fmt.Errorf("encode the fence of export %q: %w", f.Export, err)
	}
	v, err := replace(ctx, f.Root, contract.CursorKey(f.Export), prev.Version, body)
	if err != nil {
		return Held{}, err
	}
	return Held{Doc: doc, Version: v}, nil
}

// Release gives the fence back after a failure before the commit point, so that
// the next run need not wait: (g, me, open, p) to (g, me, released, p). It is a
// courtesy: a fence that is not (g, me, open) is left as it is.
func (f Fence) Release(ctx context.Context, me contract.RunID, g contract.Generation) error {
	held, err := f.Read(ctx)
	if err != nil {
		return err
	}
	if !held.Owns(me, g) || held.Doc.State != contract.FenceOpen {
		return nil
	}
	doc := held.Doc
	doc.State = contract.FenceReleased
	if _, err := f.swap(ctx, held, doc); err != nil && !errors.Is(err, destination.ErrMoved) {
		return fmt.Errorf("release the fence of export %q: %w", f.Export, err)
	}
	return nil
}

// Resume takes a new generation for a run that still owns the fence and has no
// successor: (g, me, open|released, p) to (g+1, me, open, p). The caller has
// claimed the resume in the table and looked at the run's own sidecar.
//
// check is called with the document that is about to be replaced and can refuse
// it, such as a plan made from another position; what it has refused is returned
// with its error. What it finds out about the run's item is younger than the
// document, so a run that has been claimed again before it looks, or has moved
// the fence before the swap, is never overtaken by an older claim (ADR-0006).
func (f Fence) Resume(ctx context.Context, me Owner, check func(contract.CursorDocument) error) (Held, error) {
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
			return Held{}, fault.New(fault.Refused, "LAPSTRAKE_RUN_NOT_OPEN", "run %s took the fence of export %q but never opened it: start it again instead of resuming it", me.RunID, f.Export)
		case held.Doc.State == contract.FenceCommitted:
			return Held{}, &CommittedError{RunID: me.RunID}
		}
		if err := check(held.Doc); err != nil {
			return held, err
		}
		doc := held.Doc
		doc.Generation++
		doc.State = contract.FenceOpen
		doc.OwnerPrefix, doc.OwnerCreation = me.Prefix, me.Creation
		next, err := f.swap(ctx, held, doc)
		if err == nil {
			err = f.leaveTrace(ctx, next)
		}
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, destination.ErrMoved) {
			return Held{}, fmt.Errorf("resume: take a new generation of export %q: %w", f.Export, err)
		}
	}
	return Held{}, contended(f.Export)
}

// casTries bounds every loop that reads and swaps (architecture §2.6, F8).
const casTries = 5

func contended(export contract.ExportName) error {
	return fault.New(fault.Retryable, "LAPSTRAKE_STATE_FENCE_CONTENDED", "export %q: the fence changed hands %d times while this run tried to take it; nothing was started, try again", export, casTries)
}

func (f Fence) lost(me contract.RunID, held Held) error {
	return &FenceLostError{Export: f.Export, RunID: me, OwnerRunID: held.Doc.OwnerRunID, OwnerGen: held.Doc.Generation}
}

// FenceLostError reports that a newer run owns the export, so this run can no
// longer publish. What it has stored stays where it is, unlisted.
type FenceLostError struct {
	Export     contract.ExportName
	RunID      contract.RunID
	OwnerRunID contract.RunID // "" when the fence document is gone
	OwnerGen   contract.Generation
}

func (e *FenceLostError) Error() string {
	if e.OwnerRunID == "" {
		return fmt.Sprintf("export %q: run %s does not hold the fence: its document is gone; nothing was published", e.Export, e.RunID)
	}
	return fmt.Sprintf("export %q: run %s no longer holds the fence: run %s took it at generation %d; nothing of %s was published, there is nothing to undo", e.Export, e.RunID, e.OwnerRunID, e.OwnerGen, e.RunID)
}

// Unwrap gives the error its class and code.
func (e *FenceLostError) Unwrap() error {
	return fault.New(fault.Fenced, "LAPSTRAKE_RUN_FENCE_LOST", "the fence is held by another run")
}

// CommittedError reports that the run has committed already: only what follows
// the commit is left to do.
type CommittedError struct{ RunID contract.RunID }

func (e *CommittedError) Error() string {
	return fmt.Sprintf("run %s has committed: its manifest stands and nothing is left to extract", e.RunID)
}

// Unwrap gives the error its class and code.
func (e *CommittedError) Unwrap() error {
	return fault.New(fault.Refused, "LAPSTRAKE_RUN_ALREADY_COMPLETE", "the run has committed")
}
