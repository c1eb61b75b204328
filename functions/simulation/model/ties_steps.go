package model

func (rule tieRule) plan(s tieState, me run, emit Emit[tieState]) {
	r := &s.runs[me-1]
	step := func(at uint8, what string) {
		r.at = at
		emit(s, me.pick("A's planner", "B's planner", "C's planner"), what)
	}
	switch r.at {
	case tieIdle:
		if me > runA && s.runs[me-2].at == tieIdle {
			return // the runs start in their order
		}
		predecessor := nobody
		switch s.fence.state {
		case open:
			predecessor = s.fence.owner
		case opening:
			predecessor = s.fence.predecessor
		}
		s.fence = tieFence{s.fence.generation + 1, me, opening, s.fence.position, predecessor}
		r.seen = s.fence
		step(tieTaken, "takes the fence")
	case tieTaken:
		predecessor := r.seen.predecessor
		if predecessor != nobody && s.sidecars[predecessor-1].kind == absent {
			s.sidecars[predecessor-1].kind = tombstone
			step(tieDecided, "seals its predecessor")
			return
		}
		step(tieDecided, "finds its predecessor decided")
	case tieDecided:
		if s.fence != r.seen {
			*r = tieRun{}
			step(tieStopped, "has lost the fence")
			return
		}
		if p := r.seen.predecessor; p != nobody && s.sidecars[p-1].kind == success && s.sidecars[p-1].from == s.fence.position {
			s.fence.position = s.sidecars[p-1].to
			if rule.rollsValueOnly {
				s.fence.position.delivered = 0
			}
		}
		s.fence.state, s.fence.predecessor = open, nobody
		r.seen, r.generation, r.from = tieFence{}, s.fence.generation, s.fence.position
		step(tieOpened, "opens")
	case tieOpened:
		r.hi = max(r.from.value, highest(s.arrived))
		if rule.deliveredAtPlan {
			r.keysAtPlan = atValue(s.arrived, r.hi)
		}
		step(tiePlanned, "plans its window")
	}
}

// extract is the two tasks of a run. A task that has read may be read again by
// another attempt: what it records is what the last one read.
func (rule tieRule) extract(s tieState, me run, emit Emit[tieState]) {
	for i, keys := range [...]uint8{evenRows, oddRows} {
		to := s
		task := &to.runs[me-1].tasks[i]
		step := func(what string) { emit(to, me.pick("a worker of A", "a worker of B", "a worker of C"), what) }
		if task.at == 2 {
			continue
		}
		if task.at == 1 {
			task.at = 2
			step([...]string{"completes the even rows", "completes the odd rows"}[i])
			task.at = 1
		}
		rows := rule.window(&to, to.runs[me-1])
		if rows &= keys; task.at == 0 || rows != task.rows {
			task.at, task.rows = 1, rows
			step([...]string{"reads the even rows", "reads the odd rows"}[i])
		}
	}
}

// finalize commits a run: the sidecar, then the cursor.
func (rule tieRule) finalize(s tieState, me run, emit Emit[tieState]) {
	r, own := &s.runs[me-1], &s.sidecars[me-1]
	if r.tasks[0].at != 2 || r.tasks[1].at != 2 {
		return
	}
	step := func(at uint8, what string) {
		r.finalizer = at
		emit(s, me.pick("A's finalizer", "B's finalizer", "C's finalizer"), what)
	}
	switch r.finalizer {
	case 0:
		if s.fence.owner == me && s.fence.generation == r.generation {
			step(1, "still owns the fence (F6)")
		} else {
			step(3, "has lost the fence (F6)")
		}
	case 1:
		if own.kind == tombstone {
			step(3, "finds itself sealed (F7)")
			return
		}
		*own = rule.sidecar(r)
		step(2, "creates the sidecar: the run has committed (F7)")
	case 2:
		if s.fence.owner == me && s.fence.generation == r.generation && s.fence.state == open {
			s.fence.state, s.fence.position = committed, own.to
			step(3, "commits the cursor (F10)")
		} else {
			step(3, "finds that the fence has moved on (F10)")
		}
	}
}

func (rule tieRule) sidecar(r *tieRun) tieSidecar {
	rows := r.tasks[0].rows | r.tasks[1].rows
	to := place{value: r.hi}
	if rule.endsWhereRead {
		to.value = max(r.from.value, highest(rows))
	}
	to.delivered = atValue(rows, to.value)
	if rule.deliveredAtPlan {
		to.delivered = r.keysAtPlan
	}
	if to.value == r.from.value && !rule.replacesKeys {
		to.delivered |= r.from.delivered
	}
	c := tieSidecar{kind: success, from: r.from, to: to, rows: rows}
	if rule.keyless {
		c.to.delivered = 0
		if !rule.miscounts {
			c.repeats = atValue(rows, r.from.value)
		}
	}
	return c
}
