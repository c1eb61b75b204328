// Package faulty makes a store fail on purpose, for the tests of protocols.
// Layer: L2 (execution), used by tests only.
//
// A protocol is tested by failing at every call in turn, until a run gets
// through without the fault:
//
//	for n := 0; ; n++ {
//		inner := memory.New("memory://b", memory.LikeS3)
//		err := publish(ctx, faulty.Wrap(inner, faulty.Crash{After: n, Landed: true}))
//		// look at inner: what holds after a crash there?
//		if err == nil {
//			break
//		}
//	}
//
// Faults combine: Wrap(store, &recorder, Crash{…}) records the calls that
// reach the crash, the crashed one included.
package faulty

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// Call is one call of a store.
type Call struct {
	N     int    // its number, from 1, among all calls of this wrapper
	Write int    // its number, from 1, among the writes; 0 for a call that only reads
	Op    string // "create", "replace", "get", "head", "list" or "move"
	Key   string // the key, or the prefix of a list
	To    string // the new key of a move
}

func (c Call) String() string {
	if c.To != "" {
		return c.Op + " " + c.Key + " to " + c.To
	}
	return c.Op + " " + c.Key
}

// Fault does something around a call. It runs perform, or not, and returns what
// the caller is to see: perform's own error, nil only if perform returned nil,
// or an error of its own. It is called by many goroutines at once if the store
// is.
type Fault interface {
	Around(c Call, perform func() error) error
}

// FaultFunc is a function as a Fault.
type FaultFunc func(c Call, perform func() error) error

// Around calls f.
func (f FaultFunc) Around(c Call, perform func() error) error { return f(c, perform) }

// Store is a store with faults. Make one with Wrap.
type Store struct {
	inner  destination.Store
	faults []Fault

	mu     sync.Mutex
	calls  int
	writes int
}

// Wrap returns store with the faults around each of its calls, the first one
// outermost. Calls are counted anew, so a process that starts again is a new
// Wrap of the same store.
func Wrap(store destination.Store, faults ...Fault) *Store {
	return &Store{inner: store, faults: faults}
}

// Calls returns how many calls there have been.
func (s *Store) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Create implements [destination.Store].
func (s *Store) Create(ctx context.Context, key string, body []byte, m destination.Meta) (v destination.Version, err error) {
	err = s.around(Call{Op: "create", Key: key}, func() (err error) {
		v, err = s.inner.Create(ctx, key, body, m)
		return err
	})
	if err != nil {
		v = ""
	}
	return v, err
}

// Replace implements [destination.Store].
func (s *Store) Replace(ctx context.Context, key string, prev destination.Version, body []byte, m destination.Meta) (v destination.Version, err error) {
	err = s.around(Call{Op: "replace", Key: key}, func() (err error) {
		v, err = s.inner.Replace(ctx, key, prev, body, m)
		return err
	})
	if err != nil {
		v = ""
	}
	return v, err
}

// Get implements [destination.Store].
func (s *Store) Get(ctx context.Context, key string, limit int64) (body []byte, v destination.Version, err error) {
	err = s.around(Call{Op: "get", Key: key}, func() (err error) {
		body, v, err = s.inner.Get(ctx, key, limit)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return body, v, nil
}

// Head implements [destination.Store].
func (s *Store) Head(ctx context.Context, key string) (o destination.Object, err error) {
	err = s.around(Call{Op: "head", Key: key}, func() (err error) {
		o, err = s.inner.Head(ctx, key)
		return err
	})
	if err != nil {
		o = destination.Object{}
	}
	return o, err
}

// List implements [destination.Store]. It is one call, however many objects.
func (s *Store) List(ctx context.Context, prefix string, fn func(destination.Object) error) error {
	return s.around(Call{Op: "list", Key: prefix}, func() error {
		return s.inner.List(ctx, prefix, fn)
	})
}

// Move implements [destination.Store].
func (s *Store) Move(ctx context.Context, from, to string, prev destination.Version) error {
	return s.around(Call{Op: "move", Key: from, To: to}, func() error {
		return s.inner.Move(ctx, from, to, prev)
	})
}

// Capabilities implements [destination.Store]. It is not a call.
func (s *Store) Capabilities() destination.Capabilities { return s.inner.Capabilities() }

func (s *Store) around(c Call, perform func() error) error {
	s.mu.Lock()
	s.calls++
	c.N = s.calls
	switch c.Op {
	case "create", "replace", "move":
		s.writes++
		c.Write = s.writes
	}
	s.mu.Unlock()

	for i := len(s.faults) - 1; i >= 0; i-- {
		fault, next := s.faults[i], perform
		perform = func() error { return fault.Around(c, next) }
	}
	return perform()
}

// fail returns err as a store returns its errors.
func fail(c Call, err error) error {
	return &destination.OpError{Op: c.Op, Store: "faulty", Key: c.Key, Err: fmt.Errorf("call %d: %w", c.N, err)}
}

// ErrCrashed is what every call of a crashed process returns. It is none of the
// causes of package destination: no code may take it for an answer.
var ErrCrashed = errors.New("the process has crashed")
