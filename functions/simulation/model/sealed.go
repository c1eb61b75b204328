package model

// sealRule is the sealed publication (D15) and the ways to weaken it.
type sealRule struct {
	runs                 run  // the last of the runs
	planners, finalizers int  // of each run
	resumes              int  // of A
	sealsItself          bool // a finalizer that has lost the fence seals its own run
	publishesPredecessor bool // a roll-forward publishes the pair, not only the position
	helpsWhileOpen       bool // it does so though a duplicate may have opened already
	adopts               bool // a success of a lower generation stands; else it is replaced
	neverSeals           bool
	neverRollsForward    bool
	sealsBeforeFence     bool
	ignoresFence         bool // a finalizer does not read the fence (F6)
	resumeWithoutSwap    bool
}

type sealStep uint8

const (
	sealIdle sealStep = iota
	sealTake
	sealLook
	sealPredecessor
	sealCapture
	sealHelperFence
	sealManifest
	sealMarker
	sealOpen
	sealDone
	sealSuperseded
	sealDead
)

type sealPlanner struct {
	at               sealStep
	seen             fence
	inherits         run // the predecessor, as computed from what was seen
	decided          bool
	rolled           sidecar // the predecessor's, if it has committed
	captured         bool
	manifest, marker publication
	tries            uint8
}

const (
	finalizeCapture uint8 = iota
	finalizeFence
	finalizeCommit
	finalizeManifest
	finalizeMarker
	finalizeCursor
	finalizeCaptureAgain
	finalizeDone
	finalizeSuperseded
	finalizeDead
)

type sealFinalizer struct {
	at               uint8
	manifest, marker publication
	generation, from uint8
	adopted          uint8 // generation of the success that stands, if it is not its own
	tries            uint8
}

// planned is what RUN records of a run: that it took the fence, and from which
// position it plans once it has opened.
type planned struct {
	taken, opened    bool
	generation, from uint8
}

type sealState struct {
	fence            fence
	manifest, marker publication
	sidecars         sidecars
	runs             [3]planned
	planners         [4]sealPlanner
	finalizers       [4]sealFinalizer
	resume           sealPlanner
}

// sealed: each run takes the fence, seals its predecessor or rolls it forward,
// opens, and publishes; its commit point is the create-only write of its sidecar.
func sealed(rule sealRule) Model[sealState] {
	return Model[sealState]{
		Start: sealState{fence: fence{state: committed}},
		Steps: func(s sealState, emit Emit[sealState]) {
			for r := runA; r <= rule.runs; r++ {
				for i := range rule.planners {
					rule.plan(s, r, int(r-1)*rule.planners+i, emit)
				}
				if s.runs[r-1].opened {
					for i := range rule.finalizers {
						rule.finalize(s, r, int(r-1)*rule.finalizers+i, emit)
					}
				}
			}
			if rule.resumes > 0 {
				rule.resume(s, emit)
			}
		},
		Violated: func(from, to sealState) string {
			if v := monotone(from.fence, to.fence, from.manifest, to.manifest, from.marker, to.marker); v != "" {
				return v
			}
			if v := to.sidecars.rowsOnce(to.fence.position); v != "" {
				return v
			}
			if rule.publishesPredecessor && from.fence.state == opening && to.fence.state == open && to.fence.position > from.fence.position &&
				(to.manifest == publication{} || to.marker == publication{}) {
				return "M2: opened over a predecessor that has committed and whose pair is absent"
			}
			return ""
		},
	}
}

// resume takes a new generation of A, once.
func (rule sealRule) resume(s sealState, emit Emit[sealState]) {
	step := func(to sealState, at sealStep, seen fence, what string) {
		to.resume.at, to.resume.seen = at, seen
		emit(to, "a resume of A", what)
	}
	p := s.resume
	if p.at < sealDone {
		step(s, sealDead, p.seen, "crashes")
	}
	switch p.at {
	case sealIdle:
		if s.fence.owner == runA && s.fence.state == open && s.sidecars.of(runA).kind != tombstone {
			step(s, sealTake, s.fence, "reads the fence")
		}
	case sealTake:
		if s.fence != p.seen && (!rule.resumeWithoutSwap || s.fence.owner == nobody) {
			step(s, sealSuperseded, p.seen, "loses the swap of the fence")
			return
		}
		generation := s.fence.generation + 1
		s.fence = fence{generation: generation, owner: runA, state: open, position: max(p.seen.position, s.fence.position)}
		s.runs[0] = planned{true, true, generation, p.seen.position}
		step(s, sealDone, p.seen, "takes a new generation")
	}
}
