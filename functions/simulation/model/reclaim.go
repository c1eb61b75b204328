package model

// reclaimRule is what a resume does between its claim of RUN and the fence.
type reclaimRule struct {
	looksAtRun bool // the claim is looked up after the fence was read, before it is swapped
	looksFirst bool // it is looked up before that
}

type reclaimPlanner struct{ at, seen uint8 }

const (
	reclaimIdle uint8 = iota
	reclaimLookFirst
	reclaimRead
	reclaimLook
	reclaimSwap
	reclaimRecord
	reclaimStart
	reclaimEnded
)

type reclaimState struct {
	fence      uint8 // its generation
	status     uint8
	generation uint8 // RUN
	claim      uint8 // whose RUN is, one more than the planner's number
	leases     uint8 // how many leases may still end
	lease      bool
	planners   [3]reclaimPlanner
}

// reclaim: the lease of a resume ends while its planner is asleep, and another
// request claims the run. The sleeper may wake up at any time.
func reclaim(rule reclaimRule) Model[reclaimState] {
	return Model[reclaimState]{
		Start: reclaimState{fence: 1, status: runFailed, generation: 1, leases: 2},
		Steps: func(s reclaimState, emit Emit[reclaimState]) {
			for i := range s.planners {
				rule.step(s, i, emit)
			}
			if s.lease && s.leases > 0 {
				s.lease, s.leases = false, s.leases-1
				emit(s, "the lease", "ends")
			}
		},
		Ended: func(s reclaimState) string {
			if s.status == runRunning && s.fence != s.generation {
				return "V17: fence and RUN name different generations: every finalizer is refused"
			}
			return ""
		},
	}
}

func (rule reclaimRule) step(s reclaimState, i int, emit Emit[reclaimState]) {
	p := s.planners[i]
	step := func(to reclaimState, at uint8, what string) {
		to.planners[i] = reclaimPlanner{at, p.seen}
		emit(to, [...]string{"a resume", "another resume", "a third resume"}[i], what)
	}
	look := func(next uint8) {
		if s.status == runPlanning && s.claim == uint8(i+1) {
			step(s, next, "finds that RUN is still its own")
		} else {
			step(s, reclaimEnded, "finds that RUN was claimed again")
		}
	}
	switch p.at {
	case reclaimIdle:
		if s.status != runFailed && s.lease {
			return // refused: the request may be made again
		}
		s.status, s.claim, s.lease = runPlanning, uint8(i+1), true
		next := reclaimRead
		if rule.looksFirst {
			next = reclaimLookFirst
		}
		step(s, next, "claims RUN (T17a)")
	case reclaimLookFirst:
		look(reclaimRead)
	case reclaimRead:
		p.seen = s.fence
		next := reclaimSwap
		if rule.looksAtRun {
			next = reclaimLook
		}
		step(s, next, "reads the fence")
	case reclaimLook:
		look(reclaimSwap)
	case reclaimSwap:
		if s.fence != p.seen {
			step(s, reclaimRead, "loses the swap of the fence")
			return
		}
		s.fence++
		p.seen = s.fence
		step(s, reclaimRecord, "takes a new generation (RESUME)")
	case reclaimRecord:
		if s.status != runPlanning || s.generation >= p.seen {
			step(s, reclaimEnded, "is refused (T17b)")
			return
		}
		s.generation = p.seen
		step(s, reclaimStart, "records its generation (T17b)")
	case reclaimStart:
		if s.status != runPlanning || s.generation != p.seen || s.claim != uint8(i+1) {
			step(s, reclaimEnded, "is refused (T5)")
			return
		}
		s.status = runRunning
		step(s, reclaimEnded, "starts the run (T5)")
	}
}
