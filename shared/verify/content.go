package verify

import (
	"context"
	"errors"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// readPart downloads p, whose object has the recorded size, and compares hashes
// and rows. proven is true when the manifest records a hash and the bytes have
// it. The body is dropped before the next part is read.
func (v *verifier) readPart(ctx context.Context, p contract.Part) (failures []contract.Failure, proven bool) {
	body, _, err := v.store.Get(ctx, p.Path, p.SizeBytes)
	switch {
	case errors.Is(err, destination.ErrNotFound):
		return []contract.Failure{contract.PartMissing(p)}, false // it has gone since the listing
	case err != nil:
		return []contract.Failure{v.unanswered(contract.VerdictListError, err)}, false
	}
	read := destination.Object{Key: p.Path, Size: int64(len(body)), Fingerprint: contract.FingerprintOf(body), MD5: contract.MD5Base64(body)}
	failure, proven := compare(p, &read)
	if failure != nil {
		return []contract.Failure{*failure}, false // other bytes: what their footer says is of no interest
	}
	rows, err := countRows(v.r.Manifest.Format, body)
	switch {
	case errors.Is(err, errUnknownFormat):
		return nil, proven
	case err != nil:
		return []contract.Failure{contract.Detailed(contract.VerdictPartRowCountMismatch, "part %d (%s): manifest has %d rows and the file cannot be read: %v", p.PartID, p.Path, p.Rows, err)}, proven
	case rows != p.Rows:
		return []contract.Failure{contract.Detailed(contract.VerdictPartRowCountMismatch, "part %d (%s): manifest has %d rows and the file has %d", p.PartID, p.Path, p.Rows, rows)}, proven
	}
	return nil, proven
}
