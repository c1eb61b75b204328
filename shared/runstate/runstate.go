// Package runstate is the seam to the table that coordinates a run: who works
// on which chunk, and what was delivered. Layer: L3 (persistence).
//
// The table is never the authority for ownership or cursor (D1): losing all of
// it loses work in flight and nothing else. Drivers live below this package
// and pass runstatetest.
package runstate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Table holds the items of runs. It is a set of named conditional operations,
// not a key-value store, so that every driver proves each of them; the names
// T1 to T20 are those of architecture §2.4.
//
// An operation whose condition does not hold changes nothing and returns a
// *ConditionError with the item as it is; the caller learns from that why, and
// whether the state is its own earlier attempt whose answer was lost. A driver
// turns off its client's own retries of conditional writes, or resolves them
// by reading back: it never reports a condition as failed because of its own
// first try, except through the item in ConditionError. Any other error means
// that the operation may or may not have happened.
//
// Reads are consistent: they see every operation that had returned. A Table is
// safe for concurrent use. Times come from the caller and are kept to the
// millisecond, in UTC; every comparison of a lease is made with them.
type Table interface {
	// FaninK returns how many planned tasks a shard of this table holds: the
	// divisor of ShardOf and ShardCount. It is part of the table's layout, so
	// every process that uses the table has the same.
	FaninK() int

	// CreateRun is T1: stores r, with status planning, if no run has its id,
	// together with its ACTIVE item. r.Gen is 0.
	CreateRun(ctx context.Context, r Run) error

	// RecordFence is T2: [status=planning AND creation=c AND (gen absent OR
	// gen=g)] sets the run's generation, lease, prefix and queue. A run that was
	// created without a creation has the empty one.
	RecordFence(ctx context.Context, run contract.RunID, f FenceRecord) error

	// PutChunk is T3: stores c, pending, if no chunk has its id. Never a batch
	// write: a late duplicate planner would reset a completed task (I5).
	PutChunk(ctx context.Context, c Chunk) error

	// PutFanin is T4: stores the node if it does not exist. An existing node is
	// not an error.
	PutFanin(ctx context.Context, f Fanin) error

	// StartRun is T5: [status=planning AND gen=g AND trigger_id=t] to running, with what the
	// plan says. A FaninK other than the table's is refused as a bug: the
	// tasks would be looked for in the wrong shards.
	StartRun(ctx context.Context, run contract.RunID, s StartRecord) (Run, error)

	// Claim is T6: [exists AND gen=g AND attempts<max_attempts AND
	// (status=pending OR status=failed OR (status=running AND
	// lease_until<now))] to running with the claimer's token, one attempt more.
	// A lease that is absent has run out.
	Claim(ctx context.Context, c ClaimRequest) (Chunk, error)

	// Heartbeat is T7: [status=running AND lease_token=token] extends the lease.
	Heartbeat(ctx context.Context, l Lease, until time.Time) error

	// Complete is T8: [status=running AND lease_token=token] to completed with
	// its result. Completed is final; the token stays, so that a caller whose
	// answer was lost finds itself in ConditionError. A result above MaxParts
	// or MaxHiKeyBytes is refused as a bug, by Split too.
	Complete(ctx context.Context, l Lease, result Result, now time.Time) (Chunk, error)

	// Split is T9, one transaction: the run's generation is still g; the chunk
	// [status=running AND lease_token=token] is completed for the range done;
	// the child [not exists] is put, pending; the leaf expects one more.
	// Returns the completed chunk, whose SplitInto names the child.
	// ConditionError has the chunk if its condition does not hold, the run if
	// the run's does not, both if neither holds. ErrNotFound means that there
	// is no leaf.
	Split(ctx context.Context, s SplitRequest) (Chunk, error)

	// Fail is T10: [status=running AND lease_token=token] to failed. A
	// permanent failure uses up the attempts. The token stays, as for Complete.
	Fail(ctx context.Context, l Lease, f fault.Failure, permanent bool, now time.Time) (Chunk, error)

	// Expire is T10b: [status=running AND lease_until<now AND
	// attempts>=max_attempts] to failed.
	Expire(ctx context.Context, run contract.RunID, task contract.TaskID, now time.Time) (Chunk, error)

	// FaninAdd is T11 (a leaf, member a task id) and T12 (the root, member a
	// shard number): [exists] adds the member and returns the node as it then
	// is. ErrNotFound if there is no node.
	FaninAdd(ctx context.Context, run contract.RunID, shard int, member string) (Fanin, error)

	// BeginFinalize is T13: [gen=g AND status IN (running, finalizing)] to
	// finalizing; the first call's time stays.
	BeginFinalize(ctx context.Context, run contract.RunID, g contract.Generation, now time.Time) (Run, error)

	// SucceedRun is T14: [gen=g AND status=finalizing], or with Adopted
	// [status<>succeeded AND (gen absent OR gen<=g)], to succeeded; the ACTIVE
	// item goes in the same transaction.
	SucceedRun(ctx context.Context, run contract.RunID, s SuccessRecord) (Run, error)

	// FailRun is T15: [status IN (planning, running) AND (gen absent OR gen=g)]
	// to failed; the ACTIVE item goes too. A finalizing run is never failed
	// from outside.
	FailRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (Run, error)

	// Refuse is T15r: [status=planning AND gen absent] to refused; the ACTIVE
	// item goes too.
	Refuse(ctx context.Context, run contract.RunID, f fault.Failure, now time.Time) (Run, error)

	// SupersedeRun is T16: [(gen absent OR gen<g) AND status NOT IN (succeeded,
	// failed, superseded, refused)] to superseded; the ACTIVE item goes too. g
	// is the generation in the fence of another run, or in the sealed_by of the
	// run's own tombstone: the caller makes sure of that.
	SupersedeRun(ctx context.Context, run contract.RunID, g contract.Generation, f fault.Failure, now time.Time) (Run, error)

	// ClaimResume is T17a: [status=failed OR (status IN (planning, running,
	// finalizing) AND lease_until<now)], with Force also status=succeeded, to
	// planning with intent resume, or repair with Force; finalize_started_at, error, notified,
	// enqueued, outcome, verdict, finished_at and ttl are removed, resumed_at
	// is set, and ACTIVE is put in the same transaction. RequestID identifies the resume request,
	// so that a caller whose answer was lost finds itself in ConditionError.
	ClaimResume(ctx context.Context, run contract.RunID, c ResumeClaim) (Run, error)

	// ResumeRun is T17b: [status=planning AND (gen absent OR gen<g)] sets the
	// generation g.
	ResumeRun(ctx context.Context, run contract.RunID, g contract.Generation, leaseUntil time.Time) (Run, error)

	// ResumeChunk is T17c: [status<>completed AND gen<g] sets the generation g
	// and revokes the lease: running becomes failed, pending and failed stay;
	// max_attempts becomes attempts+budget.
	ResumeChunk(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, budget int, now time.Time) (Chunk, error)

	// Repair is T18, one transaction: the run has generation g and is planning
	// or running; the chunk [status=completed AND superseded_by absent] gets
	// superseded_by; the repair task [not exists] is put, pending, with the
	// same range; the leaf expects one more. Returns the repair task.
	// ConditionError and ErrNotFound as for Split.
	Repair(ctx context.Context, run contract.RunID, task contract.TaskID, g contract.Generation, maxAttempts int, now time.Time) (Chunk, error)

	// MarkNotified is T19: [notified absent] sets it.
	MarkNotified(ctx context.Context, run contract.RunID) error

	// NoteRun is T20: [exists AND status NOT IN (failed, superseded, refused)]
	// sets the fields of n that are given: lease, enqueued, callback and error
	// while the run has not succeeded, the verdict once it has. Fields that do
	// not belong to the run's status are passed over.
	NoteRun(ctx context.Context, run contract.RunID, n Note) (Run, error)

	// GetRun returns a run. ErrNotFound if there is none.
	GetRun(ctx context.Context, run contract.RunID) (Run, error)

	// GetChunk returns a chunk. ErrNotFound if there is none.
	GetChunk(ctx context.Context, run contract.RunID, task contract.TaskID) (Chunk, error)

	// ListChunks returns every chunk of a shard in ascending order of ids,
	// superseded ones too.
	ListChunks(ctx context.Context, run contract.RunID, shard int) ([]Chunk, error)

	// GetFanin returns a node. ErrNotFound if there is none.
	GetFanin(ctx context.Context, run contract.RunID, shard int) (Fanin, error)

	// ListActive returns the runs that are not terminal, oldest first. An entry
	// may be stale: its run may have become terminal, or be gone.
	ListActive(ctx context.Context) ([]Active, error)

	// DropActive deletes the ACTIVE item of a run that is terminal or gone. It
	// does nothing for a run that is neither.
	DropActive(ctx context.Context, run contract.RunID) error

	// ListRuns returns the runs of an export that the table still knows, newest
	// first, at most limit. For people, not for the protocol.
	ListRuns(ctx context.Context, export contract.ExportName, limit int) ([]Run, error)
}

