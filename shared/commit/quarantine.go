package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// Inspection is what a resume finds when it compares the parts that the run's
// table records with what the prefix holds (M8).
type Inspection struct {
	// Repair lists the recorded parts that are missing or differ: their tasks
	// have to be done again.
	Repair []runstate.PartRecord
	// Moves are the objects to be quarantined, in ascending order of keys.
	Moves []Move
	// Legacy is true when the prefix holds data of another writer and no
	// manifest at all: what that data is worth nobody can tell (M6).
	Legacy bool

	committed []committedRun // in ascending order of generations
}

// committedRun is a run that has a success sidecar in the prefix.
type committedRun struct {
	run        contract.RunID
	generation contract.Generation
}

// Move is one object to be quarantined and why.
type Move struct {
	From, To string
	Version  destination.Version
	Reason   string

	generation contract.Generation // that wrote it, 0 if no name tells
}

// Inspect compares the recorded parts of a run with the direct children of its
// prefix and decides by the matrix of M8. The same inputs give the same
// decisions, in the same order.
//
// plain is the generation that parts with plain names belong to.
//
// The caller has revoked every lease of a generation below g before it read
// recorded, so nothing can be recorded any more that is not in it; and every
// generation below g, so that none of them can commit but those whose parts are
// promised ([Fence.Revoke]). Objects of generation g or above are left alone:
// attempts that run now may be about to record them. So is whatever any sidecar
// or the manifest lists, whoever wrote it, and every control object. What is
// promised is never moved, not even when the table records something else.
func Inspect(ctx context.Context, prefix destination.Store, run contract.RunID, plain, g contract.Generation, recorded []runstate.PartRecord, promised map[string]bool) (Inspection, error) {
	byName := make(map[string]runstate.PartRecord, len(recorded))
	for _, p := range recorded {
		byName[p.Path] = p
	}
	listed, err := claimedParts(ctx, prefix)
	if err != nil {
		return Inspection{}, err
	}
	var found []destination.Object
	err = prefix.List(ctx, "", func(o destination.Object) error {
		if !strings.Contains(o.Key, "/") { // never into nested prefixes: they are other people's
			found = append(found, o)
		}
		return nil
	})
	if err != nil {
		return Inspection{}, fmt.Errorf("list the prefix: %w", err)
	}
	out := Inspection{committed: listed.committed}
	seen := make(map[string]bool, len(found))
	for _, o := range found {
		rec, isRecorded := byName[o.Key]
		seen[o.Key] = true
		if !isRecorded && (listed.parts[o.Key] || promised[o.Key] || isControl(o.Key) || generationOf(o, plain) >= g) {
			continue
		}
		if isRecorded && o.Fingerprint == "" && o.MD5 == "" {
			if o, err = prefix.Head(ctx, o.Key); err != nil && !errors.Is(err, destination.ErrNotFound) {
				return Inspection{}, fmt.Errorf("look at %s: %w", o.Key, err)
			}
		}
		var r *contract.Recorded
		if isRecorded {
			r = &contract.Recorded{SizeBytes: rec.SizeBytes, Fingerprint: rec.Fingerprint, MD5: rec.MD5}
		}
		switch contract.Decide(r, &contract.Found{SizeBytes: o.Size, Fingerprint: o.Fingerprint, MD5: o.MD5}) {
		case contract.Quarantine:
			out.Moves = append(out.Moves, moveOf(run, o, generationOf(o, plain), "no manifest and no completed task lists it"))
			_, _, ours := contract.PartGeneration(o.Key)
			out.Legacy = out.Legacy || !ours && listed.manifests == 0
		case contract.QuarantineAndRewrite:
			out.Repair = append(out.Repair, rec)
			if !promised[o.Key] {
				out.Moves = append(out.Moves, moveOf(run, o, generationOf(o, plain), "it is not the object that was recorded"))
			}
		}
	}
	for _, p := range recorded {
		if !seen[p.Path] {
			out.Repair = append(out.Repair, p)
		}
	}
	return out, nil
}

func moveOf(run contract.RunID, o destination.Object, g contract.Generation, reason string) Move {
	return Move{From: o.Key, To: contract.QuarantineName(run, o.Key), Version: o.Version, Reason: reason, generation: g}
}

// Quarantine moves the objects, as far as it can, and reports every move by
// log: M9 never fails a run and never deletes what it could not copy.
func Quarantine(ctx context.Context, prefix destination.Store, moves []Move, log func(m Move, err error)) {
	for _, m := range moves {
		err := prefix.Move(ctx, m.From, m.To, m.Version)
		if errors.Is(err, destination.ErrNotFound) {
			err = nil // a duplicate of this planner has moved it
		}
		log(m, err)
	}
}

func isControl(name string) bool {
	return name == contract.ManifestName || name == contract.SuccessName || contract.IsSidecarName(name) || strings.HasPrefix(name, ".")
}

// generationOf returns the generation that wrote o: from its name or else from
// its metadata. An object that is not a part of ours has generation 0.
func generationOf(o destination.Object, plainGen contract.Generation) contract.Generation {
	g, plain, ok := contract.PartGeneration(o.Key)
	switch {
	case ok && plain:
		return plainGen
	case ok:
		return g
	}
	return 0
}

// listed is what the manifests of a prefix tell.
type listed struct {
	parts     map[string]bool
	manifests int
	committed []committedRun
}

// claimedParts reads manifest.json and every sidecar in the prefix.
func claimedParts(ctx context.Context, prefix destination.Store) (listed, error) {
	names := []string{contract.ManifestName}
	err := prefix.List(ctx, "manifest-", func(o destination.Object) error {
		if contract.IsSidecarName(o.Key) {
			names = append(names, o.Key)
		}
		return nil
	})
	if err != nil {
		return listed{}, fmt.Errorf("list manifests: %w", err)
	}
	found := listed{parts: make(map[string]bool)}
	for _, name := range names {
		body, _, err := read(ctx, prefix, name, contract.MaxManifestBytes)
		if err != nil {
			return listed{}, fmt.Errorf("read %s: %w", name, err)
		}
		if body == nil {
			continue
		}
		m, err := contract.DecodeManifest(body)
		if err != nil {
			continue // an operator's manifest-notes.json claims nothing (MAN-12)
		}
		found.manifests++
		for _, p := range m.Parts {
			found.parts[p.Path] = true
		}
		if name == contract.SidecarName(m.RunID) && m.Status == contract.StatusSuccess && m.Generation > 0 {
			found.committed = append(found.committed, committedRun{m.RunID, m.Generation})
		}
	}
	slices.SortFunc(found.committed, func(a, b committedRun) int { return cmp.Compare(a.generation, b.generation) })
	return found, nil
}
