package planner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/functions/internal/stage"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
)

// edges is a table that says of its cursor what the test wants, and remembers
// what it was asked.
type edges struct {
	*stage.Database
	keys []string // unique keys of one column each
	// position is how far it had come when it was described.
	position string
	end      source.CursorEnd
	// below is what there is before a value that has to wait.
	below source.CursorEnd
	asked []source.CursorQuery
	times []time.Time // from and to of windows of time
}

func (e *edges) Open(context.Context, exportconfig.Source) (source.Source, error) { return e, nil }

func (e *edges) Describe(ctx context.Context, rel source.Relation) (source.Table, error) {
	t, err := e.Database.Describe(ctx, rel)
	t.Keys, t.Position = nil, e.position
	for _, name := range []string{"id", "code", "at", "made"} {
		t.KeyColumns[name] = keyspace.Column{Name: name, Native: map[string]string{"code": "uuid"}[name] + "bigint", Collation: map[string]string{"at": "C"}[name]}
	}
	for _, name := range e.keys {
		t.Keys = append(t.Keys, source.UniqueKey{Name: name, Columns: []keyspace.Column{t.KeyColumns[name]}})
	}
	return t, err
}

func (e *edges) CursorEnd(_ context.Context, _ source.Relation, q source.CursorQuery) (source.CursorEnd, error) {
	e.asked = append(e.asked, q)
	if q.Below != nil {
		return e.below, nil
	}
	return e.end, nil
}

func (e *edges) TimeWindow(_ context.Context, _ source.Relation, column keyspace.Column, _ bool, from, to time.Time) (keyspace.Window, int64, error) {
	e.times = append(e.times, from, to)
	begin := from.Format(time.DateTime)
	return keyspace.Window{Cursor: column, From: &begin, FromIncluded: true, To: to.Format(time.DateTime), ToExcluded: true}, 0, nil
}

func (e *edges) EstimateRows(context.Context, source.Relation, keyspace.Window) (int64, error) {
	return 1, nil
}

// byCursor is an incremental export of s.
func byCursor(s *stage.Stage) exportconfig.Export {
	e := s.Config.Exports[0]
	e.Mode, e.ChunkColumn, e.CursorColumn = exportconfig.Incremental, "", "at"
	e.Settle = &exportconfig.Settle{}
	return e
}

func preview(t *testing.T, s *stage.Stage, db *edges, export exportconfig.Export, position *contract.Position) (chunkplan.Plan, error) {
	t.Helper()
	d := (&stage.Process{Stage: s}).Planner()
	return planner.Preview(t.Context(), db, d.Formats, d.Settings, s.Config.Source, export, planner.Since{Position: position, Scheduled: s.Time})
}

// at7 is a position with the keys that were delivered at it.
func at7(keys ...string) *contract.Position {
	p := &contract.Position{Kind: contract.PositionIncremental, Column: "at", Type: "bigint", Relation: "orders", Value: "7", KeyColumns: []string{"id"}}
	for _, k := range keys {
		p.DeliveredKeys = append(p.DeliveredKeys, []string{k})
	}
	return p
}

