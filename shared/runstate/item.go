package runstate

import (
	"encoding/json"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// RunStatus is where a run is. The order of states is V13 of architecture
// §2.12.
type RunStatus string

const (
	RunPlanning   RunStatus = "planning"
	RunRunning    RunStatus = "running"
	RunFinalizing RunStatus = "finalizing"
	RunSucceeded  RunStatus = "succeeded"
	RunFailed     RunStatus = "failed"
	RunSuperseded RunStatus = "superseded"
	RunRefused    RunStatus = "refused"
)

// Terminal reports whether a run in this status stays in it, unless it is
// resumed.
func (s RunStatus) Terminal() bool {
	switch s {
	case RunSucceeded, RunFailed, RunSuperseded, RunRefused:
		return true
	}
	return false
}

// Run is the RUN item: one run of one export.
type Run struct {
	RunID     contract.RunID      `json:"run_id"`
	Export    contract.ExportName `json:"export"`
	TriggerID string              `json:"trigger_id"`
	// Creation identifies the call that created the run, so that it recognises
	// itself when the answer was lost.
	Creation string    `json:"creation,omitempty"`
	Status   RunStatus `json:"status"`
	// Gen is the generation that the run works under; 0 before T2.
	Gen contract.Generation `json:"gen,omitempty"`
	// Intent is what the planner has to do when it is called again.
	Intent wire.Action `json:"intent"`
	// Trigger is the planner's input, so that the sweep can call it again.
	Trigger json.RawMessage `json:"trigger,omitempty"`
	// Root and Prefix say where the run writes; Queue is its chunk queue.
	Root   wire.Location `json:"root"`
	Prefix string        `json:"prefix,omitempty"`
	Queue  string        `json:"queue,omitempty"`

	PlanFingerprint contract.Fingerprint `json:"plan_fp,omitempty"`
	// TaskCount is N, the number of planned tasks; Shards is how many shards
	// hold them, FaninK tasks each (Table.FaninK).
	TaskCount   int `json:"task_count,omitempty"`
	Shards      int `json:"shards,omitempty"`
	FaninK      int `json:"fanin_k,omitempty"`
	MaxAttempts int `json:"max_attempts,omitempty"`

	LeaseUntil        time.Time `json:"lease_until,omitzero"`
	Enqueued          bool      `json:"enqueued,omitempty"`
	FinalizeStartedAt time.Time `json:"finalize_started_at,omitzero"`

	Outcome  *RunOutcome    `json:"outcome,omitempty"` // set by T14
	Verdict  string         `json:"verdict,omitempty"` // "passed", "failed" or "reduced"
	Notified bool           `json:"notified,omitempty"`
	Callback *wire.Callback `json:"callback,omitempty"`
	Error    *fault.Failure `json:"error,omitempty"`

	CreatedAt time.Time `json:"created_at"`
	// ResumedAt is when the run was claimed for its last resume.
	ResumedAt  time.Time `json:"resumed_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// BegunAt is when the run was created or, if that was later, last resumed.
func (r Run) BegunAt() time.Time {
	if r.ResumedAt.After(r.CreatedAt) {
		return r.ResumedAt
	}
	return r.CreatedAt
}

// RunOutcome is what a succeeded run published.
type RunOutcome struct {
	// Extraction is the manifest's, in modes with a window.
	Extraction          *contract.Extraction `json:"extraction,omitempty"`
	ManifestFingerprint contract.Fingerprint `json:"manifest_fp,omitempty"`
	Rows                int64                `json:"rows"`
	Bytes               int64                `json:"bytes"`
	Parts               int                  `json:"parts"`
}

// ChunkStatus is where a chunk task is. It only moves forward: pending to
// running to completed or failed, and from failed back to running while
// attempts are left (I5). Completed is final.
type ChunkStatus string

const (
	ChunkPending   ChunkStatus = "pending"
	ChunkRunning   ChunkStatus = "running"
	ChunkCompleted ChunkStatus = "completed"
	ChunkFailed    ChunkStatus = "failed"
)

// Chunk is the CHUNK item: one task.
type Chunk struct {
	RunID  contract.RunID      `json:"run_id"`
	ID     contract.TaskID     `json:"id"`
	Status ChunkStatus         `json:"status"`
	Gen    contract.Generation `json:"gen"`
	Range  keyspace.Range      `json:"range"`

	Attempts    int       `json:"attempts"`
	MaxAttempts int       `json:"max_attempts"`
	LeaseToken  string    `json:"lease_token,omitempty"`
	LeaseUntil  time.Time `json:"lease_until,omitzero"`
	Worker      string    `json:"worker,omitempty"`

	Result
	// SplitOf is the task whose range this one took the rest of; RepairOf the
	// one that it does again.
	SplitOf  contract.TaskID `json:"split_of,omitempty"`
	RepairOf contract.TaskID `json:"repair_of,omitempty"`
	// SplitInto is the child that took the rest of this task's range.
	SplitInto contract.TaskID `json:"split_into,omitempty"`
	// SupersededBy is the repair task that replaces this one: its parts no
	// longer count.
	SupersededBy contract.TaskID `json:"superseded_by,omitempty"`

	// Error is why the last attempt that ended without a result did. The next
	// claim keeps it, a completion removes it.
	Error *fault.Failure `json:"error,omitempty"`

	CreatedAt time.Time `json:"created_at"`
	// ChangedAt is the time of the last transition, by the writer's clock:
	// liveness only.
	ChangedAt time.Time `json:"changed_at"`
}

// Live reports whether the chunk counts: it is not superseded by a repair.
func (c Chunk) Live() bool { return c.SupersededBy == "" }

// Exhausted reports whether a failed chunk has no attempt left.
func (c Chunk) Exhausted() bool { return c.Status == ChunkFailed && c.Attempts >= c.MaxAttempts }

// What a Result may hold, so that an item stays far below the 400 KB of the
// smallest table (QUE-22). A worker splits its task at SplitParts; only a task
// that cannot be split, for want of a key, may list up to MaxParts.
const (
	SplitParts    = 64
	MaxParts      = 1500
	MaxHiKeyBytes = 64 << 10 // of all hi keys together
)

// Result is what an attempt delivered, recorded with its completion.
type Result struct {
	Parts []PartRecord `json:"parts,omitempty"`
	Rows  int64        `json:"rows,omitempty"`
	Bytes int64        `json:"bytes,omitempty"`
	// ReadPosition is where the source was read.
	ReadPosition string `json:"read_position,omitempty"`
	// HiKeys are the keys delivered at the window's end, in modes with one.
	HiKeys [][]string `json:"hi_keys,omitempty"`
	// Repeated counts rows at the window's start that an earlier run may have
	// delivered, in modes with a cursor whose rows have no key.
	Repeated  int64     `json:"repeated,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
}

// PartRecord is the identity triple of a part (M3), its MD5 and rows. Path is
// relative to the prefix.
type PartRecord struct {
	Path        string               `json:"path"`
	Rows        int64                `json:"rows"`
	SizeBytes   int64                `json:"size"`
	Fingerprint contract.Fingerprint `json:"xxh3"`
	MD5         string               `json:"md5,omitempty"`
}

// Active is the ACTIVE item of a run that is not terminal.
type Active struct {
	RunID     contract.RunID      `json:"run_id"`
	Export    contract.ExportName `json:"export"`
	CreatedAt time.Time           `json:"created_at"`
}

// Fanin is one node of the fan-in tree: a leaf holds the tasks of a shard, the
// root holds the shards (D9). Members are sets, so adding twice is harmless.
type Fanin struct {
	RunID contract.RunID `json:"run_id"`
	// Shard is the leaf's shard, or RootShard.
	Shard    int      `json:"shard"`
	Expected int      `json:"expected"`
	Done     []string `json:"done"`
}

// DefaultFaninK is how many planned tasks a shard holds unless a table is
// opened with another number.
const DefaultFaninK = 100

// RootShard is the shard number of the root of the fan-in tree.
const RootShard = -1

// Full reports whether every expected member is there.
func (f Fanin) Full() bool { return len(f.Done) >= f.Expected }

// ShardOf returns the shard of a task: that of its planned task, so that splits
// and repairs stay with it.
func ShardOf(id contract.TaskID, faninK int) int {
	base, _ := id.Base()
	return base / max(faninK, 1)
}

// ShardCount returns how many shards n tasks have.
func ShardCount(n, faninK int) int { return (n + max(faninK, 1) - 1) / max(faninK, 1) }
