package contract

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// ExportName is the name of an export in the config, such as "public.orders".
type ExportName string

// RunID names one run of one export: <export>_<YYYYMMDDTHHMMSS.mmm> in UTC.
// It is a function of the export and the scheduled time, so that a trigger
// that is delivered twice names the same run (QUE-11).
type RunID string

// NewRunID returns the id of the run of export that was scheduled at t, which
// is cut to milliseconds.
func NewRunID(export ExportName, t time.Time) RunID {
	return RunID(string(export) + "_" + t.UTC().Format("20060102T150405.000"))
}

// MaxRunIDBytes bounds a run id, which becomes a part of object keys and file
// names: the longest name of an export and the time.
const MaxRunIDBytes = 220

// MayName reports whether a trigger may give this id to a run of export. Folder
// and sidecar of a run are named by its [Token]: two ids of one export must not
// share them, and none may lead out of the folder of runs.
func (id RunID) MayName(export ExportName) bool {
	own := strings.TrimPrefix(string(id), string(export)+"_")
	return own != "" && own == Token(own) && !strings.HasPrefix(string(id), ".") && len(id) <= MaxRunIDBytes
}

// Generation counts the acquisitions of an export's fence, from 1 (M10).
type Generation int64

// TaskID names a chunk task inside a run: the six-digit index of its base
// task, then ".sNN" for each split and ".rN" for each repair.
type TaskID string

// BaseTaskID returns the id of the planned task with the given index.
func BaseTaskID(index int) TaskID { return TaskID(fmt.Sprintf("%06d", index)) }

var taskID = regexp.MustCompile(`^(\d{6,})((?:\.s\d{2,}|\.r\d+)*)$`)

// ParseTaskID accepts what the functions of this file print.
func ParseTaskID(s string) (TaskID, error) {
	if !taskID.MatchString(s) {
		return "", fmt.Errorf("%q is not a task id", s)
	}
	return TaskID(s), nil
}

// Base returns the index of the planned task that id descends from, and
// whether id is well formed.
func (id TaskID) Base() (int, bool) {
	m := taskID.FindStringSubmatch(string(id))
	if m == nil {
		return 0, false
	}
	var n int
	_, err := fmt.Sscanf(m[1], "%d", &n)
	return n, err == nil
}

// Suffix returns what follows the index: "" for a planned task, ".s01" for the
// child of its split, ".s01.r1" for that child's repair.
func (id TaskID) Suffix() string {
	if i := strings.IndexByte(string(id), '.'); i >= 0 {
		return string(id[i:])
	}
	return ""
}

// SplitChild returns the id of the task that takes over the rest of id's
// range (T9). A chain of splits counts up: 000003, 000003.s01, 000003.s02.
func (id TaskID) SplitChild() TaskID {
	stem, n := id.cut('s')
	return TaskID(fmt.Sprintf("%s.s%02d", stem, n+1))
}

// Repair returns the id of the task that does id's range again (T18).
func (id TaskID) Repair() TaskID {
	stem, n := id.cut('r')
	return TaskID(fmt.Sprintf("%s.r%d", stem, n+1))
}

// SplitDepth returns how many splits in a row led to id.
func (id TaskID) SplitDepth() int {
	_, n := id.cut('s')
	return n
}

// cut takes a last ".<kind>N" off id and returns the rest and N, or id and 0.
func (id TaskID) cut(kind byte) (TaskID, int) {
	i := strings.LastIndexByte(string(id), '.')
	if i < 0 || len(id) < i+3 || id[i+1] != kind {
		return id, 0
	}
	var n int
	if _, err := fmt.Sscanf(string(id[i+2:]), "%d", &n); err != nil {
		return id, 0
	}
	return id[:i], n
}
