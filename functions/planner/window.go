package planner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/source"
)

// Since is what a window starts from: the position of the export, and the time
// that the run was scheduled for.
type Since struct {
	Position  *contract.Position
	Scheduled time.Time
}

// scheduled is the time that the run was triggered for, or else the time that it
// was created at: both stay what they are when the planner is called again.
func (p *planner) scheduled() time.Time {
	if t := p.trigger.ScheduledTime; t != nil {
		return t.Time
	}
	return p.run.CreatedAt
}

// cursor describes the position of the export's mode, without a value; nil in
// modes that keep none.
func (d *draft) cursor() *contract.Position {
	if !d.export.KeepsPosition() {
		return nil
	}
	c := d.choice.Cursor
	p := contract.Position{Kind: contract.PositionIncremental, Column: c.Name, Fallback: c.Fallback, Type: c.Native, Collation: c.Collation, Relation: relationName(d.table.Relation)}
	if d.export.KeysetIncremental {
		p.Kind = contract.PositionKeyset
	}
	return &p
}

// relationName tells what is read from anything else that a config may name
// later under the same export.
func relationName(r source.Relation) string {
	switch {
	case r.Query != "":
		return "query " + string(contract.FingerprintOf([]byte(r.Query)))
	case r.Schema != "":
		return r.Schema + "." + r.Name
	}
	return r.Name
}

// window fixes the window of the run in plan, by what the source says now.
func (d *draft) window(ctx context.Context, plan *chunkplan.Plan, since Since) error {
	switch {
	case d.choice.Cursor == nil:
		return nil
	case !d.export.KeepsPosition():
		return d.timeWindow(ctx, plan, since.Scheduled)
	}
	return d.positionWindow(ctx, plan, since.Position)
}

// timeWindow goes from midnight UTC some days before the scheduled time up to
// that time: a trigger that is repeated has the same window.
func (d *draft) timeWindow(ctx context.Context, plan *chunkplan.Plan, scheduled time.Time) error {
	to := scheduled.UTC()
	from := time.Date(to.Year(), to.Month(), to.Day()-d.export.DaysWindow, 0, 0, 0, 0, time.UTC)
	w, nulls, err := d.source.TimeWindow(ctx, d.table.Relation, *d.choice.Cursor, d.export.TimeColumnType == "unix", from, to)
	if err != nil {
		return d.about(err)
	}
	plan.Within, plan.NullRows = &w, nulls
	return nil
}

// positionWindow goes from the position to the greatest value that the source
// has now. The keys that are delivered at that value are kept with it, so that
// rows which come to it later are neither lost nor doubled. A value with more
// rows than can be kept waits for a greater one: the window ends before it, and
// the position is that value with nothing of it delivered.
func (d *draft) positionWindow(ctx context.Context, plan *chunkplan.Plan, from *contract.Position) error {
	cursor := d.cursor()
	if from != nil && !from.SameCursor(*cursor) {
		return commit.ShapeChanged(contract.ExportName(d.export.Name), *from, cursor)
	}
	known := from == nil || len(from.DeliveredKeys) == 0 || d.choice.PreferIdentity(*from)
	end, err := d.cursorEnd(ctx, from, known)
	if err != nil {
		return err
	}
	plan.NotBefore = cmp.Or(end.Position, plan.NotBefore)
	if !known {
		d.warn(plan, "CURSOR_KEY_CHANGED", "the unique key on %s, which told the delivered rows at the position apart, is gone or of another type: the %d rows at %s = %s come again this once", keyOf(*from), end.FromTies, d.choice.Cursor.Expression(), from.Value)
	}
	if plan.NullRows = end.Nulls; end.Nulls > 0 {
		d.warn(plan, "CURSOR_NULL_ROWS", "%d rows have no %s: they are in no window, and are delivered when they have a value above the position", end.Nulls, d.choice.Cursor.Expression())
	}
	plan.Window = &contract.PositionWindow{Kind: cursor.Kind, Column: cursor.Column, Type: cursor.Type, From: from, To: from, SourceIdentity: &d.identity}
	within := keyspace.Window{Cursor: *d.choice.Cursor, Key: d.choice.Identity}
	if from != nil {
		within.From, within.FromIncluded = &from.Value, !d.export.KeysetIncremental
	}
	switch {
	case end.Found && end.Order > 0:
		within.To = end.Value
		if within.ToExcluded = !d.keepable(nil, end.Ties, end.TieBytes); within.ToExcluded {
			if err := d.waits(ctx, plan, from, end); err != nil {
				return err
			}
		}
	case from == nil:
		return nil
	case end.Order < 0:
		d.warn(plan, "CURSOR_SOURCE_BELOW", "no %s of the source comes up to the position %s: rows were deleted, an older copy was restored, or what is there is too young; the position stays where it is", d.choice.Cursor.Expression(), from.Value)
		fallthrough
	default:
		if !d.readsLate(plan, from, end, known) {
			return nil
		}
		within.To = from.Value
	}
	to := *cursor
	to.Value = within.To
	for _, k := range within.Key {
		to.KeyColumns = append(to.KeyColumns, k.Name)
		to.KeyTypes = append(to.KeyTypes, k.Native)
	}
	plan.Window.To, plan.Within = &to, &within
	return nil
}

