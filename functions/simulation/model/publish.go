package model

// publishStep is one step of a finalizer, in the order that a variant gives.
type publishStep uint8

const (
	capturePair  publishStep = iota // F5
	readFence                       // F6
	putSidecar                      // F7
	swapManifest                    // F8
	swapMarker                      // F9
	swapCursor                      // F10
	readFenceAgain
	putCursor
)

// publishRule is the order of a finalizer's steps and which guards it leaves out.
type publishRule struct {
	order        []publishStep
	ignoresFence bool
	putsPair     bool
	putsCursor   bool
}

var publishOrder = []publishStep{capturePair, readFence, putSidecar, swapManifest, swapMarker, swapCursor}

type publishPlanner struct {
	at   uint8
	seen fence
}

type publishFinalizer struct {
	at               uint8 // the next step in the order
	end              uint8
	manifest, marker publication
	tries            uint8
}

// How a process has ended; 0: it has not.
const (
	endedWell uint8 = iota + 1
	endedSuperseded
	endedDead
)

type publishState struct {
	fence            fence
	manifest, marker publication
	sidecars         sidecars // of A and B
	taken            [2]bool
	from             [2]uint8
	planners         [2]publishPlanner
	finalizers       [4]publishFinalizer // two of A, two of B
}

// publish: two runs take the fence in either order, each with two finalizers
// that may crash anywhere. A run takes its generation without sealing the other:
// the rule under test is capture, then fence, then compare-and-swap.
func publish(rule publishRule) Model[publishState] {
	return Model[publishState]{
		Start: publishState{fence: fence{state: open}},
		Steps: func(s publishState, emit Emit[publishState]) {
			for i := range s.planners {
				rule.take(s, run(i+1), emit)
			}
			for i := range s.finalizers {
				if of := run(i/2 + 1); s.taken[of-1] {
					rule.finalize(s, i, of, emit)
				}
			}
		},
		Violated: func(from, to publishState) string {
			if v := monotone(from.fence, to.fence, from.manifest, to.manifest, from.marker, to.marker); v != "" {
				return v
			}
			for row := uint8(1); row <= to.fence.position; row++ {
				if !to.sidecars.cover(row) {
					return "V10: a row behind the cursor is in no success manifest"
				}
			}
			return ""
		},
		Ended: func(s publishState) string {
			for i, f := range s.finalizers {
				mine := publication{s.fence.owner, s.fence.generation}
				if f.end == endedWell && s.fence.owner == run(i/2+1) && (s.manifest != mine || s.marker != mine) {
					return "V17: the owner is finished, and the pair is not its own"
				}
			}
			return ""
		},
	}
}

// monotone is V8, V9 and M2 for one step.
func monotone(fromFence, toFence fence, fromManifest, toManifest, fromMarker, toMarker publication) string {
	switch {
	case toFence.position < fromFence.position:
		return "V9: the position goes back"
	case toFence.generation < fromFence.generation:
		return "V8: the fence's generation goes back"
	case toManifest.generation < fromManifest.generation:
		return "V8: an older manifest.json replaces a newer one"
	case toMarker.generation < fromMarker.generation:
		return "V8: an older _SUCCESS replaces a newer one"
	case toMarker != publication{} && toManifest == publication{}:
		return "M2: _SUCCESS without a manifest"
	}
	return ""
}

func (s *sidecars) cover(row uint8) bool {
	for _, c := range s {
		if c.kind == success && c.from < row && row <= c.to {
			return true
		}
	}
	return false
}

// take is the planner of a run: A takes generation 1, B generation 2.
func (rule publishRule) take(s publishState, me run, emit Emit[publishState]) {
	p := &s.planners[me-1]
	who := me.pick("A's planner", "B's planner", "")
	generation := uint8(me)
	switch {
	case p.at == 0 && s.fence.generation >= generation:
		p.at = 3
		emit(s, who, "is superseded")
	case p.at == 0:
		p.at, p.seen = 1, s.fence
		emit(s, who, "reads the fence")
	case p.at == 1 && s.fence == p.seen:
		p.at = 2
		s.taken[me-1], s.from[me-1] = true, s.fence.position
		s.fence = fence{generation: generation, owner: me, state: open, position: s.fence.position}
		emit(s, who, "takes the fence")
	case p.at == 1:
		p.at = 0
		emit(s, who, "loses the swap of the fence")
	}
}

func (rule publishRule) finalize(s publishState, i int, me run, emit Emit[publishState]) {
	f := s.finalizers[i]
	if f.end != 0 {
		return
	}
	who := me.pick("a finalizer of A", "a finalizer of B", "")
	step := func(to publishState, f publishFinalizer, what string) {
		to.finalizers[i] = f
		emit(to, who, what)
	}
	end := func(how uint8, what string) {
		f.at, f.end = 0, how
		step(s, f, what)
	}
	next := func(to publishState, f publishFinalizer, what string) {
		if f.at++; int(f.at) == len(rule.order) {
			f.at, f.end = 0, endedWell
		}
		step(to, f, what)
	}
	swapped := func(object *publication, captured publication, what, lost string) {
		mine := publication{me, uint8(me)}
		switch {
		case rule.putsPair || *object == captured || *object == mine:
			*object = mine
			next(s, f, what)
		case f.tries < 2:
			f.at, f.tries = 0, f.tries+1
			step(s, f, lost)
		default:
			end(endedDead, "gives up")
		}
	}
	dead := f
	dead.at, dead.end = 0, endedDead
	step(s, dead, "crashes")

	from, to := s.from[me-1], me.horizon()
	held := s.fence.ownedBy(me, uint8(me))
	after := fence{generation: uint8(me), owner: me, state: committed, position: to}
	switch rule.order[f.at] {
	case capturePair:
		f.manifest, f.marker = s.manifest, s.marker
		next(s, f, "captures the pair (F5)")
	case readFence:
		if held || rule.ignoresFence {
			next(s, f, "still owns the fence (F6)")
			return
		}
		end(endedSuperseded, "has lost the fence (F6)")
	case putSidecar:
		*s.sidecars.of(me) = sidecar{success, from, to, uint8(me)}
		next(s, f, "stores the sidecar (F7)")
	case swapManifest:
		swapped(&s.manifest, f.manifest, "manifest.json is its own (F8)", "loses the swap of manifest.json, captures again")
	case swapMarker:
		swapped(&s.marker, f.marker, "_SUCCESS is its own (F9)", "loses the swap of _SUCCESS, captures again")
	case swapCursor:
		if rule.putsCursor || s.fence == after || s.fence == (fence{generation: uint8(me), owner: me, state: open, position: from}) {
			s.fence = after
			next(s, f, "commits the cursor (F10)")
			return
		}
		end(endedSuperseded, "loses the swap of the cursor (F10)")
	case readFenceAgain:
		if held {
			next(s, f, "reads the fence again")
			return
		}
		end(endedSuperseded, "has lost the fence at last")
	case putCursor:
		s.fence = after
		next(s, f, "stores the cursor without a version")
	}
}
