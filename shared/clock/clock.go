// Package clock is the only caller of time.Now, so that tests and the
// simulation own time. Layer: leaf.
//
// Nothing that keeps data safe depends on a clock (architecture §2.4): a
// skewed clock makes work happen twice or late, never a double commit.
package clock

import "time"

// A Clock tells the time and lets a caller wait.
type Clock interface {
	// Now returns the current time in UTC.
	Now() time.Time

	// After sends the time once d has passed.
	After(d time.Duration) <-chan time.Time
}

// System is the machine's clock.
type System struct{}

// Now returns the wall clock's time in UTC, without a monotonic reading, so
// that it survives a round trip through JSON unchanged.
func (System) Now() time.Time { return time.Now().UTC().Round(0) }

// After waits on a real timer.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }
