// Package transition is T1 to T20 of architecture §2.4 as pure functions: the
// condition of an operation on the items as they are, and what they become.
// Layer: L3 (persistence).
//
// A nil item is one that the table does not have. A function never changes what
// it is given, and what it returns shares slices and pointers with it: a driver
// that keeps items in memory copies at its own border. A condition that does
// not hold is a *runstate.ConditionError with the item as it was found.
package transition

import (
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// The names of the operations in ConditionError.
const (
	OpCreateRun     = "T1 CreateRun"
	OpRecordFence   = "T2 RecordFence"
	OpPutChunk      = "T3 PutChunk"
	OpPutFanin      = "T4 PutFanin"
	OpStartRun      = "T5 StartRun"
	OpClaim         = "T6 Claim"
	OpHeartbeat     = "T7 Heartbeat"
	OpComplete      = "T8 Complete"
	OpSplit         = "T9 Split"
	OpFail          = "T10 Fail"
	OpExpire        = "T10b Expire"
	OpFaninAdd      = "T11 FaninAdd"
	OpBeginFinalize = "T13 BeginFinalize"
	OpSucceedRun    = "T14 SucceedRun"
	OpFailRun       = "T15 FailRun"
	OpRefuse        = "T15r Refuse"
	OpSupersedeRun  = "T16 SupersedeRun"
	OpClaimResume   = "T17a ClaimResume"
	OpResumeRun     = "T17b ResumeRun"
	OpResumeChunk   = "T17c ResumeChunk"
	OpRepair        = "T18 Repair"
	OpMarkNotified  = "T19 MarkNotified"
	OpNoteRun       = "T20 NoteRun"
)

// Milli returns t as every table keeps it: in UTC, cut to milliseconds. The
// zero time stays zero.
func Milli(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// expired reports whether a lease has run out at now. One that is absent has.
func expired(lease, now time.Time) bool { return lease.Before(Milli(now)) }

// at reports whether a run is at generation g. One that has none yet is at none,
// not even at 0.
func at(r *runstate.Run, g contract.Generation) bool { return r != nil && r.Gen == g && g != 0 }

// allows reports whether a run is at generation g or has none yet.
func allows(r *runstate.Run, g contract.Generation) bool { return r.Gen == 0 || r.Gen == g }

func runRefused(op string, found *runstate.Run) (runstate.Run, error) {
	return runstate.Run{}, &runstate.ConditionError{Op: op, Run: found}
}

func chunkRefused(op string, found *runstate.Chunk) (runstate.Chunk, error) {
	return runstate.Chunk{}, &runstate.ConditionError{Op: op, Item: found}
}

// CheckResult refuses a result that an item of the smallest table cannot hold.
func CheckResult(r runstate.Result) error {
	if len(r.Parts) > runstate.MaxParts {
		return fault.New(fault.Bug, "LAPSTRAKE_STATE_TOO_MANY_PARTS",
			"a chunk records %d parts, and %d is the most: the worker has to split before; nothing was recorded", len(r.Parts), runstate.MaxParts)
	}
	size := 0
	for _, key := range r.HiKeys {
		for _, column := range key {
			size += len(column)
		}
	}
	if size > runstate.MaxHiKeyBytes {
		return fault.New(fault.Bug, "LAPSTRAKE_STATE_HI_KEYS_TOO_LARGE",
			"a chunk records %d bytes of keys at its upper bound, and %d is the most; nothing was recorded", size, runstate.MaxHiKeyBytes)
	}
	return nil
}

// CheckStart refuses a plan whose shards are not those of the table.
func CheckStart(s runstate.StartRecord, faninK int) error {
	if s.FaninK == faninK {
		return nil
	}
	return fault.New(fault.Bug, "LAPSTRAKE_STATE_SHARD_SIZE",
		"a plan has %d tasks in a shard and the table has %d: planner and table are set up differently; the run was not started", s.FaninK, faninK)
}

// CheckChild refuses to put a task that a split or repair makes over one that
// is there although its maker is not done: somebody deleted the maker's item.
func CheckChild(op string, child *runstate.Chunk) error {
	if child == nil {
		return nil
	}
	return fault.New(fault.Bug, "LAPSTRAKE_STATE_CHILD_EXISTS",
		"%s: task %s of run %s is there already although the task that it comes from is not done; nothing was changed. Resume the run", op, child.ID, child.RunID)
}

// LeaseExpired is the failure that T10b records.
func LeaseExpired() fault.Failure {
	return fault.Failure{Class: fault.Retryable, Code: "LAPSTRAKE_RUN_LEASE_EXPIRED",
		Message: "the worker of the last attempt ended without a word and its lease ran out; what it wrote is listed nowhere. Resume the run to try again"}
}
