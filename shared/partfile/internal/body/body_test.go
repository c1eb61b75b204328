package body

import (
	"bytes"
	"testing"
)

func TestTakeReturnsWhatWasWrittenAndStartsAnew(t *testing.T) {
	var b Buffer
	for range 2 {
		var want []byte
		for i, n := range []int{0, 1, 4095, 5, 3 << 20, 7, 1 << 20} {
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
		if got := b.Take(); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
	}
}

// A part of the expected size is copied only while it is small, and one that
// is written in one piece not at all.
func TestAFullPartIsInMemoryOnce(t *testing.T) {
	b := Buffer{Expected: 64 << 20}
	piece := make([]byte, 1<<20)
	moved := 0
	for b.Size() < b.Expected+1<<20 {
		before := cap(b.buf)
		b.Write(piece)
		if cap(b.buf) != before && before > 0 {
			moved += before
		}
	}
	if moved > 2*cheap {
		t.Errorf("%d bytes were copied while %d were written", moved, b.Size())
	}
	if n := len(b.Take()); n != 65<<20 {
		t.Errorf("%d bytes", n)
	}
	b.Reserve(5 << 20)
	b.Write(piece)
	if got := b.Take(); cap(got) != 5<<20 {
		t.Errorf("capacity %d after 5 MiB were reserved", cap(got))
	}
}
