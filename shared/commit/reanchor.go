package commit

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// lostDocument reports whether err refuses an export because its fence document
// is gone, though it has run here, or cannot be read, or is an older copy.
func lostDocument(err error) bool {
	code := fault.CodeOf(err)
	return code == "LAPSTRAKE_STATE_CURSOR_MISSING" || code == "LAPSTRAKE_STATE_CURSOR_UNREADABLE" || code == CodeCursorOld
}

// reanchor makes a new document from what the export's runs have left, held open
// by this run (ADR-0004). The order matters, since runs of the lost document may
// still be at work:
//
//  1. every run with a plan and without a sidecar is sealed: from then on the
//     set of success sidecars does not change;
//  2. only then the generation is one more than the highest that any object
//     tells of, so that no name of a part comes twice;
//  3. only then the position is the end of the last success;
//  4. the document is swapped in over what was seen at the beginning, and its
//     generation leaves its trace, or the next one does where that of another run
//     stands. ErrMoved in the chain means that there is another document by now.
func (a Acquisition) reanchor(ctx context.Context) (Opened, error) {
	lost, version, err := read(ctx, a.Fence.Root, contract.CursorKey(a.Fence.Export), contract.MaxCursorBytes)
	if err != nil {
		return Opened{}, fmt.Errorf("re-anchor export %q: %w", a.Fence.Export, err)
	}
	kept := "unreadable"
	if lost != nil {
		if doc, err := contract.DecodeCursor(lost); err == nil {
			kept = "old"
			switch err := a.Fence.refuseOld(ctx, Held{Doc: doc, Version: version}); {
			case err == nil:
				return Opened{}, fmt.Errorf("re-anchor export %q: the document is there now: %w", a.Fence.Export, destination.ErrMoved)
			case fault.CodeOf(err) != CodeCursorOld:
				return Opened{}, fmt.Errorf("re-anchor export %q: %w", a.Fence.Export, err)
			}
		}
	}
	before, err := a.traces(ctx)
	if err != nil {
		return Opened{}, err
	}
	var out Opened
	for _, p := range before.plans {
		if p.RunID == a.Me.RunID {
			return Opened{}, fault.New(fault.Refused, "LAPSTRAKE_RUN_REANCHOR_OLD_RUN", "export %q: run %s has a plan already and cannot be the one that re-anchors; nothing was changed. Start a new run", a.Fence.Export, a.Me.RunID)
		}
		by := contract.SealedBy{RunID: a.Me.RunID, Generation: before.generation + 1}
		tombstone := TombstoneOf(p.RunID, p.Export, p.Engine, a.Fence.Clock.Now())
		committed, err := Seal(ctx, destination.Prefixed(a.Fence.Root, p.Prefix), tombstone, by)
		if err != nil {
			return Opened{}, fmt.Errorf("re-anchor export %q: seal run %s: %w", a.Fence.Export, p.RunID, err)
		}
		if committed == nil {
			out.Sealed = append(out.Sealed, contract.Predecessor{RunID: p.RunID, Generation: by.Generation, Prefix: p.Prefix})
		}
	}
	left, err := a.traces(ctx) // again: a run may have committed before it was sealed
	if err != nil {
		return Opened{}, err
	}
	doc := contract.CursorDocument{
		Generation: left.generation + 1, OwnerRunID: a.Me.RunID, OwnerPrefix: a.Me.Prefix, OwnerCreation: a.Me.Creation, State: contract.FenceOpen, SourceIdentity: &a.SourceIdentity,
	}
	if last := left.last; last != nil {
		doc.CommittedBy = &contract.CommittedBy{RunID: last.RunID, Generation: last.Generation, Manifest: contract.SidecarName(last.RunID), ManifestFingerprint: left.lastPrint}
		if last.Position != nil {
			doc.Position, doc.PreviousPosition = last.Position.To, last.Position.From
		}
	}
	if err := a.checkPosition(doc.Position); err != nil {
		return Opened{}, err
	}
	if lost != nil { // it is kept for whoever can make something of it
		key := path.Join(contract.ExportDir(a.Fence.Export), "cursor-"+kept+"-"+contract.FingerprintOf(lost).Hex()+".json")
		if _, _, err := create(ctx, a.Fence.Root, key, lost, metaOf(lost)); err != nil {
			return Opened{}, fmt.Errorf("re-anchor export %q: keep a copy of the document: %w", a.Fence.Export, err)
		}
	}
	// A run of the lost document may have taken this very generation, and left no
	// trace before it was listed: then the next one is nobody's.
	for theirs := true; theirs; doc.Generation++ {
		if out.Held, err = a.Fence.swap(ctx, Held{Version: version}, doc); err != nil {
			return out, err
		}
		version = out.Held.Version
		if theirs, err = a.Fence.trace(ctx, out.Held.Doc); err != nil {
			return out, err
		}
	}
	return out, nil
}

