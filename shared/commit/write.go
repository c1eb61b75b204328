package commit

import (
	"bytes"
	"context"
	"errors"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// maxControlBytes bounds any control object that is read back: a plan, a
// manifest or a record.
const maxControlBytes = contract.MaxManifestBytes

// undecidedTries is how often a write whose answer was lost is repeated before
// the caller is told that nobody knows.
const undecidedTries = 3

// create stores body at key, or returns what is there instead: found is nil if
// body is stored now, by this call or by an earlier one whose answer was lost,
// and the other object's bytes if another one is there.
//
// It is the only place, with replace, that handles ErrUndecided: it reads the
// key and compares.
func create(ctx context.Context, store destination.Store, key string, body []byte, m destination.Meta) (v destination.Version, found []byte, err error) {
	for try := 1; ; try++ {
		v, err = store.Create(ctx, key, body, m)
		switch {
		case err == nil:
			return v, nil, nil
		case !errors.Is(err, destination.ErrExists) && !errors.Is(err, destination.ErrUndecided):
			return "", nil, err
		}
		there, v, getErr := store.Get(ctx, key, maxControlBytes)
		switch {
		case getErr == nil && bytes.Equal(there, body):
			return v, nil, nil
		case getErr == nil:
			return v, there, nil
		case !errors.Is(getErr, destination.ErrNotFound):
			return "", nil, errors.Join(err, getErr)
		case try == undecidedTries:
			return "", nil, err
		}
	}
}

// replace stores body at key if the object there is still at prev, or if body
// is there already. It returns an error with ErrMoved if someone else wrote
// first.
func replace(ctx context.Context, store destination.Store, key string, prev destination.Version, body []byte) (destination.Version, error) {
	for try := 1; ; try++ {
		v, err := store.Replace(ctx, key, prev, body, metaOf(body))
		switch {
		case err == nil:
			return v, nil
		case !errors.Is(err, destination.ErrMoved) && !errors.Is(err, destination.ErrUndecided):
			return "", err
		}
		there, at, getErr := store.Get(ctx, key, maxControlBytes)
		switch {
		case getErr == nil && bytes.Equal(there, body):
			return at, nil
		case getErr != nil && !errors.Is(getErr, destination.ErrNotFound):
			return "", errors.Join(err, getErr)
		case errors.Is(err, destination.ErrMoved):
			return "", err
		}
		// Undecided, and body is not there: the request was lost or is still on
		// its way. Repeating it is safe, since at most one of the two can win.
		if try == undecidedTries {
			return "", err
		}
	}
}

// metaOf describes a control object, so that the store verifies it on receipt.
func metaOf(body []byte) destination.Meta {
	return destination.Meta{
		ContentType: "application/json",
		Fingerprint: contract.FingerprintOf(body),
		MD5:         contract.MD5Base64(body),
	}
}

// read returns the object at key, or nil and Absent if nothing is there.
func read(ctx context.Context, store destination.Store, key string, limit int64) ([]byte, destination.Version, error) {
	body, v, err := store.Get(ctx, key, limit)
	if errors.Is(err, destination.ErrNotFound) {
		return nil, destination.Absent, nil
	}
	return body, v, err
}
