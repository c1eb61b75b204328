package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestSystemClockIsUTCAndHasNoMonotonicReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock = System{}
		start := c.Now()
		if start.Location() != time.UTC || start != start.Round(0) {
			t.Fatalf("Now() = %#v: want UTC without a monotonic reading", start)
		}
		if got := <-c.After(time.Minute); got.Sub(start) != time.Minute {
			t.Fatalf("After(1m) fired after %v", got.Sub(start))
		}
	})
}
