package exportconfig

const (
	needsCDC     = "changes are not captured; use `mode: full` or `mode: chunked`"
	noPartitions = "no folders by value are written; `{date}` in the destination gives a folder for the day of the run"
	noGates      = "publishing without the gates would be another answer"
	onlyStores   = "`local` and `s3` are the only destinations so far"
	planningKey  = "a hint for planning several exports, which run on their own here"
)

var exportKeys = []key{
	{name: "name", required: true, doc: "name of the export; identity of its fence, plans and runs"},
	{name: "query", doc: "a SELECT; exactly one of `query`, `query_file` and `table`"},
	{name: "query_file", doc: "file with the query, below the folder of the config"},
	{name: "table", doc: "`[schema.]name`"},
	{name: "tables", kind: textList, doc: "tables of a CDC stream", refused: needsCDC, modes: []string{"cdc"}},
	{name: "mode", kind: enum, values: []string{"full", "incremental", "chunked", "time_window", "cdc"}, def: "full", doc: "how the rows are read", not: map[string]string{"cdc": needsCDC}},

	{name: "chunk_column", def: "the primary key", doc: "integer column that `mode: chunked` cuts by"},
	{name: "chunk_size", kind: integer, min: 1, max: 1 << 62, def: "by the planner", doc: "width of a range of `chunk_column`, or rows of a range of `chunk_by_key`"},
	{name: "chunk_size_memory_mb", kind: integer, min: 1, max: mostMegabytes, doc: "size of a chunk by the estimates of the table, 10,000 to 5,000,000 rows; with `table` only"},
	{name: "chunk_count", kind: integer, min: 1, max: 50_000, doc: "number of chunks"},
	{name: "chunk_by_days", kind: integer, min: 1, doc: "cut by days", refused: "use `chunk_column` or `chunk_by_key`"},
	{name: "chunk_by_key", doc: "column of a unique key without NULLs to cut by; of a composite key its first column; with `table` only"},
	{name: "chunk_dense", kind: boolean, def: "false", doc: "cut by row number", refused: "the upstream has removed it, because it is unsafe under writes", unless: []string{"false"}},
	{name: "parallel", kind: integer, min: 1, max: 256, def: "1", doc: "workers of `lapstrake run`; functions are bounded by their queue"},
	{name: "chunk_checkpoint", kind: boolean, def: "false", doc: "remember finished chunks", accepted: "every finished task is remembered"},
	{name: "chunk_max_attempts", kind: integer, min: 1, max: 100, def: "`tuning.max_retries` + 1", doc: "attempts of a chunk"},

	{name: "cursor_column", doc: "column of the position, with `mode: incremental`; see [cursors](cursors.md)"},
	{name: "cursor_fallback_column", doc: "column of the same type that counts where `cursor_column` is NULL, with `coalesce`"},
	{name: "incremental_cursor_mode", kind: enum, values: []string{"single_column", "coalesce"}, def: "single_column", doc: "how the position is made"},
	{name: "settle", kind: block, doc: "leave young rows for the next run"},
	{name: "keyset_incremental", kind: boolean, def: "false", doc: "continue behind the last key of `chunk_by_key`, which only grows"},
	{name: "time_column", doc: "column of the window, with `mode: time_window`"},
	{name: "time_column_type", kind: enum, values: []string{"timestamp", "unix"}, def: "timestamp", doc: "type of `time_column`: a date or time, or seconds since 1970"},
	{name: "days_window", kind: integer, max: 36_500, doc: "days before that of the scheduled time, from midnight UTC"},
	{name: "cdc", kind: block, doc: "change data capture", refused: needsCDC, modes: []string{"cdc"}},

	{name: "wave", kind: integer, doc: "order of exports", accepted: planningKey},
	{name: "parallel_safe", kind: boolean, doc: "may run beside others", accepted: planningKey},
	{name: "source_group", doc: "exports that share a source", accepted: planningKey},
	{name: "reconcile_required", kind: boolean, def: "false", doc: "ask for a reconciliation", accepted: planningKey},

	{name: "format", kind: enum, values: []string{"parquet", "csv"}, required: true, doc: "format of the parts"},
	{name: "compression", kind: enum, values: []string{"zstd", "snappy", "gzip", "lz4", "none"}, def: "zstd; none for CSV", doc: "codec; CSV has `none` only; lz4 is LZ4_RAW"},
	{name: "compression_level", kind: integer, min: 1, max: 22, def: "zstd 3, gzip 6", doc: "1 to 22 for zstd, 1 to 9 for gzip"},
	{name: "compression_profile", kind: enum, values: []string{"none", "fast", "balanced", "compact"}, doc: "`none`, snappy, zstd 3 or zstd 9; wins over the two keys above"},
	{name: "max_file_size", kind: size, def: "32MB", doc: "size that ends a part, `<n>[B|KB|MB|GB]` in powers of 1024, at most 1GB; a row group has at most a quarter of it"},
	{name: "skip_empty", kind: boolean, def: "false", doc: "publish nothing when there is no row"},
	{name: "partition_by", doc: "folders by day, month or year", refused: noPartitions},
	{name: "partition_granularity", kind: enum, values: []string{"day", "month", "year"}, def: "day", doc: "width of a partition", refused: noPartitions},
	{name: "meta_columns", kind: block, doc: "columns that are added"},
	{name: "columns", kind: textMap, def: "none", doc: "type of a column instead of the mapped one, see [types](#types-of-columns)"},
	{name: "target", kind: enum, values: []string{"bigquery", "bq", "duckdb", "snowflake", "clickhouse"}, doc: "warehouse of the type report", accepted: "read by `check` only"},
	{name: "on_schema_drift", kind: enum, values: []string{"warn", "continue", "fail"}, def: "warn", doc: "what a changed schema does", not: map[string]string{"fail": "a run is not compared with the run before; a change within a run always fails it"}},
	{name: "shape_drift_warn_factor", kind: number, def: "2.0", doc: "warn when values get longer", accepted: "it only warns"},
	{name: "verify", kind: enum, values: []string{"size", "content"}, def: "size", doc: "what is compared with the store before a run is published, and by the validator"},
	{name: "quality", kind: block, doc: "gates before publishing", refused: noGates},
	{name: "parquet", kind: block, doc: "row groups"},
	{name: "tuning", kind: block, def: "`source.tuning`", doc: "as in the source, for this export"},
	{name: "destination", kind: block, required: true, doc: "where the parts go"},
	{name: "load", kind: block, doc: "overrides of the root's `load`", refused: noLoading},
	{name: "lapstrake", kind: block, doc: "keys of this program; the upstream refuses a file with them"},
}

