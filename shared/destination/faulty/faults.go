package faulty

import (
	"fmt"
	"strings"
	"sync"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// Crash lets After calls through and ends the process in the next one: that
// call and all later ones return ErrCrashed.
type Crash struct {
	After int
	// Landed is true when the call in which the process dies still reached the
	// store, so that a write of it stands.
	Landed bool
}

// Around implements [Fault].
func (f Crash) Around(c Call, perform func() error) error {
	if c.N <= f.After {
		return perform()
	}
	if c.N == f.After+1 && f.Landed {
		_ = perform() // nobody lives to see the answer
	}
	return fail(c, ErrCrashed)
}

// LoseAcknowledgement performs the write with number Write and loses the
// answer: the caller sees ErrUndecided.
type LoseAcknowledgement struct{ Write int }

// Around implements [Fault].
func (f LoseAcknowledgement) Around(c Call, perform func() error) error {
	err := perform()
	if c.Write == f.Write && c.Write > 0 {
		return fail(c, destination.ErrUndecided)
	}
	return err
}

// LoseRequest does not perform the write with number Write, and the caller sees
// the same ErrUndecided.
type LoseRequest struct{ Write int }

// Around implements [Fault].
func (f LoseRequest) Around(c Call, perform func() error) error {
	if c.Write == f.Write && c.Write > 0 {
		return fail(c, destination.ErrUndecided)
	}
	return perform()
}

// Delay holds back the write with number Write: the caller sees ErrUndecided,
// and the request reaches the store when the test calls Land. It is a zombie's
// late write. Use a pointer.
type Delay struct {
	Write int

	mu      sync.Mutex
	pending func() error
}

// Around implements [Fault].
func (f *Delay) Around(c Call, perform func() error) error {
	if c.Write != f.Write || c.Write == 0 {
		return perform()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = perform
	return fail(c, destination.ErrUndecided)
}

// Land lets the held request reach the store and returns the answer that nobody
// waits for any more. It panics if nothing is held: the test tests nothing.
func (f *Delay) Land() error {
	f.mu.Lock()
	perform := f.pending
	f.pending = nil
	f.mu.Unlock()
	if perform == nil {
		panic(fmt.Sprintf("faulty: write %d is not held back", f.Write))
	}
	return perform()
}

// Transient fails the call with number Call and the Times-1 calls after it,
// without performing them, and then lets everything through.
type Transient struct {
	Call  int
	Times int   // 0 is 1
	Err   error // nil is destination.ErrUnavailable
}

// Around implements [Fault].
func (f Transient) Around(c Call, perform func() error) error {
	if c.N < f.Call || c.N >= f.Call+max(f.Times, 1) {
		return perform()
	}
	if f.Err == nil {
		return fail(c, destination.ErrUnavailable)
	}
	return fail(c, f.Err)
}

// Interleave runs Do just before the call with number Call: what another
// process does in between. Do uses a store of its own, not the wrapped one.
type Interleave struct {
	Call int
	Do   func()
}

// Around implements [Fault].
func (f Interleave) Around(c Call, perform func() error) error {
	if c.N == f.Call {
		f.Do()
	}
	return perform()
}

// Recorder writes down the calls and how they ended, in the order in which they
// ended. Use a pointer. The zero value is ready.
type Recorder struct {
	mu      sync.Mutex
	records []Record
}

// Record is one call and its error.
type Record struct {
	Call
	Err error
}

// Around implements [Fault].
func (r *Recorder) Around(c Call, perform func() error) error {
	err := perform()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, Record{Call: c, Err: err})
	return err
}

// Records returns what happened so far.
func (r *Recorder) Records() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Record(nil), r.records...)
}

// Calls returns every call as text, such as "create manifest.json".
func (r *Recorder) Calls() []string { return r.calls(func(Record) bool { return true }) }

// Written returns the writes that succeeded, as text: the order that readers
// see.
func (r *Recorder) Written() []string {
	return r.calls(func(rec Record) bool { return rec.Write > 0 && rec.Err == nil })
}

func (r *Recorder) calls(want func(Record) bool) []string {
	var out []string
	for _, rec := range r.Records() {
		if want(rec) {
			out = append(out, rec.String())
		}
	}
	return out
}

// String is one line a call, for the message of a failed test.
func (r *Recorder) String() string {
	var b strings.Builder
	for _, rec := range r.Records() {
		fmt.Fprintf(&b, "%3d %s", rec.N, rec.Call)
		if rec.Err != nil {
			fmt.Fprintf(&b, ": %v", rec.Err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
