// Package exportconfig reads rivet.yaml, the upstream's config, into exports.
// Layer: L1 (planning, no I/O).
//
// Every key of reference §1 is parsed. A key that is unknown, misspelt or not
// supported by this version is an error with file and line; none is ignored.
package exportconfig

import "github.com/lapstrake/lapstrake/shared/wire"

// Config is a parsed file.
type Config struct {
	// Dir is the folder of the file, which relative paths refer to.
	Dir     string
	Source  Source
	Exports []Export
	// Diagnostics are warnings of the file as a whole; an export has its own.
	Diagnostics []Diagnostic
	// Slack is notifications.slack, if it is there.
	Slack *Slack
}

// SourceOf returns the source as e reads it: the file's, with the timeouts of
// the export. It is what a plan freezes.
func (c Config) SourceOf(e Export) Source {
	s := c.Source
	s.StatementTimeoutSeconds, s.LockTimeoutSeconds = e.StatementTimeoutSeconds, e.LockTimeoutSeconds
	return s
}

// Source is the database of a file. The structured fields and URL exclude one
// another; secrets are references or come from the environment.
type Source struct {
	// Name is lapstrake.source_name: the queue and concurrency cap that this
	// database shares between exports. "default" if not set.
	Name string `json:"name"`
	// Type is "postgres", "mysql", "mssql" or "mongo".
	Type string `json:"type"`
	// URLRef and PasswordRef are secret references (env://NAME,
	// file:///path, secretsmanager://…, ssm://…). An inline secret of the
	// config is in Inline instead and is never written anywhere.
	URLRef      string `json:"url_ref,omitempty"`
	Host        string `json:"host,omitempty"`
	Port        int    `json:"port,omitempty"`
	User        string `json:"user,omitempty"`
	Database    string `json:"database,omitempty"`
	PasswordRef string `json:"password_ref,omitempty"`
	TLS         TLS    `json:"tls"`
	// StatementTimeoutSeconds and LockTimeoutSeconds come from tuning; 0 is no
	// limit of our own.
	StatementTimeoutSeconds int `json:"statement_timeout_s,omitempty"`
	LockTimeoutSeconds      int `json:"lock_timeout_s,omitempty"`

	// Mongo is source.mongo.
	Mongo Mongo `json:"mongo,omitzero"`

	Inline InlineSecret `json:"-"`
}

// Mongo is source.mongo; the zero value is that of a config without it.
type Mongo struct {
	// Canonical is true for json: canonical.
	Canonical bool `json:"canonical,omitempty"`
	// ReadConcern is "server", "snapshot" or, unless the config says, "": a
	// snapshot wherever the server has them.
	ReadConcern string `json:"read_concern,omitempty"`
	// CursorTimeout is true for no_cursor_timeout: false.
	CursorTimeout bool `json:"cursor_timeout,omitempty"`
}

// InlineSecret holds what a config spells out: it works in `lapstrake run` and
// is refused by functions. It is not part of any JSON, and prints as dots.
type InlineSecret struct {
	URL, Password string
}

// String hides the values.
func (InlineSecret) String() string { return "***" }

// GoString hides the values.
func (InlineSecret) GoString() string { return "***" }

// TLS is source.tls. Mode "" means that no tls block is there: plaintext to a
// loopback address only.
type TLS struct {
	Mode                   string `json:"mode,omitempty"` // disable, require, verify-ca, verify-full
	CAFile                 string `json:"ca_file,omitempty"`
	AcceptInvalidCerts     bool   `json:"accept_invalid_certs,omitempty"`
	AcceptInvalidHostnames bool   `json:"accept_invalid_hostnames,omitempty"`
}