// Lease names an attempt on a chunk and the token that it claimed it with.
type Lease struct {
	Run   contract.RunID
	Task  contract.TaskID
	Token string
}

// FenceRecord is what T2 sets.
type FenceRecord struct {
	Gen contract.Generation
	// Creation is the run's, as the planner found it: of a run that was created
	// anew since, after the table was lost, it records nothing.
	Creation   string
	LeaseUntil time.Time
	Root       wire.Location
	Prefix     string
	Queue      string
}

// StartRecord is what T5 sets, beside the status.
type StartRecord struct {
	Gen contract.Generation
	// TriggerID is the run's, as the planner found it: a resume that has been
	// claimed since has put its own.
	TriggerID       string
	PlanFingerprint contract.Fingerprint
	TaskCount       int
	Shards          int
	FaninK          int
	MaxAttempts     int
	LeaseUntil      time.Time
}

// ClaimRequest is what T6 needs. Token is generated before the first try.
type ClaimRequest struct {
	Run        contract.RunID
	Task       contract.TaskID
	Gen        contract.Generation
	Token      string
	Worker     string
	Now        time.Time
	LeaseUntil time.Time
}

// SplitRequest is what T9 needs.
type SplitRequest struct {
	Lease  Lease
	Gen    contract.Generation
	Done   keyspace.Range // what the attempt delivered: the chunk's new range
	Rest   keyspace.Range // the child's range
	Result Result
	// ChildAttempts is the child's max_attempts.
	ChildAttempts int
	Now           time.Time
}

