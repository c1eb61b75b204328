package verify

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Verdict is a Result in one word.
type Verdict string

const (
	Passed  Verdict = "passed"
	Failed  Verdict = "failed"
	Reduced Verdict = "reduced" // output without a manifest: nothing could be compared (M6)
)

// Verdict sums r up. It means something only when the store answered
// everything (Unanswered is nil).
func (r Result) Verdict() Verdict {
	switch {
	case r.Verification.Passed:
		return Passed
	case r.Verification.LegacyRun:
		return Reduced
	}
	return Failed
}

// DocumentVersion is the only version of the verdict document.
const DocumentVersion = 1

// MaxDocumentBytes bounds what a reader loads of a verdict document: some
// hundred bytes a finding.
const MaxDocumentBytes = 64 << 20

// Document is the validator's verdict on one manifest, as it is stored beside
// the run's report: written once, and bound to the manifest's bytes by their
// fingerprint (QUE-17).
type Document struct {
	VerdictVersion      int                  `json:"verdict_version"`
	Export              contract.ExportName  `json:"export"`
	RunID               contract.RunID       `json:"run_id"`
	Generation          contract.Generation  `json:"generation,omitempty"`
	ManifestFingerprint contract.Fingerprint `json:"manifest_fingerprint"`
	// Prefix is the prefix that was judged, below the root.
	Prefix    string        `json:"prefix"`
	Verdict   Verdict       `json:"verdict"`
	CheckedAt contract.Time `json:"checked_at"`
	RowCount  int64         `json:"row_count"`
	PartCount int           `json:"part_count"`
	// UntrackedObjects and OtherObjects are the counts of Result.
	UntrackedObjects int                           `json:"untracked_objects"`
	OtherObjects     int                           `json:"other_objects"`
	Verification     contract.ManifestVerification `json:"verification"`
}

// NewDocument returns the document of r for a prefix that was looked at at the
// given time.
func NewDocument(r Result, prefix string, at contract.Time) Document {
	m := r.Manifest
	return Document{
		VerdictVersion: DocumentVersion, Export: m.ExportName, RunID: m.RunID, Generation: m.Generation,
		ManifestFingerprint: r.Fingerprint, Prefix: prefix, Verdict: r.Verdict(), CheckedAt: at,
		RowCount: m.RowCount, PartCount: m.PartCount,
		UntrackedObjects: r.Untracked, OtherObjects: r.OtherObjects, Verification: r.Verification,
	}
}

// Encode returns the bytes of the document.
func (d Document) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("encode the verdict on run %s: %w", d.RunID, err)
	}
	return b.Bytes(), nil
}

// DecodeDocument reads a verdict document. Unknown fields are ignored, an
// unknown version is refused.
func DecodeDocument(body []byte) (Document, error) {
	var d Document
	if err := json.Unmarshal(body, &d); err != nil {
		return Document{}, fault.Wrap(err, fault.Permanent, "LAPSTRAKE_VALIDATE_VERDICT_UNREADABLE", "verdict document cannot be read: validate the prefix again for a verdict on its present state")
	}
	if d.VerdictVersion != DocumentVersion {
		return Document{}, fault.New(fault.Refused, "LAPSTRAKE_VALIDATE_VERDICT_VERSION", "verdict document has version %d and this program reads version %d only: use a newer program", d.VerdictVersion, DocumentVersion)
	}
	return d, nil
}
