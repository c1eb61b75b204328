package partfile

import (
	"crypto/md5"
	"encoding/base64"
	"hash/crc32"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/zeebo/xxh3"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal returns body as a finished part with its three checksums, computed in
// one pass. The part owns body from then on.
func Seal(body []byte, rows int64) Part {
	const block = 64 << 10 // stays in the cache for all three
	fingerprint, sum := xxh3.New(), md5.New()
	crc := uint32(0)
	for rest := body; len(rest) > 0; {
		b := rest[:min(block, len(rest))]
		rest = rest[len(b):]
		fingerprint.Write(b)
		sum.Write(b)
		crc = crc32.Update(crc, castagnoli, b)
	}
	return Part{
		Body:        body,
		Rows:        rows,
		Fingerprint: contract.FingerprintOf64(fingerprint.Sum64()),
		MD5:         base64.StdEncoding.EncodeToString(sum.Sum(nil)),
		CRC32C:      crc,
	}
}
