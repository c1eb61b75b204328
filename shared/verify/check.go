package verify

import (
	"context"
	"maps"
	"slices"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// checkParts compares the committed parts with one listing of the prefix and,
// at depth Full, with their own bytes.
func (v *verifier) checkParts(ctx context.Context) {
	parts := v.r.Manifest.Committed()
	l, err := v.list(ctx, parts)
	if err != nil {
		v.find(v.unanswered(contract.VerdictListError, err))
		return
	}
	v.r.OtherObjects = len(l.strays)
	for _, p := range v.folded(ctx, l) {
		var o *destination.Object
		if size, ok := l.strays[p.Path]; ok {
			o = &destination.Object{Key: p.Path, Size: size}
			delete(l.strays, p.Path)
		}
		parts, l.found = append(parts, p), append(l.found, o)
	}
	if v.o.Depth == Sample {
		if err := askChecksums(ctx, v.store, parts, l.found, v.o.Concurrency); err != nil {
			v.find(v.unanswered(contract.VerdictListError, err))
			return
		}
	}
	v.comparePart(ctx, parts, l.found)
	v.reportUntracked(ctx, l)
}

func (v *verifier) comparePart(ctx context.Context, parts []contract.Part, found []*destination.Object) {
	r := &v.r.Verification
	whole := true
	for i, p := range parts {
		failure, proven := compare(p, found[i])
		var failures []contract.Failure
		if failure != nil {
			whole = false
			failures = append(failures, *failure)
		} else if v.o.Depth == Full {
			var read bool
			failures, read = v.readPart(ctx, p)
			proven = proven || read
		}
		if len(failures) > 0 {
			r.PartsFailed++
			v.find(failures...)
			continue
		}
		r.PartsVerified++
		if proven {
			r.PartsMD5Verified++
		} else {
			v.r.SizeOnly++
		}
	}
	if v.o.VerifyContent && v.r.SizeOnly > 0 {
		v.find(contract.ContentUnmet(v.r.SizeOnly, len(parts)))
	}
	if v.o.Depth == Full && whole { // the upstream looks at values when all parts are there
		v.noteValues()
	}
}

// noteValues says so where nothing at all vouches for values: the upstream
// checksums columns, which a CSV file has none of; a hash of the whole file
// stands in for them, if the manifest has one.
func (v *verifier) noteValues() {
	if format := v.r.Manifest.Format; format != "parquet" || v.r.SizeOnly > 0 {
		v.notes = append(v.notes, contract.ValueCheckNotAvailable(format))
	}
}

// reportUntracked names what no manifest of the prefix lists. That is worth
// knowing and harmless: a reader of the manifest does not see it (MAN-15).
func (v *verifier) reportUntracked(ctx context.Context, l listing) {
	v.claim(ctx, &l)
	v.r.Untracked = len(l.strays)
	for i, key := range slices.Sorted(maps.Keys(l.strays)) {
		if i == MaxUntracked {
			break
		}
		v.notes = append(v.notes, contract.UntrackedObject(key, l.strays[key]))
	}
}
