package prove

import (
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// Finding is one reason why something is not proven, or a note beside the
// proof.
type Finding struct {
	Code fault.Code `json:"code"`
	// Class is wrong for what contradicts the proof, unverified for what it
	// lacks, and note for what a reader should know.
	Class  contract.VerdictClass `json:"class"`
	Task   contract.TaskID       `json:"task,omitempty"`
	Detail string                `json:"detail"`
}

// What can be found. docs/prove.md says what each one means.
const (
	keyGap             fault.Code = "LAPSTRAKE_PROVE_KEY_GAP"
	keyOverlap         fault.Code = "LAPSTRAKE_PROVE_KEY_OVERLAP"
	nullKeysGap        fault.Code = "LAPSTRAKE_PROVE_NULL_KEYS_GAP"
	nullKeysOverlap    fault.Code = "LAPSTRAKE_PROVE_NULL_KEYS_OVERLAP"
	boundShape         fault.Code = "LAPSTRAKE_PROVE_BOUND_SHAPE"
	taskLineage        fault.Code = "LAPSTRAKE_PROVE_TASK_LINEAGE"
	partList           fault.Code = "LAPSTRAKE_PROVE_PART_LIST"
	rowCount           fault.Code = "LAPSTRAKE_PROVE_ROW_COUNT"
	keptKeys           fault.Code = "LAPSTRAKE_PROVE_KEPT_KEYS"
	recordChanged      fault.Code = "LAPSTRAKE_PROVE_RECORD_CHANGED"
	recordOfOther      fault.Code = "LAPSTRAKE_PROVE_RECORD_OF_OTHER"
	recordRevoked      fault.Code = "LAPSTRAKE_PROVE_RECORD_REVOKED"
	manifestWrong      fault.Code = "LAPSTRAKE_PROVE_MANIFEST_INCONSISTENT"
	windowGap          fault.Code = "LAPSTRAKE_PROVE_WINDOW_GAP"
	windowOverlap      fault.Code = "LAPSTRAKE_PROVE_WINDOW_OVERLAP"
	windowDiffers      fault.Code = "LAPSTRAKE_PROVE_WINDOW_DIFFERS"
	runTwice           fault.Code = "LAPSTRAKE_PROVE_RUN_TWICE"
	partTwice          fault.Code = "LAPSTRAKE_PROVE_PART_TWICE"
	noManifest         fault.Code = "LAPSTRAKE_PROVE_NO_MANIFEST"
	noRecord           fault.Code = "LAPSTRAKE_PROVE_NO_RECORD"
	recordMissing      fault.Code = "LAPSTRAKE_PROVE_RECORD_MISSING"
	recordUnreadable   fault.Code = "LAPSTRAKE_PROVE_RECORD_UNREADABLE"
	manifestUnreadable fault.Code = "LAPSTRAKE_PROVE_MANIFEST_UNREADABLE"
	planUnreadable     fault.Code = "LAPSTRAKE_PROVE_PLAN_UNREADABLE"
	storeError         fault.Code = "LAPSTRAKE_PROVE_STORE_ERROR"
	rowsRepeated       fault.Code = "LAPSTRAKE_PROVE_ROWS_REPEATED"
	rowsWithoutCursor  fault.Code = "LAPSTRAKE_PROVE_ROWS_WITHOUT_CURSOR"
)

// classes has the codes that are not wrong.
var classes = map[fault.Code]contract.VerdictClass{
	noManifest:         contract.VerdictUnverified,
	noRecord:           contract.VerdictUnverified,
	recordMissing:      contract.VerdictUnverified,
	recordUnreadable:   contract.VerdictUnverified,
	manifestUnreadable: contract.VerdictUnverified,
	planUnreadable:     contract.VerdictUnverified,
	storeError:         contract.VerdictUnverified,
	rowsRepeated:       contract.VerdictNote,
	rowsWithoutCursor:  contract.VerdictNote,
}

// maxFindings bounds what is kept of one run: damage of a large record has one
// reason for each of its tasks.
const maxFindings = 100

// findings gathers reasons, the first of them if there are many.
type findings struct {
	list []Finding
	more int
}

func (f *findings) find(code fault.Code, task contract.TaskID, format string, args ...any) {
	class, listed := classes[code]
	if !listed {
		class = contract.VerdictWrong
	}
	f.add(Finding{Code: code, Class: class, Task: task, Detail: fmt.Sprintf(format, args...)})
}

func (f *findings) add(found Finding) {
	if len(f.list) == maxFindings {
		f.more++
		return
	}
	f.list = append(f.list, found)
}

// all is never nil. What was dropped is counted in the last one, which takes the
// worst class: of it nothing else is known.
func (f *findings) all() []Finding {
	all := append([]Finding{}, f.list...)
	if f.more > 0 {
		last := &all[len(all)-1]
		last.Class = contract.VerdictWrong
		last.Detail += fmt.Sprintf("; and %d findings more", f.more)
	}
	return all
}

func worstOf(list []Finding) contract.VerdictClass {
	worst := contract.VerdictNote
	for _, f := range list {
		worst = worst.Worse(f.Class)
	}
	return worst
}
