package wiring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/functions/validator"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/taskqueue/inprocess"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Local runs the four functions in one process: the same handlers, with
// goroutines for invocations and queues in memory. What a run leaves is in its
// destination and in its table, as on a cloud.
type Local struct {
	Config       exportconfig.Config
	State        runstate.Table
	Destinations destination.Opener
	Sources      source.Opener
	Formats      map[string]partfile.Format
	Notifier     notify.Notifier
	Clock        clock.Clock
	IDs          contract.IDSource
	Log          *slog.Logger
	// Worker names this process in chunk items.
	Worker string

	// Lease, Heartbeat and Sweep are those of Settings; how soon lost work is
	// found, nothing else.
	Lease, Heartbeat, Sweep time.Duration
	// Budget is the time of one chunk invocation; 0 is no limit, the default
	// of the CLI.
	Budget time.Duration

	// Queue wraps the queues that the functions send to, for tests of what a
	// real queue may do, such as delivering everything twice. nil wraps nothing.
	Queue func(taskqueue.Queue) taskqueue.Queue

	// Progress is told of every change of a chunk; nil tells nobody. It is
	// called by several goroutines at once.
	Progress func(runstate.Chunk)
}

// finalizeTries is how often a finalization that fails for a passing reason is
// repeated before the process gives up and leaves the run to a resume.
const finalizeTries = 6

// ErrInterrupted is the cause to cancel a run's context with when a signal came.
var ErrInterrupted = errors.New("interrupted")

// Run does what the trigger asks for, a run or a resume, with so many workers,
// and returns the run as it has ended.
//
// When ctx is cancelled with cause ErrInterrupted the run is failed, so that it
// can be resumed at once, unless it is finalizing; the error is then
// ErrInterrupted.
func (l *Local) Run(ctx context.Context, t wire.Trigger, workers int) (runstate.Run, error) {
	queues := inprocess.New(l.Clock, inprocess.Settings{}, wire.ChunkQueue(l.Config.Source.Name), wire.FinalizeQueue, wire.ValidateQueue)
	e := &execution{Local: l, queues: queues, sends: queues, state: observed{Table: l.State, tell: l.Progress, triggers: new(sync.Map)}, workers: workers, changed: make(chan struct{}, 1)}
	if l.Queue != nil {
		e.sends = l.Queue(queues)
	}
	run, err := e.run(ctx, t)
	if err != nil && errors.Is(context.Cause(ctx), ErrInterrupted) {
		return e.interrupt(context.WithoutCancel(ctx), run)
	}
	return run, err
}

// execution is one call of Run.
type execution struct {
	*Local
	queues  *inprocess.Queues
	sends   taskqueue.Queue // the queues, as the functions send to them
	state   observed
	plans   chunk.Plans
	workers int

	changed chan struct{} // a finalization was handled: look at the run

	mu     sync.Mutex
	tries  map[contract.RunID]int
	failed map[contract.RunID]error // finalizations that gave up
}

func (e *execution) run(ctx context.Context, t wire.Trigger) (runstate.Run, error) {
	answer, err := planner.Handle(ctx, e.planner(), t)
	run := runstate.Run{RunID: answer.RunID}
	if run.RunID == "" {
		run.RunID = t.RunID
	}
	if err != nil {
		return e.abandon(context.WithoutCancel(ctx), run, err)
	}
	if answer.Status == wire.RefusedTrigger {
		return run, fault.New(fault.Busy, "LAPSTRAKE_RUN_ACTIVE", "%s", answer.Reason)
	}
	work, stop := context.WithCancel(ctx)
	defer stop()
	g, work := errgroup.WithContext(work)
	for range max(e.workers, 1) {
		g.Go(func() error {
			return consume(work, e.queues, wire.ChunkQueue(e.Config.Source.Name), e.Log, e.chunk, func(wire.ChunkTask, wire.Outcome, error) {})
		})
	}
	g.Go(func() error { return consume(work, e.queues, wire.FinalizeQueue, e.Log, e.finalize, e.finalized) })
	g.Go(func() error {
		defer stop()
		var err error
		run, err = e.await(work, run.RunID)
		return err
	})
	err = g.Wait()
	if ctx.Err() != nil {
		return run, context.Cause(ctx)
	}
	return run, err
}

