// Package body holds the bytes of a part while it is written. Layer: L2
// (execution).
package body

// Buffer is an io.Writer into one slice, which becomes the part as it is. The
// zero value is empty.
//
// It grows by doubling while a copy is cheap, and then at once to what a part
// is expected to have: a part is in memory once. What the system gives for it
// is not resident before it is written to.
type Buffer struct {
	// Expected is how many bytes a full part has, or 0.
	Expected int64

	buf []byte
}

// New returns an empty buffer for a part that is expected to have so many bytes.
// It writes over memory, the body of an earlier part, before it takes any more.
func New(expected int64, memory []byte) Buffer {
	return Buffer{Expected: expected, buf: memory[:0]}
}

const cheap = 16 << 20

// Size is how many bytes were written.
func (b *Buffer) Size() int64 { return int64(len(b.buf)) }

// Write takes all of p and never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.Reserve(len(p))
	b.buf = append(b.buf, p...)
	return len(p), nil
}

// Reserve makes room for n more bytes.
func (b *Buffer) Reserve(n int) {
	need := len(b.buf) + n
	if need <= cap(b.buf) {
		return
	}
	size, full := need, b.full()
	switch {
	case len(b.buf) == 0: // what there is is too small: not worth a copy
	case need <= cheap:
		size = max(need, 2*len(b.buf))
	case need <= full:
		size = full
	default:
		size = need + need/4
	}
	b.grow(size)
}

// ReserveAll makes room for what a part is expected to have.
func (b *Buffer) ReserveAll() {
	if n := b.full(); n > cap(b.buf) {
		b.grow(n)
	}
}

// full is more than expected: a part ends a little after it is full.
func (b *Buffer) full() int { return int(b.Expected + b.Expected/8) }

func (b *Buffer) grow(size int) {
	grown := make([]byte, len(b.buf), size)
	copy(grown, b.buf)
	b.buf = grown
}

// Take returns everything as one slice and empties the buffer.
func (b *Buffer) Take() []byte {
	taken := b.buf
	b.buf = nil
	return taken
}
