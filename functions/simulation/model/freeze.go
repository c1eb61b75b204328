package model

// freezeRule is what makes two finalizers of one generation build equal bytes.
type freezeRule struct {
	repairsRunningOnly bool // T18 has a condition on RUN's status
	queriesAgain       bool // the bytes are built from a query after T13
}

const (
	freezeTask   uint8 = 1 << iota // the task that was planned
	freezeRepair                   // the one that extracts it again
)

type freezeFinalizer struct{ at, listed uint8 }

const (
	freezeQuery uint8 = iota
	freezeCheck
	freezeBegin
	freezeQueryAgain
	freezeCommit
	freezeEnded
)

type freezeState struct {
	finalizing bool
	repair     uint8 // its status; taskAbsent: not put, so the planned task counts
	present    uint8 // parts that are stored
	sidecar    uint8 // the tasks that it lists
	finalizers [3]freezeFinalizer
	lost       bool // one part vanishes
	differ     bool
}

func (s freezeState) complete() bool { return s.repair == taskAbsent || s.repair == taskCompleted }

// live is the tasks that are not superseded.
func (s freezeState) live() uint8 {
	if s.repair == taskAbsent {
		return freezeTask
	}
	return freezeRepair
}

// freeze: a part vanishes while three finalizers look at a run, and each of them
// may find it missing and put a repair task.
func freeze(rule freezeRule) Model[freezeState] {
	return Model[freezeState]{
		Start: freezeState{present: freezeTask},
		Steps: func(s freezeState, emit Emit[freezeState]) {
			if !s.lost && s.present&freezeTask != 0 {
				to := s
				to.lost, to.present = true, s.present&^freezeTask
				emit(to, "storage", "loses a part")
			}
			if s.repair == taskPending {
				to := s
				to.repair, to.present = taskCompleted, s.present|freezeRepair
				emit(to, "a worker", "completes the repair task")
			}
			for i := range s.finalizers {
				rule.step(s, i, emit)
			}
		},
		Violated: func(_, to freezeState) string {
			if to.differ {
				return "V18: two manifests of one generation differ"
			}
			return ""
		},
	}
}

func (rule freezeRule) step(s freezeState, i int, emit Emit[freezeState]) {
	f := s.finalizers[i]
	step := func(to freezeState, at, listed uint8, what string) {
		to.finalizers[i] = freezeFinalizer{at, listed}
		emit(to, [...]string{"a finalizer", "a second finalizer", "a third finalizer"}[i], what)
	}
	switch f.at {
	case freezeQuery:
		if s.complete() {
			step(s, freezeCheck, s.live(), "finds every task completed (F2)")
		}
	case freezeCheck:
		switch {
		case s.present&f.listed == f.listed:
			step(s, freezeBegin, f.listed, "finds every part (F3)")
		case s.repair != taskAbsent || rule.repairsRunningOnly && s.finalizing:
			step(s, freezeEnded, 0, "misses a part, and may not repair it (F3)")
		default:
			s.repair = taskPending
			step(s, freezeEnded, 0, "misses a part and puts a repair task (T18)")
		}
	case freezeBegin:
		s.finalizing = true
		if rule.queriesAgain {
			step(s, freezeQueryAgain, f.listed, "begins to finalize (T13)")
		} else {
			step(s, freezeCommit, f.listed, "begins to finalize (T13)")
		}
	case freezeQueryAgain:
		if s.complete() {
			step(s, freezeCommit, s.live(), "queries again (F4)")
		} else {
			step(s, freezeQuery, 0, "finds a task that is not completed (F4)")
		}
	case freezeCommit:
		switch s.sidecar {
		case 0:
			s.sidecar = f.listed
			step(s, freezeEnded, 0, "creates the sidecar (F7)")
		case f.listed:
			step(s, freezeEnded, 0, "finds its sidecar (F7)")
		default:
			s.differ = true
			step(s, freezeEnded, 0, "finds other bytes in its sidecar (F7)")
		}
	}
}
