package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Failure is one finding of a verifier. Only the fields of its kind mean
// something and are printed; the functions below fill exactly those.
type Failure struct {
	Kind VerdictKind

	PartID              int
	Path                string
	ExpectedSize        int64 // part_size_mismatch prints sizes,
	ActualSize          int64
	Expected            string // part_checksum_mismatch checksums
	Actual              string
	Detail              string
	BodyPreview         string
	MarkerFingerprint   Fingerprint
	ManifestFingerprint Fingerprint
	SizeOnly            int
	Total               int
	Prefix              string
	Status              Status
	Key                 string
	SizeBytes           int64
	Format              string
}

// PartMissing: the manifest lists p and the listing does not.
func PartMissing(p Part) Failure {
	return Failure{Kind: VerdictPartMissing, PartID: p.PartID, Path: p.Path}
}

// PartSizeMismatch: the object of p has actual bytes.
func PartSizeMismatch(p Part, actual int64) Failure {
	return Failure{Kind: VerdictPartSizeMismatch, PartID: p.PartID, Path: p.Path, ExpectedSize: p.SizeBytes, ActualSize: actual}
}

// PartChecksumMismatch: the object of p has other content; both checksums are
// of the kind that the store could tell.
func PartChecksumMismatch(p Part, expected, actual string) Failure {
	return Failure{Kind: VerdictPartChecksumMismatch, PartID: p.PartID, Path: p.Path, Expected: expected, Actual: actual}
}

// Detailed is a finding of a kind that has a text only: value and row count
// mismatches, inconsistencies and failed reads.
func Detailed(kind VerdictKind, format string, args ...any) Failure {
	return Failure{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// SuccessMalformed: the marker holds body, which is not a fingerprint.
func SuccessMalformed(body []byte) Failure {
	return Failure{Kind: VerdictSuccessMalformed, BodyPreview: bodyPreview(body)}
}

// SuccessStale: the marker is of another manifest.
func SuccessStale(marker, manifest Fingerprint) Failure {
	return Failure{Kind: VerdictSuccessStale, MarkerFingerprint: marker, ManifestFingerprint: manifest}
}

// ContentUnmet: content was to be verified and of total parts sizeOnly could
// be compared by size only.
func ContentUnmet(sizeOnly, total int) Failure {
	return Failure{Kind: VerdictContentUnmet, SizeOnly: sizeOnly, Total: total}
}

// ManifestRequired: the prefix was asked for by name and has no manifest.
func ManifestRequired(prefix string) Failure {
	return Failure{Kind: VerdictManifestRequired, Prefix: prefix}
}

// ManifestMissing: the prefix has a marker and no manifest.
func ManifestMissing(prefix string) Failure {
	return Failure{Kind: VerdictManifestMissing, Prefix: prefix}
}

// RunNotSuccessful: the manifest is of a run with this status.
func RunNotSuccessful(s Status) Failure { return Failure{Kind: VerdictRunNotSuccessful, Status: s} }

// UntrackedObject: no manifest of the prefix lists the object at key.
func UntrackedObject(key string, size int64) Failure {
	return Failure{Kind: VerdictUntrackedObject, Key: key, SizeBytes: size}
}

// ValueCheckNotAvailable: files of this format have no value checksum.
func ValueCheckNotAvailable(format string) Failure {
	return Failure{Kind: VerdictValueCheckNotAvailable, Format: format}
}

// field returns where the value with a JSON name lives.
func (f *Failure) field(name string) any {
	switch name {
	case "expected", "actual":
		sizes, texts := &f.ExpectedSize, &f.Expected
		if name == "actual" {
			sizes, texts = &f.ActualSize, &f.Actual
		}
		if f.Kind == VerdictPartSizeMismatch {
			return sizes
		}
		return texts
	case "part_id":
		return &f.PartID
	case "path":
		return &f.Path
	case "detail":
		return &f.Detail
	case "body_preview":
		return &f.BodyPreview
	case "marker_fingerprint":
		return &f.MarkerFingerprint
	case "manifest_fingerprint":
		return &f.ManifestFingerprint
	case "size_only":
		return &f.SizeOnly
	case "total":
		return &f.Total
	case "prefix":
		return &f.Prefix
	case "status":
		return &f.Status
	case "key":
		return &f.Key
	case "size_bytes":
		return &f.SizeBytes
	case "format":
		return &f.Format
	}
	return nil
}

// MarshalJSON prints kind, the fields of the kind, and code.
func (f Failure) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	member := func(open, name string, value any) error {
		v, err := json.Marshal(value)
		if err == nil {
			fmt.Fprintf(&b, "%s%q:%s", open, name, v)
		}
		return err
	}
	err := member("{", "kind", f.Kind)
	for _, name := range verdicts[f.Kind].fields {
		err = errors.Join(err, member(",", name, f.field(name)))
	}
	err = errors.Join(err, member(",", "code", f.Kind.Code()))
	b.WriteByte('}')
	return b.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON printed. Of a kind that it does not
// know it keeps the kind alone.
func (f *Failure) UnmarshalJSON(body []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return err
	}
	*f = Failure{}
	if err := json.Unmarshal(raw["kind"], &f.Kind); err != nil {
		return fmt.Errorf("kind of a verdict: %w", err)
	}
	for _, name := range verdicts[f.Kind].fields {
		if v, ok := raw[name]; ok {
			if err := json.Unmarshal(v, f.field(name)); err != nil {
				return fmt.Errorf("%s of %s: %w", name, f.Kind, err)
			}
		}
	}
	return nil
}
