package packet

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// ErrNoTLS reports a server that does not encrypt: nothing was sent to it.
var ErrNoTLS = errors.New("the server does not speak TLS")

// capabilities are what client and server agreed on in the sign-in.
type capabilities struct {
	deprecateEOF  bool // an answer ends with an OK packet, and no packet follows the columns
	cacheMetadata bool // of MariaDB: columns that have not changed are not sent again
}

const (
	capabilityMySQL        = 1 << 0 // not set by a client that knows MariaDB's own ones
	capabilitySSL          = 1 << 11
	capabilityDeprecateEOF = 1 << 24
	extendedCacheMetadata  = 1 << 4

	sslRequestSize = 32      // the beginning of a handshake response
	longestSignIn  = 1 << 20 // bytes of one packet of the sign-in
)

// Link is the connection of a client library, handed to it instead of the
// network. It encrypts on the library's behalf: the library is set to speak no
// TLS, its response to the server's greeting is held back until the connection
// is private, and its packets are renumbered by the one that this takes, until
// the first command begins a new count.
//
// Close and the deadlines may be called at any time; all else by one goroutine
// at a time. After a failure of the sign-in, [Link.Failure] is its cause.
type Link struct {
	net.Conn               // the network
	private  *tls.Config   // nil for plain text
	over     io.ReadWriter // the network, or TLS over it
	agreed   capabilities  // once responded is true
	shift    uint8         // by which the server's numbers are ahead of the library's
	inbox    []byte        // of a packet of the sign-in, what the library has not read
	stage    stage         // of the sign-in
	failure  error         // that ended the sign-in
	rows     reader        // of statements
}

type stage uint8

const (
	greeting stage = iota // the server's first packet has not come
	greeted
	responded // the library has answered it
	signedIn  // the library has sent a command
)

// NewLink returns the link over a connection on which nothing was said yet.
// private is how it is encrypted, nil for not at all.
func NewLink(network net.Conn, private *tls.Config) *Link {
	l := &Link{Conn: network, private: private, over: network}
	l.rows.from = readerOf(l)
	return l
}

// readerOf reads what the link is over at the time.
func readerOf(l *Link) io.Reader {
	return readFunc(func(p []byte) (int, error) { return l.over.Read(p) })
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// Failure is what ended the sign-in, nil if nothing did.
func (l *Link) Failure() error { return l.failure }

// Read implements [net.Conn].
func (l *Link) Read(p []byte) (int, error) {
	if l.stage == signedIn {
		return l.over.Read(p)
	}
	if len(l.inbox) == 0 {
		if err := l.receive(); err != nil {
			l.failure = err
			return 0, err
		}
	}
	n := copy(p, l.inbox)
	l.inbox = l.inbox[n:]
	return n, nil
}

// receive takes one packet of the sign-in.
func (l *Link) receive() error {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(l.over, header); err != nil {
		return ended(err)
	}
	size := int(header[0]) | int(header[1])<<8 | int(header[2])<<16
	if size > longestSignIn {
		return brokenf("a packet of the sign-in has %d bytes", size)
	}
	p := append(header, make([]byte, size)...)
	if _, err := io.ReadFull(l.over, p[headerSize:]); err != nil {
		return ended(err)
	}
	if l.stage == greeting {
		if l.private != nil && !encrypts(p[headerSize:]) {
			return ErrNoTLS
		}
		l.stage = greeted
	}
	p[3] -= l.shift
	l.inbox = p
	return nil
}

// encrypts reports whether a greeting offers TLS. An error in its place says all
// that there is to say.
func encrypts(p []byte) bool {
	if len(p) > 0 && p[0] == answerError {
		return true
	}
	for i := 1; i < len(p); i++ {
		if p[i] == 0 { // the end of the server's version
			const before = 4 + 8 + 1 // the connection's id, the start of its random bytes, a filler
			p = p[i+1:]
			return len(p) >= before+2 && binary.LittleEndian.Uint16(p[before:])&capabilitySSL != 0
		}
	}
	return false
}

// Write implements [net.Conn]. The library writes a packet at a time.
func (l *Link) Write(p []byte) (int, error) {
	switch {
	case l.stage == signedIn:
	case len(p) < headerSize:
		return 0, l.fail(brokenf("the client library writes %d bytes", len(p)))
	case p[3] == 0: // the first command
		l.stage = signedIn
	case l.stage == greeted:
		return l.respond(p)
	case l.shift != 0:
		p = append([]byte(nil), p...)
		p[3] += l.shift
	}
	return l.over.Write(p)
}

func (l *Link) fail(err error) error {
	l.failure = err
	return err
}

// respond sends the library's response to the greeting. To ask for TLS is to
// send its beginning first.
func (l *Link) respond(p []byte) (int, error) {
	if len(p) < headerSize+sslRequestSize {
		return 0, l.fail(brokenf("the client library's response has %d bytes", len(p)))
	}
	flags := binary.LittleEndian.Uint32(p[headerSize:])
	l.agreed.deprecateEOF = flags&capabilityDeprecateEOF != 0
	if flags&capabilityMySQL == 0 {
		l.agreed.cacheMetadata = binary.LittleEndian.Uint32(p[headerSize+sslRequestSize-4:])&extendedCacheMetadata != 0
	}
	l.stage = responded
	if l.private == nil {
		return l.over.Write(p)
	}
	p = append([]byte(nil), p...)
	binary.LittleEndian.PutUint32(p[headerSize:], flags|capabilitySSL)
	request := append([]byte{sslRequestSize, 0, 0, p[3]}, p[headerSize:headerSize+sslRequestSize]...)
	if _, err := l.Conn.Write(request); err != nil {
		return 0, l.fail(err)
	}
	encrypted := tls.Client(l.Conn, l.private)
	if err := encrypted.Handshake(); err != nil {
		return 0, l.fail(err)
	}
	l.over, l.shift = encrypted, 1
	p[3] += l.shift
	n, err := l.over.Write(p)
	if err != nil {
		return 0, l.fail(err)
	}
	return n, nil
}
