// Package pieces collects the bytes of a part while it is written. Layer: L2
// (execution).
package pieces

// Buffer is an io.Writer whose growth never copies what is there.
type Buffer struct {
	pieces [][]byte
	size   int64
}

const pieceBytes = 1 << 20

// Size is how many bytes were written.
func (b *Buffer) Size() int64 { return b.size }

// Write takes all of p and never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	n := len(p)
	b.size += int64(n)
	for len(p) > 0 {
		last := len(b.pieces) - 1
		if last < 0 || len(b.pieces[last]) == cap(b.pieces[last]) {
			b.pieces = append(b.pieces, make([]byte, 0, pieceBytes))
			last++
		}
		piece := b.pieces[last]
		k := copy(piece[len(piece):cap(piece)], p)
		b.pieces[last], p = piece[:len(piece)+k], p[k:]
	}
	return n, nil
}

// Join returns everything as one body of exactly that capacity and empties the
// buffer. It lets go of each piece as soon as it is copied, so that under a
// memory limit two copies do not stand side by side for long.
func (b *Buffer) Join() []byte {
	body := make([]byte, 0, b.size)
	for i, piece := range b.pieces {
		body = append(body, piece...)
		b.pieces[i] = nil
	}
	*b = Buffer{}
	return body
}
