package model

// revoke is T17c.
func (t *replanTask) revoke() {
	if t.status == taskAbsent || t.status == taskCompleted || t.generation >= 2 {
		return
	}
	if t.status == taskRunning {
		t.status = taskFailed
	}
	t.generation = 2
}

func (rule replanRule) plan(s replanState, i int, emit Emit[replanState]) {
	p := s.planners[i]
	step := func(at, todo uint8, what string) {
		s.planners[i] = replanPlanner{at, todo}
		emit(s, [...]string{"a resume planner", "its duplicate"}[i], what)
	}
	switch p.at {
	case replanStart:
		s.generation = 2
		s.status = max(s.status, 1)
		if rule.putsTasksAgain {
			step(replanPut, 0, "records its generation (R2)")
		} else {
			step(replanList, 0, "records its generation (R2)")
		}
	case replanPut:
		if second := &s.tasks[taskSecond]; second.status == taskAbsent {
			*second = replanTask{taskPending, 2}
		} else {
			second.revoke()
		}
		step(replanList, 0, "puts the tasks again (R2b)")
	case replanList:
		var there uint8
		for i, t := range s.tasks {
			if t.status != taskAbsent {
				there |= 1 << i
			}
		}
		step(replanRevoke, there, "lists the tasks (R3)")
	case replanRevoke:
		if p.todo == 0 {
			step(replanQuery, 0, "has revoked every lease (R3)")
			return
		}
		next := lowest(p.todo)
		s.tasks[next].revoke()
		step(replanRevoke, p.todo&^(1<<next), [...]string{"revokes the first task", "revokes the child", "revokes the second task"}[next])
	case replanQuery:
		var recorded uint8
		for i, t := range s.tasks {
			if t.status == taskCompleted && t.generation == 1 {
				recorded |= 1 << i
			}
		}
		step(replanListParts, recorded|recordedLater(s), "asks which parts are recorded (R4)")
	case replanListParts:
		step(replanMove, s.stored[0]&^p.todo, "lists the prefix (R5)")
	case replanMove:
		if p.todo == 0 {
			s.status, s.enqueued = 2, true
			step(replanEnded, 0, "starts the run and enqueues (R6)")
			return
		}
		next := lowest(p.todo)
		s.stored[0] &^= 1 << next
		step(replanMove, p.todo&^(1<<next), [...]string{"quarantines the part of the first task", "quarantines the part of the child", ""}[next])
	}
}

// recordedLater has the recorded parts of generation 2 in the upper bits, which
// name no part of generation 1.
func recordedLater(s replanState) (recorded uint8) {
	for i, t := range s.tasks {
		if t.status == taskCompleted && t.generation == 2 {
			recorded |= 1 << (i + replanTasks)
		}
	}
	return recorded
}

func lowest(bits uint8) (i uint8) {
	for bits>>i&1 == 0 {
		i++
	}
	return i
}