// await returns the run once it has ended, and looks after it in between.
func (e *execution) await(ctx context.Context, id contract.RunID) (runstate.Run, error) {
	for {
		run, err := e.State.GetRun(ctx, id)
		if err != nil {
			return runstate.Run{RunID: id}, err // an interrupted run is still failed by its id
		}
		switch {
		case run.Status == runstate.RunSucceeded && run.Notified:
			return run, nil
		case run.Status.Terminal() && run.Status != runstate.RunSucceeded:
			return run, endError(run)
		}
		if err := e.gaveUp(id); err != nil {
			return run, err
		}
		select {
		case <-ctx.Done():
			return run, ctx.Err()
		case <-e.changed:
		case <-e.Clock.After(e.Sweep):
			if err := e.sweep(ctx, id); err != nil {
				e.Log.Warn("sweep failed and is repeated", "error", err)
			}
		}
	}
}

// sweep looks after this process's run alone. Other runs in the table may be of
// another config, or of functions in a cloud: this process would read them with
// its own config and credentials.
func (e *execution) sweep(ctx context.Context, id contract.RunID) error {
	d := e.planner()
	d.State = oneRun{Table: d.State, id: id}
	_, err := planner.Sweep(ctx, d)
	return err
}

// oneRun is a table in which no other run is active.
type oneRun struct {
	runstate.Table
	id contract.RunID
}

// ListActive implements [runstate.Table].
func (o oneRun) ListActive(ctx context.Context) ([]runstate.Active, error) {
	all, err := o.Table.ListActive(ctx)
	return slices.DeleteFunc(all, func(a runstate.Active) bool { return a.RunID != o.id }), err
}

// endError is why a run has ended without success.
func endError(run runstate.Run) error {
	if run.Error != nil {
		return run.Error.Err()
	}
	return fault.New(fault.Retryable, "LAPSTRAKE_RUN_ENDED", "run %s is %s", run.RunID, run.Status)
}

func (e *execution) chunk(ctx context.Context, m wire.ChunkTask) (wire.Outcome, error) {
	if e.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.Budget)
		defer cancel()
	}
	out, err := chunk.Handle(ctx, chunk.Deps{
		Destinations: e.Destinations, State: e.state, Queue: e.sends, Sources: e.sources(), Formats: e.Formats,
		Clock: e.Clock, IDs: e.IDs, Log: e.Log, Plans: &e.plans, Worker: e.Worker, Lease: e.Lease, Heartbeat: e.Heartbeat,
	}, m)
	if err != nil && ctx.Err() == nil {
		e.Log.Error("chunk failed", "run_id", m.Run.RunID, "task", m.Task, "code", fault.CodeOf(err), "error", err)
	}
	return out, err
}

func (e *execution) finalize(ctx context.Context, m wire.FinalizeTask) (wire.Outcome, error) {
	return finalizer.Handle(ctx, finalizer.Deps{
		Destinations: e.Destinations, State: e.state, Queue: e.sends, Notifier: e.Notifier, Clock: e.Clock, IDs: e.IDs, Log: e.Log,
	}, m)
}

// finalized wakes whoever waits, and keeps count of what fails: a process does
// not try for ever.
func (e *execution) finalized(m wire.FinalizeTask, o wire.Outcome, err error) {
	if err != nil {
		e.Log.Error("finalization failed", "run_id", m.Run.RunID, "code", fault.CodeOf(err), "error", err)
		e.mu.Lock()
		if e.tries == nil {
			e.tries, e.failed = make(map[contract.RunID]int), make(map[contract.RunID]error)
		}
		e.tries[m.Run.RunID]++
		if o.Kind == wire.Fatal || e.tries[m.Run.RunID] >= finalizeTries {
			e.failed[m.Run.RunID] = err
		}
		e.mu.Unlock()
	}
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

func (e *execution) gaveUp(id contract.RunID) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed[id]
}

// planner returns the planner's dependencies.
func (e *execution) planner() planner.Deps {
	s := planner.DefaultSettings()
	s.InlineSecrets, s.Budget = true, e.Budget
	// This process renews its runs at every sweep, so a killed one is soon known
	// to be dead and can be resumed elsewhere.
	s.RunLease = e.Lease + 2*e.Sweep
	s.PlannerTimeout, s.Heartbeat = s.RunLease, e.Heartbeat
	return planner.Deps{
		Configs: parsedConfig{e.Config}, Destinations: e.Destinations, State: e.state, Queue: e.sends, Sources: e.sources(), Formats: e.Formats,
		Notifier: e.Notifier, Clock: e.Clock, IDs: e.IDs, Log: e.Log, Settings: s,
	}
}

// sources adds to a source what the config spells out and the plan must not
// hold.
func (l *Local) sources() source.Opener {
	return source.OpenerFunc(func(ctx context.Context, cfg exportconfig.Source) (source.Source, error) {
		cfg.Inline = l.Config.Source.Inline
		return l.Sources.Open(ctx, cfg)
	})
}

