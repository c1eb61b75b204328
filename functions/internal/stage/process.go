package stage

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/destination"
	destfaulty "github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/runstate"
	tablefaulty "github.com/lapstrake/lapstrake/shared/runstate/faulty"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Process is one invocation of a handler: its calls go through it, and after
// its death it sees nothing.
type Process struct {
	*Stage
	// Dies is called before every call; true ends the process in it. landed says
	// whether the call is made all the same.
	Dies func(op string) (dies, landed bool)
	dead bool
	// turns is for what a process does side by side, calls to the bucket and the
	// listing of shards: Around sees one at a time.
	turns sync.Mutex
}

func (p *Process) call(op string, perform func() error) error {
	p.mu.Lock()
	dead, dies, landed := p.dead, false, false
	if !dead && p.Dies != nil {
		dies, landed = p.Dies(op)
		p.dead = dies
	}
	p.mu.Unlock()
	switch {
	case dead, dies && !landed:
		return ErrDead
	case dies:
		_ = perform() // nobody lives to see the answer
		return ErrDead
	case p.Around != nil:
		return p.Around(op, perform)
	}
	return perform()
}

// Open implements [destination.Opener].
func (p *Process) Open(context.Context, wire.Location) (destination.Store, error) {
	return destfaulty.Wrap(p.Bucket, destfaulty.FaultFunc(func(c destfaulty.Call, perform func() error) error {
		p.turns.Lock()
		defer p.turns.Unlock()
		return p.call(c.String(), perform)
	})), nil
}

func (p *Process) table() runstate.Table {
	return tablefaulty.Wrap(p.Table, tablefaulty.HookFunc(func(_ context.Context, c tablefaulty.Call, do func() error) error {
		if c.Op == "ListChunks" {
			p.turns.Lock()
			defer p.turns.Unlock()
		}
		return p.call(strings.TrimSpace(c.Op+" "+string(c.Task)), do)
	}))
}

// Send implements [taskqueue.Queue].
func (p *Process) Send(ctx context.Context, queue string, messages ...taskqueue.Message) error {
	return p.call("send "+queue, func() error { return p.Queues.Send(ctx, queue, messages...) })
}

// Planner is what a planner works with.
func (p *Process) Planner() planner.Deps {
	settings := planner.DefaultSettings()
	settings.PutConcurrency = 1
	return planner.Deps{
		Configs: p, Destinations: p, State: p.table(), Queue: p, Sources: p.DB, Formats: formats,
		Notifier: p, Clock: p, IDs: p, Log: silent, Settings: settings,
	}
}

// Finalizer is what a finalizer works with.
func (p *Process) Finalizer() finalizer.Deps {
	return finalizer.Deps{Destinations: p, State: p.table(), Queue: p, Notifier: p, Clock: p, IDs: p, Log: silent}
}

// Chunk is what a worker works with.
func (p *Process) Chunk() chunk.Deps {
	return chunk.Deps{
		Destinations: p, State: p.table(), Queue: p, Sources: p.DB, Formats: formats, Clock: p, IDs: p, Log: silent,
		Worker: "w", Lease: 3 * time.Minute, Heartbeat: time.Minute,
	}
}

// Notify implements [notify.Notifier]: the dead tell nobody.
func (p *Process) Notify(ctx context.Context, e notify.Event) error {
	p.mu.Lock()
	dead := p.dead
	p.mu.Unlock()
	if dead {
		return ErrDead
	}
	return p.Stage.Notify(ctx, e)
}
