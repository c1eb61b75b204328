package planner_test

import (
	"context"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/source"
)

// dated is a table that all tasks of a run can read at one point in time.
type dated struct {
	*stage.Database
	consistency, readAt string
}

func (d *dated) Open(context.Context, exportconfig.Source) (source.Source, error) { return d, nil }

func (d *dated) Describe(ctx context.Context, rel source.Relation) (source.Table, error) {
	t, err := d.Database.Describe(ctx, rel)
	t.Consistency, t.ReadAt = d.consistency, d.readAt
	return t, err
}

func TestThePlanSaysWhatItsTasksSee(t *testing.T) {
	for _, tc := range []struct {
		name, consistency, readAt, want string
	}{
		{"a snapshot a task, unless the source says something else", "", "", "per_task"},
		{"what the source says", "read_committed", "", "read_committed"},
		{"one point in time", "snapshot@7.1", "7.1", "snapshot@7.1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			d := (&stage.Process{Stage: s}).Planner()
			plan, err := planner.Preview(t.Context(), &dated{s.DB, tc.consistency, tc.readAt}, d.Formats, d.Settings, s.Config.Source, s.Config.Exports[0], planner.Since{Scheduled: s.Time})
			if err != nil || plan.Consistency != tc.want || plan.ReadAt != tc.readAt {
				t.Errorf("the plan says %q and reads at %q, want %q and %q; %v", plan.Consistency, plan.ReadAt, tc.want, tc.readAt, err)
			}
		})
	}
}
