package exportconfig

const (
	mostMegabytes = 1 << 20 // a TiB
	mostSeconds   = 1 << 30
)

// Reasons that several keys share.
const (
	notYetRead     = "`postgres`, `mysql`, `mssql` and `mongo` are the sources so far"
	noLoading      = "load what `manifest.json` lists with a tool of the warehouse"
	oneSnapshot    = "every task has a snapshot of its own"
	noColumns      = "no columns are added"
	notInFunctions = "limit the load with `parallel` and with the concurrency of the source's queue"
	memoryBounded  = "the memory of a task is bounded by `parquet`, `max_file_size` and `tuning.batch_size_memory_mb`"
)

// blocks is rivet.yaml: every mapping of the file, with every key of it.
var blocks = []keyBlock{
	{path: "", keys: []key{
		{name: "source", kind: block, required: true, doc: "the database"},
		{name: "exports", kind: blockList, required: true, doc: "what to extract, at least one; names are unique"},
		{name: "notifications", kind: block, doc: "who is told about failures"},
		{name: "parallel_exports", kind: boolean, def: "false", doc: "run exports at the same time", accepted: "exports are independent runs; the command or the schedule decides what runs when"},
		{name: "parallel_export_processes", kind: boolean, def: "false", doc: "one process an export", accepted: "exports are independent runs; the command or the schedule decides what runs when"},
		{name: "load", kind: block, doc: "load into a warehouse", refused: noLoading},
		{name: "lapstrake", kind: block, doc: "keys of this program; the upstream refuses a file with them"},
	}},
	{path: "lapstrake", keys: []key{
		{name: "source_name", def: "default", doc: "the queue and the concurrency cap of this database, 1 to 32 of a-z, 0-9 and -"},
		{name: "source_auth", kind: enum, values: []string{"password", "rds_iam"}, def: "password", doc: "how the source is signed in to: `rds_iam` is a token of the AWS identity, made for each connection to RDS or Aurora"},
		{name: "on_conflict", kind: enum, values: []string{"reject", "supersede"}, def: "reject", doc: "what a run does when another run of its export is alive"},
		{name: "if_success", kind: enum, values: []string{"new_run", "refuse"}, def: "new_run", doc: "what a run does when its prefix already holds a complete run"},
		{name: "consistency", kind: enum, values: []string{"per_task", "exported"}, def: "per_task", doc: "which rows the tasks of a run see together", not: map[string]string{"exported": oneSnapshot}},
		{name: "parquet", kind: block, doc: "how Parquet files are written, which changes no value in them"},
	}},
	{path: "lapstrake.parquet", keys: []key{
		{name: "writer", kind: enum, values: []string{"native", "arrow"}, def: "native", doc: "the encoder of this program, or arrow-go's, which is slower"},
		{name: "encoding", kind: enum, values: []string{"compatible", "compact"}, def: "compatible", doc: "what every reader knows, or also delta encodings, which old readers refuse; of the native writer"},
	}},
	{path: "source", keys: []key{
		{name: "type", kind: enum, values: []string{"postgres", "mysql", "mssql", "mongo", "oracle"}, required: true, doc: "the engine; `mysql` is MariaDB too, `mssql` is SQL Server", not: map[string]string{
			"oracle": notYetRead}},
		{name: "url", doc: "connection URL, or a reference to one"},
		{name: "url_env", doc: "environment variable that holds the URL or a reference to it"},
		{name: "url_file", doc: "file whose only line is the URL"},
		{name: "host", doc: "host, instead of a URL"},
		{name: "port", kind: integer, min: 1, max: 65535, def: "5432; 3306 for `mysql`; 1433 for `mssql`; 27017 for `mongo`", doc: "port"},
		{name: "user", doc: "user"},
		{name: "password", doc: "password, or a reference to one"},
		{name: "password_env", doc: "environment variable that holds the password or a reference to it"},
		{name: "database", doc: "database"},
		{name: "environment", kind: enum, values: []string{"local", "replica", "production"}, def: "production", doc: "`local` makes `fast` the default of `tuning.profile`"},
		{name: "tuning", kind: block, doc: "defaults of `exports[].tuning`"},
		{name: "tls", kind: block, doc: "transport security; without it only a loopback host is spoken to"},
		{name: "mongo", kind: block, doc: "settings of MongoDB, read with `type: mongo` only"},
	}},
	{path: "source.tls", keys: []key{
		{name: "mode", kind: enum, values: []string{"disable", "require", "verify-ca", "verify-full"}, def: "verify-full", doc: "how much is checked"},
		{name: "ca_file", doc: "certificates to trust, as PEM"},
		{name: "accept_invalid_certs", kind: boolean, def: "false", doc: "trust any certificate"},
		{name: "accept_invalid_hostnames", kind: boolean, def: "false", doc: "trust a certificate of another host"},
	}},
	{path: "source.mongo", keys: []key{
		{name: "json", kind: enum, values: []string{"relaxed", "canonical"}, def: "relaxed", doc: "flavour of extended JSON in `document`; `canonical` keeps the type of every number"},
		{name: "read_concern", kind: enum, values: []string{"server", "snapshot"}, def: "a snapshot of a collection where the server keeps one", doc: "`snapshot`: all tasks of a run read one point in time, or the run fails; `server`: every task reads what a majority of the servers has when it comes"},
		{name: "no_cursor_timeout", kind: boolean, def: "true", doc: "keep the cursor of a task while its parts are stored"},
		{name: "page_size", kind: integer, min: 1, doc: "page by `_id`", accepted: "every read is in the order of `_id`; `tuning.batch_size` is what the server sends at a time"},
		{name: "resume", kind: boolean, def: "false", doc: "read newer ids only", refused: "ids need not grow with time, so a run reads all of them", unless: []string{"false"}},
	}},
	{path: "source.tuning", keys: tuningKeys},
	{path: "notifications", keys: []key{
		{name: "slack", kind: block, doc: "a Slack-compatible webhook"},
	}},
	{path: "notifications.slack", keys: []key{
		{name: "webhook_url", doc: "address, or a reference to one"},
		{name: "webhook_url_env", doc: "environment variable that holds the address or a reference to it"},
		{name: "on", kind: textList, def: "nothing", doc: "`failure`, `schema_change` and `degraded`"},
	}},
	{path: "exports[]", keys: exportKeys},
	{path: "exports[].lapstrake", keys: []key{
		{name: "on_conflict", kind: enum, values: []string{"reject", "supersede"}, def: "`lapstrake.on_conflict`", doc: "as at the root, for this export"},
		{name: "if_success", kind: enum, values: []string{"new_run", "refuse"}, def: "`lapstrake.if_success`", doc: "as at the root, for this export"},
		{name: "consistency", kind: enum, values: []string{"per_task", "exported"}, def: "`lapstrake.consistency`", doc: "as at the root, for this export", not: map[string]string{"exported": oneSnapshot}},
		{name: "parquet", kind: block, doc: "as at the root, for this export"},
	}},
	{path: "exports[].lapstrake.parquet", keys: []key{
		{name: "writer", kind: enum, values: []string{"native", "arrow"}, def: "`lapstrake.parquet.writer`", doc: "as at the root, for this export"},
		{name: "encoding", kind: enum, values: []string{"compatible", "compact"}, def: "`lapstrake.parquet.encoding`", doc: "as at the root, for this export"},
	}},
	{path: "exports[].destination", keys: destinationKeys},
	{path: "exports[].parquet", keys: []key{
		{name: "row_group_strategy", kind: enum, values: []string{"auto", "fixed_rows", "fixed_memory"}, def: "auto", doc: "what ends a row group"},
		{name: "row_group_rows", kind: integer, min: 1, doc: "rows of a row group; needed by `fixed_rows`"},
		{name: "target_row_group_mb", kind: integer, min: 1, max: 1024, def: "128 with `fixed_memory`", doc: "size in memory that ends a row group"},
		{name: "max_row_group_mb", kind: integer, min: 1, max: 1024, doc: "upper bound of `target_row_group_mb`"},
	}},
	{path: "exports[].meta_columns", keys: []key{
		{name: "exported_at", kind: boolean, def: "false", doc: "add the column `_rivet_exported_at`", refused: noColumns, unless: []string{"false"}},
		{name: "row_hash", kind: boolOrList, def: "false", doc: "add the column `_rivet_row_hash`", refused: noColumns, unless: []string{"false"}},
	}},
	{path: "exports[].tuning", keys: tuningKeys},
	{path: "exports[].settle", keys: settleKeys},
	{path: "exports[].quality", keys: qualityKeys},
	{path: "exports[].cdc", keys: cdcKeys},
	{path: "load", keys: loadKeys},
	{path: "load.partition", keys: loadPartitionKeys},
	{path: "load.partition.range", keys: loadRangeKeys},
	{path: "exports[].load", keys: exportLoadKeys},
	{path: "exports[].load.partition", keys: loadPartitionKeys},
	{path: "exports[].load.partition.range", keys: loadRangeKeys},
}

