package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/functions/runend"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// How patient the sweep is with work that nobody seems to do (architecture
// §2.8, ADR-0002).
const (
	quietPatience    = 2 * time.Minute
	failedPatience   = 2 * time.Minute
	finalizePatience = 2 * time.Minute
	progressWindow   = 15 * time.Minute
)

// sendMost is how many tasks of a run one sweep sends again. A run that lost
// more messages gets the others a minute later.
const sendMost = 1000

// Sweep looks after every run that has not ended: it sends again what got lost,
// gives up what has no attempt left, and does the planning that a dead planner
// left. It only ever repeats what is harmless twice, so it may run at any time,
// and next to itself.
func Sweep(ctx context.Context, d Deps) (wire.TriggerResult, error) {
	active, err := d.State.ListActive(ctx)
	if err != nil {
		return wire.TriggerResult{}, fmt.Errorf("list active runs: %w", err)
	}
	var failed []error
	for _, a := range active {
		if err := sweepRun(ctx, d, a); err != nil {
			failed = append(failed, fmt.Errorf("sweep run %s: %w", a.RunID, err))
		}
	}
	return wire.TriggerResult{Status: wire.Succeeded, Chunks: len(active)}, errors.Join(failed...)
}

func sweepRun(ctx context.Context, d Deps, a runstate.Active) error {
	run, err := d.State.GetRun(ctx, a.RunID)
	switch {
	case errors.Is(err, runstate.ErrNotFound) || err == nil && run.Status.Terminal():
		return d.State.DropActive(ctx, a.RunID)
	case err != nil:
		return err
	}
	s := sweeper{Deps: d, run: run, now: d.Clock.Now()}
	if s.now.Sub(run.BegunAt()) > d.Settings.RunTTL && run.Status != runstate.RunFinalizing { // (f)
		return s.fail(ctx, fault.New(fault.Permanent, "LAPSTRAKE_RUN_TIMEOUT", "run %s has not ended within %v", run.RunID, d.Settings.RunTTL))
	}
	switch run.Status {
	case runstate.RunPlanning:
		return s.planning(ctx)
	case runstate.RunFinalizing:
		return s.finalizing(ctx)
	}
	return s.running(ctx)
}

type sweeper struct {
	Deps
	run runstate.Run
	now time.Time
	// quiet is true when no chunk of the run has changed for a while: the queue
	// has nothing for it any more.
	quiet bool
}

// planning is (e): a planner that has not come to its end is run again here.
func (s sweeper) planning(ctx context.Context) error {
	if !s.run.LeaseUntil.Before(s.now) {
		s.beat(ctx)
		return nil
	}
	var t wire.Trigger
	if err := json.Unmarshal(s.run.Trigger, &t); err != nil {
		return s.fail(ctx, fault.Wrap(err, fault.Bug, "LAPSTRAKE_INTERNAL_TRIGGER", "the trigger of run %s cannot be read", s.run.RunID))
	}
	t.RunID = s.run.RunID
	t.TriggerID = s.run.TriggerID
	t.Action = s.run.Intent
	t.Callback = nil // the run has a newer one, if its trigger came again
	_, err := handle(ctx, s.Deps, t)
	if fault.CodeOf(err) == "LAPSTRAKE_RUN_GENERATION_BEHIND" { // its fence was taken again after the table was lost
		t.Action = wire.ActionResume
		_, err = handle(ctx, s.Deps, t)
	}
	return err
}

// fail ends the run, or has a finalizer report it if it has committed.
func (s sweeper) fail(ctx context.Context, cause error) error {
	committed, err := reminded(ctx, s.dispatcher(), s.run, func() (bool, error) { return s.ender().Fail(ctx, s.run, dispatch.Failure(cause)) })
	if err != nil || !committed {
		return err
	}
	return s.dispatcher().SendFinalize(ctx, dispatch.Ref(s.run))
}

// finalizing sends the finalization again when nothing has come of it, and the
// tasks that it waits for: a repair may have been put just before the freeze.
func (s sweeper) finalizing(ctx context.Context) error {
	if s.now.Sub(s.run.FinalizeStartedAt) <= progressWindow {
		s.beat(ctx)
	}
	if s.now.Sub(s.run.FinalizeStartedAt) < finalizePatience {
		return nil
	}
	chunks, joined, err := s.unfinished(ctx)
	if err != nil {
		return err
	}
	s.quiet = true
	var again []contract.TaskID
	for _, c := range chunks {
		if !c.Live() {
			continue
		}
		verdict, err := s.look(ctx, c, joined[c.ID])
		if err != nil {
			return err
		}
		if verdict == sendAgain {
			again = append(again, c.ID)
		}
	}
	s.Log.Warn("finalization is not coming to its end; it is sent again", "run_id", s.run.RunID, "since", s.run.FinalizeStartedAt, "tasks", len(again))
	if len(again) > 0 {
		if err := s.dispatcher().SendChunks(ctx, s.run.Queue, dispatch.Ref(s.run), again...); err != nil {
			return err
		}
	}
	return s.dispatcher().SendFinalize(ctx, dispatch.Ref(s.run))
}

