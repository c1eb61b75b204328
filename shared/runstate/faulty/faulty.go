// Package faulty breaks a runstate.Table on purpose, for tests of the protocol:
//
//	crash := &faulty.Crash{After: n, Landed: true}
//	table := faulty.Wrap(memory.New(), crash)
//
// Hooks are called from outside to inside in the order that they are given in.
// A hook counts the calls that reach it; one hook in two tables counts both.
// Layer: L3 (persistence).
package faulty

import (
	"context"
	"errors"
	"sync"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// Call is one call of a Table's method.
type Call struct {
	Op   string // the method, such as "Claim"
	Run  contract.RunID
	Task contract.TaskID // "" where there is none
	// Node is the shard of a call that is about a whole shard or about a node of
	// the fan-in tree; 0 elsewhere.
	Node int
}

// Hook decides what becomes of a call. do makes it; its error is what the table
// answered. What Around returns is what the caller gets: after an error it does
// not see what the table answered.
type Hook interface {
	Around(ctx context.Context, c Call, do func() error) error
}

// HookFunc is a Hook.
type HookFunc func(ctx context.Context, c Call, do func() error) error

// Around calls f.
func (f HookFunc) Around(ctx context.Context, c Call, do func() error) error { return f(ctx, c, do) }

// The errors of the hooks. None of them says whether the operation happened.
var (
	ErrCrashed   = errors.New("the process crashed")
	ErrLost      = errors.New("the answer was lost")
	ErrTransient = errors.New("the table did not answer")
)

// counter counts calls of one operation, or of all when it is "".
type counter struct {
	mu sync.Mutex
	n  int
}

// next returns the number of this call, from 0, or -1 if it does not count.
func (c *counter) next(op string, call Call) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if op != "" && op != call.Op {
		return -1
	}
	c.n++
	return c.n - 1
}

// Crash ends the process that uses the table: After calls work, the next one
// and all later ones are ErrCrashed. A crash point never reached means that
// the tested code makes no more than After calls.
type Crash struct {
	After  int
	Landed bool   // the call of the crash itself happens
	Op     string // count only calls of this method; "" for all
	// Then runs once, at the crash: to cancel a context, say.
	Then func()

	calls counter
	once  sync.Once
	dead  bool
}

// Around implements Hook.
func (c *Crash) Around(_ context.Context, call Call, do func() error) error {
	n := c.calls.next(c.Op, call)
	switch {
	case c.Crashed():
		return ErrCrashed
	case n < c.After:
		return do()
	}
	c.once.Do(func() {
		if c.Landed {
			_ = do() // nobody is left to see the answer
		}
		c.calls.mu.Lock()
		c.dead = true
		c.calls.mu.Unlock()
		if c.Then != nil {
			c.Then()
		}
	})
	return ErrCrashed
}

// Crashed reports whether the crash point was reached.
func (c *Crash) Crashed() bool {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	return c.dead
}

// LoseAnswer lets call number N (from 0) happen and returns ErrLost.
type LoseAnswer struct {
	N  int
	Op string // count only calls of this method; "" for all

	calls counter
}

// Around implements Hook.
func (l *LoseAnswer) Around(_ context.Context, call Call, do func() error) error {
	n := l.calls.next(l.Op, call)
	err := do()
	if n == l.N {
		return ErrLost
	}
	return err
}

// Fail keeps Times calls from call number N (from 0) on from happening and
// returns Err instead, or ErrTransient.
type Fail struct {
	N     int
	Times int    // 0 is once
	Op    string // count only calls of this method; "" for all
	Err   error

	calls counter
}

// Around implements Hook.
func (f *Fail) Around(_ context.Context, call Call, do func() error) error {
	n := f.calls.next(f.Op, call)
	if n < f.N || n >= f.N+max(f.Times, 1) {
		return do()
	}
	if f.Err != nil {
		return f.Err
	}
	return ErrTransient
}

// Recorder notes the calls that reach it, in the order in which they begin.
type Recorder struct {
	mu    sync.Mutex
	calls []Call
}

// Around implements Hook.
func (r *Recorder) Around(_ context.Context, call Call, do func() error) error {
	r.mu.Lock()
	r.calls = append(r.calls, call)
	r.mu.Unlock()
	return do()
}

// Calls returns the calls so far.
func (r *Recorder) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Call(nil), r.calls...)
}

// Counts returns how many calls of each method there were.
func (r *Recorder) Counts() map[string]int {
	counts := map[string]int{}
	for _, c := range r.Calls() {
		counts[c.Op]++
	}
	return counts
}

// Reset forgets the calls so far.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

var _ = []Hook{HookFunc(nil), (*Crash)(nil), (*LoseAnswer)(nil), (*Fail)(nil), (*Recorder)(nil)}

// Wrap returns table as seen through the hooks.
func Wrap(table runstate.Table, hooks ...Hook) runstate.Table { return &wrapped{table, hooks} }

type wrapped struct {
	table runstate.Table
	hooks []Hook
}

// through makes a call through the hooks.
func through[T any](ctx context.Context, w *wrapped, c Call, do func() (T, error)) (T, error) {
	var got T
	call := func() (err error) {
		got, err = do()
		return err
	}
	for i := len(w.hooks) - 1; i >= 0; i-- {
		hook, inner := w.hooks[i], call
		call = func() error { return hook.Around(ctx, c, inner) }
	}
	if err := call(); err != nil {
		var none T
		return none, err
	}
	return got, nil
}

// only is through for methods that return just an error.
func only(ctx context.Context, w *wrapped, c Call, do func() error) error {
	_, err := through(ctx, w, c, func() (struct{}, error) { return struct{}{}, do() })
	return err
}
