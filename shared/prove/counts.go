package prove

import (
	"github.com/lapstrake/lapstrake/shared/contract"
)

// lineage checks what the tasks say of one another. That a repair and its
// splits cover what they repair follows from the partition of all.
func lineage(f *findings, tasks []contract.TaskRecord) {
	byID := make(map[contract.TaskID]contract.TaskRecord, len(tasks))
	for _, t := range tasks {
		if _, err := contract.ParseTaskID(string(t.Task)); err != nil {
			f.find(taskLineage, t.Task, "%v", err)
		}
		if _, twice := byID[t.Task]; twice {
			f.find(taskLineage, t.Task, "task %s stands twice in the record", t.Task)
		}
		byID[t.Task] = t
	}
	for _, t := range tasks {
		if t.SplitOf != "" {
			parent, there := byID[t.SplitOf]
			switch {
			case !there:
				f.find(taskLineage, t.Task, "task %s is the rest of task %s, which is not in the record", t.Task, t.SplitOf)
			case parent.Predicate.Upper == nil || text(parent.Predicate.Upper) != text(t.Predicate.Lower):
				f.find(taskLineage, t.Task, "task %s is the rest of task %s and does not begin where that one ends", t.Task, t.SplitOf)
			}
		}
		if t.SupersededBy != "" {
			repair, there := byID[t.SupersededBy]
			switch {
			case !there:
				f.find(taskLineage, t.Task, "task %s was done again by task %s, which is not in the record", t.Task, t.SupersededBy)
			case repair.RepairOf != t.Task || repair.Predicate.Kind != t.Predicate.Kind || text(repair.Predicate.Lower) != text(t.Predicate.Lower):
				f.find(taskLineage, t.Task, "task %s was done again by task %s, which is of other rows", t.Task, t.SupersededBy)
			}
		}
		if t.RepairOf != "" && byID[t.RepairOf].SupersededBy != t.Task {
			f.find(taskLineage, t.Task, "task %s does task %s again, which the record does not say of that one", t.Task, t.RepairOf)
		}
	}
}

// counts checks that every committed part of the manifest is of one task, and
// that rows of tasks and parts agree.
func counts(f *findings, m contract.Manifest, r contract.RunRecord) {
	rows := make(map[string]int64)
	for _, p := range m.Committed() {
		rows[p.Path] = p.Rows
	}
	owner := make(map[string]contract.TaskID)
	var total int64
	for _, t := range r.Tasks {
		if !t.Live() {
			continue
		}
		total += t.Rows
		var sum int64
		whole := true
		for _, part := range t.Parts {
			n, listed := rows[part]
			other, taken := owner[part]
			switch {
			case taken:
				f.find(partList, t.Task, "part %s is of task %s and of task %s", part, other, t.Task)
			case !listed:
				f.find(partList, t.Task, "part %s of task %s is not in the manifest", part, t.Task)
			}
			whole = whole && listed
			owner[part] = t.Task
			sum += n
		}
		if whole && sum != t.Rows {
			f.find(rowCount, t.Task, "task %s has read %d rows, its parts in the manifest have %d", t.Task, t.Rows, sum)
		}
	}
	for _, p := range m.Committed() {
		if _, known := owner[p.Path]; !known {
			f.find(partList, "", "part %s of the manifest is of no task", p.Path)
		}
	}
	if total != m.RowCount {
		f.find(rowCount, "", "the tasks have read %d rows, the manifest has %d", total, m.RowCount)
	}
}
