package model

// claimRule is the order in which a resume claims RUN and the fence.
type claimRule struct {
	claimsRunFirst  bool // T17a, then RESUME
	supersedesOwner bool // T16 also by a higher generation of the same owner
	planners        int  // deliveries of the resume request
	finalizer       bool // a finalizer of the old generation still runs
}

type claimPlanner struct{ at, generation uint8 }

const (
	claimStart uint8 = iota
	claimFence
	claimRecord
	claimRefused
	claimWon
)

type claimState struct {
	fence      uint8 // its generation
	status     uint8
	generation uint8 // RUN
	lease      bool
	planners   [2]claimPlanner
	finalized  bool // the old finalizer has ended
}

const (
	runPlanning uint8 = iota
	runRunning
	runFinalizing
	runSucceeded
	runFailed
	runSuperseded
)

// claim: a run that died while finalizing is resumed, by one or two deliveries
// of one request.
func claim(rule claimRule) Model[claimState] {
	start := claimState{fence: 1, status: runFinalizing, generation: 1, finalized: !rule.finalizer}
	return Model[claimState]{
		Start: start,
		Steps: func(s claimState, emit Emit[claimState]) {
			for i := range rule.planners {
				rule.step(s, i, emit)
			}
			if s.finalized {
				return
			}
			s.finalized = true
			switch {
			case s.fence == 1:
				emit(s, "the old finalizer", "passes the fence")
			case rule.supersedesOwner && s.generation < s.fence:
				s.status = runSuperseded
				emit(s, "the old finalizer", "finds a higher generation: superseded (T16)")
			default:
				emit(s, "the old finalizer", "finds a higher generation of its own run: stops")
			}
		},
		Ended: func(s claimState) string {
			switch {
			case s.status == runSuperseded:
				return "V17: the run is superseded by its own resume"
			case s.fence != s.generation:
				return "V17: fence and RUN name different generations: every finalizer is refused"
			}
			return ""
		},
	}
}

func (rule claimRule) step(s claimState, i int, emit Emit[claimState]) {
	p := s.planners[i]
	step := func(to claimState, at, generation uint8, what string) {
		to.planners[i] = claimPlanner{at, generation}
		emit(to, [...]string{"a resume planner", "another delivery"}[i], what)
	}
	expired := s.status == runFailed || s.status <= runFinalizing && !s.lease
	switch {
	case p.at == claimStart && !rule.claimsRunFirst:
		step(s, claimFence, s.fence, "reads the fence")
	case p.at == claimStart && expired:
		s.status, s.lease = runPlanning, true
		step(s, claimFence, 0, "claims RUN (T17a)")
	case p.at == claimStart:
		step(s, claimRefused, 0, "finds the run live")
	case p.at == claimFence && !rule.claimsRunFirst && s.fence != p.generation:
		step(s, claimStart, 0, "loses the swap of the fence")
	case p.at == claimFence:
		s.fence++
		step(s, claimRecord, s.fence, "takes a new generation (RESUME)")
	case p.at == claimRecord && (rule.claimsRunFirst && s.status == runPlanning && s.generation < p.generation || !rule.claimsRunFirst && expired):
		s.status, s.generation, s.lease = runRunning, p.generation, true
		step(s, claimWon, p.generation, "records the generation in RUN")
	case p.at == claimRecord:
		step(s, claimRefused, p.generation, "is refused by RUN")
	}
}

// failRule is whom the reaper may fail.
type failRule struct{ failsFinalizing bool }

type failState struct {
	status    uint8
	fence     fenceState // open, committed, or released as 0
	committed bool       // a success sidecar stands
	finalizer uint8
	reaper    uint8
}

const failEnded uint8 = 9

// failRun: the reaper ends a run that is too old while a finalizer publishes it.
func failRun(rule failRule) Model[failState] {
	return Model[failState]{
		Start: failState{status: runRunning, fence: open},
		Steps: func(s failState, emit Emit[failState]) {
			rule.reap(s, emit)
			finalize := func(to failState, at uint8, what string) {
				to.finalizer = at
				emit(to, "the finalizer", what)
			}
			to := s
			switch {
			case s.finalizer == 0 && (s.status == runRunning || s.status == runFinalizing):
				to.status = runFinalizing
				finalize(to, 1, "begins (T13)")
			case s.finalizer == 0:
				finalize(to, failEnded, "is refused (T13)")
			case s.finalizer == 1 && s.fence == open:
				finalize(to, 2, "owns the fence (F6)")
			case s.finalizer == 1:
				finalize(to, failEnded, "does not own an open fence (F6)")
			case s.finalizer == 2:
				to.committed = true
				finalize(to, 3, "creates the sidecar (F7)")
			case s.finalizer == 3 && s.fence == open:
				to.fence = committed
				finalize(to, 4, "commits the cursor (F10)")
			case s.finalizer == 3:
				finalize(to, failEnded, "loses the swap of the cursor (F10)")
			case s.finalizer == 4:
				if s.status == runFinalizing {
					to.status = runSucceeded
				}
				finalize(to, failEnded, "settles RUN (T14)")
			}
		},
		Violated: func(_, to failState) string {
			if to.status == runFailed && to.committed {
				return "V13: a run with a success sidecar is failed"
			}
			return ""
		},
	}
}

func (rule failRule) reap(s failState, emit Emit[failState]) {
	reap := func(to failState, at uint8, what string) {
		to.reaper = at
		emit(to, "the reaper", what)
	}
	switch {
	case s.reaper == 0 && (s.status == runRunning || rule.failsFinalizing && s.status == runFinalizing):
		s.status = runFailed
		reap(s, 1, "fails the run (T15)")
	case s.reaper == 0:
		reap(s, failEnded, "is refused (T15)")
	case s.reaper == 1 && s.fence == open:
		s.fence = 0
		reap(s, failEnded, "releases the fence")
	case s.reaper == 1:
		reap(s, failEnded, "finds nothing to release")
	}
}
