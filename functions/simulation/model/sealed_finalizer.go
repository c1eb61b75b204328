package model

// finalize is a finalizer of a run, from the message that names its generation.
func (rule sealRule) finalize(s sealState, me run, i int, emit Emit[sealState]) {
	f := s.finalizers[i]
	if f.at >= finalizeDone {
		return
	}
	who := me.pick("a finalizer of A", "a finalizer of B", "a finalizer of C")
	step := func(to sealState, at uint8, what string) {
		f := f
		f.at = at
		to.finalizers[i] = f
		emit(to, who, what)
	}
	step(s, finalizeDead, "crashes")
	to := max(me.horizon(), f.from)
	mine := publication{me, f.generation}
	if f.adopted != 0 {
		mine.generation = f.adopted
	}
	own := s.sidecars.of(me)
	again := func(what string) {
		if f.tries < 1 {
			f.tries++
			step(s, finalizeCaptureAgain, what)
		} else {
			step(s, finalizeDead, "gives up")
		}
	}
	switch f.at {
	case finalizeCapture:
		f.generation, f.from = s.runs[me-1].generation, s.runs[me-1].from
		f.manifest, f.marker = s.manifest, s.marker
		step(s, finalizeFence, "captures the pair (F5)")
	case finalizeCaptureAgain:
		f.manifest, f.marker, f.adopted = s.manifest, s.marker, 0
		step(s, finalizeFence, "captures the pair (F5)")
	case finalizeFence:
		switch {
		case rule.sealsItself && s.fence.owner != me && s.fence.owner != nobody && own.kind == absent:
			own.kind = tombstone
			step(s, finalizeSuperseded, "has lost the fence and seals itself (F6)")
		case !rule.ignoresFence && !s.fence.ownedBy(me, f.generation):
			step(s, finalizeSuperseded, "has lost the fence (F6)")
		default:
			step(s, finalizeCommit, "still owns the fence (F6)")
		}
	case finalizeCommit:
		switch {
		case own.kind == tombstone:
			step(s, finalizeSuperseded, "finds itself sealed (F7)")
		case own.kind == success && rule.adopts:
			f.adopted = own.generation
			step(s, finalizeManifest, "adopts the sidecar that stands (F7)")
		case own.kind == success && own.generation == f.generation:
			step(s, finalizeManifest, "finds its sidecar (F7)")
		case own.kind == success && own.generation > f.generation:
			step(s, finalizeSuperseded, "finds that a resume has committed (F7)")
		default:
			*own = sidecar{success, f.from, to, f.generation}
			step(s, finalizeManifest, "creates the sidecar: the run has committed (F7)")
		}
	case finalizeManifest:
		if swap(&s.manifest, f.manifest, mine) {
			step(s, finalizeMarker, "manifest.json is its own (F8)")
			return
		}
		again("loses the swap of manifest.json (F8)")
	case finalizeMarker:
		if swap(&s.marker, f.marker, mine) {
			step(s, finalizeCursor, "_SUCCESS is its own (F9)")
			return
		}
		again("loses the swap of _SUCCESS (F9)")
	case finalizeCursor:
		switch {
		case s.fence == fence{f.generation, me, open, f.from, nobody}:
			s.fence.state, s.fence.position = committed, to
			step(s, finalizeDone, "commits the cursor (F10)")
		case rule.sealsItself && s.fence.owner == me && s.fence.state == committed:
			step(s, finalizeDone, "finds the cursor committed (F10)")
		default:
			step(s, finalizeSuperseded, "finds that the fence has moved on (F10)")
		}
	}
}
