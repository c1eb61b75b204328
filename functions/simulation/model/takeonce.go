package model

// takeRule is how a planner that runs again remembers that its run has taken the
// fence: RUN names the generation only after OPEN (T2), so a crash in between
// leaves no trace in the table.
type takeRule struct {
	looksAtSidecar bool // Head of its own sidecar before TAKE and before T2
	ignoresSelf    bool // finding itself its own predecessor is not looked for
}

type takePlanner struct {
	at       uint8
	seen     fence
	inherits run
}

const (
	takeIdle uint8 = iota
	takeFence
	takeLook
	takeSeal
	takeOpen
	takeRecord
	takeDone
	takeSuperseded
	takeDead
)

type takeFinalizer struct{ at uint8 }

const (
	takeFinalizeFence uint8 = iota
	takeFinalizeCommit
	takeFinalizeCursor
	takeFinalizeDone
	takeFinalizeSuperseded
)

type takeState struct {
	fence      fence
	sidecars   sidecars
	runs       [2]planned // opened: T2 has recorded the generation
	planners   [4]takePlanner
	finalizers [2]takeFinalizer
}

// takeOnce: two runs, two planners each, that may crash anywhere, between OPEN
// and T2 too.
func takeOnce(rule takeRule) Model[takeState] {
	return Model[takeState]{
		Start: takeState{fence: fence{state: committed}},
		Steps: func(s takeState, emit Emit[takeState]) {
			for me := runA; me <= runB; me++ {
				rule.plan(s, me, int(me-1)*2, emit)
				rule.plan(s, me, int(me-1)*2+1, emit)
				if s.runs[me-1].opened {
					rule.finalize(s, me, emit)
				}
			}
		},
		Violated: func(_, to takeState) string {
			if v := to.sidecars.rowsOnce(to.fence.position); v != "" {
				return v
			}
			owner := to.fence.owner
			if owner == nobody {
				return ""
			}
			r := to.runs[owner-1]
			if r.opened && r.generation == to.fence.generation && to.fence.state == open && to.sidecars.of(owner).kind == tombstone {
				return "V17: a sealed run holds the open fence: it extracts everything and can never commit"
			}
			if to.fence.predecessor == owner && !rule.ignoresSelf {
				return "V17: a run is its own predecessor, and will seal itself"
			}
			return ""
		},
	}
}

func (rule takeRule) plan(s takeState, me run, i int, emit Emit[takeState]) {
	p := s.planners[i]
	if p.at >= takeDone {
		return
	}
	step := func(to takeState, p takePlanner, at uint8, what string) {
		p.at = at
		to.planners[i] = p
		emit(to, me.pick("a planner of A", "a planner of B", ""), what)
	}
	step(s, p, takeDead, "crashes")
	own := s.sidecars.of(me)
	known := &s.runs[me-1]
	switch p.at {
	case takeIdle:
		switch inherits := s.fence.inherited(); {
		case rule.looksAtSidecar && own.kind != absent:
			step(s, p, takeSuperseded, "finds its own sidecar")
		case s.fence.owner == me && s.fence.state == opening:
			step(s, takePlanner{seen: s.fence}, takeLook, "finds that it holds the fence")
		case s.fence.owner == me:
			step(s, takePlanner{seen: s.fence}, takeRecord, "finds that its run is open")
		case known.opened:
			step(s, p, takeSuperseded, "is superseded")
		case rule.looksAtSidecar && inherits == me:
			step(s, p, takeSuperseded, "finds that it is being sealed")
		default:
			step(s, takePlanner{seen: s.fence, inherits: inherits}, takeFence, "reads the fence")
		}
	case takeFence:
		if s.fence != p.seen {
			step(s, takePlanner{}, takeIdle, "loses the swap of the fence")
			return
		}
		s.fence = fence{s.fence.generation + 1, me, opening, s.fence.position, p.inherits}
		step(s, takePlanner{}, takeLook, "takes the fence")
	case takeLook:
		switch {
		case s.fence.owner != me:
			step(s, p, takeSuperseded, "is superseded")
		case s.fence.state != opening:
			step(s, takePlanner{seen: s.fence}, takeRecord, "finds its run open")
		default:
			step(s, takePlanner{seen: s.fence}, takeSeal, "looks at its predecessor")
		}
	case takeSeal:
		if predecessor := p.seen.predecessor; predecessor == nobody || s.sidecars.of(predecessor).kind != absent {
			step(s, p, takeOpen, "finds its predecessor decided")
		} else {
			s.sidecars.of(predecessor).kind = tombstone
			step(s, p, takeOpen, "seals its predecessor")
		}
	case takeOpen:
		rule.open(s, me, p, step)
	case takeRecord:
		switch {
		case rule.looksAtSidecar && own.kind != absent:
			step(s, p, takeSuperseded, "finds its own sidecar after OPEN")
		case !known.opened:
			*known = planned{true, true, p.seen.generation, p.seen.position}
			step(s, p, takeDone, "records its generation (T2)")
		case known.generation == p.seen.generation:
			step(s, p, takeDone, "finds its generation recorded (T2)")
		default:
			step(s, p, takeSuperseded, "is refused (T2)")
		}
	}
}

func (rule takeRule) open(s takeState, me run, p takePlanner, step func(takeState, takePlanner, uint8, string)) {
	position := p.seen.position
	if p.seen.predecessor != nobody {
		if c := s.sidecars.of(p.seen.predecessor); c.kind == success && c.from == position {
			position = max(position, c.to)
		}
	}
	switch {
	case s.fence == p.seen:
		s.fence = fence{s.fence.generation, me, open, position, nobody}
		step(s, takePlanner{seen: s.fence}, takeRecord, "opens")
	case s.fence.owner == me && s.fence.state == open:
		step(s, takePlanner{seen: s.fence}, takeRecord, "finds that a duplicate has opened")
	default:
		step(s, p, takeSuperseded, "has lost the fence")
	}
}

func (rule takeRule) finalize(s takeState, me run, emit Emit[takeState]) {
	known := s.runs[me-1]
	to := max(me.horizon(), known.from)
	step := func(s takeState, at uint8, what string) {
		s.finalizers[me-1].at = at
		emit(s, me.pick("A's finalizer", "B's finalizer", ""), what)
	}
	switch s.finalizers[me-1].at {
	case takeFinalizeFence:
		if s.fence.ownedBy(me, known.generation) {
			step(s, takeFinalizeCommit, "still owns the fence (F6)")
		} else {
			step(s, takeFinalizeSuperseded, "has lost the fence (F6)")
		}
	case takeFinalizeCommit:
		switch own := s.sidecars.of(me); own.kind {
		case absent:
			*own = sidecar{success, known.from, to, known.generation}
			step(s, takeFinalizeCursor, "creates the sidecar: the run has committed (F7)")
		case success:
			step(s, takeFinalizeCursor, "finds its sidecar (F7)")
		case tombstone:
			step(s, takeFinalizeSuperseded, "finds itself sealed (F7)")
		}
	case takeFinalizeCursor:
		if s.fence == (fence{known.generation, me, open, known.from, nobody}) {
			s.fence.state, s.fence.position = committed, to
			step(s, takeFinalizeDone, "commits the cursor (F10)")
		} else {
			step(s, takeFinalizeSuperseded, "finds that the fence has moved on (F10)")
		}
	}
}
