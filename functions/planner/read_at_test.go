package planner_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowtype"
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

// clocked is a table with a time of day.
type clocked struct{ *stage.Database }

func (c clocked) Open(context.Context, exportconfig.Source) (source.Source, error) { return c, nil }

func (c clocked) Describe(ctx context.Context, rel source.Relation) (source.Table, error) {
	t, err := c.Database.Describe(ctx, rel)
	t.Columns = append(t.Columns, rowtype.Column{Name: "opens", Type: rowtype.Type{Kind: rowtype.Time}})
	return t, err
}

// WRT-04: whoever looks at a plan learns which columns not every reader takes.
func TestThePlanNamesColumnsThatNotEveryReaderTakes(t *testing.T) {
	s := stage.New(t, 10)
	d, export := (&stage.Process{Stage: s}).Planner(), s.Config.Exports[0]
	export.Format, d.Formats = "parquet", map[string]partfile.Format{"parquet": d.Formats[export.Format]}
	plan, err := planner.Preview(t.Context(), clocked{s.DB}, d.Formats, d.Settings, s.Config.Source, export, planner.Since{Scheduled: s.Time})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(plan.Diagnostics, func(d exportconfig.Diagnostic) bool {
		return d.Code == "NOT_EVERY_READER" && strings.HasPrefix(d.Message, "opens: ")
	}) {
		t.Errorf("the plan warns of %v", plan.Diagnostics)
	}
}
