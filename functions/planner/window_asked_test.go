package planner_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// The source is told which rows are delivered, unless the key that told them
// apart is gone, and how old a row has to be.
func TestWhatTheSourceIsAsked(t *testing.T) {
	byCode := at7("c")
	byCode.KeyColumns = []string{"code"}
	byText := at7("c")
	byText.KeyTypes = []string{"text"}
	for _, tc := range []struct {
		name string
		from *contract.Position
		lag  *exportconfig.Settle
		want source.CursorQuery
	}{
		{name: "a first run"},
		{name: "delivered rows", from: at7("1", "2"), want: source.CursorQuery{Delivered: []keyspace.Key{{"1"}, {"2"}}}},
		{name: "delivered rows by a key that is gone", from: byCode},
		{name: "delivered rows by a key that was of another type", from: byText},
		{name: "rows settle by the cursor", lag: &exportconfig.Settle{After: time.Minute}, want: source.CursorQuery{Settle: &source.Settle{After: time.Minute, Column: "at"}}},
		{name: "rows settle by a column", lag: &exportconfig.Settle{After: time.Minute, Column: "made"}, want: source.CursorQuery{Settle: &source.Settle{After: time.Minute, Column: "made"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			export := byCursor(s)
			export.Settle = tc.lag
			db := &edges{Database: s.DB, keys: []string{"id"}, end: source.CursorEnd{Found: true, Value: "9", Order: 1}}
			if _, err := preview(t, s, db, export, tc.from); err != nil {
				t.Fatal(err)
			}
			got := source.CursorQuery{Delivered: db.asked[0].Delivered, Settle: db.asked[0].Settle}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("asked (-want +got):\n%s", d)
			}
			if from := db.asked[0].From; (from != nil) != (tc.from != nil) || from != nil && *from != "7" {
				t.Errorf("asked from %v", from)
			}
		})
	}
}

// A position is that of one kind, column, pair of columns, type and relation:
// nothing is read by the value of another.
func TestPositionOfAnotherCursorIsRefused(t *testing.T) {
	query := func(e *exportconfig.Export) { e.Table, e.Query = "", "select 1" }
	for _, tc := range []struct {
		name   string
		export func(e *exportconfig.Export)
		stored func(p *contract.Position)
	}{
		{name: "another kind", stored: func(p *contract.Position) { p.Kind = contract.PositionKeyset }},
		{name: "another column", stored: func(p *contract.Position) { p.Column = "made" }},
		{name: "two columns", stored: func(p *contract.Position) { p.Fallback = "made" }},
		{name: "another type", stored: func(p *contract.Position) { p.Type = "integer" }},
		{name: "another order", stored: func(p *contract.Position) { p.Collation = "en" }},
		{name: "another table", stored: func(p *contract.Position) { p.Relation = "customers" }},
		{name: "a table of another schema", export: func(e *exportconfig.Export) { e.Table = "sales.orders" }},
		{name: "a query instead of a table", export: query},
		{name: "another query", export: query, stored: func(p *contract.Position) {
			p.Relation = "query " + string(contract.FingerprintOf([]byte("select 2")))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			export, from := byCursor(s), at7()
			if tc.export != nil {
				tc.export(&export)
			}
			if tc.stored != nil {
				tc.stored(from)
			}
			db := &edges{Database: s.DB, keys: []string{"id"}, end: source.CursorEnd{Found: true, Value: "9", Order: 1}}
			if _, err := preview(t, s, db, export, from); fault.CodeOf(err) != "LAPSTRAKE_STATE_CURSOR_SHAPE_CHANGED" {
				t.Fatalf("planned: %v", err)
			}
			if len(db.asked) != 0 {
				t.Fatal("the source was asked")
			}
		})
	}
}

// The planner of an incremental run dies before it has a plan, the config is put
// back to a mode without a position, and the run is resumed: it does not read
// the whole table beside the windows before it.
func TestResumeInAModeWithoutAPositionIsRefused(t *testing.T) {
	s := stage.New(t, 10)
	db := &edges{Database: s.DB, keys: []string{"id"}, end: source.CursorEnd{Found: true, Value: "9", Order: 1}}
	incremental, full := byCursor(s), s.Config.Exports[0]
	s.Config.Exports[0] = incremental
	d := (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) {
		return strings.HasPrefix(op, "create "+contract.PlanKey("orders", s.RunID(1))), false
	}}).Planner()
	d.Sources = db
	if _, err := planner.Handle(t.Context(), d, s.Trigger(1)); !errors.Is(err, stage.ErrDead) {
		t.Fatalf("the planner: %v", err)
	}
	doc := s.Fence()
	doc.Position = at7()
	body, err := doc.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.Put(contract.CursorKey("orders"), string(body))
	s.ExpireLeases()
	s.Config.Exports[0] = full
	if _, err := s.Plan(s.Resume(1)); fault.CodeOf(err) != "LAPSTRAKE_STATE_CURSOR_SHAPE_CHANGED" {
		t.Fatalf("the resume: %v", err)
	}
	if s.Body(contract.PlanKey("orders", s.RunID(1))) != nil {
		t.Fatal("the run has a plan")
	}
}

// A window of time ends at the time that the run was scheduled for, or was
// created at, whenever it comes to be planned: a trigger that is repeated has
// the same window.
func TestWindowOfTimeStaysWithTheRun(t *testing.T) {
	for _, scheduled := range []bool{true, false} {
		s := stage.New(t, 10)
		db := &edges{Database: s.DB, keys: []string{"id"}}
		e := &s.Config.Exports[0]
		e.Mode, e.ChunkColumn, e.TimeColumn, e.DaysWindow = exportconfig.TimeWindow, "", "at", 2
		trigger, want := s.Trigger(1), s.Trigger(1).ScheduledTime.Time
		if !scheduled {
			trigger.RunID, trigger.ScheduledTime, want = s.RunID(1), nil, s.Time
		}
		for _, dies := range []bool{true, false} { // before it has a plan
			d := (&stage.Process{Stage: s, Dies: func(op string) (bool, bool) {
				return dies && strings.HasPrefix(op, "create "+contract.PlanKey("orders", s.RunID(1))), false
			}}).Planner()
			d.Sources = db
			if _, err := planner.Handle(t.Context(), d, trigger); (err != nil) != dies {
				t.Fatalf("the planner: %v", err)
			}
			s.Time = s.Time.Add(30 * time.Hour)
		}
		begin := time.Date(2126, 11, 27, 0, 0, 0, 0, time.UTC)
		if !slices.EqualFunc(db.times, []time.Time{begin, want, begin, want}, time.Time.Equal) {
			t.Errorf("scheduled %t: the windows are %v", scheduled, db.times)
		}
	}
}

// A run that has nothing to read has no task that could call its finalizer: the
// planner does.
func TestRunWithNothingToReadIsFinalized(t *testing.T) {
	s := stage.New(t, 10)
	s.Config.Exports[0] = byCursor(s)
	d := (&stage.Process{Stage: s}).Planner()
	d.Sources = &edges{Database: s.DB, keys: []string{"id"}, end: source.CursorEnd{Order: -1}}
	if answer, err := planner.Handle(t.Context(), d, s.Trigger(1)); err != nil || answer.Chunks != 0 {
		t.Fatalf("the planner: %+v, %v", answer, err)
	}
	if n := len(s.Queues.Pending(wire.FinalizeQueue)); n != 1 {
		t.Fatalf("%d finalizations are sent", n)
	}
}
