package s3

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// probe finds out by trying, on one small object, which checksum the store
// verifies, and that it keeps its preconditions (DST-08). It returns ErrUnsafe
// for a store that ignores one. It may run while others probe.
func probe(ctx context.Context, b *bucket, prefix, folder string) (checksum, error) {
	p := &prober{bucket: b, key: path.Join(prefix, folder, "probe")}
	if err := destination.CheckKey(p.key); err != nil {
		return none, err
	}
	found := none
	for _, sum := range []checksum{xxh3, md5sum, crc32c} {
		ok, err := p.verifies(ctx, sum)
		if err != nil {
			return none, fmt.Errorf("checksum %s: %w", sum, err)
		}
		if ok {
			found = sum
			break
		}
	}
	// Whatever was refused so far, a write whose precondition holds is not.
	if _, _, err := p.put(ctx, none, false); err != nil {
		if unknownToStore(err) {
			err = fmt.Errorf("%w: it does not accept a conditional write: %w", destination.ErrUnsafe, err)
		}
		return none, err
	}
	return found, p.keepsPreconditions(ctx)
}

type prober struct {
	*bucket
	key string
}

// tries bounds how often a rival's probe may come between.
const tries = 10

// put stores a body that no one has stored before, with its checksum or a
// wrong one, and returns its version and the checksum that was sent.
func (p *prober) put(ctx context.Context, sum checksum, wrong bool) (v destination.Version, value string, err error) {
	for range tries {
		prev := destination.Absent
		o, _, err := p.head(ctx, p.key)
		switch {
		case err == nil:
			prev = o.Version
		case !errors.Is(err, destination.ErrNotFound):
			return "", "", err
		}
		body := p.body()
		summed := body
		if wrong {
			summed = p.body()
		}
		if value, err = sum.of(summed, destination.Meta{}); err != nil {
			return "", "", err
		}
		v, err = p.putChecked(ctx, p.key, prev, body, destination.Meta{ContentType: "text/plain"}, sum, value, destination.ErrMoved)
		if !errors.Is(err, destination.ErrMoved) && !errors.Is(err, destination.ErrUndecided) {
			return v, value, err
		}
	}
	return "", "", fmt.Errorf("%w: others write to %s all the time", destination.ErrUnavailable, p.key)
}

// body is never equal to another, so that no ETag ever comes back.
func (p *prober) body() []byte {
	return fmt.Appendf(nil, "lapstrake asks what this store guarantees: %s\n", p.ids.NewID())
}

// verifies reports whether the store refuses a wrong checksum, accepts the
// right one and returns it.
func (p *prober) verifies(ctx context.Context, sum checksum) (bool, error) {
	switch _, _, err := p.put(ctx, sum, true); {
	case err == nil, unknownToStore(err):
		return false, nil // stored in spite of it, or not even looked at
	case !errors.Is(err, destination.ErrCorrupted):
		return false, err
	}
	for range tries {
		v, value, err := p.put(ctx, sum, false)
		switch {
		case errors.Is(err, destination.ErrCorrupted), unknownToStore(err):
			return false, nil // it computes something else, or refuses both
		case err != nil:
			return false, err
		}
		o, out, err := p.head(ctx, p.key)
		if err != nil {
			return false, err
		}
		if o.Version == v {
			return sum.in(out) == value, nil
		}
	}
	return false, fmt.Errorf("%w: others write to %s all the time", destination.ErrUnavailable, p.key)
}

// unknownToStore reports whether the store refused the kind of request itself.
func unknownToStore(err error) bool {
	return errors.Is(err, destination.ErrNotSupported) || errors.Is(err, destination.ErrInvalid) || errors.Is(err, errRefused)
}

// keepsPreconditions writes onto the probe with preconditions that do not hold.
func (p *prober) keepsPreconditions(ctx context.Context) error {
	const stale = destination.Version("00000000000000000000000000000000")
	for _, tc := range []struct {
		header string
		prev   destination.Version
	}{{"If-None-Match", destination.Absent}, {"If-Match", stale}} {
		var err error
		for range tries {
			_, err = p.putChecked(ctx, p.key, tc.prev, p.body(), destination.Meta{}, none, "", destination.ErrMoved)
			if !errors.Is(err, destination.ErrUndecided) {
				break
			}
		}
		switch {
		case errors.Is(err, destination.ErrMoved):
		case err == nil, unknownToStore(err):
			return fmt.Errorf("%w: a write with an %s that does not hold was not refused for that (%v); runs could overwrite one another here, use another store",
				destination.ErrUnsafe, tc.header, err)
		default:
			return err
		}
	}
	return nil
}