// What is read, where the position goes, and what is said of it, by what the
// source says of its cursor (architecture §4.2).
func TestWindowOfAPosition(t *testing.T) {
	const most = contract.MaxDeliveredKeys
	fat := strings.Repeat("k", runstate.MaxHiKeyBytes/2)
	byKey := func(e *exportconfig.Export) {
		e.Mode, e.CursorColumn, e.Settle, e.ChunkByKey, e.KeysetIncremental = "chunked", "", nil, "id", true
	}
	keyset := &contract.Position{Kind: contract.PositionKeyset, Column: "id", Type: "bigint", Relation: "orders", Value: "7"}
	byCode := at7("c")
	byCode.KeyColumns = []string{"code"}
	byText, byInteger := at7("c"), at7("1")
	byText.KeyTypes, byInteger.KeyTypes = []string{"text"}, []string{"integer"}
	for _, tc := range []struct {
		name   string
		from   *contract.Position
		keys   string // of the table; "id" if empty
		export func(e *exportconfig.Export)
		end    source.CursorEnd
		below  source.CursorEnd
		want   string // the window, the position, the tasks, the warnings
	}{
		{name: "a first run", end: source.CursorEnd{Found: true, Value: "9", Order: 1, Ties: 2}, want: "at <= 9; to 9 by id; 1"},
		{name: "a first run of an empty table", end: source.CursorEnd{Order: -1}, want: "nothing; to none; 0"},
		{name: "greater values", from: at7(), end: source.CursorEnd{Found: true, Value: "9", Order: 1}, want: "7 <= at <= 9; to 9 by id; 1"},
		{name: "a key that grows", from: keyset, export: byKey, end: source.CursorEnd{Found: true, Value: "9", Order: 1}, want: "7 < id <= 9; to 9; 1"},
		{name: "a key that has not grown", from: keyset, export: byKey, end: source.CursorEnd{Found: true, Value: "7", FromTies: 1}, want: "nothing; to 7; 0"},
		{name: "nothing new", from: at7("1"), end: source.CursorEnd{Found: true, Value: "7"}, want: "nothing; to 7 by id; 0"},
		{name: "rows that came late", from: at7("1"), end: source.CursorEnd{Found: true, Value: "7", FromTies: 2}, want: "7 <= at <= 7; to 7 by id; 1"},
		{name: "rows at the position, without a key", from: at7(), keys: "none", end: source.CursorEnd{Found: true, Value: "7"}, want: "7 <= at <= 7; to 7; 1; CURSOR_WITHOUT_KEY"},
		{name: "a source below the position", from: at7("1"), end: source.CursorEnd{Found: true, Value: "3", Order: -1}, want: "nothing; to 7 by id; 0; CURSOR_SOURCE_BELOW"},
		{name: "a source below the position, without a key", from: at7(), keys: "none", end: source.CursorEnd{Found: true, Value: "3", Order: -1}, want: "nothing; to 7 by id; 0; CURSOR_SOURCE_BELOW CURSOR_WITHOUT_KEY"},
		{name: "rows that came late, and the greatest value has gone", from: at7("1"), end: source.CursorEnd{Found: true, Value: "3", Order: -1, FromTies: 1}, want: "7 <= at <= 7; to 7 by id; 1; CURSOR_SOURCE_BELOW"},
		{name: "as many rows as can be kept", end: source.CursorEnd{Found: true, Value: "9", Order: 1, Ties: most, TieBytes: runstate.MaxHiKeyBytes}, want: "at <= 9; to 9 by id; 1"},
		{name: "a row too many", from: at7(), end: source.CursorEnd{Found: true, Value: "9", Order: 1, Ties: most + 1}, want: "7 <= at < 9; to 9 by id; 1; CURSOR_TIES_WAIT"},
		{name: "a byte too many", from: at7(), end: source.CursorEnd{Found: true, Value: "9", Order: 1, Ties: 2, TieBytes: runstate.MaxHiKeyBytes + 1}, want: "7 <= at < 9; to 9 by id; 1; CURSOR_TIES_WAIT"},
		{name: "too many rows, in a first run", end: source.CursorEnd{Found: true, Value: "9", Order: 1, Ties: most + 1}, below: source.CursorEnd{Found: true, Value: "8", Order: 1}, want: "at < 9; to 9 by id; 1; CURSOR_TIES_WAIT"},
		{name: "too many rows and no other", end: source.CursorEnd{Found: true, Value: "9", Order: 1, Ties: most + 1}, want: "LAPSTRAKE_PLAN_CURSOR_TIES"},
		{name: "as many late rows as can be kept", from: at7("1"), end: source.CursorEnd{Found: true, Value: "7", FromTies: most - 1}, want: "7 <= at <= 7; to 7 by id; 1"},
		{name: "a late row too many", from: at7("1"), end: source.CursorEnd{Found: true, Value: "7", FromTies: most}, want: "nothing; to 7 by id; 0; CURSOR_TIES_WAIT"},
		{name: "a byte of late rows too many", from: at7(fat), end: source.CursorEnd{Found: true, Value: "7", FromTies: 1, FromTieBytes: runstate.MaxHiKeyBytes/2 + 1}, want: "nothing; to 7 by id; 0; CURSOR_TIES_WAIT"},
		{name: "the key of the position is another than the first", from: byCode, keys: "id code", end: source.CursorEnd{Found: true, Value: "9", Order: 1}, want: "7 <= at <= 9; to 9 by code; 1"},
		{name: "the key of the position is gone", from: byCode, end: source.CursorEnd{Found: true, Value: "7", FromTies: most}, want: "7 <= at <= 7; to 7 by id; 1; CURSOR_KEY_CHANGED"},
		{name: "the key of the position was of another type", from: byText, end: source.CursorEnd{Found: true, Value: "7", FromTies: most}, want: "7 <= at <= 7; to 7 by id; 1; CURSOR_KEY_CHANGED"},
		{name: "the key of the position was of a narrower type", from: byInteger, end: source.CursorEnd{Found: true, Value: "7"}, want: "nothing; to 7 by id; 0"},
		{name: "rows without a cursor", from: at7(), end: source.CursorEnd{Found: true, Value: "9", Order: 1, Nulls: 3}, want: "7 <= at <= 9; to 9 by id; 1; 3 nulls CURSOR_NULL_ROWS"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stage.New(t, 10)
			export := byCursor(s)
			if tc.export != nil {
				tc.export(&export)
			}
			db := &edges{Database: s.DB, keys: strings.Fields(tc.keys), end: tc.end, below: tc.below}
			switch tc.keys {
			case "":
				db.keys = []string{"id"}
			case "none":
				db.keys = nil
			}
			plan, err := preview(t, s, db, export, tc.from)
			if got := summary(plan, err); got != tc.want {
				t.Errorf("planned  %s\nwant     %s", got, tc.want)
			}
			if w := plan.Window; plan.Within != nil && w.To != nil && len(w.To.KeyTypes) != len(w.To.KeyColumns) {
				t.Errorf("the position has a key of %v and types of %v", w.To.KeyColumns, w.To.KeyTypes)
			}
		})
	}
}

// summary is a plan in one line: what is read; the position; how many tasks; and
// what is said of the cursor.
func summary(p chunkplan.Plan, err error) string {
	if err != nil {
		return string(fault.CodeOf(err))
	}
	within, to := "nothing", "to none"
	if p.Within != nil {
		within = p.Within.String()
	}
	if w := p.Window; w != nil && w.To != nil {
		to = "to " + w.To.Value
		if by := w.To.KeyColumns; len(by) > 0 {
			to += " by " + strings.Join(by, ",")
		}
	}
	out := fmt.Sprintf("%s; %s; %d", within, to, len(p.Tasks))
	var said []string
	if p.NullRows > 0 {
		said = append(said, fmt.Sprintf("%d nulls", p.NullRows))
	}
	for _, d := range p.Diagnostics {
		if strings.HasPrefix(d.Code, "CURSOR_") {
			said = append(said, d.Code)
		}
	}
	if len(said) > 0 {
		out += "; " + strings.Join(said, " ")
	}
	return out
}
