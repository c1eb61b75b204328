package commit

import (
	"slices"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Window returns what the run covers in a mode with a position, nil in others:
// the planned window with the keys that were delivered at its end. Together with
// those that its predecessor delivered there, when the position has not moved,
// they are what the next run leaves out (architecture §4.2).
func (f Frozen) Window() *contract.PositionWindow {
	planned := f.Plan.Window
	if planned == nil || planned.To == nil || len(planned.To.KeyColumns) == 0 || !f.Plan.SameKey(*planned.To) {
		return planned
	}
	var keys [][]string
	for _, c := range f.live() {
		keys = append(keys, c.HiKeys...)
	}
	if from := planned.From; from != nil && from.Value == planned.To.Value && f.Plan.SameKey(*from) {
		keys = append(keys, from.DeliveredKeys...)
	}
	slices.SortFunc(keys, slices.Compare[[]string])
	w, to := *planned, *planned.To
	to.DeliveredKeys = slices.CompactFunc(keys, slices.Equal[[]string])
	w.To = &to
	return &w
}

// CheckWindow refuses a window with more keys at its end than a position may
// have: since the run was planned, more rows have come to that value.
func (f Frozen) CheckWindow() error {
	w := f.Window()
	if w == nil || w.To == nil {
		return nil
	}
	size := 0
	for _, key := range w.To.DeliveredKeys {
		for _, text := range key {
			size += len(text)
		}
	}
	if len(w.To.DeliveredKeys) <= contract.MaxDeliveredKeys && size <= contract.MaxDeliveredKeyBytes {
		return nil
	}
	return fault.New(fault.Permanent, "LAPSTRAKE_RUN_CURSOR_TIES_GREW",
		"run %s: since it was planned so many rows have come to the end of its window, %s = %s, that their keys cannot be kept with the position; nothing was published and the position is as it was. Run the export again: that value will wait until a greater one is there",
		f.Plan.RunID, w.Column, w.To.Value)
}

// repeated counts the rows at the window's start that an earlier run may have
// delivered.
func (f Frozen) repeated() int64 {
	var n int64
	for _, c := range f.live() {
		n += c.Repeated
	}
	return n
}

// extraction says how the source was read.
func (f Frozen) extraction() *contract.Extraction {
	p := f.Plan
	x := &contract.Extraction{Strategy: p.Strategy, Consistency: p.Consistency, NullRows: p.NullRows, RepeatedRows: f.repeated()}
	for _, k := range p.Key {
		x.Key = append(x.Key, k.Expression())
	}
	if w := p.Within; w != nil {
		x.CursorColumn, x.CursorFallback, x.CursorHigh = w.Cursor.Name, w.Cursor.Fallback, w.To
		x.CursorHighExcluded = w.ToExcluded
		if w.From != nil {
			x.CursorLow = *w.From
		}
	} else if w := p.Window; w != nil {
		x.CursorColumn = w.Column
		if w.From != nil { // nothing was read: the window is where the position is
			x.CursorFallback, x.CursorLow, x.CursorHigh = w.From.Fallback, w.From.Value, w.From.Value
		}
	}
	return x
}

// ShapeChanged refuses to read the value of one cursor as that of another: rows
// would be lost or come again without a word (CUR-06, CUR-07, CUR-08).
func ShapeChanged(export contract.ExportName, stored contract.Position, now *contract.Position) error {
	asked := "no cursor"
	if now != nil {
		asked = now.String()
	}
	return fault.New(fault.Refused, "LAPSTRAKE_STATE_CURSOR_SHAPE_CHANGED",
		"export %q: the stored position is %s, config and source ask for %s; nothing was read. Put back what has changed, or give the export another name, which starts from the beginning", export, stored, asked)
}
