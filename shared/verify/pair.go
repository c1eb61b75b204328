package verify

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// readPair reads manifest.json and then _SUCCESS. A writer replaces them in
// that order, so a pair that does not match may just be in between: the
// manifest is read again, and replaced is true when it is another one by now.
func (v *verifier) readPair(ctx context.Context) (replaced bool) {
	body, _, err := v.store.Get(ctx, contract.ManifestName, contract.MaxManifestBytes)
	switch {
	case errors.Is(err, destination.ErrNotFound):
		return v.withoutManifest(ctx)
	case errors.Is(err, destination.ErrTooLarge):
		v.r.Verification.ManifestFound = true
		v.find(contract.Detailed(contract.VerdictManifestInconsistent, "%s is larger than the %d bytes that readers load", contract.ManifestName, contract.MaxManifestBytes))
		return false
	case err != nil:
		v.find(v.unanswered(contract.VerdictManifestReadError, err))
		return false
	}
	v.body = body
	v.r.Verification.ManifestFound = true
	v.r.Fingerprint = contract.FingerprintOf(body)
	v.readManifest()
	v.readMarker(ctx)
	return v.r.Marker == MarkerStale && v.manifestNow(ctx) != v.r.Fingerprint
}

func (v *verifier) readManifest() {
	m, err := contract.DecodeManifest(v.body)
	if err != nil {
		v.find(contract.Detailed(contract.VerdictManifestInconsistent, "%v", err))
		return
	}
	v.r.Manifest = m
	if err := m.Check(); err != nil {
		v.find(contract.Detailed(contract.VerdictManifestInconsistent, "%v", err))
	} else {
		v.r.Verification.ManifestSelfConsistent = true
	}
	if m.Status != contract.StatusSuccess {
		v.find(contract.RunNotSuccessful(m.Status))
	}
}

// readMarker compares _SUCCESS with the bytes of the manifest (M2, MAN-09).
func (v *verifier) readMarker(ctx context.Context) {
	body, _, err := v.store.Get(ctx, contract.SuccessName, contract.MaxSuccessBytes)
	switch {
	case errors.Is(err, destination.ErrNotFound):
		v.r.Marker = MarkerAbsent
		return
	case errors.Is(err, destination.ErrTooLarge):
		v.r.Marker = MarkerMalformed
		v.marker = append(v.marker, contract.SuccessMalformed([]byte("(larger than a marker can be)")))
		return
	case err != nil:
		v.r.Marker = MarkerUnread
		v.marker = append(v.marker, v.unanswered(contract.VerdictSuccessReadError, err))
		return
	}
	f, err := contract.ParseSuccess(body)
	if err != nil {
		v.r.Marker = MarkerMalformed
		v.marker = append(v.marker, contract.SuccessMalformed(body))
		return
	}
	v.r.MarkerFingerprint = f
	if f != v.r.Fingerprint {
		v.r.Marker = MarkerStale
		v.marker = append(v.marker, contract.SuccessStale(f, v.r.Fingerprint))
		return
	}
	v.r.Marker = MarkerConsistent
	v.r.Verification.SuccessMarkerConsistent = true
}

// manifestNow returns the fingerprint of manifest.json as it is now; when that
// cannot be told, the one that was read before.
func (v *verifier) manifestNow(ctx context.Context) contract.Fingerprint {
	body, _, err := v.store.Get(ctx, contract.ManifestName, contract.MaxManifestBytes)
	switch {
	case err == nil:
		return contract.FingerprintOf(body)
	case errors.Is(err, destination.ErrNotFound):
		return ""
	}
	return v.r.Fingerprint
}

// withoutManifest tells output of a writer that knows no manifest, which is
// labelled (M6), from a manifest that was taken away (MAN-04), and from a prefix
// that holds no data, of which nothing can be said. The empty marker of the
// Hadoop convention is of such a writer (MAN-14): every marker of the contract
// has a body.
func (v *verifier) withoutManifest(ctx context.Context) (replaced bool) {
	body, _, err := v.store.Get(ctx, contract.SuccessName, contract.MaxSuccessBytes)
	switch {
	case errors.Is(err, destination.ErrNotFound):
		v.r.Marker = MarkerAbsent
	case err == nil && len(body) == 0:
		v.r.Marker = MarkerMalformed
	case err != nil && !errors.Is(err, destination.ErrTooLarge):
		v.r.Marker = MarkerUnread
		v.find(v.unanswered(contract.VerdictSuccessReadError, err))
		return false
	default:
		v.r.Marker = MarkerMalformed
		if f, err := contract.ParseSuccess(body); err == nil {
			v.r.Marker, v.r.MarkerFingerprint = MarkerStale, f
		}
		if v.manifestNow(ctx) != "" {
			return true
		}
		v.find(contract.ManifestMissing(v.o.Prefix))
		return false
	}
	data := false
	if !v.o.Required {
		if data, err = v.holdsData(ctx); err != nil {
			v.find(v.unanswered(contract.VerdictListError, err))
			return false
		}
	}
	v.r.Verification.LegacyRun = data
	if !data {
		v.find(contract.ManifestRequired(v.o.Prefix))
	}
	return false
}

// holdsData reports whether a reader by glob would find anything: an object that
// is neither a sidecar nor hidden by its name.
func (v *verifier) holdsData(ctx context.Context) (bool, error) {
	found := errors.New("found")
	err := v.store.List(ctx, "", func(o destination.Object) error {
		hidden := slices.ContainsFunc(strings.Split(o.Key, "/"), func(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") })
		if hidden || contract.IsSidecarName(path.Base(o.Key)) {
			return nil
		}
		return found
	})
	if errors.Is(err, found) {
		return true, nil
	}
	return false, err
}
