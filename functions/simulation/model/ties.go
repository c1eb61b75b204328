package model

// tieRule is how a window treats rows that have the cursor value at which the
// window before it ended.
type tieRule struct {
	keyless          bool // the table has no key: repeats are counted, not excluded
	strictly         bool // reads c > p only
	forgetsDelivered bool // reads c >= p though there is a key
	deliveredAtPlan  bool // the delivered keys are those that the planner saw
	endsWhereRead    bool // the upper bound is not fixed at plan time
	replacesKeys     bool // a window that ends where it began keeps only the keys that it has read
	rollsValueOnly   bool // a roll-forward takes the value of the position without its keys
	miscounts        bool // without a key: the overlap is not counted
}

// The rows of the source, a bit each, and their cursor values. A window is cut
// by key into two tasks: even rows and odd rows.
const tieRows = 4

var tieValues = [tieRows]uint8{1, 1, 2, 3}

const (
	evenRows uint8 = 0b0101
	oddRows  uint8 = 0b1010
)

// place is a position: a cursor value, and the keys at it that are delivered.
type place struct{ value, delivered uint8 }

type tieFence struct {
	generation  uint8
	owner       run
	state       fenceState
	position    place
	predecessor run
}

type tieSidecar struct {
	kind     sidecarKind
	from, to place
	rows     uint8
	repeats  uint8 // rows counted as an overlap
}

type tieTask struct {
	at   uint8 // 0: to read, 1: has read, 2: completed
	rows uint8
}

type tieRun struct {
	at         uint8 // of the planner
	generation uint8
	seen       tieFence
	from       place
	hi         uint8
	keysAtPlan uint8
	tasks      [2]tieTask
	finalizer  uint8
}

const (
	tieIdle uint8 = iota
	tieTaken
	tieDecided
	tieOpened
	tiePlanned
	tieStopped
)

type tieState struct {
	fence    tieFence
	arrived  uint8
	late     uint8 // rows that came with a value below a bound that was fixed: any cursor misses them
	sidecars [3]tieSidecar
	runs     [3]tieRun
}

// ties: rows arrive at any time while runs, one after another and overlapping,
// plan a window up to the highest value there is, read it, and commit. A run
// seals its predecessor or takes over the end of its window.
func ties(rule tieRule, last run) Model[tieState] {
	return Model[tieState]{
		Start: tieState{fence: tieFence{state: committed}, arrived: 1},
		Steps: func(s tieState, emit Emit[tieState]) {
			for i, value := range tieValues {
				if s.arrived>>i&1 == 0 {
					to := s
					to.arrived |= 1 << i
					for _, r := range s.runs {
						if r.at == tiePlanned && r.hi > value {
							to.late |= 1 << i
						}
					}
					emit(to, "source", [...]string{"", "gets another row of value 1", "gets a row of value 2", "gets a row of value 3"}[i])
				}
			}
			for me := runA; me <= last; me++ {
				rule.plan(s, me, emit)
				if s.runs[me-1].at == tiePlanned {
					rule.extract(s, me, emit)
					rule.finalize(s, me, emit)
				}
			}
		},
		Violated: rule.violated,
	}
}

// violated is V10 for rows: each row at or behind the cursor in exactly one
// success manifest, no row in two; without a key, no row is missing, and each
// repeat is one that a manifest counts.
func (rule tieRule) violated(from, to tieState) string {
	if to.fence.position.value < from.fence.position.value {
		return "V9: the position goes back"
	}
	for i, value := range tieValues {
		row := uint8(1) << i
		times, counted := 0, 0
		for _, c := range to.sidecars {
			if c.kind == success && c.rows&row != 0 {
				times++
				if c.repeats&row != 0 {
					counted++
				}
			}
		}
		behind := value < to.fence.position.value || to.fence.position.delivered&row != 0
		switch {
		case times > 1 && !rule.keyless:
			return "V10: a row is in two success manifests"
		case times > 1 && counted < times-1:
			return "V10: a row is repeated, and no manifest counts it"
		case times == 0 && behind && to.arrived&^to.late&row != 0:
			return "V10: a row behind the cursor is in no success manifest"
		}
	}
	return ""
}

// window is the rows that a task may read now.
func (rule tieRule) window(s *tieState, r tieRun) (rows uint8) {
	for i, value := range tieValues {
		row := uint8(1) << i
		if s.arrived&row == 0 || value > r.hi && !rule.endsWhereRead || value < r.from.value {
			continue
		}
		delivered := r.from.delivered&row != 0 && !rule.forgetsDelivered && !rule.keyless
		if value == r.from.value && (rule.strictly || delivered) {
			continue
		}
		rows |= row
	}
	return rows
}

func atValue(rows, value uint8) (at uint8) {
	for i, v := range tieValues {
		if v == value {
			at |= rows & (1 << i)
		}
	}
	return at
}

func highest(rows uint8) (value uint8) {
	for i, v := range tieValues {
		if rows>>i&1 == 1 {
			value = max(value, v)
		}
	}
	return value
}
