package model

// replanRule is what a resume does again after a planner that died while it put
// the tasks of its run.
type replanRule struct {
	putsTasksAgain   bool // R2b: P7 and P8 again, T17c on what is there
	splitChecksRun   bool // T9 has a condition on RUN's generation
	countsPlan       bool // F2 counts the tasks of the plan, not those that exist
	splits           bool // the worker that still lives may split its chunk
	secondTaskPut    bool // the planner that died had put the second task
	stalledPlanner   bool // it has not died: it may put that task any time later
	duplicatePlanner bool // two resume planners of one generation
}

// The tasks of the plan are first and second; firstChild is split off the first.
// In the order of their names.
const (
	taskFirst = iota
	taskFirstChild
	taskSecond
	replanTasks
)

type replanTask struct {
	status     uint8 // 0: not put
	generation uint8
}

const (
	taskAbsent uint8 = iota
	taskPending
	taskRunning
	taskFailed
	taskCompleted
)

type replanPlanner struct {
	at   uint8
	todo uint8 // tasks to revoke, or parts of generation 1: recorded, then to move
}

const (
	replanStart uint8 = iota
	replanPut
	replanList
	replanRevoke
	replanQuery
	replanListParts
	replanMove
	replanEnded
)

type replanState struct {
	tasks      [replanTasks]replanTask
	stored     [2]uint8 // parts of generation 1 and 2, a bit a task
	generation uint8    // RUN
	status     uint8    // RUN: 0 failed, 1 planning, 2 running
	first      uint8    // the worker of generation 1: put, record, sent, ended
	child      uint8    // a worker on the child, of generation 1
	second     struct{ at, task uint8 }
	stalled    bool // the first planner may still put the second task
	planners   [2]replanPlanner
	enqueued   bool
	published  uint8 // the tasks that the finalizer took; 0: not yet
}

const (
	stagePut uint8 = iota
	stageRecord
	stageSent
	stageEnded
	stageIdle
)

const plannedTasks uint8 = 1<<taskFirst | 1<<taskSecond

// replan: the first planner stopped while it put two tasks; a worker of its
// generation lives, and a resume goes on.
func replan(rule replanRule) Model[replanState] {
	start := replanState{generation: 1, child: stageIdle, stalled: rule.stalledPlanner}
	start.tasks[taskFirst] = replanTask{taskRunning, 1}
	start.second.at = stageIdle
	if rule.secondTaskPut {
		start.tasks[taskSecond] = replanTask{taskPending, 1}
	}
	if !rule.duplicatePlanner {
		start.planners[1].at = replanEnded
	}
	return Model[replanState]{
		Start: start,
		Steps: func(s replanState, emit Emit[replanState]) {
			rule.work(s, emit)
			if s.stalled {
				to := s
				to.stalled = false
				emit(to, "the stalled planner", "dies")
				if to.tasks[taskSecond].status == taskAbsent {
					to.tasks[taskSecond] = replanTask{taskPending, 1}
					emit(to, "the stalled planner", "puts the second task (T3)")
				}
			}
			for i := range s.planners {
				rule.plan(s, i, emit)
			}
			all, present := true, uint8(0)
			for i, t := range s.tasks {
				all = all && (t.status == taskAbsent || t.status == taskCompleted)
				if t.status != taskAbsent {
					present |= 1 << i
				}
			}
			if s.status == 2 && s.published == 0 && all && (!rule.countsPlan || present&plannedTasks == plannedTasks) {
				s.published = present
				emit(s, "the finalizer", "finds every task completed (F2) and publishes")
			}
		},
		Violated: func(_, to replanState) string {
			for i, t := range to.tasks {
				if t.status == taskCompleted && to.stored[t.generation-1]>>i&1 == 0 {
					return "V16: a recorded part was quarantined"
				}
			}
			if to.published != 0 && to.published&plannedTasks != plannedTasks {
				return "V6: published without a task of the plan"
			}
			return ""
		},
		Ended: func(s replanState) string {
			if s.published == 0 {
				return "V17: nothing publishes the run"
			}
			return ""
		},
	}
}

func (rule replanRule) work(s replanState, emit Emit[replanState]) {
	first, child := &s.tasks[taskFirst], &s.tasks[taskFirstChild]
	switch s.first {
	case stagePut:
		to := s
		to.stored[0] |= 1 << taskFirst
		to.first = stageRecord
		emit(to, "the old worker", "stores its part")
	case stageRecord:
		to := s
		to.first = stageEnded
		if first.status != taskRunning || first.generation != 1 {
			emit(to, "the old worker", "is fenced off by its token")
			break
		}
		to.tasks[taskFirst].status = taskCompleted
		emit(to, "the old worker", "completes the first task (T8)")
		if rule.splits && (!rule.splitChecksRun || s.generation == 1) {
			to.tasks[taskFirstChild] = replanTask{taskPending, 1}
			to.first = stageSent
			emit(to, "the old worker", "splits the first task (T9)")
		}
	}
	switch {
	case s.child == stageIdle && s.first == stageSent && child.status == taskPending && child.generation == 1:
		to := s
		to.tasks[taskFirstChild].status, to.child = taskRunning, stagePut
		emit(to, "a worker", "claims the child by the message of generation 1")
	case s.child == stagePut:
		to := s
		to.stored[0] |= 1 << taskFirstChild
		to.child = stageRecord
		emit(to, "the child's worker", "stores its part")
	case s.child == stageRecord:
		to := s
		to.child = stageEnded
		if child.status == taskRunning && child.generation == 1 {
			to.tasks[taskFirstChild].status = taskCompleted
			emit(to, "the child's worker", "completes the child (T8)")
		} else {
			emit(to, "the child's worker", "is fenced off by its token")
		}
	}
	switch w := s.second; {
	case w.at == stageIdle && s.enqueued:
		for i, t := range s.tasks {
			if (t.status == taskPending || t.status == taskFailed) && t.generation == 2 {
				to := s
				to.tasks[i].status = taskRunning
				to.second.at, to.second.task = stagePut, uint8(i)
				emit(to, "a worker of generation 2", "claims a task")
			}
		}
	case w.at == stagePut:
		to := s
		to.stored[1] |= 1 << w.task
		to.second.at = stageRecord
		emit(to, "a worker of generation 2", "stores its part")
	case w.at == stageRecord:
		to := s
		to.tasks[w.task].status = taskCompleted
		to.second.at, to.second.task = stageIdle, 0
		emit(to, "a worker of generation 2", "completes its task (T8)")
	}
}
