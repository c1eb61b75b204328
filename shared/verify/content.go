package verify

import (
	"context"
	"errors"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// readPart is ReadPart for a verdict: a store that does not answer is a finding.
func (v *verifier) readPart(ctx context.Context, p contract.Part) (failures []contract.Failure, proven bool) {
	failures, proven, err := ReadPart(ctx, v.store, v.r.Manifest.Format, p)
	if err != nil {
		return []contract.Failure{v.unanswered(contract.VerdictListError, err)}, false
	}
	return failures, proven
}

// ReadPart downloads p, whose object has the recorded size, from store, which is
// at the prefix, and compares hashes and rows. proven is true when the manifest
// records a hash and the bytes have it. The body is dropped before ReadPart
// returns. An error means that the store did not answer.
func ReadPart(ctx context.Context, store destination.Store, format string, p contract.Part) (failures []contract.Failure, proven bool, err error) {
	body, _, err := store.Get(ctx, p.Path, p.SizeBytes)
	switch {
	case errors.Is(err, destination.ErrNotFound):
		return []contract.Failure{contract.PartMissing(p)}, false, nil // it has gone since the listing
	case err != nil:
		return nil, false, err
	}
	read := destination.Object{Key: p.Path, Size: int64(len(body)), Fingerprint: contract.FingerprintOf(body), MD5: contract.MD5Base64(body)}
	failure, proven := compare(p, &read)
	if failure != nil {
		return []contract.Failure{*failure}, false, nil // other bytes: what their footer says is of no interest
	}
	rows, err := countRows(format, body)
	switch {
	case errors.Is(err, errUnknownFormat):
		return nil, proven, nil
	case err != nil:
		return []contract.Failure{contract.Detailed(contract.VerdictPartRowCountMismatch, "part %d (%s): manifest has %d rows and the file cannot be read: %v", p.PartID, p.Path, p.Rows, err)}, proven, nil
	case rows != p.Rows:
		return []contract.Failure{contract.Detailed(contract.VerdictPartRowCountMismatch, "part %d (%s): manifest has %d rows and the file has %d", p.PartID, p.Path, p.Rows, rows)}, proven, nil
	}
	return nil, proven, nil
}
