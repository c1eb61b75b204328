package prove

import (
	"encoding/json"

	"github.com/lapstrake/lapstrake/shared/contract"
)

// partition checks that the predicates of the tasks that count hold every row
// once. It knows nothing of how ranges are planned: what it finds is told by
// the record alone. Messages name tasks and never keys, which can be personal
// data.
func partition(f *findings, r contract.RunRecord) {
	var ranges []contract.TaskRecord
	var all, null []contract.TaskRecord
	for _, t := range r.Tasks {
		switch {
		case !t.Live():
		case t.Predicate.Kind == contract.AllRows:
			all = append(all, t)
		case t.Predicate.Kind == contract.NullKey:
			null = append(null, t)
		default:
			ranges = append(ranges, t)
		}
	}
	if nothingToRead(r) && len(all)+len(null)+len(ranges) == 0 {
		return
	}
	if len(r.Key) == 0 {
		wholeTable(f, all, append(null, ranges...))
		return
	}
	for _, t := range all {
		f.find(keyOverlap, t.Task, "task %s has every row, beside tasks by key", t.Task)
	}
	nullKeys(f, r, null)
	if wellFormed(f, len(r.Key), ranges) {
		chainOfRanges(f, ranges)
	}
}

// nothingToRead reports whether the window of a run ends where it begins, with
// nothing new at that place.
func nothingToRead(r contract.RunRecord) bool {
	return r.Within == nil && r.Window != nil && r.Window.From.Equal(r.Window.To)
}

func wholeTable(f *findings, all, others []contract.TaskRecord) {
	if len(all) == 0 {
		f.find(keyGap, "", "the record names no key, and no task has all rows")
	}
	for _, t := range all[min(1, len(all)):] {
		f.find(keyOverlap, t.Task, "task %s has all rows, as task %s has", t.Task, all[0].Task)
	}
	for _, t := range others {
		f.find(boundShape, t.Task, "task %s is of a key, and the record names none", t.Task)
	}
}

// nullKeys wants one task for the rows whose key has a NULL, if there can be
// any. A window has no row whose cursor is NULL, and the other columns of its
// key have none.
func nullKeys(f *findings, r contract.RunRecord, null []contract.TaskRecord) {
	nullable := false
	for _, k := range r.Key {
		nullable = nullable || k.Nullable
	}
	if nullable && r.Within == nil && len(null) == 0 {
		f.find(nullKeysGap, "", "the key can be NULL, and no task has the rows where it is")
	}
	for _, t := range null[min(1, len(null)):] {
		f.find(nullKeysOverlap, t.Task, "task %s has the rows with a NULL key, as task %s has", t.Task, null[0].Task)
	}
}

// wellFormed wants as many texts in each bound as the key has columns.
func wellFormed(f *findings, columns int, ranges []contract.TaskRecord) bool {
	ok := true
	for _, t := range ranges {
		for _, b := range []*contract.Bound{t.Predicate.Lower, t.Predicate.Upper} {
			if b != nil && len(b.Key) != columns {
				f.find(boundShape, t.Task, "a bound of task %s has %d values, the key has %d columns", t.Task, len(b.Key), columns)
				ok = false
			}
		}
	}
	return ok
}

// chainOfRanges walks from the range without a lower bound to the one without
// an upper bound. Where one ends exactly one other begins, the bound itself is
// in one of the two, and in the end none is left over.
func chainOfRanges(f *findings, ranges []contract.TaskRecord) {
	starts := make(map[string][]contract.TaskRecord, len(ranges))
	for _, t := range ranges {
		at := text(t.Predicate.Lower)
		starts[at] = append(starts[at], t)
	}
	seen := make(map[contract.TaskID]bool, len(ranges))
	at, last := open, contract.TaskRecord{}
	for {
		next := starts[at]
		if len(next) == 0 {
			if last.Task == "" {
				f.find(keyGap, "", "no task has the first keys: each has a lower bound")
			} else {
				f.find(keyGap, last.Task, "no task goes on where task %s ends", last.Task)
			}
			return // what is left may be right or not: its neighbour is missing
		}
		for _, twin := range next[1:] {
			f.find(keyOverlap, twin.Task, "task %s begins where task %s begins", twin.Task, next[0].Task)
			seen[twin.Task] = true
		}
		t := next[0]
		if seen[t.Task] {
			f.find(keyOverlap, t.Task, "task %s ends where task %s begins, which comes before it", last.Task, t.Task)
			return
		}
		seen[t.Task] = true
		joint(f, last, t)
		if last = t; t.Predicate.Upper == nil {
			break
		}
		at = text(t.Predicate.Upper)
	}
	for _, t := range ranges {
		if !seen[t.Task] {
			f.find(keyOverlap, t.Task, "the other tasks have every key, and task %s has some of them again", t.Task)
		}
	}
}

// joint checks that the bound between two neighbours is in one of them.
func joint(f *findings, before, after contract.TaskRecord) {
	upper, lower := before.Predicate.Upper, after.Predicate.Lower
	switch {
	case upper == nil || lower == nil:
	case upper.Inclusive && lower.Inclusive:
		f.find(keyOverlap, after.Task, "the key at which task %s ends and task %s begins is in both", before.Task, after.Task)
	case !upper.Inclusive && !lower.Inclusive:
		f.find(keyGap, after.Task, "the key at which task %s ends and task %s begins is in neither", before.Task, after.Task)
	}
}

// open is the text of an open bound; no key has it.
const open = ""

// text encodes a bound injectively.
func text(b *contract.Bound) string {
	if b == nil {
		return open
	}
	encoded, _ := json.Marshal([]string(b.Key)) // strings always marshal
	return string(encoded)
}
