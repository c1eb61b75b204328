package model

// reanchorRule is what --reanchor and a resume's quarantine may leave out.
type reanchorRule struct {
	restarts             bool // the new generation is 1
	takesMaximum         bool // it is the maximum, not one more
	ignoresPartNames     bool // part names do not count for the maximum
	ignoresQuarantine    bool // names in the quarantine do not count for it
	leavesUnsealed       bool // plans without a sidecar are not tombstoned
	countsBeforeSealing  bool // the maximum is taken before the tombstones are put
	readsBeforeSealing   bool // the position is taken before the tombstones are put
	putsDocument         bool // the new document is stored, not created
	quarantinesUnchecked bool // a resume moves parts without reading the fence after it has listed them
}

// reanchorScope is how many resumes and workers of A and re-anchoring planners
// there are, up to two of each.
type reanchorScope struct{ resumes, workers, planners int }

// firstGeneration is that of run A when its document is lost.
const firstGeneration uint8 = 3

const generations = 8

type reanchorPlanner struct {
	at, generation, position uint8
}

const (
	reanchorIdle uint8 = iota
	reanchorSeal
	reanchorCount
	reanchorPosition
	reanchorCreate
	reanchorRecord
	reanchorEnded
)

type reanchorResume struct {
	at         uint8
	generation uint8
	recorded   uint8 // the generation of the part that the table records
	listed     uint8 // the generations whose parts it is going to move
}

const (
	resumeIdle uint8 = iota
	resumeSwap
	resumeRecord
	resumeQuery
	resumeList
	resumeFence
	resumeMove
	resumeEnded
)

// reanchorTask is the one chunk of a run: the generation of the part that it
// records, once completed.
type reanchorTask struct{ at, generation, recorded uint8 }

type reanchorState struct {
	lost             bool  // the operator has deleted the document
	fence            fence // as it was or is; not there while lost and not anchored
	anchored         bool
	manifest, marker publication
	sidecars         [2]sidecar // of A and C
	planOfA          bool
	runs             [2]uint8           // RUN's generation of A and C
	parts            [generations]run   // whose part bears the generation
	quarantined      uint8              // generations of parts in the quarantine
	tasks            [2]reanchorTask    // of A and C, with their worker
	zombie           reanchorTask       // another worker of A
	finalizers       [2]sealFinalizer   // of A and C
	resumes          [2]reanchorResume  // of A
	planners         [2]reanchorPlanner // of C
}

func (s *reanchorState) document() bool { return !s.lost || s.anchored }

// owns reports whether the document is there and names the run.
func (s *reanchorState) owns(r run, generation uint8) bool {
	return s.document() && s.fence.ownedBy(r, generation)
}

// reanchor: while run A plans, extracts, is resumed and publishes, its document
// is deleted, and one or two deliveries of a re-anchoring run C start over.
func reanchor(rule reanchorRule, scope reanchorScope) Model[reanchorState] {
	start := reanchorState{
		fence: fence{generation: firstGeneration, owner: runA, state: open},
		runs:  [2]uint8{firstGeneration, 0},
	}
	for i := scope.resumes; i < len(start.resumes); i++ {
		start.resumes[i].at = resumeEnded
	}
	for i := scope.planners; i < len(start.planners); i++ {
		start.planners[i].at = reanchorEnded
	}
	if scope.workers < 2 {
		start.zombie.at = 3
	}
	return Model[reanchorState]{
		Start: start,
		Steps: func(s reanchorState, emit Emit[reanchorState]) {
			if !s.lost {
				to := s
				to.lost, to.fence = true, fence{}
				emit(to, "operator", "deletes cursor.json")
			}
			if !s.planOfA {
				to := s
				to.planOfA = true
				emit(to, "a planner of A", "creates plan.json")
			}
			for i := range s.resumes {
				rule.resume(s, i, emit)
			}
			for i := range s.planners {
				rule.plan(s, i, emit)
			}
			rule.work(s, emit)
			rule.finalize(s, runA, 0, emit)
			rule.finalize(s, runC, 1, emit)
		},
		Violated: func(from, to reanchorState) string {
			before := from.fence
			if !from.document() || !to.document() || to.lost && !from.lost {
				before = fence{}
			}
			if v := monotone(before, to.fence, from.manifest, to.manifest, from.marker, to.marker); v != "" {
				return v
			}
			return to.violated()
		},
	}
}

func (s *reanchorState) violated() string {
	a, c := s.sidecars[0], s.sidecars[1]
	switch {
	case a.kind == success && c.kind == success && a.generation == c.generation:
		return "V12: two runs have committed one generation"
	case a.kind == success && c.kind == success && c.from < a.to:
		return "V10: a row is in two success manifests"
	}
	for i, t := range s.tasks {
		if of := [...]run{runA, runC}[i]; t.recorded != 0 && s.parts[t.recorded] != of {
			return "V4: a completed chunk records a part that is not stored"
		}
	}
	if s.document() && s.fence.owner == runC && s.fence.position > 0 && a.kind != success && (c.kind != success || c.from > 0) {
		return "V10: a row behind the cursor is in no success manifest"
	}
	return ""
}
