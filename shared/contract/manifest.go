package contract

import "encoding/json"

// ManifestVersion is the only version that this package reads and writes.
const ManifestVersion = 1

// MaxManifestBytes bounds what a reader loads (reference §5.3).
const MaxManifestBytes = 64 << 20

// Status is the outcome of a run as its manifest states it.
type Status string

// The statuses of reference §0, T3. A tombstone (D15) is Interrupted and has
// sealed_by.
const (
	StatusRunning     Status = "running"
	StatusSuccess     Status = "success"
	StatusFailed      Status = "failed"
	StatusInterrupted Status = "interrupted"
)

// PartStatus says whether a part counts.
type PartStatus string

// The part statuses of reference §0, T4. Only Committed parts hold rows of
// the run.
const (
	PartCommitted   PartStatus = "committed"
	PartQuarantined PartStatus = "quarantined"
	PartSuperseded  PartStatus = "superseded"
)

// Manifest is the authoritative record of one run for one prefix (M1, M4, M7).
// The fields stand in the order of the upstream's bytes, which Encode keeps;
// those after SplitWindow are ours and additive. A reader ignores fields that
// it does not know, and never encodes again what it read: rolling a run
// forward copies bytes.
type Manifest struct {
	ManifestVersion   int              `json:"manifest_version"`
	RunID             RunID            `json:"run_id"`
	ExportName        ExportName       `json:"export_name"`
	ExportFamily      string           `json:"export_family,omitempty"`
	Mode              string           `json:"mode,omitempty"` // "batch" when absent
	StartedAt         Time             `json:"started_at"`
	FinishedAt        Time             `json:"finished_at"`
	Status            Status           `json:"status"`
	Source            Source           `json:"source"`
	Destination       Destination      `json:"destination"`
	Format            string           `json:"format"`
	Compression       string           `json:"compression"`
	SchemaFingerprint Fingerprint      `json:"schema_fingerprint"`
	RowCount          int64            `json:"row_count"`
	PartCount         int              `json:"part_count"`
	Parts             []Part           `json:"parts"`
	ColumnChecksums   []ColumnChecksum `json:"column_checksums,omitempty"`
	ChecksumRender    string           `json:"checksum_render,omitempty"`
	ChecksumKeyColumn string           `json:"checksum_key_column,omitempty"`
	RowHash           *RowHash         `json:"row_hash,omitempty"`
	SplitWindow       *SplitWindow     `json:"split_window,omitempty"`

	// Generation of the fence that this run held at its commit point (M10).
	Generation Generation `json:"generation,omitempty"`
	// SealedBy is set in a tombstone only: the run that made sure that this
	// one can never commit.
	SealedBy *SealedBy `json:"sealed_by,omitempty"`
	// Control is the relative path from the prefix to the root that holds the
	// control folder, such as "." or "../..".
	Control string `json:"control,omitempty"`
	// RunRecord names the record of the run's tasks, below the root.
	RunRecord *RunRecordRef `json:"run_record,omitempty"`
	// Position is the window of a mode with a cursor.
	Position *PositionWindow `json:"position,omitempty"`
}

// Source names what was read. Schema and Table are null in JSON when unknown.
type Source struct {
	Engine     string      `json:"engine"`
	Schema     *string     `json:"schema"`
	Table      *string     `json:"table"`
	Extraction *Extraction `json:"extraction,omitempty"`
}

// Extraction says how it was read. Consistency and the fields after it are
// ours.
type Extraction struct {
	Strategy       string `json:"strategy"`
	CursorColumn   string `json:"cursor_column,omitempty"`
	CursorType     string `json:"cursor_type,omitempty"`
	CursorLow      string `json:"cursor_low,omitempty"`
	CursorHigh     string `json:"cursor_high,omitempty"`
	SourceRowCount *int64 `json:"source_row_count,omitempty"`

	// Consistency is the snapshot that each task had and what holds between
	// tasks, such as "per_task" (architecture §4.2).
	Consistency string `json:"consistency,omitempty"`
	// Key lists the columns that the chunks were cut on.
	Key []string `json:"key,omitempty"`
	// CursorFallback is the column that counts where CursorColumn is NULL.
	CursorFallback string `json:"cursor_fallback_column,omitempty"`
	// CursorHighExcluded is true when rows at cursor_high are not in the run.
	CursorHighExcluded bool `json:"cursor_high_excluded,omitempty"`
	// NullRows counts the rows that are in no window, because their cursor was
	// NULL when the run was planned.
	NullRows int64 `json:"null_rows,omitempty"`
	// RepeatedRows counts rows at cursor_low that an earlier run may have
	// delivered: without a key, nothing tells them from those that came later.
	RepeatedRows int64 `json:"repeated_rows,omitempty"`
}

// Destination says where the prefix was when the run was written. Parts are
// found relative to the manifest, never through URI.
type Destination struct {
	Kind string `json:"kind"`
	URI  string `json:"uri"`
}

// Part is one object of the run: its identity triple (M3), its rows and
// whether it counts. Path is relative to the prefix and opaque.
type Part struct {
	PartID             int         `json:"part_id"`
	Path               string      `json:"path"`
	Rows               int64       `json:"rows"`
	SizeBytes          int64       `json:"size_bytes"`
	ContentFingerprint Fingerprint `json:"content_fingerprint"`
	ContentMD5         string      `json:"content_md5"`
	Status             PartStatus  `json:"status"`
}

// ColumnChecksum is the Form B checksum of a column over the run, in decimal.
type ColumnChecksum struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum"`
}

// RowHash describes the row hash column, when there is one. Covered is true or
// a list of column names.
type RowHash struct {
	Column  string          `json:"column"`
	Covered json.RawMessage `json:"covered"`
	Render  string          `json:"render"`
}

// SplitWindow is the half-open key range (Lo, Hi] of a run that covers only a
// part of a table.
type SplitWindow struct {
	KeyColumn string  `json:"key_column"`
	Lo        *string `json:"lo,omitempty"`
	Hi        *string `json:"hi,omitempty"`
}

// SealedBy names the run and the generation that sealed a predecessor.
type SealedBy struct {
	RunID      RunID      `json:"run_id"`
	Generation Generation `json:"generation"`
}

// RunRecordRef is the key of a run record below the root and its fingerprint.
type RunRecordRef struct {
	Key         string      `json:"key"`
	Fingerprint Fingerprint `json:"fingerprint"`
}
