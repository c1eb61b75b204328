package model

// plan takes the fence, seals the predecessor or rewrites the pair of each of
// its partitions from its sidecar, and opens.
func (rule partitionRule) plan(s partitionState, me run, i int, emit Emit[partitionState]) {
	p := s.planners[i]
	step := func(p partitionPlanner, at uint8, what string) {
		if p.at = at; at == partitionEnded {
			p = partitionPlanner{at: at}
		}
		s.planners[i] = p
		emit(s, me.pick("A's planner", "a planner of B", "C's planner"), what)
	}
	predecessor := p.seen.predecessor
	switch p.at {
	case partitionIdle:
		switch {
		case s.opened[me-1] != 0 || s.fence.owner > me:
			step(p, partitionEnded, "finds that its run has opened, or is superseded")
		case s.fence.owner == me:
			step(partitionPlanner{seen: s.fence}, partitionTaken, "finds that it holds the fence")
		case me == runA || s.fence.owner != nobody:
			s.fence = fence{s.fence.generation + 1, me, opening, s.fence.position, s.fence.inherited()}
			step(partitionPlanner{seen: s.fence}, partitionTaken, "takes the fence")
		}
	case partitionTaken:
		switch {
		case predecessor == nobody:
			step(p, partitionOpen, "has no predecessor")
		case rule.decide(&s, predecessor):
			step(p, partitionCapture, "finds its predecessor committed")
		default:
			step(p, partitionOpen, "seals its predecessor")
		}
	case partitionCapture:
		p.manifests, p.markers = s.manifests, s.markers
		step(p, partitionFence, "captures the pairs")
	case partitionFence:
		if s.fence != p.seen {
			step(p, partitionEnded, "does not hold the fence, opening")
			return
		}
		step(p, partitionManifest, "holds the fence, opening")
	case partitionManifest, partitionMarker:
		theirs := publication{predecessor, s.sidecars[0].of(predecessor).generation}
		object, was, next := &s.manifests[p.partition], p.manifests[p.partition], partitionMarker
		if p.at == partitionMarker {
			object, was, next = &s.markers[p.partition], p.markers[p.partition], partitionManifest
		}
		if !swap(object, was, theirs) {
			step(partitionPlanner{seen: p.seen}, partitionCapture, "loses a swap, captures again")
			return
		}
		if p.at == partitionManifest {
			step(p, next, "a partition's manifest.json is its predecessor's")
			return
		}
		if p.partition++; p.partition == partitionCount || rule.rollsFirstOnly {
			p, next = partitionPlanner{seen: p.seen}, partitionOpen
		}
		step(p, next, "a partition's _SUCCESS is its predecessor's")
	case partitionOpen:
		if s.fence != p.seen {
			step(p, partitionEnded, "does not hold the fence, opening")
			return
		}
		if predecessor != nobody {
			if c := s.sidecars[0].of(predecessor); c.kind == success && c.from == s.fence.position {
				s.fence.position = c.to
			}
		}
		s.fence.state, s.fence.predecessor = open, nobody
		s.opened[me-1], s.from[me-1] = s.fence.generation, s.fence.position
		step(p, partitionEnded, "opens")
	}
}
