package report

import (
	"cmp"
	"slices"
	"time"
)

// attempt is a task with the times of its last attempt.
type attempt struct {
	Chunk
	from, to time.Time // to is zero while it runs
	lane     int
}

// attemptsOf returns the attempts in the order in which they began, and the
// time that they and the run took.
func attemptsOf(s Summary) (attempts []attempt, begin, last time.Time) {
	begin = s.StartedAt.Time
	if s.FinishedAt != nil {
		last = s.FinishedAt.Time
	}
	for _, c := range s.Chunks {
		if c.StartedAt == nil {
			continue
		}
		a := attempt{Chunk: c, from: c.StartedAt.Time}
		if c.CompletedAt != nil {
			a.to = c.CompletedAt.Time
		}
		if a.from.Before(begin) {
			begin = a.from // another clock
		}
		last = later(last, later(a.from, a.to))
		attempts = append(attempts, a)
	}
	slices.SortStableFunc(attempts, func(a, b attempt) int { return cmp.Or(a.from.Compare(b.from), cmp.Compare(a.ID, b.ID)) })
	return attempts, begin, last
}

// assignLanes gives each attempt a lane that is free when it begins, its
// worker's if that one is, and returns the worker of each lane, "" for several.
// An attempt that has not ended lasts until last.
func assignLanes(attempts []attempt, last time.Time) (names []string) {
	var free []time.Time // when each lane is free again
	var recent []string  // who had it last
	for i := range attempts {
		a := &attempts[i]
		if a.to.Before(a.from) {
			a.to = last
		}
		a.lane = -1
		for n, until := range free {
			if !until.After(a.from) && (a.lane < 0 || recent[n] == a.Worker && recent[a.lane] != a.Worker) {
				a.lane = n
			}
		}
		if a.lane < 0 {
			a.lane = len(free)
			free, recent, names = append(free, a.to), append(recent, a.Worker), append(names, a.Worker)
		}
		free[a.lane], recent[a.lane] = a.to, a.Worker
		if names[a.lane] != a.Worker {
			names[a.lane] = ""
		}
	}
	return names
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
