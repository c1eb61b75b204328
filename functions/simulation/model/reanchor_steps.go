package model

// plan is a planner of C: tombstones, then the generation, then the position,
// then the document.
func (rule reanchorRule) plan(s reanchorState, i int, emit Emit[reanchorState]) {
	p := s.planners[i]
	if i > 0 && s.planners[i-1].at == reanchorIdle {
		return
	}
	step := func(to reanchorState, at uint8, what string) {
		p.at = at
		to.planners[i] = p
		emit(to, [...]string{"the re-anchoring planner", "its duplicate"}[i], what)
	}
	next := [...]uint8{reanchorIdle: reanchorSeal, reanchorSeal: reanchorCount, reanchorCount: reanchorPosition, reanchorPosition: reanchorCreate}
	switch {
	case rule.countsBeforeSealing:
		next = [...]uint8{reanchorIdle: reanchorCount, reanchorCount: reanchorSeal, reanchorSeal: reanchorPosition, reanchorPosition: reanchorCreate}
	case rule.readsBeforeSealing:
		next = [...]uint8{reanchorIdle: reanchorPosition, reanchorPosition: reanchorSeal, reanchorSeal: reanchorCount, reanchorCount: reanchorCreate}
	}
	switch p.at {
	case reanchorIdle:
		if s.lost && !s.anchored {
			step(s, next[p.at], "finds no document")
		}
	case reanchorSeal:
		if s.planOfA && s.sidecars[0].kind == absent && !rule.leavesUnsealed {
			s.sidecars[0].kind = tombstone
			step(s, next[p.at], "seals A, which has a plan and no sidecar")
			return
		}
		step(s, next[p.at], "finds nothing to seal")
	case reanchorCount:
		p.generation = rule.count(s)
		step(s, next[p.at], "takes the maximum of the generations")
	case reanchorPosition:
		if s.sidecars[0].kind == success {
			p.position = s.sidecars[0].to
		}
		step(s, next[p.at], "takes the position from the sidecars")
	case reanchorCreate:
		if s.anchored && !rule.putsDocument {
			step(s, reanchorRecord, "finds that the document is there")
			return
		}
		s.anchored = true
		s.fence = fence{generation: p.generation, owner: runC, state: open, position: p.position}
		step(s, reanchorRecord, "creates the document")
	case reanchorRecord:
		if s.runs[1] == 0 {
			s.runs[1] = s.fence.generation
		}
		p = reanchorPlanner{}
		step(s, reanchorEnded, "records its generation (T2)")
	}
}

func (rule reanchorRule) count(s reanchorState) uint8 {
	if rule.restarts {
		return 1
	}
	most := firstGeneration - 1 // of an older run, whose sidecar is there
	if s.planOfA {
		most = max(most, firstGeneration)
	}
	for _, c := range s.sidecars {
		most = max(most, c.generation)
	}
	for g := range uint8(generations) {
		if !rule.ignoresPartNames && s.parts[g] != nobody || !rule.ignoresQuarantine && s.quarantined>>g&1 == 1 {
			most = max(most, g)
		}
	}
	if rule.takesMaximum {
		return most
	}
	return most + 1
}

// resume is a planner that resumes A: a new generation, then the quarantine of
// older parts that no task records.
func (rule reanchorRule) resume(s reanchorState, i int, emit Emit[reanchorState]) {
	p := s.resumes[i]
	if i > 0 && s.resumes[i-1].at == resumeIdle {
		return
	}
	step := func(to reanchorState, p reanchorResume, what string) {
		to.resumes[i] = p
		emit(to, [...]string{"a resume of A", "a second resume of A"}[i], what)
	}
	end := reanchorResume{at: resumeEnded}
	switch p.at {
	case resumeIdle:
		if s.document() && s.fence.owner == runA && s.fence.state == open {
			step(s, reanchorResume{at: resumeSwap, generation: s.fence.generation}, "reads the fence")
		}
	case resumeSwap:
		if !s.owns(runA, p.generation) || s.fence.state != open {
			step(s, end, "loses the swap of the fence")
			return
		}
		s.fence.generation++
		step(s, reanchorResume{at: resumeRecord, generation: p.generation + 1}, "takes a new generation")
	case resumeRecord:
		if s.runs[0] >= p.generation {
			step(s, end, "is refused by RUN")
			return
		}
		s.runs[0] = p.generation
		p.at = resumeQuery
		step(s, p, "records its generation (T17b)")
	case resumeQuery:
		p.at, p.recorded = resumeList, s.tasks[0].recorded
		step(s, p, "asks which parts are recorded (R4)")
	case resumeList:
		for g := range p.generation {
			if of := s.parts[g]; of != nobody && g != p.recorded && !(of == runC && s.sidecars[1].kind == success) {
				p.listed |= 1 << g
			}
		}
		p.at = resumeFence
		if p.listed == 0 {
			p = end
		} else if rule.quarantinesUnchecked {
			p.at = resumeMove
		}
		step(s, p, "lists the prefix (R5)")
	case resumeFence:
		if !s.owns(runA, p.generation) {
			step(s, end, "has lost the fence")
			return
		}
		p.at = resumeMove
		step(s, p, "still owns the fence")
	case resumeMove:
		for g := range uint8(generations) {
			if p.listed>>g&1 == 1 {
				s.parts[g] = nobody
				s.quarantined |= 1 << g
			}
		}
		step(s, p, "quarantines the parts again")
		step(s, end, "quarantines the parts")
	}
}