var settleKeys = []key{
	{name: "after", required: true, doc: "age below which a row waits, `<n>s|m|h|d`, by the clock of the source"},
	{name: "column", def: "`cursor_column`", doc: "column of the age, a date or time"},
}

var destinationKeys = []key{
	{name: "type", kind: enum, values: []string{"local", "s3", "gcs", "azure", "stdout"}, required: true, doc: "kind of store", not: map[string]string{
		"gcs": onlyStores, "azure": onlyStores, "stdout": onlyStores}},
	{name: "path", def: "`prefix`, or the folder of the config", doc: "folder of a local destination"},
	{name: "bucket", doc: "bucket; needed by s3"},
	{name: "prefix", mayBeEmpty: true, def: "the whole bucket", doc: "folder in the bucket"},
	{name: "region", def: "by the environment", doc: "region of s3"},
	{name: "endpoint", def: "by the environment", doc: "address of an S3 of one's own; other than loopback only with `allow_anonymous`"},
	{name: "access_key_env", doc: "name of the variable with the access key"},
	{name: "secret_key_env", doc: "name of the variable with the secret key"},
	{name: "session_token_env", doc: "name of the variable with the session token"},
	{name: "aws_profile", doc: "profile of the AWS configuration"},
	{name: "credentials_file", doc: "credentials of gcs", refused: "it is read with `type: gcs` only"},
	{name: "account_name", doc: "account of azure", refused: "it is read with `type: azure` only"},
	{name: "account_key_env", doc: "name of the variable with the key of the account", refused: "it is read with `type: azure` only"},
	{name: "sas_token_env", doc: "name of the variable with the SAS token", refused: "it is read with `type: azure` only"},
	{name: "allow_anonymous", kind: boolean, def: "false", doc: "requests without credentials, for emulators"},
	{name: "oneshot_budget_mb", kind: integer, max: mostMegabytes, def: "64", doc: "memory for uploads in one request", accepted: "every object is uploaded in one request"},
}
