// Package verify says whether a prefix holds what its manifest promises (M5),
// reading as a loader does: only what the manifest lists counts. Layer: L2
// (execution).
//
// A finding is about the data and goes into the verdict. A store that did not
// answer is a finding too, of a kind that says "could not be verified", and
// its error is kept beside the verdict, so that a caller can try again instead
// of publishing it.
package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// Depth says how much is looked at (reference §6.1).
type Depth string

const (
	// Light reads the manifest and the marker.
	Light Depth = "light"
	// Sample also lists the prefix once and compares presence, size and the
	// checksums that the store vouches for; nothing is downloaded.
	Sample Depth = "sample"
	// Full also downloads every part, one at a time, hashes it and counts its
	// rows.
	Full Depth = "full"
)

// ParseDepth accepts the three names.
func ParseDepth(s string) (Depth, error) {
	switch d := Depth(s); d {
	case Light, Sample, Full:
		return d, nil
	}
	return "", fmt.Errorf("depth %q is none of light, sample, full", s)
}

// Options say what to demand of a prefix. The zero value is depth Sample with
// the listing's own evidence.
type Options struct {
	Depth Depth
	// VerifyContent demands that the content of every part is proven, by a
	// checksum of the store or by download (verify: content). It needs depth
	// Sample at least, and raises Light to it.
	VerifyContent bool
	// Required makes a prefix without a manifest a failure instead of a legacy
	// run: it was named by somebody who expects one.
	Required bool
	// Prefix is how messages call the prefix.
	Prefix string
	// Concurrency bounds the requests at a time; 16 when 0.
	Concurrency int
}

func (o Options) withDefaults() Options {
	if o.Depth == "" || o.Depth == Light && o.VerifyContent {
		o.Depth = Sample
	}
	if o.Concurrency < 1 {
		o.Concurrency = 16
	}
	return o
}

// MarkerState is what is known of _SUCCESS.
type MarkerState string

const (
	MarkerAbsent     MarkerState = "absent" // not a failure: the pair is not published yet (M2)
	MarkerConsistent MarkerState = "consistent"
	MarkerStale      MarkerState = "stale" // of another manifest
	MarkerMalformed  MarkerState = "malformed"
	MarkerUnread     MarkerState = "unread" // the store did not answer
)

// Result is a verdict and what it was made from.
type Result struct {
	// Verification has the upstream's form. PartsMD5Verified counts the parts
	// whose content is proven, by whatever checksum.
	Verification contract.ManifestVerification
	// Manifest is what manifest.json says, if it could be read: its RunID is
	// then not empty. Fingerprint is that of its exact bytes (MAN-17).
	Manifest    contract.Manifest
	Fingerprint contract.Fingerprint
	Marker      MarkerState
	// MarkerFingerprint is what a consistent or stale marker says.
	MarkerFingerprint contract.Fingerprint
	// SizeOnly counts the parts of which only the size could be compared.
	SizeOnly int
	// Untracked counts the objects that no manifest lists; Verification names
	// the first MaxUntracked of them.
	Untracked int
	// OtherObjects counts what lies beside the parts of the manifest and the
	// control objects: what a reader by glob would read too much.
	OtherObjects int
	// Unanswered is the store's error behind a finding that could not be
	// verified; nil when the store answered everything.
	Unanswered error
}

// MaxUntracked bounds how many untracked objects a verdict names.
const MaxUntracked = 1000

// rereads bounds how often a pair that is being replaced is read again.
const rereads = 3

// Verify judges what store holds; store is at the prefix. The error is ctx's
// own, and then there is no verdict.
func Verify(ctx context.Context, store destination.Store, o Options) (Result, error) {
	o = o.withDefaults()
	var v *verifier
	for range rereads {
		v = &verifier{store: store, o: o}
		v.r.Verification.DepthLevel = string(o.Depth)
		if replaced := v.readPair(ctx); !replaced {
			break
		}
	}
	if v.r.Manifest.RunID != "" && o.Depth != Light {
		v.checkParts(ctx)
	}
	v.finish()
	return v.r, ctx.Err()
}

// verifier gathers the findings of one verdict, in the order in which the
// upstream prints them.
type verifier struct {
	store destination.Store
	o     Options
	r     Result

	body     []byte             // of manifest.json
	marker   []contract.Failure // printed after the findings on parts,
	notes    []contract.Failure // and these last
	findings []contract.Failure
}

func (v *verifier) find(f ...contract.Failure) { v.findings = append(v.findings, f...) }

// unanswered records that the store did not say what was asked.
func (v *verifier) unanswered(kind contract.VerdictKind, err error) contract.Failure {
	v.r.Unanswered = errors.Join(v.r.Unanswered, err)
	return contract.Detailed(kind, "%v", err)
}

func (v *verifier) finish() {
	all := append(v.findings, v.marker...)
	v.r.Verification.Failures = append(all, v.notes...)
	v.r.Verification.Settle()
}

// RequireContent adds the finding that some parts were compared by size only,
// for a caller that learns from the manifest that content was to be verified.
func (r *Result) RequireContent() {
	if r.SizeOnly > 0 {
		r.Verification.Add(contract.ContentUnmet(r.SizeOnly, r.Manifest.PartCount))
	}
}