// running is (a) to (d) and (g): it reads the leaves first and goes down only
// into shards that are not complete.
func (s sweeper) running(ctx context.Context) error {
	chunks, joined, err := s.unfinished(ctx)
	if err != nil {
		return err
	}
	lastChange, complete := s.run.BegunAt(), true
	for _, c := range chunks {
		if c.ChangedAt.After(lastChange) {
			lastChange = c.ChangedAt
		}
		if c.Status == runstate.ChunkRunning && s.now.Before(c.LeaseUntil) {
			lastChange = s.now // its worker says that it is alive, however long it takes
		}
		complete = complete && (!c.Live() || c.Status == runstate.ChunkCompleted)
	}
	s.quiet = s.now.Sub(lastChange) > quietPatience
	var again []contract.TaskID
	finalize := complete && s.now.Sub(lastChange) > finalizePatience
	for _, c := range chunks {
		if !c.Live() {
			continue
		}
		verdict, err := s.look(ctx, c, joined[c.ID])
		if err != nil {
			return err
		}
		switch {
		case verdict == giveUp:
			finalize = true
		case verdict == sendAgain && len(again) < sendMost:
			again = append(again, c.ID)
		}
	}
	if len(again) > 0 {
		s.Log.Info("tasks that nobody works on are sent again", "run_id", s.run.RunID, "tasks", len(again))
		if err := s.dispatcher().SendChunks(ctx, s.run.Queue, dispatch.Ref(s.run), again...); err != nil {
			return err
		}
	}
	if finalize {
		if err := s.dispatcher().SendFinalize(ctx, dispatch.Ref(s.run)); err != nil {
			return err
		}
	}
	if !complete && s.now.Sub(lastChange) > progressWindow {
		return nil // nothing moves: let the lease run out, so that another run may take over, and whoever waits give up
	}
	s.beat(ctx)
	until := s.now.Add(s.Settings.RunLease)
	_, err = s.State.NoteRun(ctx, s.run.RunID, runstate.Note{LeaseUntil: &until})
	return ignoreCondition(err)
}

// unfinished returns the chunks of the shards whose leaf is not full, and which
// of them have their place in it.
func (s sweeper) unfinished(ctx context.Context) ([]runstate.Chunk, map[contract.TaskID]bool, error) {
	var all []runstate.Chunk
	joined := make(map[contract.TaskID]bool)
	for shard := range s.run.Shards {
		leaf, err := s.State.GetFanin(ctx, s.run.RunID, shard)
		if err != nil && !errors.Is(err, runstate.ErrNotFound) {
			return nil, nil, err
		}
		if err == nil && leaf.Full() {
			continue
		}
		for _, id := range leaf.Done {
			joined[contract.TaskID(id)] = true
		}
		chunks, err := s.State.ListChunks(ctx, s.run.RunID, shard)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, chunks...)
	}
	return all, joined, nil
}

type sweepVerdict int

const (
	leaveAlone sweepVerdict = iota
	sendAgain
	giveUp
)

// look decides about one live task. joined is true when it has its place in the
// fan-in tree.
func (s sweeper) look(ctx context.Context, c runstate.Chunk, joined bool) (sweepVerdict, error) {
	if c.Status != runstate.ChunkCompleted && c.Gen < s.run.Gen {
		revived, err := s.State.ResumeChunk(ctx, s.run.RunID, c.ID, s.run.Gen, s.run.MaxAttempts, s.now)
		if err != nil {
			return leaveAlone, ignoreCondition(err)
		}
		c = revived
	}
	still := s.now.Sub(c.ChangedAt)
	switch c.Status {
	case runstate.ChunkRunning:
		switch {
		case s.now.Before(c.LeaseUntil):
			return leaveAlone, nil
		case c.Attempts >= c.MaxAttempts:
			_, err := s.State.Expire(ctx, s.run.RunID, c.ID, s.now)
			return giveUp, ignoreCondition(err)
		}
		return sendAgain, nil
	case runstate.ChunkPending:
		if s.quiet || c.ID.SplitDepth() >= dispatch.MaxSplitDepth {
			return sendAgain, nil
		}
	case runstate.ChunkFailed:
		if c.Exhausted() {
			return giveUp, nil
		}
		if still > failedPatience {
			return sendAgain, nil
		}
	case runstate.ChunkCompleted:
		if !joined && still > failedPatience {
			return sendAgain, nil
		}
	}
	return leaveAlone, nil
}

func ignoreCondition(err error) error {
	if errors.Is(err, runstate.ErrCondition) {
		return nil
	}
	return err
}

func (s sweeper) dispatcher() dispatch.Dispatcher {
	return dispatch.Dispatcher{State: s.State, Queue: s.Queue}
}

func (s sweeper) ender() runend.Ender {
	return runend.Ender{Destinations: s.Destinations, State: s.State, Notifier: s.Notifier, Clock: s.Clock, IDs: s.IDs, Log: s.Log, Observer: s.Observer}
}
