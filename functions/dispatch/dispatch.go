// Package dispatch is how handlers pass work on: task messages and the fan-in
// of completed tasks. Layer: function (no cloud import).
//
// Everything here may be repeated: messages are duplicates that the run's table
// sorts out, and fan-in adds to sets (D9).
package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// MaxSplitDepth is how many splits in a row send their child at once. After as
// many the child is left to the sweep, which starts a new lineage of
// invocations: a cloud stops a loop of about 16 (architecture §3.4).
const MaxSplitDepth = 12

// Dispatcher sends the messages of runs.
type Dispatcher struct {
	State runstate.Table
	Queue taskqueue.Queue
}

// Ref returns the reference to a run that its messages carry.
func Ref(r runstate.Run) wire.RunRef {
	return wire.RunRef{Export: r.Export, RunID: r.RunID, Generation: r.Gen, PlanFingerprint: r.PlanFingerprint, Root: r.Root}
}

// SendChunks sends one message a task, with the run's generation.
func (d Dispatcher) SendChunks(ctx context.Context, queue string, ref wire.RunRef, tasks ...contract.TaskID) error {
	messages := make([]taskqueue.Message, 0, len(tasks))
	for _, t := range tasks {
		m, err := message(wire.ChunkTask{Version: wire.Version, Run: ref, Task: t}, ref.Export)
		if err != nil {
			return err
		}
		messages = append(messages, m)
	}
	if err := d.Queue.Send(ctx, queue, messages...); err != nil {
		return fmt.Errorf("send %d tasks of run %s: %w", len(tasks), ref.RunID, err)
	}
	return nil
}

// SendFinalize asks for the finalization of a run.
func (d Dispatcher) SendFinalize(ctx context.Context, ref wire.RunRef) error {
	return d.SendFinalizeAfter(ctx, ref, 0)
}

// SendFinalizeAfter is SendFinalize for a message that comes later.
func (d Dispatcher) SendFinalizeAfter(ctx context.Context, ref wire.RunRef, seconds int) error {
	m, err := message(wire.FinalizeTask{Version: wire.Version, Run: ref}, ref.Export)
	if err != nil {
		return err
	}
	m.DelaySeconds = seconds
	if err := d.Queue.Send(ctx, wire.FinalizeQueue, m); err != nil {
		return fmt.Errorf("send the finalization of run %s: %w", ref.RunID, err)
	}
	return nil
}

// SendValidate asks for a verdict on a prefix below root.
func (d Dispatcher) SendValidate(ctx context.Context, export contract.ExportName, root wire.Location, prefix string) error {
	m, err := message(wire.ValidateTask{Version: wire.Version, Root: root, Prefix: prefix}, export)
	if err != nil {
		return err
	}
	if err := d.Queue.Send(ctx, wire.ValidateQueue, m); err != nil {
		return fmt.Errorf("send the validation of export %q: %w", export, err)
	}
	return nil
}

// Completed passes on a task that has just been completed: the child of its
// split, its place in the fan-in tree, and the finalization when it was the
// last one.
func (d Dispatcher) Completed(ctx context.Context, ref wire.RunRef, queue string, c runstate.Chunk) error {
	if c.SplitInto != "" && c.SplitInto.SplitDepth() < MaxSplitDepth {
		if err := d.SendChunks(ctx, queue, ref, c.SplitInto); err != nil {
			return err
		}
	}
	return d.join(ctx, ref, c)
}

// childPatience is how long the child of a split may be pending before a
// repeated message of its parent sends it again. Without it every duplicate of
// a message would become two one split later.
const childPatience = time.Minute

// Redrive passes on a task whose message has come again after it was completed,
// so that a crash between any two steps of Completed is made good.
func (d Dispatcher) Redrive(ctx context.Context, ref wire.RunRef, queue string, c runstate.Chunk, now time.Time) error {
	if c.SplitInto != "" && c.SplitInto.SplitDepth() < MaxSplitDepth {
		child, err := d.State.GetChunk(ctx, ref.RunID, c.SplitInto)
		if err != nil && !errors.Is(err, runstate.ErrNotFound) {
			return err
		}
		if err == nil && child.Status == runstate.ChunkPending && now.Sub(child.ChangedAt) > childPatience {
			if err := d.SendChunks(ctx, queue, ref, c.SplitInto); err != nil {
				return err
			}
		}
	}
	return d.join(ctx, ref, c)
}

// join adds a completed task to the fan-in tree (T11, T12).
func (d Dispatcher) join(ctx context.Context, ref wire.RunRef, c runstate.Chunk) error {
	shard := runstate.ShardOf(c.ID, d.State.FaninK())
	leaf, err := d.State.FaninAdd(ctx, ref.RunID, shard, string(c.ID))
	if err != nil || !leaf.Full() {
		return ignoreLostTable(err)
	}
	root, err := d.State.FaninAdd(ctx, ref.RunID, runstate.RootShard, strconv.Itoa(shard))
	if err != nil || !root.Full() {
		return ignoreLostTable(err)
	}
	return d.SendFinalize(ctx, ref)
}

// ignoreLostTable drops ErrNotFound: a run whose items are gone has nothing to
// be finalized from, and its next run starts at the cursor.
func ignoreLostTable(err error) error {
	if errors.Is(err, runstate.ErrNotFound) {
		return nil
	}
	return err
}

func message(m any, export contract.ExportName) (taskqueue.Message, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return taskqueue.Message{}, err
	}
	return taskqueue.Message{Body: body, Group: contract.Token(string(export))}, nil
}
