package tdsfake

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// Types of packets.
const (
	packetBatch       = 1
	packetAnswer      = 4
	packetAttention   = 6
	packetTransaction = 14
	packetLogin       = 16
	packetPrelogin    = 18
)

// What both sides say of encryption before the login.
const (
	encryptLoginOnly = 0
	encryptNever     = 2
	encryptRequired  = 3
)

// firstPacket is the size of packets until the login agrees on another.
const firstPacket = 4096

// conn is one client's connection.
type conn struct {
	raw      net.Conn
	rw       io.ReadWriter
	server   *Server
	packet   int
	database string
	user     string
	session  *Session
}

// read returns the next message, which may come in several packets.
func (c *conn) read() (kind byte, body []byte, err error) {
	for {
		var head [8]byte
		if _, err := io.ReadFull(c.rw, head[:]); err != nil {
			return 0, nil, err
		}
		n := int(binary.BigEndian.Uint16(head[2:])) - len(head)
		if n < 0 {
			return 0, nil, errors.New("short packet")
		}
		part := make([]byte, n)
		if _, err := io.ReadFull(c.rw, part); err != nil {
			return 0, nil, err
		}
		body = append(body, part...)
		if head[1]&1 != 0 {
			return head[0], body, nil
		}
	}
}

// serve has a conversation until its end.
func (c *conn) serve() error {
	if err := c.prelogin(); err != nil {
		return err
	}
	for {
		kind, body, err := c.read()
		if err != nil {
			return err
		}
		switch kind {
		case packetBatch:
			err = c.run(fromUTF16(withoutHeaders(body)))
		case packetTransaction:
			err = c.transaction(withoutHeaders(body))
		case packetAttention:
			a := &answer{c: c}
			a.done(doneAttention, 0, 0)
			err = a.end()
		default:
			err = fmt.Errorf("a packet of type %d", kind)
		}
		if err != nil {
			return err
		}
	}
}

// withoutHeaders leaves out what stands before a batch.
func withoutHeaders(b []byte) []byte {
	if len(b) >= 4 {
		if n := binary.LittleEndian.Uint32(b); uint64(n) <= uint64(len(b)) {
			return b[n:]
		}
	}
	return b
}

// prelogin agrees on encryption, and then has the login.
func (c *conn) prelogin() error {
	kind, body, err := c.read()
	if err != nil || kind != packetPrelogin {
		return fmt.Errorf("a packet of type %d for the first one: %w", kind, err)
	}
	asked := byte(encryptNever)
	for i := 0; i+5 <= len(body) && body[i] != 0xFF; i += 5 {
		if at := int(binary.BigEndian.Uint16(body[i+1:])); body[i] == 1 && at < len(body) {
			asked = body[at]
		}
	}
	offered := byte(encryptNever)
	if c.server.options.TLS != nil {
		if offered = asked; asked == encryptNever {
			offered = encryptRequired
		}
	}
	a := &answer{c: c}
	a.bytes(0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF) // where version and encryption are
	a.bytes(16, 0, 0x10, 0, 0, 0)
	a.bytes(offered)
	if err := a.end(); err != nil {
		return err
	}
	encrypted := c.server.options.TLS != nil && asked != encryptNever
	if encrypted {
		wrapped := &handshake{Conn: c.raw, c: c}
		secure := tls.Server(wrapped, c.server.options.TLS)
		if err := secure.Handshake(); err != nil {
			return err
		}
		wrapped.over, c.rw = true, secure
	}
	if kind, body, err = c.read(); err != nil || kind != packetLogin {
		return fmt.Errorf("a packet of type %d for the login: %w", kind, err)
	}
	if encrypted && asked == encryptLoginOnly {
		c.rw = c.raw
	}
	return c.login(body)
}

