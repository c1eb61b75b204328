package pieces

import (
	"bytes"
	"testing"
)

func TestJoinReturnsWhatWasWrittenAndStartsAnew(t *testing.T) {
	var b Buffer
	for range 2 {
		var want []byte
		for i, n := range []int{0, 1, pieceBytes - 1, 5, 3 * pieceBytes, 7, pieceBytes - 7} {
			p := bytes.Repeat([]byte{byte(i + 1)}, n)
			want = append(want, p...)
			if k, err := b.Write(p); k != n || err != nil {
				t.Fatalf("%d of %d bytes, %v", k, n, err)
			}
			clear(p)
		}
		if b.Size() != int64(len(want)) {
			t.Fatalf("size %d, want %d", b.Size(), len(want))
		}
		got := b.Join()
		if !bytes.Equal(got, want) || cap(got) != len(got) {
			t.Fatalf("%d bytes of capacity %d, want %d", len(got), cap(got), len(want))
		}
	}
}
