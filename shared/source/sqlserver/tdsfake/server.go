// Package tdsfake speaks the server's side of TDS 7.4, the protocol of SQL Server:
// a client can log in, with or without TLS, run batches, be in transactions and
// cancel. What it answers comes from a Handler. It is a stand-in: no test that
// uses it has met SQL Server. Layer: L2 (execution), for tests.
package tdsfake

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
)

// Request is one batch.
type Request struct {
	SQL      string
	Database string
	User     string
	Session  *Session
}

// Session is one client's, with what a handler keeps of it.
type Session struct {
	State any

	transaction uint64 // the descriptor of the open one, 0 for none
	last        uint64
}

// Begin opens a transaction.
func (s *Session) Begin() {
	s.last++
	s.transaction = s.last
}

// End ends the transaction, if there is one.
func (s *Session) End() { s.transaction = 0 }

// Open reports whether a transaction is open.
func (s *Session) Open() bool { return s.transaction != 0 }

// Column is one result column.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
}

// Result is one result set.
type Result struct {
	Columns []Column
	Rows    [][]any
}

// Error becomes an error of the server.
type Error struct {
	Number  int32
	Class   byte
	Message string
}

func (e Error) Error() string { return e.Message }

// ErrDrop closes the connection, after what was answered so far.
var ErrDrop = errors.New("drop")

// Handler answers a request. With an error, the results come before it.
type Handler func(Request) ([]Result, error)

// Options say how a server takes its clients.
type Options struct {
	TLS      *tls.Config // nil for a server that does not encrypt
	Password string      // "" accepts any
}

// Server accepts connections until Close.
type Server struct {
	listener net.Listener
	handler  Handler
	options  Options

	waiting sync.WaitGroup
	mutex   sync.Mutex
	conns   map[net.Conn]bool
}

// Listen starts a server on a free port of this machine.
func Listen(h Handler, o Options) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, handler: h, options: o, conns: map[net.Conn]bool{}}
	s.waiting.Add(1)
	go s.accept()
	return s, nil
}

// Address is the host:port to dial.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close stops the server and its connections.
func (s *Server) Close() {
	_ = s.listener.Close()
	s.Disconnect()
	s.waiting.Wait()
}

// Disconnect closes the connections of all clients.
func (s *Server) Disconnect() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

func (s *Server) accept() {
	defer s.waiting.Done()
	for {
		raw, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mutex.Lock()
		s.conns[raw] = true
		s.mutex.Unlock()
		s.waiting.Add(1)
		go func() {
			defer s.waiting.Done()
			c := &conn{raw: raw, rw: raw, server: s, packet: firstPacket, session: &Session{}}
			_ = c.serve() // the client sees the connection end
			_ = raw.Close()
			s.mutex.Lock()
			delete(s.conns, raw)
			s.mutex.Unlock()
		}()
	}
}
