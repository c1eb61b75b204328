package s3

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// checksum names a checksum that a store can verify on receipt, keep and
// return, as Capabilities.StoreChecksum does. The library computes none of
// them for us; the value goes into a header of the request.
type checksum string

const (
	xxh3   checksum = "xxh3"   // the manifest's fingerprint itself (D7)
	md5sum checksum = "md5"    // the manifest's content_md5
	crc32c checksum = "crc32c" // proves the transfer; no manifest has it
	none   checksum = ""
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// of returns the checksum of body as the header carries it. What the caller has
// said about the body comes first, so that the store finds a difference.
func (c checksum) of(body []byte, m destination.Meta) (string, error) {
	switch c {
	case xxh3:
		f := m.Fingerprint
		if f == "" {
			f = contract.FingerprintOf(body)
		}
		sum, ok := f.Sum64()
		if !ok {
			return "", fmt.Errorf("%w: fingerprint %.40q", destination.ErrInvalid, f)
		}
		return base64.StdEncoding.EncodeToString(sum[:]), nil
	case md5sum:
		if m.MD5 != "" {
			return m.MD5, nil
		}
		return contract.MD5Base64(body), nil
	case crc32c:
		var sum [4]byte
		binary.BigEndian.PutUint32(sum[:], crc32.Checksum(body, castagnoli))
		return base64.StdEncoding.EncodeToString(sum[:]), nil
	}
	return "", nil
}

// put adds the checksum to a request. A Content-MD5 goes with it where the
// caller knows the MD5: every store verifies that one.
func (c checksum) put(in *awss3.PutObjectInput, value string, m destination.Meta) {
	switch c {
	case xxh3:
		in.ChecksumXXHASH3 = aws.String(value)
	case md5sum:
		in.ChecksumMD5 = aws.String(value)
		return
	case crc32c:
		in.ChecksumCRC32C = aws.String(value)
	}
	if m.MD5 != "" {
		in.ContentMD5 = aws.String(m.MD5)
	}
}

// in returns the checksum that the store has for an object, "" for none.
func (c checksum) in(out *awss3.HeadObjectOutput) string {
	switch c {
	case xxh3:
		return aws.ToString(out.ChecksumXXHASH3)
	case md5sum:
		return aws.ToString(out.ChecksumMD5)
	case crc32c:
		return aws.ToString(out.ChecksumCRC32C)
	}
	return ""
}

// describe puts a trusted checksum into o.
func (c checksum) describe(o *destination.Object, out *awss3.HeadObjectOutput) {
	value := c.in(out)
	switch c {
	case xxh3:
		o.Fingerprint = fingerprint(value)
	case md5sum:
		o.MD5 = value
	}
}

// fingerprint reads the value of an XXHASH3 header; "" if it is none.
func fingerprint(value string) contract.Fingerprint {
	sum, err := base64.StdEncoding.DecodeString(value)
	if err != nil || len(sum) != 8 {
		return ""
	}
	f, err := contract.ParseFingerprint(fmt.Sprintf("xxh3:%x", sum))
	if err != nil {
		return ""
	}
	return f
}
