package fault

import "time"

// Backoff returns how long to wait before the next attempt, attempt counting
// from 1: base doubled for each earlier attempt, at most 60 s, and spread over
// the upper half of that time by random, a number in [0, 1), so that functions
// that failed together do not come back together.
func Backoff(base time.Duration, attempt int, random float64) time.Duration {
	const most = 60 * time.Second
	d := base
	for i := 1; i < attempt && d < most; i++ {
		d *= 2
	}
	d = min(d, most)
	return d/2 + time.Duration(random*float64(d/2))
}
