package simulation

import (
	"context"
	"errors"
	"sync"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

// errDead is what a process sees of the world after its end: nothing.
var errDead = errors.New("this process is dead")

// plan says in which call of all processes together one process dies, and
// whether that call still takes effect.
type plan struct {
	at     int // counted from 1; 0 is never
	landed bool
}

// life is one process: one invocation of a handler. All of its calls to bucket,
// table and queue go through it.
type life struct {
	w    *world
	as   string // "run", "resume", "sweep", "validate", "chunk" or "finalize"
	dead bool
	turn sync.Mutex
}

// call performs one call of the process, or ends its life.
func (l *life) call(op string, perform func() error) error {
	if l.w.gate != nil {
		return l.w.gate(l, op, perform)
	}
	dead, dies := l.notice(op)
	switch {
	case dead:
		return errDead
	case dies:
		if l.w.death.landed {
			_ = perform() // nobody lives to see the answer
		}
		return errDead
	}
	return perform()
}

// notice counts a call and shows it to the world: whether the process was dead
// before it, or dies in it. Handlers make some of their calls side by side; they
// are noticed one at a time.
func (l *life) notice(op string) (dead, dies bool) {
	l.turn.Lock()
	defer l.turn.Unlock()
	dead, dies = l.count(op)
	if !dead && !dies && l.w.before != nil {
		l.w.before(op)
	}
	return dead, dies
}

// count numbers a call.
func (l *life) count(op string) (dead, dies bool) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if l.dead {
		return true, false
	}
	l.w.calls++
	l.w.lastOp = op
	l.dead = l.w.calls == l.w.death.at
	return false, l.dead
}

func (l *life) bucket() destination.Store {
	return faulty.Wrap(l.w.bucket, faulty.FaultFunc(func(c faulty.Call, perform func() error) error {
		return l.call(c.String(), perform)
	}))
}

func (l *life) table() runstate.Table { return mortalTable{Table: l.w.table, life: l} }

func (l *life) queue() taskqueue.Queue { return mortalQueue{l} }

type mortalQueue struct{ life *life }

func (q mortalQueue) Send(ctx context.Context, queue string, messages ...taskqueue.Message) error {
	return q.life.call("send "+queue, func() error { return q.life.w.queues.Send(ctx, queue, messages...) })
}
