package contract

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/zeebo/xxh3"
)

// Fingerprint is "xxh3:" and the 16 lower-case hex digits of an xxh3_64 with
// seed 0, most significant digit first (M3). The empty string means unknown.
type Fingerprint string

const fingerprintPrefix = "xxh3:"

// FingerprintOf returns the fingerprint of exactly these bytes.
func FingerprintOf(body []byte) Fingerprint { return FingerprintOf64(xxh3.Hash(body)) }

// FingerprintOf64 returns the fingerprint with this sum, for bytes that were
// hashed piece by piece.
func FingerprintOf64(sum uint64) Fingerprint {
	return Fingerprint(fmt.Sprintf("%s%016x", fingerprintPrefix, sum))
}

// ParseFingerprint accepts the exact form only.
func ParseFingerprint(s string) (Fingerprint, error) {
	if len(s) != len(fingerprintPrefix)+16 || s[:len(fingerprintPrefix)] != fingerprintPrefix {
		return "", fmt.Errorf("%q is not xxh3: and 16 hex digits", preview(s))
	}
	for _, c := range []byte(s[len(fingerprintPrefix):]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", fmt.Errorf("%q is not xxh3: and 16 lower-case hex digits", preview(s))
		}
	}
	return Fingerprint(s), nil
}

// Hex returns the 16 digits, for use in an object name.
func (f Fingerprint) Hex() string {
	if len(f) < len(fingerprintPrefix) {
		return ""
	}
	return string(f[len(fingerprintPrefix):])
}

// Sum64 returns the eight bytes of the hash, most significant first, as the
// store's XXHASH3 checksum header carries them. ok is false for an unknown
// fingerprint.
func (f Fingerprint) Sum64() (sum [8]byte, ok bool) {
	b, err := hex.DecodeString(f.Hex())
	if err != nil || len(b) != 8 {
		return sum, false
	}
	return [8]byte(b), true
}

// MD5Base64 returns the MD5 of body in padded standard base64, the form of the
// manifest's content_md5 and of a Content-MD5 header.
func MD5Base64(body []byte) string {
	sum := md5.Sum(body)
	return base64.StdEncoding.EncodeToString(sum[:])
}

func preview(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
