// Package report tells people and scripts what a run did: summary.json,
// summary.md and summary.html. Layer: L4 (observability).
//
// A report is made from the run's table, plan and manifest after the verdict is
// known (I8). It decides nothing, and making it again from the same facts gives
// the same bytes.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// Input is what a report is made from.
type Input struct {
	Run runstate.Run
	// Chunks are all tasks of the run, superseded ones too.
	Chunks []runstate.Chunk
	// Plan is the run's plan; the zero value if it has none.
	Plan chunkplan.Plan
	// Manifest is what the run published, nil if nothing.
	Manifest *contract.Manifest
	// Verification is the verdict on it, nil if there is none.
	Verification *contract.ManifestVerification
	// ResumeCommand takes a failed run up again; a default is made if it is
	// empty and the run can be resumed.
	ResumeCommand string
}

// Summary is summary.json: the upstream's fields in its order (reference
// §5.10), null where nothing was measured, and after apply_context ours.
type Summary struct {
	RunID             contract.RunID       `json:"run_id"`
	ExportName        contract.ExportName  `json:"export_name"`
	Status            string               `json:"status"` // running, success, failed, skipped or interrupted
	StartedAt         contract.Time        `json:"started_at"`
	FinishedAt        *contract.Time       `json:"finished_at"`
	DurationMillis    int64                `json:"duration_ms"`
	SourceEngine      *string              `json:"source_engine"`
	DestinationKind   string               `json:"destination_kind"`
	Format            string               `json:"format"`
	Compression       string               `json:"compression"`
	TuningProfile     *string              `json:"tuning_profile"`
	BatchSize         *int                 `json:"batch_size"`
	TotalRows         int64                `json:"total_rows"`
	FilesProduced     int                  `json:"files_produced"`
	BytesWritten      int64                `json:"bytes_written"`
	PeakRSSMB         *int64               `json:"peak_rss_mb"`
	Retries           int                  `json:"retries"`
	PGTempBytesDelta  *int64               `json:"pg_temp_bytes_delta"`
	Validation        *Validation          `json:"validation"`
	Reconciliation    *Reconciliation      `json:"reconciliation"`
	SchemaChanged     bool                 `json:"schema_changed"`
	SchemaChanges     []string             `json:"schema_changes"`
	PlanWarnings      []PlanWarning        `json:"plan_warnings"`
	ErrorMessage      *string              `json:"error_message"`
	Resumable         bool                 `json:"resumable"`
	ResumeCommand     *string              `json:"resume_command"`
	ErrorCode         fault.Code           `json:"error_code,omitempty"`
	RunStatus         runstate.RunStatus   `json:"run_status"`
	Generation        contract.Generation  `json:"generation"`
	Mode              string               `json:"mode,omitempty"`
	Strategy          string               `json:"strategy,omitempty"`
	Consistency       string               `json:"consistency,omitempty"`
	Source            string               `json:"source,omitempty"`
	Key               []string             `json:"key,omitempty"`
	DestinationURI    string               `json:"destination_uri"`
	ManifestName      string               `json:"manifest_name,omitempty"`
	ManifestPrint     contract.Fingerprint `json:"manifest_fingerprint,omitempty"`
	SchemaFingerprint contract.Fingerprint `json:"schema_fingerprint,omitempty"`
	Verdict           string               `json:"verdict,omitempty"` // passed, failed or reduced
	Columns           []Column             `json:"columns,omitempty"`
	Parts             []Part               `json:"parts"`
	Chunks            []Chunk              `json:"chunks"`
}

// Validation is the verdict on what was published.
type Validation struct {
	Passed   bool                           `json:"passed"`
	Manifest *contract.ManifestVerification `json:"manifest,omitempty"`
}

// Reconciliation is the comparison with a COUNT(*) of the source.
type Reconciliation struct {
	SourceCount  int64 `json:"source_count"`
	ExportedRows int64 `json:"exported_rows"`
	Matched      bool  `json:"matched"`
}

// PlanWarning is a diagnostic of the plan.
type PlanWarning struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// Column is a column as it was written.
type Column struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Native string `json:"native"`
}

// Part is one published object.
type Part struct {
	Path        string               `json:"path"`
	Rows        int64                `json:"rows"`
	SizeBytes   int64                `json:"size_bytes"`
	Fingerprint contract.Fingerprint `json:"content_fingerprint"`
}

// Chunk is the history of one task. Times are of the attempt that completed or
// last failed.
type Chunk struct {
	ID           contract.TaskID      `json:"id"`
	Status       runstate.ChunkStatus `json:"status"`
	Generation   contract.Generation  `json:"generation"`
	Rows         int64                `json:"rows"`
	Bytes        int64                `json:"bytes"`
	Attempts     int                  `json:"attempts"`
	MaxAttempts  int                  `json:"max_attempts"`
	Worker       string               `json:"worker,omitempty"`
	StartedAt    *contract.Time       `json:"started_at"`
	CompletedAt  *contract.Time       `json:"completed_at"`
	SplitOf      contract.TaskID      `json:"split_of,omitempty"`
	RepairOf     contract.TaskID      `json:"repair_of,omitempty"`
	SupersededBy contract.TaskID      `json:"superseded_by,omitempty"`
	Error        *fault.Failure       `json:"error,omitempty"`
	Parts        []string             `json:"parts"`
}

// JSON returns summary.json.
func (s Summary) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return nil, fmt.Errorf("encode the summary of run %s: %w", s.RunID, err)
	}
	return b.Bytes(), nil
}
