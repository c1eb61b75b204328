package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// CodeCursorOld is the code of a refusal to build on a fence document that is
// older than what stands beside it.
const CodeCursorOld fault.Code = "LAPSTRAKE_STATE_CURSOR_OLD"

// generationTrace is what a generation leaves beside the document: an object that is
// created once and never changed (ADR-0008).
type generationTrace struct {
	TraceVersion int                 `json:"trace_version"`
	Export       contract.ExportName `json:"export"`
	Generation   contract.Generation `json:"generation"`
	RunID        contract.RunID      `json:"run_id"`
	Creation     string              `json:"creation,omitempty"`
}

// traceOf returns the bytes of the trace of doc's generation. They are the same
// for the whole life of the generation, whoever leaves it.
func traceOf(doc contract.CursorDocument) ([]byte, error) {
	return json.Marshal(generationTrace{TraceVersion: 1, Export: doc.Export, Generation: doc.Generation, RunID: doc.OwnerRunID, Creation: doc.OwnerCreation})
}

// ReadNewest is Read, and refuses a document that an older copy was put in the
// place of (LAPSTRAKE_STATE_CURSOR_OLD).
func (f Fence) ReadNewest(ctx context.Context) (Held, error) {
	for range casTries {
		held, err := f.Read(ctx)
		if err == nil && !held.Absent() {
			err = f.refuseOld(ctx, held)
		}
		if !errors.Is(err, destination.ErrMoved) {
			return held, err
		}
	}
	return Held{}, contended(f.Export)
}

// refuseOld refuses a document that an older copy was put in the place of: one
// below a generation that has left a trace or that the caller has seen, one whose
// generation another run has had, or one that is still opening though its owner
// has opened it. A run from it would deliver again what later runs have delivered
// (V8, V10).
//
// ErrMoved in the chain means that the document has changed since it was read,
// which explains what was found: read it again.
func (f Fence) refuseOld(ctx context.Context, held Held) error {
	_, err := f.looksNewest(ctx, held)
	return err
}

// looksNewest is refuseOld, and reports whether the document's own generation has
// left its trace.
func (f Fence) looksNewest(ctx context.Context, held Held) (traced bool, err error) {
	g, key, err := f.newestTrace(ctx)
	switch own := held.Doc.Generation; {
	case err != nil:
		return false, err
	case g > own:
		return false, f.old(ctx, held, key, g)
	case f.Seen > own:
		return false, f.old(ctx, held, contract.ManifestName, f.Seen)
	case held.Doc.State == contract.FenceOpening:
		err = f.refuseOpened(ctx, held)
	}
	if err == nil && g == held.Doc.Generation {
		err = f.refuseTracedByOther(ctx, held)
	}
	return g == held.Doc.Generation, err
}

// newestTrace returns the highest generation that has left a trace, 0 for none.
// It is the first name of the listing, however many there are.
func (f Fence) newestTrace(ctx context.Context) (g contract.Generation, key string, err error) {
	found := errors.New("found")
	err = f.Root.List(ctx, contract.GenerationsDir(f.Export), func(o destination.Object) error {
		if g = contract.TracedGeneration(path.Base(o.Key)); g == 0 {
			return nil // not ours
		}
		key = o.Key
		return found
	})
	if err != nil && !errors.Is(err, found) {
		return 0, "", fmt.Errorf("look for the newest generation of export %q: %w", f.Export, err)
	}
	return g, key, nil
}

// refuseOpened refuses a document that says opening though its owner has a plan,
// which it made once it had opened. The owner of such a document may have
// committed, and a successor would not seal it.
func (f Fence) refuseOpened(ctx context.Context, held Held) error {
	doc := held.Doc
	plan, _, err := LoadPlan(ctx, f.Root, f.Export, doc.OwnerRunID)
	switch {
	case err == nil && plan.FirstGeneration >= doc.Generation:
		return f.old(ctx, held, contract.PlanKey(f.Export, doc.OwnerRunID), plan.FirstGeneration)
	case err != nil && !errors.Is(err, destination.ErrNotFound):
		return err
	}
	return nil
}

// refuseTracedByOther refuses a document whose generation has the trace of
// another run: it was taken from a copy that came between the look at the traces
// and the swap, and whoever had the generation before may still commit.
func (f Fence) refuseTracedByOther(ctx context.Context, held Held) error {
	key := contract.GenerationKey(f.Export, held.Doc.Generation)
	there, _, err := read(ctx, f.Root, key, maxControlBytes)
	if err != nil || there == nil {
		return err
	}
	own, err := traceOf(held.Doc)
	if err != nil || bytes.Equal(there, own) {
		return err
	}
	return f.old(ctx, held, key, held.Doc.Generation)
}

// old is the refusal of a document, unless another one is there by now.
func (f Fence) old(ctx context.Context, held Held, told string, g contract.Generation) error {
	now, err := f.Read(ctx)
	switch {
	case err != nil:
		return err
	case now.Version != held.Version:
		return fmt.Errorf("export %q: the fence has moved on from generation %d: %w", f.Export, held.Doc.Generation, destination.ErrMoved)
	}
	return f.refusedAsOld(held.Doc, told, g)
}

func (f Fence) refusedAsOld(doc contract.CursorDocument, told string, g contract.Generation) error {
	return fault.New(fault.Refused, CodeCursorOld,
		"export %q: %s is an older copy: it says generation %d (%s, run %s), but %s tells of generation %d. A run from it would deliver rows again, so nothing was started or published. Put the version with the highest generation back, or start a run with --reanchor, which goes on from the end of the last published window",
		f.Export, contract.CursorKey(f.Export), doc.Generation, doc.State, doc.OwnerRunID, told, g)
}

// refuseBelow refuses to publish over the manifest of a generation above the
// document's. The manifest was captured before the document was read, so the
// document has been at that generation before.
func (f Fence) refuseBelow(doc contract.CursorDocument, there pair) error {
	m, err := contract.DecodeManifest(there.manifest.body)
	if err != nil || m.Generation <= doc.Generation {
		return nil // none, or not ours to judge here
	}
	return f.refusedAsOld(doc, contract.ManifestName, m.Generation)
}

// follow is what comes before every swap to the next generation: the document is
// no older copy, and its own generation has left its trace. So at any time at
// most one generation has been taken and left none yet, the newest.
func (f Fence) follow(ctx context.Context, held Held) error {
	traced, err := f.looksNewest(ctx, held)
	if err != nil || traced {
		return err
	}
	return f.leaveTrace(ctx, held)
}

// leaveTrace leaves the trace of held's generation: after the swap that took it,
// before its owner does anything else, or before it is followed. One of another
// run means that an older copy took the document's place between the look at the
// traces and the swap.
func (f Fence) leaveTrace(ctx context.Context, held Held) error {
	theirs, err := f.trace(ctx, held.Doc)
	if err != nil || !theirs {
		return err
	}
	return f.old(ctx, held, contract.GenerationKey(f.Export, held.Doc.Generation), held.Doc.Generation)
}

// trace creates the trace of doc's generation, unless it is there. It reports
// whether another run's stands in its place.
func (f Fence) trace(ctx context.Context, doc contract.CursorDocument) (theirs bool, err error) {
	body, err := traceOf(doc)
	if err != nil {
		return false, err
	}
	_, found, err := create(ctx, f.Root, contract.GenerationKey(f.Export, doc.Generation), body, metaOf(body))
	if err != nil {
		return false, fmt.Errorf("export %q: leave the trace of generation %d: %w", f.Export, doc.Generation, err)
	}
	return found != nil, nil
}