// login reads who comes and answers with the server's settings.
func (c *conn) login(b []byte) error {
	const fixed = 94
	if len(b) < fixed {
		return errors.New("short login")
	}
	field := func(at int) []byte {
		from := int(binary.LittleEndian.Uint16(b[at:]))
		to := from + 2*int(binary.LittleEndian.Uint16(b[at+2:]))
		if to > len(b) {
			return nil
		}
		return b[from:to]
	}
	if size := binary.LittleEndian.Uint32(b[8:]); size >= 512 && size <= 32767 {
		c.packet = int(size)
	}
	c.user, c.database = fromUTF16(field(40)), fromUTF16(field(68))
	password := append([]byte{}, field(44)...)
	for i, x := range password {
		x ^= 0xA5
		password[i] = x<<4 | x>>4
	}
	a := &answer{c: c}
	if want := c.server.options.Password; want != "" && fromUTF16(password) != want {
		a.failed(Error{Number: 18456, Class: 14, Message: fmt.Sprintf("Login failed for user '%s'.", c.user)})
		a.done(doneError, 0, 0)
		return errors.Join(a.end(), errors.New("login failed"))
	}
	a.changed(1, append(short(c.database), short("master")...))
	a.changed(7, append(append([]byte{5}, collation...), 0))
	a.changed(4, append(short(fmt.Sprint(c.packet)), short(fmt.Sprint(firstPacket))...))
	var ack answer
	ack.bytes(1, 0x74, 0, 0, 4)
	ack.bytes(short("Microsoft SQL Server")...)
	ack.bytes(16, 0, 0x10, 0)
	a.bytes(0xAD)
	a.sized(ack.buffer)
	a.done(0, 0, 0)
	return a.end()
}

// transaction does what the protocol's own request for one asks for.
func (c *conn) transaction(b []byte) error {
	const begin, commit, rollback = 5, 7, 8
	if len(b) < 2 {
		return errors.New("short request for a transaction")
	}
	a, before := &answer{c: c}, c.session.transaction
	switch request := binary.LittleEndian.Uint16(b); request {
	case begin:
		c.session.Begin()
	case commit, rollback:
		c.session.End()
	default:
		a.failed(Error{Number: 50000, Class: 16, Message: fmt.Sprintf("request %d for a transaction", request)})
	}
	a.transaction(before, c.session.transaction)
	a.done(0, 0, 0)
	return a.end()
}

// run answers a batch.
func (c *conn) run(batch string) error {
	before := c.session.transaction
	results, err := c.server.handler(Request{SQL: batch, Database: c.database, User: c.user, Session: c.session})
	a := &answer{c: c}
	a.transaction(before, c.session.transaction)
	for i, r := range results {
		if bad := a.result(r, err != nil || i < len(results)-1); bad != nil {
			err = bad
			break
		}
	}
	if errors.Is(err, ErrDrop) {
		a.flush()
		return err
	}
	if err != nil {
		var refused Error
		if !errors.As(err, &refused) {
			refused = Error{Number: 50000, Class: 16, Message: err.Error()}
		}
		a.failed(refused)
		a.done(doneError, 0, 0)
	} else if len(results) == 0 {
		a.done(0, 0, 0)
	}
	return a.end()
}

// handshake carries that of TLS inside packets, and steps aside when it is over.
type handshake struct {
	net.Conn
	c    *conn
	rest []byte
	over bool
}

func (h *handshake) Read(p []byte) (int, error) {
	if h.over {
		return h.Conn.Read(p)
	}
	for len(h.rest) == 0 {
		var err error
		if _, h.rest, err = h.c.read(); err != nil {
			return 0, err
		}
	}
	n := copy(p, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

func (h *handshake) Write(p []byte) (int, error) {
	if h.over {
		return h.Conn.Write(p)
	}
	head := [8]byte{packetPrelogin, 1}
	binary.BigEndian.PutUint16(head[2:], uint16(len(p)+len(head)))
	if _, err := h.Conn.Write(append(head[:], p...)); err != nil {
		return 0, err
	}
	return len(p), nil
}
