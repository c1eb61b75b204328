package e2e

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
)

// proxy stands between a process and a server of S3 or DynamoDB, and decides
// what becomes of each request.
type proxy struct {
	url, server string
	late        sync.WaitGroup

	mu   sync.Mutex
	fate func(request) fate
	seen map[string]int // how often, by what they are
}

// request is what a process asks a server for.
type request struct {
	// what is "PUT part", "PUT cursor.json", "UpdateItem", "GetItem" and so on.
	what string
	body string
	// conditional is true for a write with a precondition.
	conditional bool
	// identity is the same for a request that is repeated, shape for any that does
	// the same to another item or object.
	identity, shape string
}

// fate is what becomes of one request. send carries it out at the server. A fate
// that returns nothing breaks the connection.
type fate func(send func() *answer) *answer

// answer is what the process gets to see.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// newProxy stands before the server at an address.
func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	p := &proxy{server: server, seen: make(map[string]int)}
	s := httptest.NewServer(p)
	p.url = s.URL
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		p.late.Wait()
	})
	return p
}

// decide sets what becomes of every request from now on; nil lets them through.
func (p *proxy) decide(by func(request) fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fate = by
}

// ServeHTTP implements [http.Handler].
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the process has died
	}
	req := describe(r, body)
	p.mu.Lock()
	p.seen[req.what]++
	var f fate
	if p.fate != nil {
		f = p.fate(req)
	}
	p.mu.Unlock()
	send := func() *answer { return p.send(r, body) }
	if f == nil {
		f = passes
	}
	a := f(send)
	if a == nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// send carries a request out, whether or not its process still waits. The host
// that it was signed for stays.
func (p *proxy) send(r *http.Request, body []byte) *answer {
	out, err := http.NewRequest(r.Method, p.server+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil
	}
	out.Host, out.Header, out.ContentLength = r.Host, r.Header.Clone(), int64(len(body))
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil
	}
	return &answer{status: resp.StatusCode, header: resp.Header, body: got}
}

func describe(r *http.Request, body []byte) request {
	req := request{body: string(body)}
	if _, operation, found := strings.Cut(r.Header.Get("X-Amz-Target"), "."); found {
		req.what = operation
		req.conditional = operation == "PutItem" || operation == "UpdateItem" || operation == "TransactWriteItems"
		req.identity = operation + " " + canonical(body)
		req.shape = operation + " " + strings.Join(expression.FindAllString(req.body, -1), " ")
		return req
	}
	req.what = r.Method + " " + objectKind(path.Base(r.URL.Path))
	req.conditional = r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Match") != ""
	req.identity, req.shape = r.URL.Path+" "+req.body, req.what
	if req.what == "PUT probe" { // whose bodies all differ: it would never come to its end
		req.identity = r.URL.Path
	}
	return req
}

var expression = regexp.MustCompile(`"(Update|Condition)Expression":"[^"]*"`)

// canonical is a JSON document with its members in order: a client that repeats
// a request may shuffle them.
func canonical(document []byte) string {
	var v any
	if json.Unmarshal(document, &v) != nil {
		return string(document)
	}
	sorted, err := json.Marshal(v)
	if err != nil {
		return string(document)
	}
	return string(sorted)
}

// objectKind is an object's name without what differs between runs.
func objectKind(name string) string {
	switch {
	case strings.HasPrefix(name, "part-"):
		return "part"
	case strings.HasPrefix(name, "record-"):
		return "record"
	case strings.HasPrefix(name, "verdict-"):
		return "verdict"
	case contract.IsSidecarName(name):
		return "sidecar"
	case contract.TracedGeneration(name) > 0:
		return "trace"
	}
	return name
}

// passes is the fate of most requests.
func passes(send func() *answer) *answer { return send() }

// losesAnswer: the server has done it, and the process is not told.
func losesAnswer(send func() *answer) *answer {
	send()
	return nil
}

// losesRequest: the server never hears of it.
func losesRequest(func() *answer) *answer { return nil }

// repeats: something on the way sends it twice, and the process sees the second
// answer.
func repeats(send func() *answer) *answer {
	send()
	return send()
}

// fails answers in the server's place, which has or has not done it.
func fails(status int, body string, landed bool) fate {
	return func(send func() *answer) *answer {
		if landed {
			send()
		}
		sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10)
		return &answer{status: status, body: []byte(body), header: http.Header{"X-Amz-Crc32": {sum}}}
	}
}

// storeFails is fails with an answer of S3, tableFails one of DynamoDB.
func storeFails(status int, code string, landed bool) fate {
	return fails(status, "<Error><Code>"+code+"</Code><Message>told by a test</Message></Error>", landed)
}

func tableFails(status int, code string, landed bool) fate {
	return fails(status, `{"__type":"com.amazonaws.dynamodb.v20120810#`+code+`","message":"told by a test"}`, landed)
}

// arrivesLate: the connection breaks, and the request comes to the server after
// the process has given it up.
func (p *proxy) arrivesLate(after time.Duration) fate {
	return func(send func() *answer) *answer {
		p.late.Go(func() {
			<-time.After(after)
			send()
		})
		return nil
	}
}

// onceEach gives every conditional write a fate when it comes for the first
// time, as same tells, and lets its repetitions through. count says how many
// there were of each kind.
func (p *proxy) onceEach(f fate, same func(request) string) (count func() map[string]int) {
	met, kinds := make(map[string]bool), make(map[string]int)
	p.decide(func(r request) fate {
		if !r.conditional || met[same(r)] {
			return nil
		}
		met[same(r)] = true
		kinds[r.what]++
		return f
	})
	return func() map[string]int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return kinds
	}
}

func identity(r request) string { return r.identity }

func shape(r request) string { return r.shape }

// held is a request that is kept from the server.
type held struct{ arrived, released chan struct{} }

// hold keeps the first request that matches from the server until it is
// released.
func (p *proxy) hold(match func(request) bool) *held {
	h := &held{arrived: make(chan struct{}), released: make(chan struct{})}
	done := false
	p.decide(func(r request) fate {
		if done || !match(r) {
			return nil
		}
		done = true
		return func(send func() *answer) *answer {
			close(h.arrived)
			<-h.released
			return send()
		}
	})
	return h
}

// kill ends a process by SIGKILL in the first request that matches, which has or
// has not come to the server. It has to be told the process.
func (p *proxy) kill(match func(request) bool, landed bool) (victim chan *process) {
	victim = make(chan *process, 1)
	done := false
	p.decide(func(r request) fate {
		if done || !match(r) {
			return nil
		}
		done = true
		return func(send func() *answer) *answer {
			if landed {
				send()
			}
			dying := <-victim
			_ = dying.cmd.Process.Kill()
			<-dying.done
			return nil
		}
	})
	return victim
}

// release lets the request go to the server.
func (h *held) release() { close(h.released) }

// nth matches the n-th request of a kind, which contains a text, counting from 1.
func nth(n int, what, text string) func(request) bool {
	return func(r request) bool {
		if r.what == what && strings.Contains(r.body, text) {
			n--
			return n == 0
		}
		return false
	}
}
