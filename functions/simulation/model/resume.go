package model

// resumeRule is what a resume's attempts and its quarantine may do wrong.
type resumeRule struct {
	reusesPlainName         bool // attempts of the new generation start with the plain name again
	adoptsAny               bool // and take objects of any generation for their own
	quarantinesBeforeRevoke bool
}

type partObject struct {
	content    uint8
	generation uint8
}

// The names under which a part of the chunk may be stored: the plain name of
// the first generation, that of the second, and each with a content's hash.
const (
	namePlain uint8 = iota + 1
	nameSecond
	namePlainHashed
	nameFirstHashed  = namePlainHashed + 2
	nameSecondHashed = nameFirstHashed + 2
	partNames        = nameSecondHashed + 2
)

type resumeWorker struct {
	at, content, name uint8
}

const (
	workerRead uint8 = iota
	workerIdle
	workerPut
	workerPutHashed
	workerComplete
	workerEnded
)

type resumePlanner struct {
	at       uint8
	asked    bool
	recorded uint8 // name that the table records
	listed   [partNames]partObject
}

const (
	plannerRevoke uint8 = iota
	plannerQuery
	plannerList
	plannerMove
	plannerEnqueue
	plannerEnded
)

type resumeState struct {
	source, flips uint8
	status, token uint8
	generation    uint8 // of the chunk
	recordedName  uint8
	recorded      uint8
	stored        [partNames]partObject
	workers       [3]resumeWorker
	planners      [2]resumePlanner
	enqueued      bool
	crashes       uint8
}

// resume: a chunk that a worker of generation 1 still holds is resumed by two
// duplicate planners, and two workers of generation 2 extract it again.
func resume(rule resumeRule) Model[resumeState] {
	start := resumeState{source: contentX, flips: 1, status: chunkRunning, token: 1, generation: 1, crashes: 1}
	start.workers[1].at, start.workers[2].at = workerIdle, workerIdle
	if rule.quarantinesBeforeRevoke {
		start.planners[0].at, start.planners[1].at = plannerQuery, plannerQuery
	}
	return Model[resumeState]{
		Start: start,
		Steps: func(s resumeState, emit Emit[resumeState]) {
			if s.flips > 0 {
				to := s
				to.source, to.flips = contentX+contentY-s.source, s.flips-1
				emit(to, "source", "changes")
			}
			for i := range s.workers {
				rule.work(s, i, emit)
			}
			for i := range s.planners {
				rule.plan(s, i, emit)
			}
		},
		Violated: func(_, to resumeState) string {
			if to.status == chunkCompleted && to.stored[to.recordedName].content != to.recorded {
				return "V4: a completed chunk records a part that is not stored"
			}
			return ""
		},
		Ended: func(s resumeState) string {
			if s.status != chunkCompleted && (s.workers[1].at == workerIdle || s.workers[2].at == workerIdle) {
				return "V17: nothing can complete the chunk"
			}
			return ""
		},
	}
}

func (rule resumeRule) work(s resumeState, i int, emit Emit[resumeState]) {
	w := s.workers[i]
	who := [...]string{"the worker of generation 1", "a worker of generation 2", "another worker of generation 2"}[i]
	generation, token := uint8(2), uint8(i+1)
	if i == 0 {
		generation = 1
	}
	step := func(to resumeState, at, content, name uint8, what string) {
		to.workers[i] = resumeWorker{at, content, name}
		emit(to, who, what)
	}
	if w.at == workerEnded {
		return
	}
	if w.at != workerIdle && s.crashes > 0 {
		to, again := s, workerEnded
		if i > 0 {
			again = workerIdle
		}
		to.crashes--
		step(to, again, 0, 0, "crashes")
	}
	store := func(name uint8, what string) {
		s.stored[name] = partObject{w.content, generation}
		step(s, workerComplete, w.content, name, what)
	}
	switch w.at {
	case workerIdle:
		if s.enqueued && s.generation == 2 && s.status != chunkCompleted {
			s.status, s.token, s.recordedName, s.recorded = chunkRunning, token, 0, 0
			step(s, workerRead, 0, 0, "claims the chunk (T6)")
		}
	case workerRead:
		step(s, workerPut, s.source, 0, [...]string{"", "reads x", "reads y"}[s.source])
	case workerPut:
		name := nameSecond
		if generation == 1 || rule.reusesPlainName || rule.adoptsAny {
			name = namePlain
		}
		switch there := s.stored[name]; {
		case there.content == noContent:
			store(name, "creates the part")
		case there.content == w.content && (rule.adoptsAny || there.generation == generation):
			step(s, workerComplete, w.content, name, "adopts the part that is there")
		default:
			step(s, workerPutHashed, w.content, 0, "finds the name taken")
		}
	case workerPutHashed:
		name := nameFirstHashed + w.content - 1
		switch {
		case rule.adoptsAny:
			name = namePlainHashed + w.content - 1
		case generation == 2:
			name = nameSecondHashed + w.content - 1
		}
		if s.stored[name].content == noContent {
			store(name, "creates the part under a name with its hash")
			return
		}
		step(s, workerComplete, w.content, name, "adopts the part under the name with its hash")
	case workerComplete:
		if s.status != chunkRunning || s.token != token {
			step(s, workerEnded, 0, 0, "is fenced off by its token (T8)")
			return
		}
		s.status, s.recordedName, s.recorded = chunkCompleted, w.name, w.content
		step(s, workerEnded, 0, 0, "completes the chunk (T8)")
	}
}

// plan is one planner of the resume: revoke, query, list, move, enqueue.
func (rule resumeRule) plan(s resumeState, i int, emit Emit[resumeState]) {
	p := s.planners[i]
	who := [...]string{"a resume planner", "its duplicate"}[i]
	next := plannerEnded
	if p.at < plannerEnqueue {
		next = p.at + 1
	}
	if rule.quarantinesBeforeRevoke {
		next = [...]uint8{plannerEnqueue, plannerList, plannerMove, plannerRevoke, plannerEnded, plannerEnded}[p.at]
	}
	step := func(to resumeState, what string) {
		p.at, p.asked = next, true
		to.planners[i] = p
		emit(to, who, what)
	}
	switch p.at {
	case plannerRevoke:
		if s.status != chunkCompleted && s.generation < 2 {
			s.status, s.token, s.generation, s.recordedName, s.recorded = chunkFailed, 0, 2, 0, 0
		}
		step(s, "revokes the lease (R3, T17c)")
	case plannerQuery:
		p.recorded = s.recordedName
		step(s, "asks which parts are recorded (R4)")
	case plannerList:
		for n, o := range s.stored {
			if o.content != noContent {
				p.listed[n].generation = o.generation
			}
		}
		step(s, "lists the prefix (R5)")
	case plannerMove:
		for n, o := range p.listed {
			if o.generation == 1 && uint8(n) != p.recorded {
				s.stored[n] = partObject{}
			}
		}
		step(s, "quarantines what no table entry records (R5)")
	case plannerEnqueue:
		s.enqueued = true
		step(s, "enqueues the chunk (R6)")
	}
}
