package codec

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

// Hashes as text have no matches, and four bits in a byte.
func TestZstdMakesHashesHalfAsLong(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 128<<10)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	hashes := hex.AppendEncode(nil, noise)
	text, light, err := Pair("zstd", 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Codec{"thorough": text, "light": light} {
		packed, err := c.Append(nil, hashes)
		if err != nil {
			t.Fatal(err)
		}
		if most := len(hashes) * 55 / 100; len(packed) > most {
			t.Errorf("%s: %d bytes of %d, at most %d are wanted", name, len(packed), len(hashes), most)
		}
	}
}
