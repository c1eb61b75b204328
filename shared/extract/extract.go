// Package extract is the loop of a chunk: read a range, write parts, store
// them, and stop in time. Layer: L2 (execution).
package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Job is one attempt on one chunk task.
type Job struct {
	Plan   chunkplan.Plan
	Task   contract.TaskID
	Range  keyspace.Range
	Naming contract.PartNaming
	// Repairs is the completed task that this one does again, or the rest of
	// which it does; nil if there is none.
	Repairs *runstate.Chunk

	Source source.Source
	Prefix destination.Store
	Format partfile.Format
	Clock  clock.Clock
	// Deadline is when the attempt has to have ended; the zero time is never.
	Deadline time.Time
}

// Outcome is what an attempt delivered.
type Outcome struct {
	Result runstate.Result
	// Done is the range that Result covers. Rest is what is left, nil when
	// nothing is: it goes to a child task (D8).
	Done keyspace.Range
	Rest *keyspace.Range
}

// Run extracts the job's range. After an error nothing of it counts: the parts
// that it stored are untracked objects.
//
// When the deadline comes near and the plan says that tasks can be split, Run
// finishes the open part and returns the rest of the range. A task that has
// made no progress by then fails instead: splitting it would go on for ever.
func Run(ctx context.Context, j Job) (Outcome, error) {
	l := loop{Job: j, started: j.Clock.Now()}
	l.options = partfile.Options{
		Columns: j.Plan.Columns, Compression: j.Plan.Export.Compression, Level: j.Plan.Export.CompressionLevel,
		RowGroupRows: j.Plan.Export.RowGroupRows, RowGroupBytes: j.Plan.Export.RowGroupBytes, ExpectedBytes: j.Plan.Export.PartBytes,
		Writer: j.Plan.Export.ParquetWriter, Encoding: j.Plan.Export.ParquetEncoding,
		Memory: &partfile.Memory{},
	}
	defer l.options.Memory.Release()
	if err := j.Format.Check(l.options); err != nil {
		return Outcome{}, err
	}
	reader, err := j.Source.Read(ctx, source.ReadSpec{
		Relation: source.Relation{Schema: j.Plan.Schema, Name: j.Plan.Table, Query: j.Plan.Query, Overrides: j.Plan.Export.Columns},
		Columns:  j.Plan.Columns, Key: j.Plan.Key, Range: j.Range, Window: j.window(), ReadAt: j.Plan.ReadAt, NotBefore: j.Plan.NotBefore,
		Ordered: l.splittable(), Unique: j.Plan.Unique,
		BatchRows: j.Plan.Export.BatchRows, BatchBytes: batchBytes(j.Plan.Export), MaxValueBytes: j.Plan.Export.MaxValueBytes,
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("read %s: %w", l.what(), err)
	}
	out, err := l.run(ctx, reader)
	if closeErr := reader.Close(context.WithoutCancel(ctx)); err == nil && closeErr != nil {
		err = fmt.Errorf("read %s: %w", l.what(), closeErr)
	}
	if err != nil {
		return Outcome{}, err
	}
	out.Result.StartedAt = l.started
	out.Result.ReadPosition = reader.Position()
	return out, nil
}

// batchBytes is how large a batch of the export may be. A part ends with a batch,
// so that batches are small beside a part: it is at most an eighth, and a row,
// above its size (WRT-16).
func batchBytes(e exportconfig.Export) int64 {
	const least = 16 << 10
	return min(cmp.Or(e.BatchBytes, source.UsualBatchBytes), max(e.PartBytes/8, least))
}

// window is the plan's. A repair delivers at its end just the rows that were
// delivered before: the position may say so already, and the run that comes next
// delivers the others.
func (j Job) window() *keyspace.Window {
	w := j.Plan.Limits()
	if w == nil || j.Repairs == nil || len(w.Key) == 0 || w.ToExcluded {
		return w
	}
	limited := *w
	limited.OnlyAtTo = true
	for _, key := range j.Repairs.HiKeys {
		limited.Only = append(limited.Only, key)
	}
	return &limited
}

type loop struct {
	Job
	options partfile.Options
	started time.Time
	writer  partfile.Writer
	result  runstate.Result
	upload  time.Duration // longest so far
	// keyBytes is what the keys at the end of the window take.
	keyBytes int
}

func (l *loop) what() string {
	return fmt.Sprintf("task %s of run %s", l.Task, l.Plan.RunID)
}

// splittable reports whether the rest of this range can go to another task.
func (l *loop) splittable() bool {
	return l.Plan.Splittable && len(l.Plan.Key) > 0 && !l.Range.Null && !l.Range.All
}

func (l *loop) run(ctx context.Context, reader source.Reader) (Outcome, error) {
	for {
		batch, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			if err := l.finishPart(ctx); err != nil {
				return Outcome{}, err
			}
			return Outcome{Result: l.result, Done: l.Range}, nil
		}
		if err != nil {
			return Outcome{}, fmt.Errorf("read %s: %w", l.what(), err)
		}
		cut, done, rest, err := l.split(reader, batch)
		if err == nil {
			err = l.note(reader.Edge(batch.Rows))
		}
		if err != nil {
			return Outcome{}, err
		}
		if cut {
			if err := l.append(batch); err != nil {
				return Outcome{}, err
			}
			if err := l.finishPart(ctx); err != nil {
				return Outcome{}, err
			}
			return Outcome{Result: l.result, Done: done, Rest: &rest}, nil
		}
		if err := l.append(batch); err != nil {
			return Outcome{}, err
		}
		if l.writer.Size() >= l.Plan.Export.PartBytes {
			if err := l.finishPart(ctx); err != nil {
				return Outcome{}, err
			}
		}
	}
}

