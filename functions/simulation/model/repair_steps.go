package model

// finalizeA is one finalizer of A, F1 to F10, of whatever generation and intent
// RUN names when it begins. It may stop anywhere.
func (rule repairRule) finalizeA(s repairState, i int, emit Emit[repairState]) {
	f := s.first[i]
	const who = "a finalizer of A"
	step := func(to repairState, f repairFinalizer, what string) {
		to.first[i] = f
		emit(to, who, what)
	}
	end := repairFinalizer{at: stopped}
	if f.at != idle && f.at < finished {
		step(s, end, "crashes")
	}
	switch f.at {
	case idle:
		if i == 0 || s.first[i-1].at != idle { // finalizers are alike: the first starts first
			step(s, repairFinalizer{at: begun, generation: s.generation, forced: s.forced}, s.generationWords("begins"))
		}
	case begun:
		f.at, f.manifest, f.marker = captured, s.manifest, s.marker
		step(s, f, "captures the pair (F5)")
	case captured:
		f.at = fenced
		switch {
		case rule.ignoresFence && f.forced:
			step(s, f, "goes on without reading the fence")
		case s.fence.ownedBy(runA, f.generation) && s.fence.state != opening && (!f.forced || rule.opens || s.fence.state == committed):
			step(s, f, "still owns the fence (F6)")
		case s.fence.owner != runA && s.a.kind == absent:
			s.a.kind = tombstone
			step(s, end, "has lost the fence and seals itself (F6)")
		default:
			step(s, end, "has lost the fence (F6)")
		}
	case fenced:
		switch {
		case s.a.kind == tombstone:
			step(s, end, "finds itself sealed")
		case s.a.kind == absent:
			s.a = repairSidecar{success, f.generation, rowOfA}
			f.at, f.publishes = publishing, f.generation
			step(s, f, "creates the sidecar: A has committed (F7)")
		case !f.forced || rule.keepsAny || s.a.generation == f.generation:
			f.at, f.publishes = publishing, s.a.generation
			step(s, f, "adopts the sidecar that stands (F7)")
		case s.a.generation > f.generation && !rule.putsSidecar:
			step(s, end, "finds the sidecar of a later repair")
		default:
			f.at, f.read = replacing, s.a.generation
			step(s, f, "reads the sidecar to replace (F7)")
		}
	case replacing:
		if s.a.generation != f.read && !rule.putsSidecar {
			f.at, f.read = fenced, 0
			step(s, f, "loses the swap of the sidecar")
			return
		}
		s.a = repairSidecar{success, f.generation, rowOfA}
		if rule.readsWindow {
			s.a.rows |= rowLateEqual
		}
		f.at, f.read, f.publishes = publishing, 0, f.generation
		step(s, f, "replaces the sidecar (F7)")
	case publishing, marking:
		again := repairFinalizer{at: begun, generation: f.generation, forced: f.forced}
		if f.at == publishing {
			f.at = marking
			if swap(&s.manifest, f.manifest, publication{runA, f.publishes}) {
				step(s, f, "manifest.json is its own (F8)")
				return
			}
		} else if f.at = advancing; swap(&s.marker, f.marker, publication{runA, f.publishes}) {
			step(s, f, "_SUCCESS is its own (F9)")
			return
		}
		step(s, again, "loses a swap, captures again")
	case advancing:
		won := repairFinalizer{at: finished, generation: f.generation, forced: f.forced}
		switch {
		case s.fence.ownedBy(runA, f.generation) && s.fence.state == open:
			s.fence.state, s.fence.position = committed, 1
			step(s, won, "commits the cursor (F10)")
		case s.fence.ownedBy(runA, f.generation):
			step(s, won, "finds the cursor committed (F10)")
		default:
			step(s, end, "finds that the fence has moved on (F10)")
		}
	}
}

func (s repairState) generationWords(verb string) string {
	if s.forced {
		return verb + " for a forced repair"
	}
	return verb
}

// swap replaces what was captured by body. An object that is body already is
// left as it is; false means that someone else wrote first.
func swap(object *publication, captured, body publication) bool {
	if *object != captured && *object != body {
		return false
	}
	*object = body
	return true
}

// force is the planner of one forced repair.
func (rule repairRule) force(s repairState, i int, emit Emit[repairState]) {
	p := s.repairs[i]
	if i > 0 && s.repairs[i-1].at == idle {
		return
	}
	step := func(to repairState, p repairPlanner, what string) {
		to.repairs[i] = p
		emit(to, "a forced repair", what)
	}
	switch p.at {
	case idle:
		if s.fence.owner == runA && s.a.kind == success && (s.fence.state == committed || rule.opens && s.fence.state == open && s.forced) {
			step(s, repairPlanner{at: seen, seen: s.fence}, "reads the fence")
		}
	case seen:
		if s.fence != p.seen {
			step(s, repairPlanner{at: stopped}, "loses the swap of the fence")
			return
		}
		s.fence.generation++
		if rule.opens {
			s.fence.state = open
		}
		step(s, repairPlanner{at: taken, seen: s.fence}, "takes a new generation")
		step(s, repairPlanner{at: stopped}, "takes a new generation and dies")
	case taken:
		if s.generation < p.seen.generation {
			s.generation, s.forced = p.seen.generation, true
		}
		step(s, repairPlanner{at: finished}, "records the generation in RUN (T17b)")
	}
}