// abandon ends a run whose planning failed: in one process nobody comes back to
// it. A run of another trigger, which has the id or is at work, is left alone.
func (e *execution) abandon(ctx context.Context, run runstate.Run, cause error) (runstate.Run, error) {
	if run.RunID == "" {
		return run, cause
	}
	found, err := e.State.GetRun(ctx, run.RunID)
	switch {
	case errors.Is(err, runstate.ErrNotFound):
		return run, cause
	case err != nil:
		return run, errors.Join(cause, err)
	case found.Status == runstate.RunPlanning && e.state.ours(found):
		if _, err := e.ender().Fail(ctx, found, dispatch.Failure(cause)); err != nil {
			return found, errors.Join(cause, err)
		}
		if found, err = e.State.GetRun(ctx, run.RunID); err != nil {
			return found, errors.Join(cause, err)
		}
	}
	return found, cause
}

// interrupt fails a run that a signal cut short, so that it can be resumed
// without waiting for a lease. A run that is finalizing is left: it has its
// commit point before or behind it, and a resume finishes it.
func (e *execution) interrupt(ctx context.Context, run runstate.Run) (runstate.Run, error) {
	if run.RunID == "" {
		return run, ErrInterrupted
	}
	found, err := e.State.GetRun(ctx, run.RunID)
	if err != nil {
		return run, errors.Join(ErrInterrupted, err)
	}
	if !found.Status.Terminal() && found.Status != runstate.RunFinalizing && e.state.ours(found) {
		f := fault.Failure{Class: fault.Retryable, Code: "LAPSTRAKE_RUN_INTERRUPTED", Message: fmt.Sprintf("run %s was interrupted by a signal; nothing was published, resume it", run.RunID)}
		if _, err := e.ender().Fail(ctx, found, f); err != nil {
			return found, errors.Join(ErrInterrupted, err)
		}
	}
	return found, ErrInterrupted
}

func (e *execution) ender() runend.Ender {
	return runend.Ender{Destinations: e.Destinations, State: e.state, Notifier: e.Notifier, Clock: e.Clock, IDs: e.IDs, Log: e.Log}
}

// Validate judges a prefix as the validator does when a marker appears.
func (l *Local) Validate(ctx context.Context, at wire.Location, prefix string) (wire.Outcome, error) {
	return validator.Handle(ctx, validator.Deps{Destinations: l.Destinations, Clock: l.Clock, Log: l.Log, Notifier: l.Notifier},
		wire.ValidateTask{Version: wire.Version, Root: at, Prefix: prefix})
}

// parsedConfig is a config that has been read already.
type parsedConfig struct{ config exportconfig.Config }

// Load returns the config, whatever the URI.
func (p parsedConfig) Load(context.Context, string, map[string]string) (exportconfig.Config, error) {
	return p.config, nil
}

// observed tells of every chunk that changes, and knows the triggers that its
// process has asked for a run with.
type observed struct {
	runstate.Table
	tell     func(runstate.Chunk)
	triggers *sync.Map
}

// ours reports whether a run is worked on for a trigger of this process.
func (o observed) ours(run runstate.Run) bool {
	_, asked := o.triggers.Load(run.TriggerID)
	return asked
}

// CreateRun implements [runstate.Table].
func (o observed) CreateRun(ctx context.Context, r runstate.Run) error {
	o.triggers.Store(r.TriggerID, true)
	return o.Table.CreateRun(ctx, r)
}

// ClaimResume implements [runstate.Table].
func (o observed) ClaimResume(ctx context.Context, run contract.RunID, c runstate.ResumeClaim) (runstate.Run, error) {
	o.triggers.Store(c.RequestID, true)
	return o.Table.ClaimResume(ctx, run, c)
}

func (o observed) told(c runstate.Chunk, err error) (runstate.Chunk, error) {
	if err == nil && o.tell != nil {
		o.tell(c)
	}
	return c, err
}

// Claim implements [runstate.Table].
func (o observed) Claim(ctx context.Context, c runstate.ClaimRequest) (runstate.Chunk, error) {
	return o.told(o.Table.Claim(ctx, c))
}

// Complete implements [runstate.Table].
func (o observed) Complete(ctx context.Context, l runstate.Lease, r runstate.Result, now time.Time) (runstate.Chunk, error) {
	return o.told(o.Table.Complete(ctx, l, r, now))
}

// Split implements [runstate.Table].
func (o observed) Split(ctx context.Context, s runstate.SplitRequest) (runstate.Chunk, error) {
	return o.told(o.Table.Split(ctx, s))
}

// Fail implements [runstate.Table].
func (o observed) Fail(ctx context.Context, l runstate.Lease, f fault.Failure, permanent bool, now time.Time) (runstate.Chunk, error) {
	return o.told(o.Table.Fail(ctx, l, f, permanent, now))
}