// Export is one export with every default resolved.
type Export struct {
	Name string `json:"name"`
	// Line is where the export stands in the file, for messages.
	Line int `json:"-"`

	// Exactly one of Table and Query is set. Table is as written,
	// [schema.]name.
	Table string `json:"table,omitempty"`
	Query string `json:"query,omitempty"`

	// Mode is "full", "chunked", "incremental" or "time_window"; a chunked
	// export with ChunkByKey is a keyset export, as upstream.
	Mode        string `json:"mode"`
	ChunkColumn string `json:"chunk_column,omitempty"`
	ChunkByKey  string `json:"chunk_by_key,omitempty"`
	// At most one of ChunkSize, ChunkBytes and ChunkCount is set; the planner
	// chooses when none is. ChunkSize is the width of a range of ChunkColumn
	// or the rows of a range of ChunkByKey; ChunkBytes is chunk_size_memory_mb.
	ChunkSize  int64 `json:"chunk_size,omitempty"`
	ChunkBytes int64 `json:"chunk_bytes,omitempty"`
	ChunkCount int   `json:"chunk_count,omitempty"`
	// CursorColumn is the cursor of an incremental export, and CursorFallback
	// the column whose value counts where it is NULL; "" is none. Settle is nil
	// when nothing is held back.
	CursorColumn   string  `json:"cursor_column,omitempty"`
	CursorFallback string  `json:"cursor_fallback_column,omitempty"`
	Settle         *Settle `json:"settle,omitempty"`
	// KeysetIncremental makes a keyset export continue behind its last key.
	KeysetIncremental bool `json:"keyset_incremental,omitempty"`
	// TimeColumn is what a time_window export chooses rows by, the last
	// DaysWindow days and the day of the run so far. TimeColumnType is
	// "timestamp" or "unix".
	TimeColumn     string `json:"time_column,omitempty"`
	TimeColumnType string `json:"time_column_type,omitempty"`
	DaysWindow     int    `json:"days_window,omitempty"`
	// ChunkMaxAttempts is at least 1.
	ChunkMaxAttempts int `json:"chunk_max_attempts"`
	// Parallel is the number of workers of the embedded runtime.
	Parallel int `json:"parallel"`

	Format string `json:"format"` // parquet or csv
	// Compression is zstd, snappy, gzip, lz4 or none.
	Compression      string `json:"compression"`
	CompressionLevel int    `json:"compression_level,omitempty"`
	SkipEmpty        bool   `json:"skip_empty,omitempty"`
	// Verify is "size" or "content".
	Verify string `json:"verify"`
	// Columns are the type overrides.
	Columns map[string]string `json:"columns,omitempty"`

	// RowGroupRows and RowGroupBytes end a row group; 0 is the default.
	RowGroupRows  int64 `json:"row_group_rows,omitempty"`
	RowGroupBytes int64 `json:"row_group_bytes,omitempty"`
	// ParquetWriter is lapstrake.parquet.writer, "native" or "arrow", and
	// ParquetEncoding lapstrake.parquet.encoding, "compatible" or "compact";
	// both are empty for CSV.
	ParquetWriter   string `json:"parquet_writer,omitempty"`
	ParquetEncoding string `json:"parquet_encoding,omitempty"`
	// PartBytes ends a part: max_file_size, or 32 MiB. At most 1 GiB.
	PartBytes int64 `json:"part_bytes"`
	// MaxValueBytes is tuning.max_value_mb; 0 is no limit.
	MaxValueBytes int64 `json:"max_value_bytes"`
	// BatchRows is tuning.batch_size, BatchBytes tuning.batch_size_memory_mb; 0
	// is the default. At most one of them is set.
	BatchRows  int   `json:"batch_rows,omitempty"`
	BatchBytes int64 `json:"batch_bytes,omitempty"`
	// RetryBackoffMillis is tuning.retry_backoff_ms.
	RetryBackoffMillis int `json:"retry_backoff_ms,omitempty"`
	// StatementTimeoutSeconds and LockTimeoutSeconds are of exports[].tuning,
	// or else of source.tuning. SourceOf puts them where sources read them.
	StatementTimeoutSeconds int `json:"-"`
	LockTimeoutSeconds      int `json:"-"`

	// Destination is the root, the static part of the configured path;
	// PrefixTemplate is what follows it, with {date}, {export}, {table} and
	// {run_id} unresolved, and ends with "/" unless it is empty.
	Destination    wire.Location `json:"destination"`
	PrefixTemplate string        `json:"prefix_template,omitempty"`

	// Diagnostics are what the config says that is worth a warning.
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`

	// OnConflict is lapstrake.on_conflict, "reject" or "supersede".
	OnConflict string `json:"on_conflict"`
	// IfSuccess is lapstrake.if_success: "new_run" (default) or "refuse".
	IfSuccess string `json:"if_success"`
}

// Diagnostic is a warning with a stable code, such as
// GLOB_READERS_SEE_OLD_PARTS.
type Diagnostic struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Slack is notifications.slack.
type Slack struct {
	WebhookURLRef string
	Inline        InlineSecret // the URL itself is a secret
	On            []string
}
