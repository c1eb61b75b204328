package model

// lifeRule is how a planner finds out whether the open fence that it meets is
// of the life of its run's item that it works for. A run lives again when its
// table was lost and its trigger comes once more.
type lifeRule struct {
	fenceNamesLife  bool // the document says for which life the fence was taken
	creatorResumes  bool // whoever has created RUN takes a new generation, whoever opened the fence
	recordNamesLife bool // T2 asks for the life of RUN
	looksAtRun      bool // RUN is read between the fence and its swap
}

// lifeFence is the document: its generation, and the life that it was taken for.
type lifeFence struct {
	generation uint8
	state      fenceState // 0: no document
	life       uint8
}

type lifeRun struct{ life, status, generation uint8 }

type lifeSidecar struct{ generation, life uint8 }

type lifePlanner struct {
	at      uint8
	life    uint8
	created bool
	seen    lifeFence
}

const (
	lifeTrigger uint8 = iota
	lifeRead
	lifeDecide
	lifeTake
	lifeOpen
	lifeLook
	lifeRaise
	lifeOpened
	lifeRecord
	lifeStart
	lifeSettle
	lifeSucceed
	lifeEnded
)

type lifeFinalizer struct{ at, generation, life uint8 }

const (
	lifeIdle uint8 = iota
	lifeFenceRead
	lifeCommit
	lifeCursor
	lifeRunEnds
)

type lifeState struct {
	fence      lifeFence
	run        lifeRun // life 0: the table does not know it
	lives      uint8
	sidecar    lifeSidecar
	differ     bool // two lives have made a manifest of one generation
	planners   [3]lifePlanner
	finalizers [2]lifeFinalizer
	losses     uint8
	crashes    uint8
}

// lives: three deliveries of one trigger, while the table is lost once. A
// planner that crashes is delivered again; one that nobody has delivered again
// is run by the sweep, as a resume, while RUN is planning.
func lives(rule lifeRule) Model[lifeState] {
	return Model[lifeState]{
		Start: lifeState{losses: 1, crashes: 1},
		Steps: func(s lifeState, emit Emit[lifeState]) {
			ended := true
			for i := range s.planners {
				rule.plan(s, i, emit)
				ended = ended && s.planners[i].at == lifeEnded
			}
			for i := range s.finalizers {
				finalizeLife(s, i, emit)
			}
			if s.losses > 0 && s.run.life != 0 {
				to := s
				to.losses, to.run = s.losses-1, lifeRun{}
				emit(to, "the table", "is lost")
			}
			if ended && s.run.life != 0 && s.run.status == runPlanning && s.fence.state == open {
				to := s
				to.fence = lifeFence{s.fence.generation + 1, open, s.run.life}
				to.run.status, to.run.generation = runRunning, to.fence.generation
				emit(to, "the sweep", "resumes a run that nobody plans")
			}
		},
		Violated: func(from, to lifeState) string {
			switch {
			case to.differ:
				return "V18: two lives of a run make different manifests of one generation"
			case to.fence.generation < from.fence.generation:
				return "V8: the fence's generation goes back"
			}
			return ""
		},
		Ended: func(s lifeState) string {
			if s.run.life != 0 && s.run.status != runSucceeded {
				return "V17: the fence has moved on from its own run, which no finalizer can publish"
			}
			return ""
		},
	}
}

