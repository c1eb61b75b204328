package model

// partitionRule is how the pairs of partitions follow from a run's one commit
// point, and how they could fail to.
type partitionRule struct {
	sidecarEach    bool // each partition has a commit point of its own
	rollsFirstOnly bool // a roll-forward rewrites the pair of the first partition only
	capturesLate   bool // a pair is captured when its turn comes, after the fence was read
	cursorEarly    bool // the cursor is committed after the first partition
}

const partitionCount = 2

type partitionFinalizer struct {
	at        uint8
	partition uint8
	manifests [partitionCount]publication
	markers   [partitionCount]publication
}

type partitionPlanner struct {
	at        uint8
	partition uint8
	seen      fence
	manifests [partitionCount]publication
	markers   [partitionCount]publication
}

const (
	partitionIdle uint8 = iota
	partitionTaken
	partitionCapture
	partitionFence
	partitionManifest
	partitionMarker
	partitionOpen
	partitionEnded
)

type partitionState struct {
	fence      fence
	manifests  [partitionCount]publication
	markers    [partitionCount]publication
	sidecars   [partitionCount]sidecars // the first is the run's, unless each partition has its own
	opened     [3]uint8                 // the generation of a run that has opened
	from       [3]uint8
	planners   [4]partitionPlanner // one of A, two of B, one of C
	finalizers [3]partitionFinalizer
}

// partitions: A and B publish into two partitions, A with two finalizers, and B
// with one and as many planners as there may be; C takes the fence after them if
// it is the last run.
func partitions(rule partitionRule, plannersOfB int, last run) Model[partitionState] {
	start := partitionState{fence: fence{state: committed}}
	if plannersOfB < 2 {
		start.planners[2].at = partitionEnded
	}
	return Model[partitionState]{
		Start: start,
		Steps: func(s partitionState, emit Emit[partitionState]) {
			for i, me := range [...]run{runA, runB, runB, runC} {
				if me <= last {
					rule.plan(s, me, i, emit)
				}
			}
			for i, me := range [...]run{runA, runA, runB} {
				if s.opened[me-1] != 0 {
					rule.finalize(s, me, i, emit)
				}
			}
		},
		Violated: rule.violated,
	}
}

func (rule partitionRule) violated(from, to partitionState) string {
	for p := range partitionCount {
		if v := monotone(from.fence, to.fence, from.manifests[p], to.manifests[p], from.markers[p], to.markers[p]); v != "" {
			return v
		}
	}
	if v := to.sidecars[0].rowsOnce(to.fence.position); v != "" {
		return v
	}
	if rule.sidecarEach {
		if v := to.sidecars[1].rowsOnce(0); v != "" {
			return v
		}
		for r := range to.sidecars[0] {
			one, other := to.sidecars[0][r].kind, to.sidecars[1][r].kind
			if one == success && other == tombstone || one == tombstone && other == success {
				return "V10: a run is committed in one partition and sealed in the other"
			}
		}
	}
	if to.fence.state == opening {
		return ""
	}
	for me := runA; me <= runC; me++ {
		c := to.sidecars[0][me-1]
		for p := range partitionCount {
			if c.kind == success && c.to <= to.fence.position && (to.manifests[p].generation < c.generation || to.markers[p].generation < c.generation) {
				return "V10: a row behind the cursor is in no partition's manifest: the pair of a partition is older than a committed run"
			}
		}
	}
	return ""
}

// decide seals a run, or reports that it has committed.
func (rule partitionRule) decide(s *partitionState, r run) (committed bool) {
	for p := range s.sidecars {
		if c := s.sidecars[p].of(r); (p == 0 || rule.sidecarEach) && c.kind == absent {
			c.kind = tombstone
		}
	}
	return s.sidecars[0].of(r).kind == success
}

func (rule partitionRule) finalize(s partitionState, me run, i int, emit Emit[partitionState]) {
	f := s.finalizers[i]
	generation := s.opened[me-1]
	mine := publication{me, generation}
	step := func(f partitionFinalizer, at uint8, what string) {
		if f.at = at; at == partitionEnded {
			f = partitionFinalizer{at: at}
		}
		s.finalizers[i] = f
		emit(s, me.pick("a finalizer of A", "a finalizer of B", ""), what)
	}
	switch f.at {
	case partitionIdle:
		f = partitionFinalizer{manifests: s.manifests, markers: s.markers}
		step(f, partitionFence, "captures the pairs (F5)")
	case partitionFence:
		if s.fence.ownedBy(me, generation) {
			step(f, partitionTaken, "still owns the fence (F6)")
		} else {
			step(f, partitionEnded, "has lost the fence (F6)")
		}
	case partitionTaken:
		own := s.sidecars[f.partition].of(me)
		if own.kind == tombstone {
			step(f, partitionEnded, "finds itself sealed (F7)")
			return
		}
		*own = sidecar{success, s.from[me-1], max(me.horizon(), s.from[me-1]), generation}
		step(f, partitionManifest, "creates the sidecar: committed (F7)")
	case partitionManifest:
		if rule.capturesLate && f.partition > 0 {
			f.manifests, f.markers = s.manifests, s.markers
		}
		if swap(&s.manifests[f.partition], f.manifests[f.partition], mine) {
			step(f, partitionMarker, "a partition's manifest.json is its own (F8)")
			return
		}
		step(partitionFinalizer{}, partitionIdle, "loses a swap, captures again")
	case partitionMarker:
		if !swap(&s.markers[f.partition], f.markers[f.partition], mine) {
			step(partitionFinalizer{}, partitionIdle, "loses a swap, captures again")
			return
		}
		next := partitionManifest
		if f.partition++; f.partition == partitionCount || rule.cursorEarly {
			next = partitionOpen
		} else if rule.sidecarEach {
			next = partitionTaken
		}
		step(f, next, "a partition's _SUCCESS is its own (F9)")
	case partitionOpen:
		if s.fence == (fence{generation, me, open, s.from[me-1], nobody}) {
			s.fence.state, s.fence.position = committed, max(me.horizon(), s.fence.position)
			step(f, partitionEnded, "commits the cursor (F10)")
		} else {
			step(f, partitionEnded, "finds that the fence has moved on (F10)")
		}
	}
}
