package contract

import (
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// MaxSuccessBytes bounds what a reader loads of a success marker.
const MaxSuccessBytes = 4096

// SuccessBody returns the body of _SUCCESS for these bytes of manifest.json:
// their fingerprint and a newline, 22 bytes (M2).
func SuccessBody(manifest []byte) []byte { return []byte(FingerprintOf(manifest) + "\n") }

// ParseSuccess reads the body of a success marker: a fingerprint and
// whitespace, nothing else. Whatever an operator or another program left
// there instead is refused, and says nothing about any manifest.
func ParseSuccess(body []byte) (Fingerprint, error) {
	if len(body) > MaxSuccessBytes {
		return "", malformedSuccess(body)
	}
	f, err := ParseFingerprint(strings.TrimRight(string(body), " \t\n\f\r"))
	if err != nil {
		return "", malformedSuccess(body)
	}
	return f, nil
}

func malformedSuccess(body []byte) error {
	return fault.New(fault.Integrity, "LAPSTRAKE_DEST_SUCCESS_MALFORMED",
		"%s holds %q, not a fingerprint: whether the manifest beside it is complete is unknown", SuccessName, bodyPreview(body))
}

// bodyPreview returns the start of a body of unknown origin as valid text.
func bodyPreview(body []byte) string {
	const most = 64
	if len(body) > most {
		return strings.ToValidUTF8(string(body[:most]), "\uFFFD") + "…"
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}
