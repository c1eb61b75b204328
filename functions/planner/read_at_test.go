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

// The tasks of a plan are read from no server that has come less far than the
// one that the plan was made on: for a cursor, the one that said where it ends
// (PLN-31).
func TestThePlanSaysHowFarItsSourceHadCome(t *testing.T) {
	s := stage.New(t, 10)
	for _, tc := range []struct{ name, end, want string }{
		{"where the end of the cursor was found", "lsn 0/20", "lsn 0/20"},
		{"where the table was described, if that is all there is", "", "lsn 0/10"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db := &edges{Database: s.DB, keys: []string{"id"}, position: "lsn 0/10", end: source.CursorEnd{Found: true, Value: "7", Order: 1, Position: tc.end}}
			plan, err := preview(t, s, db, byCursor(s), nil)
			if err != nil || plan.NotBefore != tc.want {
				t.Errorf("not before %q, want %q; %v", plan.NotBefore, tc.want, err)
			}
		})
	}
	d := (&stage.Process{Stage: s}).Planner()
	plan, err := planner.Preview(t.Context(), &edges{Database: s.DB, position: "lsn 0/10"}, d.Formats, d.Settings, s.Config.Source, s.Config.Exports[0], planner.Since{Scheduled: s.Time})
	if err != nil || plan.NotBefore != "lsn 0/10" {
		t.Errorf("without a cursor: not before %q; %v", plan.NotBefore, err)
	}
}
