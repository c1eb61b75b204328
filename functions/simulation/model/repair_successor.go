package model

// succeed is the planner of B: take the fence, seal A or roll it forward, open.
func (rule repairRule) succeed(s repairState, emit Emit[repairState]) {
	p := s.successor
	step := func(to repairState, p repairPlanner, what string) {
		to.successor = p
		emit(to, "B's planner", what)
	}
	switch p.at {
	case repairIdle:
		step(s, repairPlanner{at: repairSeen, seen: s.fence}, "reads the fence")
		step(s, repairPlanner{at: repairStopped}, "is never started")
	case repairSeen:
		if s.fence != p.seen {
			step(s, repairPlanner{}, "loses the swap of the fence")
			return
		}
		s.fence = fence{s.fence.generation + 1, runB, opening, s.fence.position, s.fence.inherited()}
		step(s, repairPlanner{at: repairTaken, seen: s.fence}, "takes the fence")
	case repairTaken:
		switch {
		case p.seen.predecessor == nobody:
			p.at = repairOpened
			step(s, p, "has no predecessor to seal")
		case s.a.kind == absent:
			s.a.kind, p.at = tombstone, repairOpened
			step(s, p, "seals A")
		case s.a.kind == tombstone:
			p.at = repairOpened
			step(s, p, "finds A sealed")
		case s.a.generation <= s.lost && !rule.trustsLost:
			step(s, repairPlanner{at: repairDamaged}, "finds a part of A lost: predecessor_damaged")
		case rule.sidecarFirst:
			p.at, p.publishes = repairSealing, s.a.generation
			step(s, p, "finds A committed and reads its sidecar")
		default:
			p.at = repairSealing
			step(s, p, "finds A committed")
		}
	case repairSealing:
		p.at, p.manifest, p.marker = repairCaptured, s.manifest, s.marker
		step(s, p, "captures the pair")
	case repairCaptured:
		if s.fence != p.seen {
			step(s, repairPlanner{at: repairStopped}, "has lost the fence")
			return
		}
		p.at = repairHelping
		step(s, p, "still holds the fence, opening")
	case repairHelping:
		p.at = repairRolling
		if !rule.sidecarFirst {
			p.publishes = s.a.generation
		}
		step(s, p, "reads A's sidecar")
	case repairRolling, repairMarking:
		if p.at == repairRolling {
			if p.at = repairMarking; swap(&s.manifest, p.manifest, publication{runA, p.publishes}) {
				step(s, p, "manifest.json is A's")
				return
			}
		} else if p.at = repairOpened; swap(&s.marker, p.marker, publication{runA, p.publishes}) {
			step(s, repairPlanner{at: repairOpened, seen: p.seen}, "_SUCCESS is A's")
			return
		}
		p.at = repairSealing
		step(s, p, "loses a swap, captures again")
	case repairOpened:
		if s.fence != p.seen {
			step(s, repairPlanner{at: repairStopped}, "has lost the fence")
			return
		}
		s.fence.state, s.fence.predecessor = open, nobody
		if p.seen.predecessor == runA && s.a.kind == success && s.fence.position == 0 {
			s.fence.position = 1
		}
		s.generationB, s.fromB = s.fence.generation, rowLateEqual|rowOfB
		if s.fence.position == 0 {
			s.fromB |= rowOfA
		}
		step(s, repairPlanner{at: repairFinished}, "opens and plans its window")
	}
}

// finalizeB publishes B.
func (rule repairRule) finalizeB(s repairState, emit Emit[repairState]) {
	f := s.next
	step := func(to repairState, f repairFinalizer, what string) {
		to.next = f
		emit(to, "B's finalizer", what)
	}
	switch f.at {
	case repairIdle:
		if s.generationB != 0 {
			step(s, repairFinalizer{at: repairCaptured, manifest: s.manifest, marker: s.marker}, "captures the pair (F5)")
		}
	case repairCaptured:
		f.at = repairFenced
		step(s, f, "still owns the fence (F6)")
	case repairFenced:
		s.b = repairSidecar{success, s.generationB, s.fromB}
		f.at = repairPublishing
		step(s, f, "creates the sidecar: B has committed (F7)")
	case repairPublishing, repairMarking:
		if f.at == repairPublishing {
			if f.at = repairMarking; swap(&s.manifest, f.manifest, publication{runB, s.generationB}) {
				step(s, f, "manifest.json is its own (F8)")
				return
			}
		} else if f.at = repairAdvancing; swap(&s.marker, f.marker, publication{runB, s.generationB}) {
			step(s, f, "_SUCCESS is its own (F9)")
			return
		}
		step(s, repairFinalizer{}, "loses a swap, captures again")
	case repairAdvancing:
		s.fence.state, s.fence.position = committed, 2
		step(s, repairFinalizer{at: repairFinished}, "commits the cursor (F10)")
	}
}
