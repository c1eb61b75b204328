package chunkplan

import (
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
)

const (
	// defaultThroughput is what one worker is assumed to read and encode in a
	// second when nothing was measured.
	defaultThroughput = 20 << 20
	// budgetShare is how much of its time a task that cannot be split may be
	// expected to take.
	budgetShare = 0.6
)

// Budget is what one invocation has for a task.
type Budget struct {
	// Time is how long it may take; 0 is no limit, as in a process of one's
	// own.
	Time time.Duration
	// BytesPerSecond is the measured throughput; 0 is the default.
	BytesPerSecond int64
}

func (b Budget) limited() bool { return b.Time > 0 }

// check refuses a plan of one task that can neither be split nor be expected
// to end in time (PLN-26): it would be killed and tried again until the
// attempts are used up.
func (b Budget) check(c *Choice) error {
	if !b.limited() || c.Splittable {
		return nil
	}
	if c.facts.Bytes <= 0 {
		c.warn("BUDGET_UNKNOWN", "there is no key to split by and no estimate of the size: the one task fails if it takes longer than %s", b.Time)
		return nil
	}
	throughput := b.BytesPerSecond
	if throughput <= 0 {
		throughput = defaultThroughput
	}
	expected := time.Duration(float64(c.facts.Bytes) / float64(throughput) * float64(time.Second))
	if float64(expected) <= budgetShare*float64(b.Time) {
		return nil
	}
	return fault.New(fault.Permanent, "LAPSTRAKE_PLAN_TASK_EXCEEDS_BUDGET", "export %q: the %s has no unique key without NULLs to split by, and its %d bytes are expected to take %s, of which an invocation of %s may be planned for %d%%; nothing was read. Give it a key, run it as a job without a time limit (lapstrake run), or cut it into several exports by query", c.export.Name, c.facts.Kind, c.facts.Bytes, expected.Round(time.Second), b.Time, int(100*budgetShare))
}
