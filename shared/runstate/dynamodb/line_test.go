package dynamodb

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
)

// line is the line to the server. It counts requests and breaks those that it
// is told to.
type line struct {
	mu     sync.Mutex
	sent   []string // operations, such as "UpdateItem"
	stale  []string // reads that may have answered with an old state
	faults []trouble
	// between runs after a request arrived whose answer is lost.
	between func()
}

// trouble is what happens to one write.
type trouble int

const (
	answerLost   trouble = iota // it arrives, its answer does not
	answerBroken                // it arrives, and the server answers 500
	neverSent                   // it does not arrive, and nobody says so
	serverError                 // it does not arrive, and the server answers 500
	throttled                   // it does not arrive, and the server says so
	conflict                    // it meets another transaction
	fine
)

var errLine = errors.New("the line broke")

func (l *line) Do(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if err := l.look(operation, r); err != nil {
		return nil, err
	}
	switch l.next(operation) {
	case fine:
		return http.DefaultClient.Do(r)
	case neverSent:
		return nil, errLine
	case serverError:
		return reply(http.StatusInternalServerError, "InternalServerError"), nil
	case throttled:
		return reply(http.StatusBadRequest, "ProvisionedThroughputExceededException"), nil
	case conflict:
		return reply(http.StatusBadRequest, "TransactionConflictException"), nil
	case answerBroken:
		if err := arrive(r); err != nil {
			return nil, err
		}
		return reply(http.StatusInternalServerError, "InternalServerError"), nil
	}
	if err := arrive(r); err != nil {
		return nil, err
	}
	if l.between != nil {
		l.between()
	}
	return nil, errLine
}

// look notes a read that does not ask for the state as it is.
func (l *line) look(operation string, r *http.Request) error {
	if operation != "GetItem" && operation != "Query" {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !bytes.Contains(body, []byte(`"ConsistentRead":true`)) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stale = append(l.stale, operation)
	}
	return err
}

// next notes an operation and says what happens to it.
func (l *line) next(operation string) trouble {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, operation)
	if len(l.faults) == 0 || operation == "GetItem" || operation == "Query" {
		return fine
	}
	next := l.faults[0]
	l.faults = l.faults[1:]
	return next
}

func (l *line) breaks(faults ...trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent, l.faults = nil, faults
}

func arrive(r *http.Request) error {
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

func reply(status int, code string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewBufferString(`{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"on purpose"}`)),
	}
}

// impatient is a clock that never makes anybody wait.
type impatient struct{ clock.System }

func (i impatient) After(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- i.Now()
	return c
}

func openLine(t *testing.T) (*Table, *line) {
	l := &line{}
	return openVia(t, l, impatient{}), l
}
