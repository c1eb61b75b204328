package transacted

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transition"
)

// Table is a runstate.Table over a Store.
type Table struct {
	store Store
	k     int
}

var _ runstate.Table = Table{}

// New returns the table that s keeps, with k tasks in a shard.
func New(s Store, k int) Table { return Table{store: s, k: k} }

// FaninK returns how many tasks a shard holds.
func (t Table) FaninK() int { return t.k }

// changeRun is one conditional operation on a run. With it goes the ACTIVE
// item: there while the run is not terminal.
func (t Table) changeRun(ctx context.Context, id contract.RunID, change func(found *runstate.Run) (runstate.Run, error)) (runstate.Run, error) {
	var left runstate.Run
	err := t.update(ctx, func(items Items) error {
		found, err := items.Run(id)
		if err != nil {
			return err
		}
		wasActive := found != nil && !found.Status.Terminal()
		left, err = change(found)
		if err != nil {
			return err
		}
		switch active := !left.Status.Terminal(); {
		case active && !wasActive:
			err = items.PutActive(transition.ActiveOf(left))
		case wasActive && !active:
			err = items.DropActive(id)
		}
		if err != nil {
			return err
		}
		return items.PutRun(left)
	})
	if err != nil {
		return runstate.Run{}, err
	}
	return left, nil
}

func (t Table) update(ctx context.Context, fn func(Items) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.store.Update(fn)
}

func (t Table) view(ctx context.Context, fn func(Items) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.store.View(fn)
}

// CreateRun is T1.
func (t Table) CreateRun(ctx context.Context, r runstate.Run) error {
	_, err := t.changeRun(ctx, r.RunID, func(found *runstate.Run) (runstate.Run, error) {
		return transition.CreateRun(found, r)
	})
	return err
}

// RecordFence is T2.
func (t Table) RecordFence(ctx context.Context, run contract.RunID, f runstate.FenceRecord) error {
	_, err := t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.RecordFence(found, f)
	})
	return err
}

// StartRun is T5.
func (t Table) StartRun(ctx context.Context, run contract.RunID, s runstate.StartRecord) (runstate.Run, error) {
	if err := transition.CheckStart(s, t.k); err != nil {
		return runstate.Run{}, err
	}
	return t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.StartRun(found, s)
	})
}

// BeginFinalize is T13.
func (t Table) BeginFinalize(ctx context.Context, run contract.RunID, g contract.Generation, now time.Time) (runstate.Run, error) {
	return t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.BeginFinalize(found, g, now)
	})
}

// SucceedRun is T14.
func (t Table) SucceedRun(ctx context.Context, run contract.RunID, s runstate.SuccessRecord) (runstate.Run, error) {
	return t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.SucceedRun(found, s)
	})
}

// FailRun is T15.
func (t Table) FailRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	return t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.FailRun(found, g, f, now)
	})
}

// Refuse is T15r.
func (t Table) Refuse(ctx context.Context, run contract.RunID, f fault.Failure, now time.Time) (runstate.Run, error) {
	return t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.Refuse(found, f, now)
	})
}

// SupersedeRun is T16.
func (t Table) SupersedeRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (runstate.Run, error) {
	return t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.SupersedeRun(found, g, f, now)
	})
}

// ClaimResume is T17a.
func (t Table) ClaimResume(ctx context.Context, run contract.RunID, c runstate.ResumeClaim) (runstate.Run, error) {
	return t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.ClaimResume(found, c)
	})
}

// ResumeRun is T17b.
func (t Table) ResumeRun(ctx context.Context, run contract.RunID, g contract.Generation, leaseUntil time.Time) (runstate.Run, error) {
	return t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.ResumeRun(found, g, leaseUntil)
	})
}

// MarkNotified is T19.
func (t Table) MarkNotified(ctx context.Context, run contract.RunID) error {
	_, err := t.changeRun(ctx, run, transition.MarkNotified)
	return err
}

// NoteRun is T20.
func (t Table) NoteRun(ctx context.Context, run contract.RunID, n runstate.Note) (runstate.Run, error) {
	return t.changeRun(ctx, run, func(found *runstate.Run) (runstate.Run, error) {
		return transition.NoteRun(found, n)
	})
}

// GetRun returns a run.
func (t Table) GetRun(ctx context.Context, run contract.RunID) (runstate.Run, error) {
	found, err := read(ctx, t, func(items Items) (*runstate.Run, error) { return items.Run(run) })
	if err == nil && found == nil {
		return runstate.Run{}, transition.NoRun(run)
	}
	return orZero(found), err
}

// read reads one item, nil if it is not there.
func read[Item any](ctx context.Context, t Table, from func(Items) (*Item, error)) (item *Item, err error) {
	err = t.view(ctx, func(items Items) error {
		item, err = from(items)
		return err
	})
	return item, err
}

func orZero[Item any](item *Item) Item {
	if item == nil {
		var zero Item
		return zero
	}
	return *item
}

// ListActive returns the ACTIVE items, oldest first.
func (t Table) ListActive(ctx context.Context) ([]runstate.Active, error) {
	var list []runstate.Active
	err := t.view(ctx, func(items Items) (err error) {
		list, err = items.Actives()
		return err
	})
	slices.SortFunc(list, func(a, b runstate.Active) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.RunID, b.RunID))
	})
	return list, err
}

// DropActive deletes the ACTIVE item of a run that is terminal or gone.
func (t Table) DropActive(ctx context.Context, run contract.RunID) error {
	return t.update(ctx, func(items Items) error {
		found, err := items.Run(run)
		if err != nil || found != nil && !found.Status.Terminal() {
			return err
		}
		return items.DropActive(run)
	})
}

// ListRuns returns the runs of an export, newest first.
func (t Table) ListRuns(ctx context.Context, export contract.ExportName, limit int) ([]runstate.Run, error) {
	var list []runstate.Run
	err := t.view(ctx, func(items Items) (err error) {
		list, err = items.Runs(export)
		return err
	})
	slices.SortFunc(list, func(a, b runstate.Run) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.RunID, a.RunID))
	})
	return list[:min(len(list), max(limit, 0))], err
}