// resumeA is one resume of A without force.
func (rule repairRule) resumeA(s repairState, emit Emit[repairState]) {
	step := func(to repairState, p repairPlanner, what string) {
		to.resume = p
		emit(to, "a resume of A", what)
	}
	switch s.resume.at {
	case idle:
		if s.fence.owner == runA && s.fence.state == open && (!s.forced || rule.unforcedResume) && s.a.kind != tombstone {
			step(s, repairPlanner{at: seen, seen: s.fence}, "reads the fence")
		}
	case seen:
		if s.fence != s.resume.seen {
			step(s, repairPlanner{at: stopped}, "loses the swap of the fence")
			return
		}
		s.fence.generation++
		step(s, repairPlanner{at: taken, seen: s.fence}, "takes a new generation")
	case taken:
		if s.generation < s.resume.seen.generation {
			s.generation, s.forced = s.resume.seen.generation, false
		}
		step(s, repairPlanner{at: finished}, "records the generation in RUN (T17b)")
	}
}

// succeed is the planner of B: take the fence, seal A or roll it forward, open.
func (rule repairRule) succeed(s repairState, emit Emit[repairState]) {
	p := s.successor
	step := func(to repairState, p repairPlanner, what string) {
		to.successor = p
		emit(to, "B's planner", what)
	}
	switch p.at {
	case idle:
		step(s, repairPlanner{at: seen, seen: s.fence}, "reads the fence")
		step(s, repairPlanner{at: stopped}, "is never started")
	case seen:
		if s.fence != p.seen {
			step(s, repairPlanner{}, "loses the swap of the fence")
			return
		}
		s.fence = fence{s.fence.generation + 1, runB, opening, s.fence.position, s.fence.inherited()}
		step(s, repairPlanner{at: taken, seen: s.fence}, "takes the fence")
	case taken:
		switch {
		case p.seen.predecessor == nobody:
			p.at = opened
			step(s, p, "has no predecessor to seal")
		case s.a.kind == absent:
			s.a.kind, p.at = tombstone, opened
			step(s, p, "seals A")
		case s.a.kind == tombstone:
			p.at = opened
			step(s, p, "finds A sealed")
		case s.a.generation <= s.lost && !rule.trustsLost:
			step(s, repairPlanner{at: damaged}, "finds a part of A lost: predecessor_damaged")
		case rule.sidecarFirst:
			p.at, p.publishes = sealing, s.a.generation
			step(s, p, "finds A committed and reads its sidecar")
		default:
			p.at = sealing
			step(s, p, "finds A committed")
		}
	case sealing:
		p.at, p.manifest, p.marker = captured, s.manifest, s.marker
		step(s, p, "captures the pair")
	case captured:
		if s.fence != p.seen {
			step(s, repairPlanner{at: stopped}, "has lost the fence")
			return
		}
		p.at = helping
		step(s, p, "still holds the fence, opening")
	case helping:
		p.at = rolling
		if !rule.sidecarFirst {
			p.publishes = s.a.generation
		}
		step(s, p, "reads A's sidecar")
	case rolling, marking:
		if p.at == rolling {
			if p.at = marking; swap(&s.manifest, p.manifest, publication{runA, p.publishes}) {
				step(s, p, "manifest.json is A's")
				return
			}
		} else if p.at = opened; swap(&s.marker, p.marker, publication{runA, p.publishes}) {
			step(s, repairPlanner{at: opened, seen: p.seen}, "_SUCCESS is A's")
			return
		}
		p.at = sealing
		step(s, p, "loses a swap, captures again")
	case opened:
		if s.fence != p.seen {
			step(s, repairPlanner{at: stopped}, "has lost the fence")
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
		step(s, repairPlanner{at: finished}, "opens and plans its window")
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
	case idle:
		if s.generationB != 0 {
			step(s, repairFinalizer{at: captured, manifest: s.manifest, marker: s.marker}, "captures the pair (F5)")
		}
	case captured:
		f.at = fenced
		step(s, f, "still owns the fence (F6)")
	case fenced:
		s.b = repairSidecar{success, s.generationB, s.fromB}
		f.at = publishing
		step(s, f, "creates the sidecar: B has committed (F7)")
	case publishing, marking:
		if f.at == publishing {
			if f.at = marking; swap(&s.manifest, f.manifest, publication{runB, s.generationB}) {
				step(s, f, "manifest.json is its own (F8)")
				return
			}
		} else if f.at = advancing; swap(&s.marker, f.marker, publication{runB, s.generationB}) {
			step(s, f, "_SUCCESS is its own (F9)")
			return
		}
		step(s, repairFinalizer{}, "loses a swap, captures again")
	case advancing:
		s.fence.state, s.fence.position = committed, 2
		step(s, repairFinalizer{at: finished}, "commits the cursor (F10)")
	}
}