// traces are what an export's runs have left below its root.
type traces struct {
	plans      []chunkplan.Plan
	generation contract.Generation // the highest that anything tells of
	last       *contract.Manifest  // the success of the highest generation
	lastPrint  contract.Fingerprint
}

// saw notes a generation.
func (t *traces) saw(g contract.Generation) { t.generation = max(t.generation, g) }

// traces lists everything below the root, once: generations, plans, records and
// sidecars of the export, and the names of parts, those in quarantine too.
func (a Acquisition) traces(ctx context.Context) (traces, error) {
	t := traces{generation: a.Fence.Seen}
	var plans, sidecars []string
	runs := contract.RunsDir(a.Fence.Export)
	err := a.Fence.Root.List(ctx, "", func(o destination.Object) error {
		name := path.Base(o.Key)
		if g, _, ours := contract.PartGeneration(name); ours {
			t.saw(max(g, 1)) // a plain name is of a first generation
		}
		switch run, file, _ := strings.Cut(strings.TrimPrefix(o.Key, runs), "/"); {
		case strings.HasPrefix(o.Key, contract.GenerationsDir(a.Fence.Export)):
			t.saw(contract.TracedGeneration(name))
		case !strings.HasPrefix(o.Key, runs):
			if contract.IsSidecarName(name) {
				sidecars = append(sidecars, o.Key)
			}
		case file == "plan.json":
			plans = append(plans, run)
		default:
			t.saw(contract.RecordGeneration(file))
		}
		return nil
	})
	if err != nil {
		return t, fmt.Errorf("re-anchor export %q: list what its runs have left: %w", a.Fence.Export, err)
	}
	for _, run := range plans {
		p, err := a.planIn(ctx, path.Join(runs, run, "plan.json"))
		if err != nil {
			return t, err
		}
		t.plans = append(t.plans, p)
		t.saw(p.FirstGeneration)
	}
	for _, key := range sidecars {
		if err := a.sidecarAt(ctx, key, &t); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (a Acquisition) planIn(ctx context.Context, key string) (chunkplan.Plan, error) {
	body, _, err := a.Fence.Root.Get(ctx, key, chunkplan.MaxPlanBytes)
	if err != nil {
		return chunkplan.Plan{}, fmt.Errorf("re-anchor export %q: %w", a.Fence.Export, err)
	}
	p, err := chunkplan.Decode(body)
	if err != nil {
		return p, fault.Wrap(err, fault.Refused, "LAPSTRAKE_RUN_PLAN_UNREADABLE", "re-anchor export %q: %s cannot be read, so its run cannot be sealed; nothing was changed. Restore it, or move it away when its run is over", a.Fence.Export, key)
	}
	return p, nil
}

// sidecarAt notes a sidecar, if it is one of this export.
func (a Acquisition) sidecarAt(ctx context.Context, key string, t *traces) error {
	body, _, err := a.Fence.Root.Get(ctx, key, contract.MaxManifestBytes)
	if errors.Is(err, destination.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("re-anchor export %q: %w", a.Fence.Export, err)
	}
	m, err := contract.DecodeManifest(body)
	if err != nil || m.ExportName != a.Fence.Export || m.Status == contract.StatusSuccess && m.Generation == 0 {
		return nil // an operator's file, another export's, or the upstream's
	}
	t.saw(m.Generation)
	if m.SealedBy != nil && m.SealedBy.RunID != a.Me.RunID {
		t.saw(m.SealedBy.Generation)
	}
	if m.Status == contract.StatusSuccess && (t.last == nil || m.Generation > t.last.Generation) {
		t.last, t.lastPrint = &m, contract.FingerprintOf(body)
	}
	return nil
}
