// Package packet reads rows in the binary protocol of MySQL and MariaDB from a
// connection that a client library has signed in on. Layer: L2 (execution).
//
// A library boxes every value that it hands out, which costs more than all the
// rest of a read. So a [Link] stands between the library and the network: the
// library does the sign-in and the small statements over it, and between two of
// its statements a [Statement] uses the same connection for the rows. A value is
// a view of the bytes as they came: nothing is allocated for a row.
//
// Bytes that are not what a server sends end a read with a [BrokenError]; what a
// server refuses is a [ServerError]. Neither can take memory that was not asked
// for: a length is compared with what is there before it is believed.
package packet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

const (
	headerSize = 4
	// fullPiece is the size of a piece of a packet that another one follows.
	fullPiece = 1<<24 - 1
	// bufferSize is what is read from the network at a time at most.
	bufferSize = 64 << 10
)

// The first byte of an answer.
const (
	answerOK    = 0x00
	answerFile  = 0xfb // the server asks for a file
	answerEnd   = 0xfe
	answerError = 0xff
)

// BrokenError says that the bytes are not what a server sends.
type BrokenError string

func (e BrokenError) Error() string { return string(e) }

func brokenf(format string, args ...any) error { return BrokenError(fmt.Sprintf(format, args...)) }

// ServerError is what the server answered instead of a result.
type ServerError struct {
	Number  uint16
	Message string
}

func (e *ServerError) Error() string { return fmt.Sprintf("error %d: %s", e.Number, e.Message) }

// serverError reads a packet that begins with answerError.
func serverError(p []byte) error {
	if len(p) < 3 {
		return brokenf("an error of the server has %d bytes", len(p))
	}
	e := &ServerError{Number: binary.LittleEndian.Uint16(p[1:])}
	p = p[3:]
	if len(p) >= 6 && p[0] == '#' { // the SQL state
		p = p[6:]
	}
	e.Message = string(p)
	return e
}

// TooLongError is a packet above the limit of a [Statement].
type TooLongError struct{ Limit int64 }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a row has more than %d bytes", e.Limit)
}

// reader takes packets from a stream.
type reader struct {
	from       io.Reader
	buf        []byte
	start, end int    // what of buf was read and not taken
	long       []byte // a packet that buf is too small for
	next       uint8  // the number that the next piece has
	limit      int64  // of a packet; 0 is none
}

// packet returns the next packet, which is valid until the following call. The
// number of an error is not looked at: a server that ends a connection from
// outside does not count on.
func (r *reader) packet() ([]byte, error) {
	size, due, err := r.header()
	if err != nil {
		return nil, err
	}
	if size > len(r.buf) {
		return r.pieces(size, due)
	}
	if r.end-r.start < size {
		if err := r.fill(size); err != nil {
			return nil, err
		}
	}
	p := r.buf[r.start : r.start+size]
	r.start += size
	if !due && (size == 0 || p[0] != answerError) {
		return nil, brokenf("a packet came out of turn")
	}
	return p, nil
}

// header takes the header of a piece. due is false if its number is not the one
// that is due.
func (r *reader) header() (size int, due bool, err error) {
	if r.end-r.start < headerSize {
		if err := r.fill(headerSize); err != nil {
			return 0, false, err
		}
	}
	h := r.buf[r.start : r.start+headerSize]
	r.start += headerSize
	due = h[3] == r.next
	r.next = h[3] + 1
	return int(h[0]) | int(h[1])<<8 | int(h[2])<<16, due, nil
}

// fill reads until buf has need bytes, which it has room for.
func (r *reader) fill(need int) error {
	if r.start+need > len(r.buf) || r.start == r.end {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	n, err := io.ReadAtLeast(r.from, r.buf[r.end:], need-(r.end-r.start))
	r.end += n
	return ended(err)
}

// pieces reads a packet that is longer than buf: of size bytes, or of several
// pieces of which that is the first.
func (r *reader) pieces(size int, due bool) ([]byte, error) {
	r.long = r.long[:0]
	for {
		switch {
		case !due:
			return nil, brokenf("a piece of a long packet came out of turn")
		case r.limit > 0 && int64(len(r.long)+size) > r.limit:
			return nil, &TooLongError{Limit: r.limit}
		}
		if err := r.piece(size); err != nil {
			return nil, err
		}
		if size < fullPiece {
			return r.long, nil
		}
		var err error
		if size, due, err = r.header(); err != nil {
			return nil, err
		}
	}
}

// piece appends size bytes to the long packet, in steps, so that memory is taken
// for bytes that are on their way and not for those that are announced only.
func (r *reader) piece(size int) error {
	const step = 1 << 20
	buffered := min(size, r.end-r.start)
	r.long = append(r.long, r.buf[r.start:r.start+buffered]...)
	r.start += buffered
	for size -= buffered; size > 0; {
		n, at := min(size, step), len(r.long)
		if cap(r.long) < at+n {
			r.long = append(make([]byte, 0, max(2*cap(r.long), at+n)), r.long...)
		}
		r.long = r.long[:at+n]
		if _, err := io.ReadFull(r.from, r.long[at:]); err != nil {
			return ended(err)
		}
		size -= n
	}
	return nil
}

// ended makes the end of a connection, wherever it comes, one that was not
// expected: an answer has an end of its own.
func ended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// lengthOf reads a length-encoded integer at the start of p and returns how many
// bytes it takes, 0 if it is none.
func lengthOf(p []byte) (value uint64, size int) {
	if len(p) == 0 {
		return 0, 0
	}
	switch first := p[0]; {
	case first < 0xfb:
		return uint64(first), 1
	case first == 0xfc && len(p) >= 3:
		return uint64(binary.LittleEndian.Uint16(p[1:])), 3
	case first == 0xfd && len(p) >= 4:
		return uint64(p[1]) | uint64(p[2])<<8 | uint64(p[3])<<16, 4
	case first == 0xfe && len(p) >= 9:
		return binary.LittleEndian.Uint64(p[1:]), 9
	}
	return 0, 0
}

// stringAt finds the length-encoded string at p[at:]; ok is false if it does not
// lie in p as a whole.
func stringAt(p []byte, at int) (start, end int, ok bool) {
	length, size := lengthOf(p[at:])
	start = at + size
	if size == 0 || length > math.MaxInt32 || int(length) > len(p)-start {
		return 0, 0, false
	}
	return start, start + int(length), true
}
