package prove

import (
	"reflect"
	"slices"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// window checks that what the tasks were limited to is the window that the
// manifest moves the position over, and that the keys which the position keeps
// were delivered.
func window(f *findings, m contract.Manifest, r contract.RunRecord) {
	if !reflect.DeepEqual(m.Position, r.Window) {
		f.find(windowDiffers, "", "the windows of manifest and record differ")
		return
	}
	if x := m.Source.Extraction; x != nil && x.NullRows > 0 {
		f.find(rowsWithoutCursor, "", "%d rows had no %s and are in no window", x.NullRows, x.CursorColumn)
	}
	w, within := r.Window, r.Within
	if w == nil {
		return
	}
	if within == nil {
		if !w.From.Equal(w.To) {
			f.find(windowDiffers, "", "the position moves, and the tasks have read no window")
		}
		return
	}
	if !bounded(*w, *within) {
		f.find(windowDiffers, "", "the position moves over another window of %s than the tasks have read", within.Cursor.Expression())
		return
	}
	var end int
	var repeated int64
	for _, t := range r.Tasks {
		if t.Live() {
			end += t.EndKeys
			repeated += t.RepeatedRows
		}
	}
	if repeated > 0 {
		f.find(rowsRepeated, "", "%d rows at the start of the window have no key, and may be in the manifest before as well", repeated)
	}
	if len(w.To.KeyColumns) == 0 || !chunkplan.SameKey(within.Key, *w.To) {
		return
	}
	if w.From != nil && w.From.Value == w.To.Value && chunkplan.SameKey(within.Key, *w.From) {
		end += len(w.From.DeliveredKeys)
	}
	if kept := len(w.To.DeliveredKeys); kept != end {
		f.find(keptKeys, "", "the position keeps %d keys at its value, %d were delivered there: the next run leaves out other rows than this one has", kept, end)
	}
}

// bounded reports whether a limit of tasks is exactly a window of positions: a
// place that a run leaves to the next one is not in it, and a place whose
// delivered rows are told apart is.
func bounded(w contract.PositionWindow, within keyspace.Window) bool {
	if w.To == nil || within.To != w.To.Value || within.Cursor.Name != w.Column || (w.From == nil) != (within.From == nil) {
		return false
	}
	grows := w.Kind == contract.PositionKeyset // nothing comes to its last value later
	if w.From != nil && (*within.From != w.From.Value || within.FromIncluded == grows) {
		return false
	}
	return !within.ToExcluded || !grows && len(w.To.DeliveredKeys) == 0
}

// chain follows the position through the manifests in the order of their
// generations, and returns how many windows it has joined: each begins where
// the one before has ended, whole positions compared, and the first at none.
func (p *prover) chain() int {
	var at *contract.Position
	var before contract.RunID
	began := make([]published, 0, len(p.published))
	joined := 0
	for _, m := range p.published {
		w := m.manifest.Position
		if w == nil {
			continue
		}
		run := m.manifest.RunID
		switch i := slices.IndexFunc(began, func(other published) bool { return other.manifest.Position.From.Equal(w.From) }); {
		case w.From.Equal(at):
			joined++
		case i >= 0:
			p.find(windowOverlap, "", "the window of run %s begins where that of run %s began, and not where that of run %s ended: rows are in both", run, began[i].manifest.RunID, before)
		case before == "":
			p.find(windowGap, "", "the window of run %s begins at a position, and no Success manifest has the rows up to it", run)
		default:
			p.find(windowGap, "", "the window of run %s does not begin where that of run %s ended, and no Success manifest has the rows between", run, before)
		}
		began = append(began, m)
		at, before = w.To, run
	}
	return joined
}

func windowOf(w contract.PositionWindow) *Window {
	shown := &Window{Cursor: w.Column}
	if w.From != nil {
		shown.From = &w.From.Value
	}
	if w.To != nil {
		shown.Cursor, shown.To = w.To.Cursor(), &w.To.Value
	}
	return shown
}
