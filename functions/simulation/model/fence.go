package model

// run is one of the runs of an export. Later letters plan later and see more of
// the source.
type run uint8

const (
	nobody run = iota
	runA
	runB
	runC
)

// horizon is the source position that a run sees when it plans.
func (r run) horizon() uint8 { return uint8(r) }

func (r run) pick(a, b, c string) string { return [...]string{"", a, b, c}[r] }

type fenceState uint8

const (
	committed fenceState = iota + 1 // 0: no document was read
	open
	opening
)

// fence is the cursor document: its generation, the run that holds it, and the
// position up to which rows are delivered. predecessor is the run to seal, while
// opening. It is written by compare-and-swap only.
type fence struct {
	generation  uint8
	owner       run
	state       fenceState
	position    uint8
	predecessor run
}

func (f fence) ownedBy(r run, generation uint8) bool {
	return f.owner == r && f.generation == generation
}

// inherited is the run that a successor has to seal.
func (f fence) inherited() run {
	switch f.state {
	case open:
		return f.owner
	case opening:
		return f.predecessor
	}
	return nobody
}

// publication is the content of manifest.json or _SUCCESS, by the run and the
// generation that it names; the zero value is an absent object. Its version is
// its content, as on a store whose versions are derived from it: an old version
// can come back.
type publication struct {
	run        run
	generation uint8
}

type sidecarKind uint8

const (
	absent sidecarKind = iota
	tombstone
	success
)

// sidecar is manifest-<run>.json: the rows in (from, to], or a tombstone.
type sidecar struct {
	kind       sidecarKind
	from, to   uint8
	generation uint8
}

// sidecars are those of the runs A, B and C.
type sidecars [3]sidecar

func (s *sidecars) of(r run) *sidecar { return &s[r-1] }

// rowsOnce is V10 for windows: every row at or behind the position is in exactly
// one success sidecar, and no row is in two.
func (s *sidecars) rowsOnce(position uint8) string {
	for row := uint8(1); row <= max(position, uint8(len(s))); row++ {
		times := 0
		for _, c := range s {
			if c.kind == success && c.from < row && row <= c.to {
				times++
			}
		}
		switch {
		case times > 1:
			return "V10: a row is in two success manifests"
		case row <= position && times == 0:
			return "V10: a row behind the cursor is in no success manifest"
		}
	}
	return ""
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
