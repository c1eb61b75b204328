package model

// plan is a planner of a run: TAKE, seal or roll forward, OPEN.
func (rule sealRule) plan(s sealState, me run, i int, emit Emit[sealState]) {
	p := s.planners[i]
	if p.at >= sealDone {
		return
	}
	who := me.pick("a planner of A", "a planner of B", "a planner of C")
	step := func(to sealState, p sealPlanner, at sealStep, what string) {
		p.at = at
		to.planners[i] = p
		emit(to, who, what)
	}
	cleared := sealPlanner{tries: p.tries}
	step(s, p, sealDead, "crashes")
	switch p.at {
	case sealIdle:
		rule.lookAtFence(s, me, cleared, step)
	case sealTake:
		switch {
		case s.fence != p.seen:
			step(s, cleared, sealIdle, "loses the swap of the fence")
		default:
			s.fence = fence{s.fence.generation + 1, me, opening, s.fence.position, p.inherits}
			s.runs[me-1] = planned{taken: true}
			step(s, cleared, sealLook, "takes the fence")
		}
	case sealLook:
		switch {
		case s.fence.owner != me:
			step(s, p, sealSuperseded, "is superseded")
		case s.fence.state != opening:
			step(s, p, sealDone, "finds its run open")
		default:
			p.seen = s.fence
			step(s, p, sealPredecessor, "looks at its predecessor")
		}
	case sealPredecessor:
		rule.seal(s, p, step)
	case sealCapture, sealHelperFence, sealManifest, sealMarker:
		rule.rollForward(s, me, p, step)
	case sealOpen:
		rule.open(s, me, p, step)
	}
}

// stepTo is one step of a planner.
type stepTo func(to sealState, p sealPlanner, at sealStep, what string)

func (rule sealRule) lookAtFence(s sealState, me run, p sealPlanner, step stepTo) {
	owner := s.fence.owner
	if rule.sealsBeforeFence && owner != nobody && owner != me && s.fence.state == open && s.sidecars.of(owner).kind == absent {
		to := s
		to.sidecars.of(owner).kind = tombstone
		step(to, p, sealIdle, "seals the owner, before it takes the fence")
	}
	switch {
	case owner == me && s.fence.state == opening:
		step(s, p, sealLook, "finds that it holds the fence")
	case owner == me:
		step(s, p, sealDone, "finds that its run is open")
	case s.runs[me-1].taken:
		step(s, p, sealSuperseded, "is superseded")
	default:
		p.seen, p.inherits = s.fence, s.fence.inherited()
		step(s, p, sealTake, "reads the fence")
	}
}

func (rule sealRule) seal(s sealState, p sealPlanner, step stepTo) {
	predecessor := p.seen.predecessor
	p.decided = rule.publishesPredecessor
	if predecessor == nobody || rule.neverSeals || rule.sealsBeforeFence {
		step(s, p, sealOpen, "seals nobody")
		return
	}
	switch c := s.sidecars.of(predecessor); {
	case c.kind == absent:
		c.kind = tombstone
		step(s, p, sealOpen, "seals its predecessor")
	case c.kind == success && rule.publishesPredecessor:
		p.rolled = *c
		step(s, p, sealCapture, "finds its predecessor committed")
	default:
		step(s, p, sealOpen, "finds its predecessor decided")
	}
}

// rollForward publishes the pair of a predecessor that has committed: capture,
// then the fence, then compare-and-swap.
func (rule sealRule) rollForward(s sealState, me run, p sealPlanner, step stepTo) {
	theirs := publication{p.seen.predecessor, p.rolled.generation}
	lost := p
	lost.captured, lost.manifest, lost.marker = false, publication{}, publication{}
	settled := lost
	lost.tries++
	again := func(what string) {
		if p.tries < 1 {
			step(s, lost, sealCapture, what)
		} else {
			step(s, p, sealDead, "gives up")
		}
	}
	switch p.at {
	case sealCapture:
		p.captured, p.manifest, p.marker = true, s.manifest, s.marker
		step(s, p, sealHelperFence, "captures the pair")
	case sealHelperFence:
		switch {
		case s.fence.ownedBy(me, p.seen.generation) && (rule.helpsWhileOpen || s.fence.state == opening):
			step(s, p, sealManifest, "still holds the fence")
		case s.fence.owner == me && s.fence.state != opening:
			step(s, p, sealDone, "finds that a duplicate has opened")
		default:
			step(s, p, sealSuperseded, "has lost the fence")
		}
	case sealManifest:
		if swap(&s.manifest, p.manifest, theirs) {
			step(s, p, sealMarker, "manifest.json is its predecessor's")
			return
		}
		again("loses the swap of manifest.json, captures again")
	case sealMarker:
		if swap(&s.marker, p.marker, theirs) {
			step(s, settled, sealOpen, "_SUCCESS is its predecessor's")
			return
		}
		again("loses the swap of _SUCCESS, captures again")
	}
}

// open moves the position over the predecessor's window if that starts at it.
func (rule sealRule) open(s sealState, me run, p sealPlanner, step stepTo) {
	window := p.rolled
	if !rule.publishesPredecessor && p.seen.predecessor != nobody && !rule.neverRollsForward {
		window = *s.sidecars.of(p.seen.predecessor)
	}
	position := p.seen.position
	if window.kind == success && window.from == position {
		position = max(position, window.to)
	}
	switch {
	case s.fence == p.seen:
		s.fence.state, s.fence.position, s.fence.predecessor = open, position, nobody
		s.runs[me-1] = planned{true, true, s.fence.generation, position}
		step(s, p, sealDone, "opens")
	case s.fence.owner == me && s.fence.state == open:
		step(s, p, sealDone, "finds that a duplicate has opened")
	default:
		step(s, p, sealSuperseded, "has lost the fence while opening")
	}
}
