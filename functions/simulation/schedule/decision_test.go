package schedule

import (
	"fmt"
	"strings"
	"time"
)

// act is a kind of thing that happens.
type act string

const (
	// The turn of a call that waits: who is the process, what the call.
	grant act = "grant"
	// The time between two heartbeats of a process has passed.
	tick act = "tick"
	// A message is delivered to a new process, however often it was before.
	deliver act = "deliver"
	// A message is lost.
	dropMessage act = "drop message"
	// Time passes.
	wait act = "wait"
	// A process stalls, however long everybody else goes on, and wakes up.
	stall act = "stall"
	wake  act = "wake"

	// A new process of the planner: n is the run.
	trigger   act = "trigger"
	supersede act = "superseding trigger"
	resume    act = "resume"
	repairRun act = "forced repair"
	reanchor  act = "re-anchoring trigger"
	sweep     act = "sweep"

	// A request that its process has given up reaches the world.
	land act = "it lands late"

	// The rows of the source change: n is the key.
	insertRow act = "insert row"
	updateRow act = "update row"
	deleteRow act = "delete row"
	// The key of a row changes from n to what: it moves to another range. A
	// manifest of tasks that read at different moments may then have neither or
	// both, as two versions: consistency is per task.
	moveRow act = "move row"

	// What an operator can break.
	losePart      act = "operator deletes"
	overwritePart act = "operator overwrites"
	loseTable     act = "operator drops the table"
	// A backup of the table is made, and put back: what was written in between
	// is gone.
	backUpTable  act = "operator backs up the table"
	restoreTable act = "operator restores the table"
	loseCursor   act = "operator deletes the cursor document"
	// A cursor document that has stood is put back: n says which, counted from 1.
	oldCursor    act = "operator puts back an older cursor document"
	newestCursor act = "operator puts back the newest cursor document"
)

// fate is what becomes of a call.
type fate string

const (
	proceeds fate = ""
	// The process dies: before the call lands, or before it sees the answer.
	diesBefore fate = "the process dies before it"
	diesAfter  fate = "it lands and the process dies"
	// The process lives and does not know: the write landed, or it did not. A
	// 409 that a driver repeated in vain is the second one.
	ackLost  fate = "it lands and the answer is lost"
	notSaid  fate = "it does not land and nobody says so"
	failsNow fate = "it fails"
	// The request is on its way when its process dies or gives up on it.
	diesLate fate = "the process dies, and it may land later"
	givesUp  fate = "nobody says whether it lands, and it may do so later"
	// The source refuses the statement, and would do so every time.
	refuses fate = "the source refuses it for good"
)

// decision is one thing that happens.
type decision struct {
	act  act
	who  int    // the process that it is about, or the number of the new one
	what string // the call, message or object that it is about
	fate fate
	n    int           // run or key
	skew time.Duration // how far the clock of the new process is off; how long to wait
}

func (d decision) String() string {
	switch d.act {
	case grant:
		if d.fate != proceeds {
			return fmt.Sprintf("  %d: %s: %s", d.who, d.what, d.fate)
		}
		return fmt.Sprintf("  %d: %s", d.who, d.what)
	case tick:
		return fmt.Sprintf("  %d: time for a heartbeat", d.who)
	case wait:
		return fmt.Sprintf("wait %s", d.skew)
	case stall, wake, land:
		return strings.TrimSuffix(fmt.Sprintf("  %d: %s: %s", d.who, d.act, d.what), ": ")
	case insertRow, updateRow, deleteRow:
		return fmt.Sprintf("%s %d", d.act, d.n)
	case loseTable, backUpTable, restoreTable, loseCursor, newestCursor:
		return string(d.act)
	case oldCursor:
		return fmt.Sprintf("%s, the %dth that was written", d.act, d.n)
	case moveRow:
		return fmt.Sprintf("%s %d to %s", d.act, d.n, d.what)
	case losePart, overwritePart, dropMessage:
		return fmt.Sprintf("%s %s", d.act, d.what)
	}
	s := fmt.Sprintf("start %d: %s %s", d.who, d.act, d.what)
	if d.n > 0 {
		s = fmt.Sprintf("start %d: %s of run %d", d.who, d.act, d.n)
	}
	if d.skew != 0 {
		s += fmt.Sprintf(", its clock is off by %s", d.skew)
	}
	return s
}

// chooser takes the decisions.
type chooser interface {
	// next returns what happens next; false ends the disorder. It may look at
	// everything in s and change nothing.
	next(s *simulation) (decision, bool)
}

// replay takes decisions from a list.
type replay struct{ list []decision }

func (r *replay) next(*simulation) (decision, bool) {
	if len(r.list) == 0 {
		return decision{}, false
	}
	d := r.list[0]
	r.list = r.list[1:]
	return d, true
}
