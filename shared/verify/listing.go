package verify

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// doctorProbe is what the upstream's doctor leaves behind.
const doctorProbe = ".rivet_doctor_probe"

// listing is what one recursive listing of the prefix says (DST-02: however
// many pages).
type listing struct {
	found    []*destination.Object // by index of the wanted parts
	strays   map[string]int64      // sizes of objects that the manifest does not explain
	sidecars []string              // of other runs, ascending
}

// list walks the prefix once. Explained, and so never a stray, are the parts of
// the manifest whatever their status, control objects, the control and
// quarantine folders, and everything in a folder that has a manifest of its
// own: that is another dataset with a verdict of its own (MAN-13).
func (v *verifier) list(ctx context.Context, wanted []contract.Part) (listing, error) {
	l := listing{found: make([]*destination.Object, len(wanted)), strays: make(map[string]int64)}
	indexes := make(map[string][]int, len(wanted))
	for i, p := range wanted {
		indexes[p.Path] = append(indexes[p.Path], i)
	}
	explained := make(map[string]bool)
	for _, p := range v.r.Manifest.Parts {
		explained[p.Path] = true
	}
	own := contract.SidecarName(v.r.Manifest.RunID)
	datasets := make(map[string]bool)
	err := v.store.List(ctx, "", func(o destination.Object) error {
		for _, i := range indexes[o.Key] {
			l.found[i] = &o
		}
		top, _, nested := strings.Cut(o.Key, "/")
		switch {
		case explained[o.Key]:
		case nested && (top == contract.ControlDir || top == quarantineDir):
		case nested && path.Base(o.Key) == contract.ManifestName:
			datasets[path.Dir(o.Key)] = true
		case !nested && (o.Key == contract.ManifestName || o.Key == contract.SuccessName || o.Key == doctorProbe):
		case !nested && contract.IsSidecarName(o.Key):
			if o.Key != own {
				l.sidecars = append(l.sidecars, o.Key)
			}
		default:
			l.strays[o.Key] = o.Size
		}
		return nil
	})
	maps.DeleteFunc(l.strays, func(key string, _ int64) bool {
		for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
			if datasets[dir] {
				return true
			}
		}
		return false
	})
	return l, err
}

// quarantineDir is the folder that contract.QuarantineName puts objects into.
var quarantineDir, _, _ = strings.Cut(contract.QuarantineName("run", "name"), "/")

// older reports whether key is the name of a part of an earlier generation than
// m's: old data of a prefix that many runs share.
func older(m contract.Manifest, key string) bool {
	g, plain, ok := contract.PartGeneration(path.Base(key))
	return ok && m.Generation > 1 && (plain || g < m.Generation)
}

// siblingLimit bounds how many sidecars of earlier generations are read to find
// out to whom old parts belong.
const siblingLimit = 256

// claim takes the strays out that success sidecars of the same export list.
// Sidecars are read newest first and only while there is something to claim.
func (v *verifier) claim(ctx context.Context, l *listing) {
	m := v.r.Manifest
	sidecars := slices.Clone(l.sidecars)
	slices.Reverse(sidecars)
	for read := 0; len(sidecars) > 0 && len(l.strays) > 0; {
		if m.Generation > 0 && read >= siblingLimit {
			// Of what is left, the parts of older generations are most likely
			// of one of the sidecars that are left; the rest is of nobody.
			maps.DeleteFunc(l.strays, func(key string, _ int64) bool { return older(m, key) })
			return
		}
		batch := sidecars[:min(v.o.Concurrency, len(sidecars))]
		sidecars = sidecars[len(batch):]
		read += len(batch)
		for _, sibling := range v.siblings(ctx, batch) {
			for _, p := range sibling.Parts {
				delete(l.strays, p.Path)
			}
		}
	}
}

// siblings reads sidecars and returns the successes of the same export. One
// that is not a manifest claims nothing: it may be an operator's file with such
// a name (MAN-12).
func (v *verifier) siblings(ctx context.Context, names []string) []contract.Manifest {
	read := make([]contract.Manifest, len(names))
	indexes := make([]int, len(names))
	for i := range indexes {
		indexes[i] = i
	}
	err := each(ctx, v.o.Concurrency, indexes, func(ctx context.Context, i int) error {
		body, _, err := v.store.Get(ctx, names[i], contract.MaxManifestBytes)
		switch {
		case errors.Is(err, destination.ErrNotFound), errors.Is(err, destination.ErrTooLarge):
			return nil
		case err != nil:
			return err
		}
		if m, err := contract.DecodeManifest(body); err == nil && m.Status == contract.StatusSuccess && family(m) == family(v.r.Manifest) {
			read[i] = m
		}
		return nil
	})
	if err != nil {
		v.find(v.unanswered(contract.VerdictManifestReadError, err))
	}
	return slices.DeleteFunc(read, func(m contract.Manifest) bool { return m.RunID == "" })
}

// family is what the runs of one export have in common, also when the upstream
// wrote several manifests for one.
func family(m contract.Manifest) string {
	if m.ExportFamily != "" {
		return m.ExportFamily
	}
	return string(m.ExportName)
}

// folded returns the parts of sibling sidecars that count for this prefix
// beside the manifest's own: the upstream splits one dataset over several
// manifests for change streams and split exports, and leaves an empty one after
// an idle run. A run of ours is whole in its own manifest.
func (v *verifier) folded(ctx context.Context, l listing) []contract.Part {
	m := v.r.Manifest
	if m.Generation > 0 || m.Mode != "cdc" && m.SplitWindow == nil && len(m.Parts) > 0 {
		return nil
	}
	seen := make(map[string]bool)
	for _, p := range m.Parts {
		seen[p.Path] = true
	}
	var parts []contract.Part
	for batch := range slices.Chunk(l.sidecars, v.o.Concurrency) {
		for _, sibling := range v.siblings(ctx, batch) {
			for _, p := range sibling.Committed() {
				if !seen[p.Path] {
					seen[p.Path] = true
					parts = append(parts, p)
				}
			}
		}
	}
	return parts
}
