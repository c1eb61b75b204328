package model

// repairRule is what a forced repair may do: resume --force of run A, which has
// committed and has lost a part since. Each true field but the first is a way to
// be wrong.
type repairRule struct {
	endsPublication bool // a repair commits the fence of a run whose publication was cut short

	opens          bool // the new generation makes the fence open again, as a resume does
	sidecarFirst   bool // a roll-forward reads the sidecar before it captures the pair
	trustsLost     bool // a roll-forward does not verify the parts of a run that has been committed once
	readsWindow    bool // it reads its whole window again, not only the keys delivered at its end
	putsSidecar    bool // it stores the sidecar without a version
	ignoresFence   bool // it publishes without reading the fence
	keepsAny       bool // it adopts the success that stands, as a resume does
	unforcedResume bool // a resume without force goes on with a repair that is open
}

// The rows of the repair model: one in A's window, one that arrives later with
// the cursor value at which that window ends, and one behind it.
const (
	rowOfA uint8 = 1 << iota
	rowLateEqual
	rowOfB
)

type repairSidecar struct {
	kind       sidecarKind
	generation uint8
	rows       uint8
}

type repairFinalizer struct {
	at               repairStep
	generation       uint8
	forced           bool
	manifest, marker publication // captured
	read             uint8       // generation of the sidecar that was read
	publishes        uint8       // generation of the bytes that this finalizer publishes
}

type repairPlanner struct {
	at               repairStep
	seen             fence
	manifest, marker publication
	publishes        uint8
}

type repairStep uint8

const (
	repairIdle repairStep = iota
	repairBegun
	repairCaptured
	repairFenced
	repairReplacing
	repairPublishing
	repairMarking
	repairAdvancing
	repairSeen
	repairTaken
	repairSealing
	repairRolling
	repairHelping
	repairOpened
	repairFinished
	repairDamaged
	repairStopped
)

type repairState struct {
	fence            fence
	manifest, marker publication
	a, b             repairSidecar
	generation       uint8 // RUN of A
	forced           bool  // its intent is a forced repair
	lost             uint8 // sidecars of A up to this generation list a part that is gone
	fromB            uint8 // rows that B's window has, once B has opened
	generationB      uint8
	first            [3]repairFinalizer // of A
	next             repairFinalizer    // of B
	repairs          [2]repairPlanner
	resume           repairPlanner
	successor        repairPlanner
}

// forcedRepair: run A publishes, is repaired by force once or twice while
// finalizers of its earlier generations still run, and a successor takes the
// fence at any point. There are up to three finalizers of A and two repairs.
func forcedRepair(rule repairRule, finalizers, repairs int) Model[repairState] {
	start := repairState{fence: fence{generation: 1, owner: runA, state: open}, generation: 1}
	for i := finalizers; i < len(start.first); i++ {
		start.first[i].at = repairStopped
	}
	for i := repairs; i < len(start.repairs); i++ {
		start.repairs[i].at = repairStopped
	}
	return Model[repairState]{
		Start: start,
		Steps: func(s repairState, emit Emit[repairState]) {
			if s.lost == 0 && !s.forced && s.fence.owner == runA && s.fence.state == committed {
				to := s
				to.lost = s.a.generation
				emit(to, "storage", "loses a part of A")
			}
			for i := range s.first {
				rule.finalizeA(s, i, emit)
			}
			for i := range s.repairs {
				rule.force(s, i, emit)
			}
			rule.resumeA(s, emit)
			rule.succeed(s, emit)
			rule.finalizeB(s, emit)
		},
		Violated: rule.violated,
		Ended:    rule.ended,
	}
}

func (rule repairRule) violated(from, to repairState) string {
	switch {
	case to.fence.generation < from.fence.generation:
		return "V8: the fence's generation goes back"
	case to.fence.position < from.fence.position:
		return "V9: the position goes back"
	case to.manifest.generation < from.manifest.generation:
		return "V8: an older manifest.json replaces a newer one"
	case to.marker.generation < from.marker.generation:
		return "V8: an older _SUCCESS replaces a newer one"
	case to.a.generation < from.a.generation || from.a.kind == tombstone && to.a != from.a:
		return "V5: a sidecar goes back"
	case to.marker != publication{} && to.manifest == publication{}:
		return "M2: _SUCCESS without a manifest"
	case to.a.kind == success && to.b.kind == success && to.a.rows&to.b.rows != 0:
		return "V10: a row is in two success manifests"
	case to.fence.position >= 1 && (to.rowsPublished()&rowOfA == 0), to.fence.position == 2 && to.rowsPublished() != rowOfA|rowLateEqual|rowOfB:
		return "V10: a row behind the cursor is in no success manifest"
	}
	return ""
}

func (s repairState) rowsPublished() uint8 {
	var rows uint8
	for _, c := range [...]repairSidecar{s.a, s.b} {
		if c.kind == success {
			rows |= c.rows
		}
	}
	return rows
}

// ended: a repair that has ended well leaves a consistent set, and no successor
// is stopped for ever by a run that nobody can repair any more.
func (rule repairRule) ended(s repairState) string {
	if s.successor.at == repairDamaged && s.fence.owner == runB && s.a.generation <= s.lost {
		return "V17: every successor stops at the lost part, and the run that could repair it no longer owns the fence"
	}
	pair := s.manifest == s.marker
	for _, f := range s.first {
		if f.at == repairFinished && f.generation == s.generation && s.fence.ownedBy(runA, s.generation) &&
			!(pair && s.manifest == publication{runA, s.a.generation}) {
			return "V17: A is finished, and its sidecar, manifest.json and _SUCCESS are not one set"
		}
		if f.at == repairFinished && f.forced && s.fence.ownedBy(runA, f.generation) && s.a.generation <= s.lost {
			return "V17: the repair is finished, and the sidecar still lists the lost part"
		}
	}
	if s.next.at == repairFinished && s.fence.owner == runB && !(pair && s.manifest.run == runB) {
		return "V17: B is finished, and manifest.json and _SUCCESS are not B's"
	}
	return ""
}