// split decides whether the range ends with this batch, and then cuts the batch
// where a key ends.
func (l *loop) split(reader source.Reader, batch *rowbatch.Batch) (cut bool, done, rest keyspace.Range, err error) {
	late := !l.Deadline.IsZero() && l.Deadline.Sub(l.Clock.Now()) < l.reserve()
	full := len(l.result.Parts) >= runstate.SplitParts-1
	if !late && !full {
		return false, done, rest, nil
	}
	if !l.splittable() {
		switch {
		case late && l.Deadline.Before(l.Clock.Now()):
			return false, done, rest, fault.New(fault.Permanent, "LAPSTRAKE_RUN_DEADLINE",
				"%s does not end in its time and cannot be split, because its rows have no key to be read by; it delivered nothing. Use chunk_by_key, or the CLI, which has no time limit", l.what())
		case len(l.result.Parts) >= runstate.MaxParts:
			return false, done, rest, fault.New(fault.Permanent, "LAPSTRAKE_RUN_TOO_MANY_PARTS",
				"%s has more than %d parts and cannot be split: raise max_file_size or cut the table by a key", l.what(), runstate.MaxParts)
		}
		return false, done, rest, nil
	}
	rows, at := reader.Cut()
	if rows == 0 || !at.CanBound() {
		return false, done, rest, nil // inside a group of equal keys: read on to its end
	}
	if l.Range.UpTo != nil && keyEqual(at, l.Range.UpTo) {
		return false, done, rest, nil // the last row of the range: there is no rest
	}
	done, rest, err = l.Range.CutAt(at)
	if err != nil {
		return false, done, rest, fault.Wrap(err, fault.Bug, "LAPSTRAKE_INTERNAL_SPLIT", "split %s", l.what())
	}
	batch.Truncate(rows)
	return true, done, rest, nil
}

// note counts what the rows of a batch that are kept mean for the position.
func (l *loop) note(e source.Edge) error {
	l.result.Repeated += e.AtFrom
	for _, key := range e.AtTo {
		for _, text := range key {
			l.keyBytes += len(text)
		}
		l.result.HiKeys = append(l.result.HiKeys, key)
	}
	if len(l.result.HiKeys) > contract.MaxDeliveredKeys || l.keyBytes > runstate.MaxHiKeyBytes {
		return fault.New(fault.Permanent, "LAPSTRAKE_RUN_CURSOR_TIES_GREW",
			"%s: since the run was planned so many rows have come to the end of its window, %s = %s, that their keys cannot be kept with the position; nothing was published and the position is as it was. Run the export again: that value will wait until a greater one is there",
			l.what(), l.Plan.Within.Cursor.Expression(), l.Plan.Within.To)
	}
	return nil
}

// reserve is the time that is kept for finishing and storing the open part: at
// most half of the attempt's time, so that a short-lived function still reads.
func (l *loop) reserve() time.Duration {
	return min(max(20*time.Second, 3*l.upload+10*time.Second), l.Deadline.Sub(l.started)/2)
}

func (l *loop) append(batch *rowbatch.Batch) error {
	if l.writer == nil {
		w, err := l.Format.New(l.options)
		if err != nil {
			return fmt.Errorf("start a part of %s: %w", l.what(), err)
		}
		l.writer = w
	}
	if err := l.writer.Append(batch); err != nil {
		return fmt.Errorf("write a part of %s: %w", l.what(), err)
	}
	return nil
}

// finishPart closes and stores the open part (I1: only a finished file is ever
// sent). A range without rows has no part (WRT-17).
func (l *loop) finishPart(ctx context.Context) error {
	if l.writer == nil || l.writer.Rows() == 0 {
		return nil
	}
	part, err := l.writer.Close()
	l.writer = nil
	if err != nil {
		return fmt.Errorf("finish a part of %s: %w", l.what(), err)
	}
	before := l.Clock.Now()
	record, err := commit.PutPart(ctx, l.Prefix, commit.PartSpec{Run: l.Plan.RunID, Task: l.Task, Seq: len(l.result.Parts), Naming: l.Naming}, part)
	if err != nil {
		return fmt.Errorf("%s: %w", l.what(), err)
	}
	l.options.Memory.Body = part.Body // whatever still sends it has given up, and a store refuses bytes that are not of their checksum
	l.upload = max(l.upload, l.Clock.Now().Sub(before))
	l.result.Parts = append(l.result.Parts, record)
	l.result.Rows += record.Rows
	l.result.Bytes += record.SizeBytes
	return nil
}

func keyEqual(a, b keyspace.Key) bool {
	return keyspace.Range{UpTo: a}.Equal(keyspace.Range{UpTo: b})
}