// keyOf describes the key that delivered rows are known by.
func keyOf(p contract.Position) string {
	columns := slices.Clone(p.KeyColumns)
	for i := range columns {
		if i < len(p.KeyTypes) {
			columns[i] += " (" + p.KeyTypes[i] + ")"
		}
	}
	return strings.Join(columns, ", ")
}

// cursorEnd asks the source. known is false when the delivered keys of the
// position mean nothing any more.
func (d *draft) cursorEnd(ctx context.Context, from *contract.Position, known bool) (source.CursorEnd, error) {
	q := source.CursorQuery{Cursor: *d.choice.Cursor, Key: d.choice.Identity}
	if from != nil {
		q.From = &from.Value
		for _, key := range from.DeliveredKeys {
			if known {
				q.Delivered = append(q.Delivered, key)
			}
		}
	}
	if s := d.export.Settle; s != nil {
		q.Settle = &source.Settle{After: s.After, Column: s.Column}
		if s.Column == "" {
			q.Settle.Column = d.choice.Cursor.Name
		}
	}
	end, err := d.source.CursorEnd(ctx, d.table.Relation, q)
	return end, d.about(err)
}

// waits makes sure that there is something before a value that has to wait, on
// a first run: otherwise there would be nothing to start with.
func (d *draft) waits(ctx context.Context, plan *chunkplan.Plan, from *contract.Position, end source.CursorEnd) error {
	cursor := d.choice.Cursor.Expression()
	if from == nil {
		before, err := d.source.CursorEnd(ctx, d.table.Relation, source.CursorQuery{Cursor: *d.choice.Cursor, Below: &end.Value})
		if err != nil {
			return d.about(err)
		}
		if !before.Found {
			return fault.New(fault.Refused, "LAPSTRAKE_PLAN_CURSOR_TIES", "export %q: all %d rows have %s = %s, and the keys of at most %d rows, or %d bytes, are kept with a position; nothing was read. Take a cursor whose values tell more rows apart, or mode: full, or wait until there is a greater value",
				d.export.Name, end.Ties, cursor, end.Value, contract.MaxDeliveredKeys, runstate.MaxHiKeyBytes)
		}
	}
	d.tiesWait(plan, end.Ties, end.Value)
	return nil
}

// readsLate reports whether there are rows at the position that came after it.
// Without a key nobody knows: they are read again.
func (d *draft) readsLate(plan *chunkplan.Plan, from *contract.Position, end source.CursorEnd, known bool) bool {
	switch {
	case d.export.KeysetIncremental:
		return false
	case len(d.choice.Identity) == 0:
		return end.Order == 0
	case end.FromTies == 0:
		return false
	}
	beside := from
	if !known {
		beside = nil
	}
	if d.keepable(beside, end.FromTies, end.FromTieBytes) {
		return true
	}
	d.tiesWait(plan, end.FromTies, from.Value)
	return false
}

func (d *draft) tiesWait(plan *chunkplan.Plan, rows int64, value string) {
	d.warn(plan, "CURSOR_TIES_WAIT", "%d rows have %s = %s, more than can be kept with a position: they wait until there is a greater value", rows, d.choice.Cursor.Expression(), value)
}

// keepable reports whether the keys of so many rows can be kept with a position,
// beside those that at has.
func (d *draft) keepable(at *contract.Position, rows, bytes int64) bool {
	if at != nil {
		rows += int64(len(at.DeliveredKeys))
		for _, key := range at.DeliveredKeys {
			for _, text := range key {
				bytes += int64(len(text))
			}
		}
	}
	return rows <= contract.MaxDeliveredKeys && bytes <= runstate.MaxHiKeyBytes
}

func (d *draft) warn(plan *chunkplan.Plan, code, format string, args ...any) {
	plan.Diagnostics = append(plan.Diagnostics, exportconfig.Diagnostic{Code: code, Message: fmt.Sprintf("export %q: ", d.export.Name) + fmt.Sprintf(format, args...)})
}