func (rule lifeRule) plan(s lifeState, i int, emit Emit[lifeState]) {
	p := s.planners[i]
	if p.at == lifeEnded {
		return
	}
	step := func(to lifeState, at uint8, what string) {
		to.planners[i] = lifePlanner{at, p.life, p.created, p.seen}
		switch at {
		case lifeTrigger:
			to.planners[i] = lifePlanner{}
		case lifeEnded:
			to.planners[i] = lifePlanner{at: lifeEnded}
		}
		emit(to, [...]string{"a planner", "its duplicate", "a third delivery"}[i], what)
	}
	if p.at != lifeTrigger && s.crashes > 0 {
		to := s
		to.crashes--
		step(to, lifeTrigger, "crashes, and is delivered again")
	}
	switch p.at {
	case lifeTrigger:
		switch {
		case s.run.life == 0:
			s.lives++
			s.run = lifeRun{s.lives, runPlanning, 0}
			p.life, p.created = s.lives, true
			step(s, lifeRead, "creates RUN (T1)")
		case s.run.status == runPlanning:
			p.life = s.run.life
			step(s, lifeRead, "finds RUN planning")
		default:
			step(s, lifeEnded, "finds RUN started")
		}
	case lifeRead:
		p.seen = s.fence
		step(s, lifeDecide, "reads the fence")
	case lifeDecide:
		rule.decide(s, p, step)
	case lifeTake, lifeOpen, lifeRaise:
		if s.fence != p.seen {
			step(s, lifeRead, "loses the swap of the fence")
			return
		}
		switch p.at {
		case lifeTake:
			s.fence = lifeFence{p.seen.generation + 1, opening, p.life}
		case lifeOpen:
			s.fence.state = open
		case lifeRaise:
			s.fence = lifeFence{p.seen.generation + 1, open, p.life}
		}
		p.seen = s.fence
		step(s, [...]uint8{lifeTake: lifeOpen, lifeOpen: lifeDecide, lifeRaise: lifeOpened}[p.at],
			[...]string{lifeTake: "takes the fence", lifeOpen: "opens", lifeRaise: "takes a new generation"}[p.at])
	case lifeLook:
		if s.run.life == p.life && s.run.status == runPlanning {
			step(s, lifeRaise, "finds RUN as it left it")
		} else {
			step(s, lifeEnded, "finds that RUN has moved on")
		}
	case lifeOpened:
		if s.sidecar.generation != 0 {
			step(s, lifeSettle, "finds its own sidecar after OPEN")
		} else {
			step(s, lifeRecord, "is open")
		}
	case lifeRecord:
		rule.record(s, p, step)
	case lifeStart:
		if s.run.life != 0 && s.run.status == runPlanning && s.run.generation == p.seen.generation {
			s.run.status = runRunning
			step(s, lifeEnded, "starts the run (T5)")
		} else {
			step(s, lifeEnded, "finds the run started, or gone (T5)")
		}
	case lifeSettle:
		s.fence.state = committed
		step(s, lifeSucceed, "finishes what has committed")
	case lifeSucceed:
		if s.run.life != 0 {
			s.run.status = runSucceeded
		}
		step(s, lifeEnded, "settles RUN (T14)")
	}
}

// decide is what a planner makes of the fence that it has read, after it has
// looked for its own sidecar.
func (rule lifeRule) decide(s lifeState, p lifePlanner, step func(lifeState, uint8, string)) {
	mine := true
	switch {
	case rule.fenceNamesLife:
		mine = p.seen.life == p.life
	case rule.creatorResumes:
		mine = !p.created
	}
	switch {
	case s.sidecar.generation != 0 || p.seen.state == committed:
		step(s, lifeSettle, "finds that its run has committed")
	case p.seen.state == 0:
		step(s, lifeTake, "finds no fence")
	case p.seen.state == opening:
		step(s, lifeOpen, "finds that its run is opening")
	case mine:
		step(s, lifeOpened, "goes on under the open fence")
	case rule.looksAtRun:
		step(s, lifeLook, "finds the fence of another life")
	default:
		step(s, lifeRaise, "takes the fence for one of a lost table")
	}
}

// record is T2.
func (rule lifeRule) record(s lifeState, p lifePlanner, step func(lifeState, uint8, string)) {
	known := s.run.life != 0 && (!rule.recordNamesLife || s.run.life == p.life)
	switch {
	case known && s.run.status == runPlanning && (s.run.generation == 0 || s.run.generation == p.seen.generation):
		s.run.generation = p.seen.generation
		step(s, lifeStart, "records its generation (T2)")
	default:
		step(s, lifeEnded, "is refused (T2)")
	}
}
