package sourcetest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy stands between a source and its server and hurts the bytes that the
// server sends.
type proxy struct {
	listener net.Listener
	server   string

	mu      sync.Mutex
	changed *sync.Cond
	limit   int64  // how many bytes may pass, -1 for all
	stalls  bool   // at the limit, hold the bytes back instead of breaking the connection
	onStall func() // called once when bytes are held back
	count   int64  // bytes that passed
	conns   []net.Conn
	closed  bool
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: server, limit: -1}
	p.changed = sync.NewCond(&p.mu)
	var running sync.WaitGroup
	running.Go(func() { p.accept(&running) })
	t.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.changed.Broadcast()
		p.mu.Unlock()
		_ = listener.Close()
		running.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept(running *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		running.Go(func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		})
		running.Go(func() {
			p.forward(client, server)
			_ = client.Close()
			_ = server.Close()
		})
	}
}

// forward passes on what the server sends until the limit is reached.
func (p *proxy) forward(client, server net.Conn) {
	buf := make([]byte, 4096)
	for {
		n, err := server.Read(buf)
		if n > 0 {
			pass, more := p.admit(int64(n))
			if _, err := client.Write(buf[:pass]); err != nil || !more {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// admit counts n bytes and returns how many of them may pass and whether any
// may follow.
func (p *proxy) admit(n int64) (pass int64, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.stalls && p.limit >= 0 && p.count+n > p.limit && !p.closed {
		if p.onStall != nil {
			go p.onStall()
			p.onStall = nil
		}
		p.changed.Wait()
	}
	more = true
	if p.limit >= 0 && p.count+n > p.limit {
		n, more = p.limit-p.count, false
	}
	p.count += n
	return n, more
}

// breakAfter breaks the connection once n more bytes have passed.
func (p *proxy) breakAfter(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.count, p.stalls = n, 0, false
	p.changed.Broadcast()
}

// stallAfter holds back what comes after about n more bytes, and calls then
// once when something does.
func (p *proxy) stallAfter(n int64, then func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.count, p.stalls, p.onStall = n, 0, true, then
}

func (p *proxy) passed() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}