// tuningKeys stand in source.tuning and in exports[].tuning, which wins.
var tuningKeys = []key{
	{name: "profile", kind: enum, values: []string{"fast", "balanced", "safe"}, def: "balanced", doc: "defaults of `max_retries`, `retry_backoff_ms` and `lock_timeout_s`: 1, 1000, 0; 3, 2000, 30; 10, 5000, 10; `safe` also reads 2,000 rows a batch"},
	{name: "batch_size", kind: integer, min: 1, max: 1_000_000, doc: "rows of a batch; not with `batch_size_memory_mb`"},
	{name: "batch_size_memory_mb", kind: integer, min: 1, max: 1024, doc: "size of a batch; not with `batch_size`"},
	{name: "throttle_ms", kind: integer, max: mostSeconds, doc: "pause between batches", accepted: notInFunctions, tell: true},
	{name: "statement_timeout_s", kind: integer, max: mostSeconds, def: "0, none", doc: "limit of one statement, which here reads a whole task; a profile sets none"},
	{name: "lock_timeout_s", kind: integer, max: mostSeconds, def: "by profile", doc: "limit of one wait for a lock; 0 is none"},
	{name: "max_retries", kind: integer, max: 99, def: "by profile", doc: "`chunk_max_attempts` less one"},
	{name: "retry_backoff_ms", kind: integer, max: 3_600_000, def: "by profile", doc: "first pause before a repetition"},
	{name: "memory_threshold_mb", kind: integer, max: mostMegabytes, doc: "pause above this much memory", accepted: memoryBounded},
	{name: "max_batch_memory_mb", kind: integer, max: mostMegabytes, doc: "limit of a batch", accepted: memoryBounded},
	{name: "on_batch_memory_exceeded", kind: enum, values: []string{"warn", "fail", "auto_shrink"}, def: "warn", doc: "what a larger batch does", accepted: "a batch ends before it is too large"},
	{name: "max_value_mb", kind: integer, max: 2047, def: "256; 16 in functions", doc: "a larger value fails the run; 0 is no limit"},
	{name: "adaptive", kind: boolean, def: "false", doc: "follow the load of the source", accepted: notInFunctions, tell: true},
	{name: "min_parallel", kind: integer, min: 1, max: 1024, def: "1", doc: "lower bound of `adaptive`", accepted: "read with `adaptive` only"},
}
