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
	end := repairFinalizer{at: repairStopped}
	if f.at != repairIdle && f.at < repairFinished {
		step(s, end, "crashes")
	}
	switch f.at {
	case repairIdle:
		if i == 0 || s.first[i-1].at != repairIdle { // finalizers are alike: the first starts first
			step(s, repairFinalizer{at: repairBegun, generation: s.generation, forced: s.forced}, s.generationWords("begins"))
		}
	case repairBegun:
		f.at, f.manifest, f.marker = repairCaptured, s.manifest, s.marker
		step(s, f, "captures the pair (F5)")
	case repairCaptured:
		f.at = repairFenced
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
	case repairFenced:
		switch {
		case s.a.kind == tombstone:
			step(s, end, "finds itself sealed")
		case s.a.kind == absent:
			s.a = repairSidecar{success, f.generation, rowOfA}
			f.at, f.publishes = repairPublishing, f.generation
			step(s, f, "creates the sidecar: A has committed (F7)")
		case !f.forced || rule.keepsAny || s.a.generation == f.generation:
			f.at, f.publishes = repairPublishing, s.a.generation
			step(s, f, "adopts the sidecar that stands (F7)")
		case s.a.generation > f.generation && !rule.putsSidecar:
			step(s, end, "finds the sidecar of a later repair")
		default:
			f.at, f.read = repairReplacing, s.a.generation
			step(s, f, "reads the sidecar to replace (F7)")
		}
	case repairReplacing:
		if s.a.generation != f.read && !rule.putsSidecar {
			f.at, f.read = repairFenced, 0
			step(s, f, "loses the swap of the sidecar")
			return
		}
		s.a = repairSidecar{success, f.generation, rowOfA}
		if rule.readsWindow {
			s.a.rows |= rowLateEqual
		}
		f.at, f.read, f.publishes = repairPublishing, 0, f.generation
		step(s, f, "replaces the sidecar (F7)")
	case repairPublishing, repairMarking:
		again := repairFinalizer{at: repairBegun, generation: f.generation, forced: f.forced}
		if f.at == repairPublishing {
			f.at = repairMarking
			if swap(&s.manifest, f.manifest, publication{runA, f.publishes}) {
				step(s, f, "manifest.json is its own (F8)")
				return
			}
		} else if f.at = repairAdvancing; swap(&s.marker, f.marker, publication{runA, f.publishes}) {
			step(s, f, "_SUCCESS is its own (F9)")
			return
		}
		step(s, again, "loses a swap, captures again")
	case repairAdvancing:
		won := repairFinalizer{at: repairFinished, generation: f.generation, forced: f.forced}
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

// force is the planner of one forced repair.
func (rule repairRule) force(s repairState, i int, emit Emit[repairState]) {
	p := s.repairs[i]
	if i > 0 && s.repairs[i-1].at == repairIdle {
		return
	}
	step := func(to repairState, p repairPlanner, what string) {
		to.repairs[i] = p
		emit(to, "a forced repair", what)
	}
	switch p.at {
	case repairIdle:
		again := s.fence.state == open && (rule.opens && s.forced || rule.endsPublication)
		if s.fence.owner == runA && s.a.kind == success && (s.fence.state == committed || again) {
			step(s, repairPlanner{at: repairSeen, seen: s.fence}, "reads the fence")
		}
	case repairSeen:
		if s.fence != p.seen {
			step(s, repairPlanner{at: repairStopped}, "loses the swap of the fence")
			return
		}
		s.fence.generation++
		if s.fence.state = committed; rule.opens {
			s.fence.state = open
		}
		if rule.endsPublication {
			s.fence.position = 1
		}
		step(s, repairPlanner{at: repairTaken, seen: s.fence}, "takes a new generation")
		step(s, repairPlanner{at: repairStopped}, "takes a new generation and dies")
	case repairTaken:
		if s.generation < p.seen.generation {
			s.generation, s.forced = p.seen.generation, true
		}
		step(s, repairPlanner{at: repairFinished}, "records the generation in RUN (T17b)")
	}
}

// resumeA is one resume of A without force.
func (rule repairRule) resumeA(s repairState, emit Emit[repairState]) {
	step := func(to repairState, p repairPlanner, what string) {
		to.resume = p
		emit(to, "a resume of A", what)
	}
	switch s.resume.at {
	case repairIdle:
		if s.fence.owner == runA && s.fence.state == open && (!s.forced || rule.unforcedResume) && s.a.kind != tombstone {
			step(s, repairPlanner{at: repairSeen, seen: s.fence}, "reads the fence")
		}
	case repairSeen:
		if s.fence != s.resume.seen {
			step(s, repairPlanner{at: repairStopped}, "loses the swap of the fence")
			return
		}
		s.fence.generation++
		step(s, repairPlanner{at: repairTaken, seen: s.fence}, "takes a new generation")
	case repairTaken:
		if s.generation < s.resume.seen.generation {
			s.generation, s.forced = s.resume.seen.generation, false
		}
		step(s, repairPlanner{at: repairFinished}, "records the generation in RUN (T17b)")
	}
}
