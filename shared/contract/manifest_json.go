package contract

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// Encode returns the bytes of a manifest as the upstream's writer lays them
// out: fields in order, two spaces of indent, no final newline, text raw
// except for what JSON itself escapes. The same manifest always gives the same
// bytes (D10).
//
// It refuses a manifest that Check refuses: such a manifest is a bug of its
// maker and must not reach a reader.
func (m Manifest) Encode() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, fault.Wrap(err, fault.Bug, "LAPSTRAKE_INTERNAL_MANIFEST_INCONSISTENT",
			"manifest of run %s is not written", m.RunID)
	}
	if m.Parts == nil {
		m.Parts = []Part{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("encode manifest of run %s: %w", m.RunID, err)
	}
	body := rawSeparators(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	if len(body) > MaxManifestBytes {
		return nil, fault.New(fault.Permanent, "LAPSTRAKE_RUN_MANIFEST_TOO_LARGE",
			"manifest of run %s would have %d bytes and readers stop at %d: use larger chunks or parts",
			m.RunID, len(body), MaxManifestBytes)
	}
	return body, nil
}

// rawSeparators undoes the one escape that the encoder of the standard library
// insists on and the upstream does not know: U+2028 and U+2029.
func rawSeparators(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\u202`)) {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		switch rest := b[i:]; {
		case b[i] != '\\':
			out = append(out, b[i])
		case bytes.HasPrefix(rest, []byte(`\u2028`)), bytes.HasPrefix(rest, []byte(`\u2029`)):
			out = append(out, 0xE2, 0x80, 0xA8+b[i+5]-'8')
			i += 5
		default:
			out = append(out, b[i], b[i+1])
			i++
		}
	}
	return out
}

// DecodeManifest reads a manifest of any writer. Fields that it does not know
// are ignored, numbers are exact, and a version other than ManifestVersion is
// refused before anything else is looked at. It does not call Check: a
// verifier reports what is inconsistent instead of failing to read it.
func DecodeManifest(body []byte) (Manifest, error) {
	if len(body) > MaxManifestBytes {
		return Manifest{}, unreadableManifest(fmt.Errorf("%d bytes or more, at most %d are read", len(body), MaxManifestBytes))
	}
	var v struct {
		Version *int64 `json:"manifest_version"`
	}
	if err := decodeExact(body, &v); err != nil {
		return Manifest{}, unreadableManifest(err)
	}
	if v.Version == nil {
		return Manifest{}, unreadableManifest(fmt.Errorf("no manifest_version"))
	}
	if *v.Version != ManifestVersion {
		return Manifest{}, fault.New(fault.Refused, "LAPSTRAKE_DEST_MANIFEST_VERSION_UNKNOWN",
			"manifest has version %d and this program reads version %d only: nothing was changed; use a newer program", *v.Version, ManifestVersion)
	}
	var m Manifest
	if err := decodeExact(body, &m); err != nil {
		return Manifest{}, unreadableManifest(err)
	}
	return m, nil
}

func unreadableManifest(err error) error {
	return fault.Wrap(err, fault.Permanent, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE", "manifest cannot be read")
}