// SuccessRecord is what T14 needs.
type SuccessRecord struct {
	Gen     contract.Generation
	Outcome RunOutcome
	// Adopted is set when the run's own success sidecar stands: then the run
	// has committed, whatever the table says, unless a newer generation of it
	// is at work.
	Adopted bool
	Now     time.Time
}

// ResumeClaim is what T17a needs.
type ResumeClaim struct {
	RequestID string // becomes the run's trigger id
	// Trigger and Callback replace the run's; where they are nil, the run
	// keeps its own: whoever started it still waits.
	Trigger  []byte
	Callback *wire.Callback
	// Force claims a run that has committed, to repair it.
	Force      bool
	Now        time.Time
	LeaseUntil time.Time
}

// Intent is what the planner of the claimed run has to do.
func (c ResumeClaim) Intent() wire.Action {
	if c.Force {
		return wire.ActionRepair
	}
	return wire.ActionResume
}

// Note is what T20 sets; nil fields stay as they are.
type Note struct {
	LeaseUntil *time.Time
	Enqueued   *bool
	Callback   *wire.Callback
	Error      *fault.Failure
	Verdict    *string
}

// ErrNotFound means that the table has no such item.
var ErrNotFound = errors.New("the table has no such item")

// ErrCondition is in the chain of every *ConditionError.
var ErrCondition = errors.New("the condition does not hold")

// ConditionError says that an operation changed nothing, and what it found.
type ConditionError struct {
	Op   string // "T6 Claim"
	Run  *Run   // the run that was found, where the condition is on it
	Item *Chunk // the chunk that was found, where the condition is on it
}

func (e *ConditionError) Error() string {
	switch {
	case e.Item != nil:
		return fmt.Sprintf("%s: chunk %s of run %s is %s at generation %d, attempt %d of %d", e.Op, e.Item.ID, e.Item.RunID, e.Item.Status, e.Item.Gen, e.Item.Attempts, e.Item.MaxAttempts)
	case e.Run != nil:
		return fmt.Sprintf("%s: run %s is %s at generation %d", e.Op, e.Run.RunID, e.Run.Status, e.Run.Gen)
	}
	return e.Op + ": no such item"
}

func (e *ConditionError) Unwrap() error { return ErrCondition }
