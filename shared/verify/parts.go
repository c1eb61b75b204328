package verify

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// PartsOptions say what to demand of parts.
type PartsOptions struct {
	// Content demands that the store vouches for the content of each part; one
	// that it can only tell the size of is then a finding.
	Content bool
	// Concurrency bounds the requests at a time; 16 when 0.
	Concurrency int
}

// PartsResult is what Parts found.
type PartsResult struct {
	// Failures name parts by path and id: missing, of another size, of other
	// content, and content_verification_unmet once for all that were compared
	// by size only when Content was demanded.
	Failures []contract.Failure
	Verified int // parts without a finding of their own
	Proven   int // of those, parts whose content the store vouches for
}

// Intact reports whether every part is as recorded.
func (r PartsResult) Intact() bool { return len(r.Failures) == 0 }

// Parts compares what is recorded of parts with what store, which is at the
// prefix, holds. Names of the contract are found by listing their generation's
// names, so that a prefix with years of other runs is not scanned; any other
// name is looked at by itself.
//
// An error means that the store did not answer, and that nothing is known.
func Parts(ctx context.Context, store destination.Store, parts []contract.Part, o PartsOptions) (PartsResult, error) {
	o.Concurrency = Options{Concurrency: o.Concurrency}.withDefaults().Concurrency
	found, err := findParts(ctx, store, parts, o.Concurrency)
	if err != nil {
		return PartsResult{}, err
	}
	if o.Content {
		if err := askChecksums(ctx, store, parts, found, o.Concurrency); err != nil {
			return PartsResult{}, err
		}
	}
	var r PartsResult
	for i, p := range parts {
		failure, proven := compare(p, found[i])
		if failure != nil {
			r.Failures = append(r.Failures, *failure)
			continue
		}
		r.Verified++
		if proven {
			r.Proven++
		}
	}
	if o.Content && r.Proven < r.Verified {
		r.Failures = append(r.Failures, contract.ContentUnmet(r.Verified-r.Proven, len(parts)))
	}
	return r, nil
}

// findParts returns the object of each part, nil for one that is not there.
func findParts(ctx context.Context, store destination.Store, parts []contract.Part, concurrency int) ([]*destination.Object, error) {
	found := make([]*destination.Object, len(parts))
	wanted := make(map[string][]int, len(parts))
	listings := make(map[string]bool)
	var single []int
	for i, p := range parts {
		wanted[p.Path] = append(wanted[p.Path], i)
		dir, name := path.Split(p.Path)
		if g, plain, ok := contract.PartGeneration(name); ok {
			listings[dir+contract.PartNaming{Generation: g, Plain: plain}.PartPrefix()] = true
		} else {
			single = append(single, i)
		}
	}
	last := ""
	for i, prefix := range slices.Sorted(maps.Keys(listings)) {
		if i > 0 && strings.HasPrefix(prefix, last) {
			continue // the listing before showed these too
		}
		last = prefix
		err := store.List(ctx, prefix, func(o destination.Object) error {
			for _, i := range wanted[o.Key] {
				found[i] = &o
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	err := each(ctx, concurrency, single, func(ctx context.Context, i int) error {
		if destination.CheckKey(parts[i].Path) != nil {
			return nil // no store has an object of that name
		}
		o, err := store.Head(ctx, parts[i].Path)
		switch {
		case errors.Is(err, destination.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		found[i] = &o
		return nil
	})
	return found, err
}

// askChecksums asks for the checksums that a listing does not report, of the
// parts that are there.
func askChecksums(ctx context.Context, store destination.Store, parts []contract.Part, found []*destination.Object, concurrency int) error {
	if c := store.Capabilities(); c.StoreChecksum == "" || c.ListChecksum {
		return nil
	}
	var ask []int
	for i := range parts {
		if found[i] == nil {
			continue
		}
		if failure, proven := compare(parts[i], found[i]); failure == nil && !proven {
			ask = append(ask, i)
		}
	}
	return each(ctx, concurrency, ask, func(ctx context.Context, i int) error {
		o, err := store.Head(ctx, parts[i].Path)
		switch {
		case errors.Is(err, destination.ErrNotFound):
			found[i] = nil // it has gone since
			return nil
		case err != nil:
			return err
		}
		found[i] = &o
		return nil
	})
}

// each calls fn for every index, concurrency of them at a time, and returns the
// first error, after which fn's context is cancelled. fn is called once an
// index, so it may write to that index of a slice.
func each(ctx context.Context, concurrency int, indexes []int, fn func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for _, i := range indexes {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fn(ctx, i)
		})
	}
	return g.Wait()
}

// compare returns what is wrong with the object of p, nil for nothing, and
// whether the store vouches for its content. Components of the identity triple
// that one side does not know are not compared (M3, MAN-11).
func compare(p contract.Part, o *destination.Object) (failure *contract.Failure, proven bool) {
	var f contract.Failure
	switch {
	case o == nil:
		f = contract.PartMissing(p)
	case o.Size != p.SizeBytes:
		f = contract.PartSizeMismatch(p, o.Size)
	case differ(string(p.ContentFingerprint), string(o.Fingerprint)):
		f = contract.PartChecksumMismatch(p, string(p.ContentFingerprint), string(o.Fingerprint))
	case differ(p.ContentMD5, o.MD5):
		f = contract.PartChecksumMismatch(p, p.ContentMD5, o.MD5)
	default:
		return nil, p.ContentFingerprint != "" && o.Fingerprint != "" || p.ContentMD5 != "" && o.MD5 != ""
	}
	return &f, false
}

func differ(recorded, found string) bool { return recorded != "" && found != "" && recorded != found }