// work is the workers: two of A, of whatever generation RUN names, one of C.
func (rule reanchorRule) work(s reanchorState, emit Emit[reanchorState]) {
	rule.extract(s, runA, 0, func(s *reanchorState) *reanchorTask { return &s.tasks[0] }, emit)
	rule.extract(s, runA, 0, func(s *reanchorState) *reanchorTask { return &s.zombie }, emit)
	if s.runs[1] != 0 {
		rule.extract(s, runC, 1, func(s *reanchorState) *reanchorTask { return &s.tasks[1] }, emit)
	}
}

func (rule reanchorRule) extract(s reanchorState, me run, of int, worker func(*reanchorState) *reanchorTask, emit Emit[reanchorState]) {
	w := worker(&s)
	step := func(what string) { emit(s, me.pick("a worker of A", "", "a worker of C"), what) }
	switch w.at {
	case 0:
		if (me == runC || s.planOfA) && s.tasks[of].recorded == 0 {
			w.at, w.generation = 1, s.runs[of]
			step("claims the chunk (T6)")
		}
	case 1:
		w.at = 2
		if s.parts[w.generation] == nobody {
			s.parts[w.generation] = me
		}
		step("stores its part")
	case 2:
		w.at = 3
		if s.tasks[of].recorded == 0 && s.runs[of] == w.generation && s.parts[w.generation] == me {
			s.tasks[of].recorded = w.generation
			step("completes the chunk (T8)")
			return
		}
		step("is fenced off")
	}
}

// finalize is a finalizer of A or C: one that has ended may be called again by
// another generation.
func (rule reanchorRule) finalize(s reanchorState, me run, i int, emit Emit[reanchorState]) {
	f := s.finalizers[i]
	own := &s.sidecars[i]
	step := func(f sealFinalizer, at uint8, what string) {
		f.at = at
		s.finalizers[i] = f
		emit(s, me.pick("a finalizer of A", "", "a finalizer of C"), what)
	}
	mine := publication{me, own.generation}
	switch f.at {
	case finalizeCapture:
		if s.tasks[i].recorded != 0 && s.runs[i] != f.generation {
			f = sealFinalizer{generation: s.runs[i], manifest: s.manifest, marker: s.marker}
			step(f, finalizeFence, "captures the pair (F5)")
		}
	case finalizeFence:
		switch {
		case s.owns(me, f.generation):
			f.from = s.fence.position
			step(f, finalizeCommit, "still owns the fence (F6)")
		case s.document() && s.fence.owner != me && own.kind == absent:
			own.kind = tombstone
			step(sealFinalizer{}, finalizeDone, "has lost the fence and seals itself (F6)")
		default:
			step(sealFinalizer{generation: f.generation}, finalizeCapture, "does not own the fence (F6)")
		}
	case finalizeCommit:
		switch own.kind {
		case absent:
			*own = sidecar{success, f.from, max(f.from, me.horizon()), f.generation}
			step(f, finalizeManifest, "creates the sidecar: the run has committed (F7)")
		case success:
			step(f, finalizeManifest, "adopts the sidecar that stands (F7)")
		default:
			step(sealFinalizer{}, finalizeDone, "finds itself sealed (F7)")
		}
	case finalizeManifest:
		if swap(&s.manifest, f.manifest, mine) {
			step(f, finalizeMarker, "manifest.json is its own (F8)")
			return
		}
		step(sealFinalizer{}, finalizeCapture, "loses the swap of manifest.json (F8)")
	case finalizeMarker:
		if swap(&s.marker, f.marker, mine) {
			step(f, finalizeCursor, "_SUCCESS is its own (F9)")
			return
		}
		step(sealFinalizer{}, finalizeCapture, "loses the swap of _SUCCESS (F9)")
	case finalizeCursor:
		if s.owns(me, f.generation) && s.fence.state == open {
			s.fence.state, s.fence.position = committed, own.to
			step(sealFinalizer{}, finalizeDone, "commits the cursor (F10)")
			return
		}
		step(sealFinalizer{}, finalizeDone, "finds that the fence has moved on (F10)")
	}
}
