package model

// finalizeLife is a finalizer that is called again until the run has ended. What
// it makes depends on the life whose tasks it has read. Of a fence that names
// another generation than RUN it makes nothing, so that call is no step.
func finalizeLife(s lifeState, i int, emit Emit[lifeState]) {
	f := s.finalizers[i]
	step := func(to lifeState, at uint8, what string) {
		to.finalizers[i] = lifeFinalizer{at, f.generation, f.life}
		if at == lifeIdle {
			to.finalizers[i] = lifeFinalizer{}
		}
		emit(to, [...]string{"a finalizer", "another finalizer"}[i], what)
	}
	owns := s.fence.generation == f.generation && s.fence.state != opening
	switch f.at {
	case lifeIdle:
		if s.run.life != 0 && s.run.status == runRunning && s.run.generation == s.fence.generation {
			f = lifeFinalizer{generation: s.run.generation, life: s.run.life}
			step(s, lifeFenceRead, "reads the tasks (F4)")
		}
	case lifeFenceRead:
		if owns {
			step(s, lifeCommit, "still owns the fence (F6)")
		} else {
			step(s, lifeIdle, "is stale (F6)")
		}
	case lifeCommit:
		switch {
		case s.sidecar.generation == 0:
			s.sidecar = lifeSidecar{f.generation, f.life}
			step(s, lifeCursor, "creates the sidecar: the run has committed (F7)")
		case s.sidecar.generation == f.generation && s.sidecar.life != f.life:
			s.differ = true
			step(s, lifeIdle, "finds another manifest of its generation (F7)")
		default:
			step(s, lifeCursor, "finds the sidecar of its run (F7)")
		}
	case lifeCursor:
		if owns {
			s.fence.state = committed
			step(s, lifeRunEnds, "commits the cursor (F10)")
		} else {
			step(s, lifeIdle, "is stale (F10)")
		}
	case lifeRunEnds:
		if s.run.life != 0 && s.run.generation <= f.generation {
			s.run.status = runSucceeded
		}
		step(s, lifeIdle, "settles RUN (T14)")
	}
}
