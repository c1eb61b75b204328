package simulation

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/lapstrake/lapstrake/shared/contract"
)

// mortality counts the durable steps of a world's processes and ends the one
// that takes a chosen step. A durable step is a call that writes, to the store,
// the table or a queue.
type mortality struct {
	w *world
	// of says which steps count: "chunk" is all of the chunk function, "finalize:
	// Repair" one kind of step.
	of []string
	// at is the step in which a process dies, counted from 1; 0 is never. landed
	// is true when the step still takes effect.
	at     int
	landed bool
	// reopen, if set, is what the next process does with the table.
	reopen func()

	mu    sync.Mutex
	steps []string
	died  bool
}

// haunt makes m the fate of all processes of its world.
func (m *mortality) haunt() { m.w.gate = m.call }

func (m *mortality) call(l *life, op string, perform func() error) error {
	dead, dies := m.count(l, op)
	switch {
	case dead:
		return errDead
	case dies:
		if m.landed {
			_ = perform() // nobody lives to see the answer
		}
		if m.reopen != nil {
			m.reopen()
		}
		return errDead
	}
	return perform()
}

func (m *mortality) count(l *life, op string) (dead, dies bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kind := kindOf(op)
	step := l.as + ": " + kind
	if l.dead {
		return true, false
	}
	if kind == "" || !slices.ContainsFunc(m.of, func(of string) bool { return step == of || l.as == of }) {
		return false, false
	}
	m.steps = append(m.steps, step)
	if len(m.steps) == m.at {
		l.dead, m.died = true, true
	}
	return false, l.dead
}

// rest lets nobody die any more, and counts nothing.
func (m *mortality) rest() { m.of = nil }

// kill ends the next process that takes a step, and gives the world back when
// it has.
func (m *mortality) kill(step string, landed bool, work func()) {
	m.of, m.at, m.landed = []string{step}, 1, landed
	work()
	if !m.died {
		panic("no process takes the step " + step)
	}
	m.of, m.at, m.steps, m.died = nil, 0, nil, false
}

// reads are the operations of a table that change nothing.
var reads = []string{"GetRun", "GetChunk", "ListChunks", "GetFanin", "ListActive", "ListRuns"}

// kindOf names a durable step, without the names of runs and tasks, or is "" for
// a call that only reads.
func kindOf(op string) string {
	verb, key, _ := strings.Cut(op, " ")
	switch verb {
	case "get", "head", "list":
		return ""
	case "send":
		return op
	case "move":
		return "move to quarantine"
	case "create", "replace":
		return verb + " " + objectKind(path.Base(key))
	}
	if slices.Contains(reads, op) {
		return ""
	}
	return op
}

func objectKind(name string) string {
	switch {
	case strings.HasPrefix(name, "part-"):
		return "part"
	case strings.HasPrefix(name, "record-"):
		return "record"
	case contract.TracedGeneration(name) > 0:
		return "generation"
	case contract.IsSidecarName(name):
		return "sidecar"
	}
	return name
}
