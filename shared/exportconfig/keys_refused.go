package exportconfig

// The keys of this file stand in blocks that are refused as a whole. They are
// known all the same, so that a misspelt one is called misspelt.

var qualityKeys = refuseAll(noGates, []key{
	{name: "row_count_min", kind: integer, max: 1 << 62, doc: "least number of rows"},
	{name: "row_count_max", kind: integer, max: 1 << 62, doc: "largest number of rows"},
	{name: "null_ratio_max", kind: numberMap, doc: "largest share of NULLs by column"},
	{name: "unique_columns", kind: textList, doc: "columns without repetition"},
	{name: "unique_max_entries", kind: integer, max: 1 << 62, doc: "limit of what is remembered"},
})

var cdcKeys = refuseAll(needsCDC, []key{
	{name: "initial", kind: enum, values: []string{"snapshot"}, doc: "read the table first"},
	{name: "checkpoint", doc: "file of the position"},
	{name: "until_current", kind: boolean, def: "true", doc: "end at the position of the start"},
	{name: "max_events", kind: integer, min: 1, max: 1 << 62, doc: "end after this many"},
	{name: "rollover", kind: integer, min: 1, max: 1 << 62, def: "100000", doc: "rows of a part"},
	{name: "rollover_memory_mb", kind: integer, min: 1, max: mostMegabytes, def: "256", doc: "size of a part"},
	{name: "server_id", kind: integer, min: 1, max: 1<<32 - 1, def: "4271", doc: "id as a MySQL replica"},
	{name: "slot", def: "rivet_slot", doc: "replication slot of PostgreSQL"},
	{name: "capture_instance", doc: "capture instance of SQL Server"},
	{name: "backfill", kind: textOrList, doc: "exports that read the table first"},
})

var loadKeys = append(refuseAll(noLoading, []key{
	{name: "target", kind: enum, values: []string{"bigquery", "snowflake", "clickhouse"}, doc: "warehouse"},
}), commonLoadKeys...)

var exportLoadKeys = append(refuseAll(noLoading, []key{
	{name: "tables", kind: anything, doc: "overrides by table"},
}), commonLoadKeys...)

var commonLoadKeys = refuseAll(noLoading, []key{
	{name: "project", doc: "project of BigQuery"},
	{name: "dataset", doc: "dataset of BigQuery"},
	{name: "connection", doc: "connection of Snowflake"},
	{name: "warehouse", doc: "warehouse of Snowflake"},
	{name: "database", doc: "database of Snowflake or ClickHouse"},
	{name: "schema", doc: "schema of Snowflake"},
	{name: "storage_integration", doc: "storage integration of Snowflake"},
	{name: "url", doc: "address of ClickHouse"},
	{name: "user", doc: "user of ClickHouse"},
	{name: "password_env", doc: "variable with the password of ClickHouse"},
	{name: "named_collection", doc: "named collection of ClickHouse"},
	{name: "ca_file", doc: "certificates to trust"},
	{name: "pk", kind: textOrList, doc: "primary key: `auto`, `none` or columns"},
	{name: "layout", kind: enum, values: []string{"log_view", "base_buffer"}, doc: "layout of the tables"},
	{name: "deleted_flag", kind: boolean, doc: "mark deleted rows"},
	{name: "cluster_by", kind: textList, doc: "clustering columns"},
	{name: "partition", kind: textOrBlock, values: []string{"none"}, doc: "partitioning"},
	{name: "cleanup_source", kind: boolean, doc: "delete what was loaded"},
	{name: "gc_orphans", kind: boolean, doc: "delete what nobody names"},
	{name: "allow_source_drift", kind: boolean, doc: "load after a change of the source"},
})

var loadPartitionKeys = refuseAll(noLoading, []key{
	{name: "column", doc: "partitioning column"},
	{name: "granularity", kind: enum, values: []string{"hour", "day", "month", "year"}, doc: "width of a partition"},
	{name: "range", kind: block, doc: "partitions of an integer column"},
	{name: "ingestion", kind: anything, doc: "partitions by time of loading"},
	{name: "expiration_days", kind: integer, doc: "age at which a partition goes"},
	{name: "require_filter", kind: boolean, doc: "demand a filter"},
})

var loadRangeKeys = refuseAll(noLoading, []key{
	{name: "column", doc: "integer column"},
	{name: "start", kind: integer, max: 1 << 62, doc: "first value"},
	{name: "end", kind: integer, max: 1 << 62, doc: "value after the last"},
	{name: "interval", kind: integer, min: 1, max: 1 << 62, doc: "width"},
})

func refuseAll(why string, keys []key) []key {
	for i := range keys {
		keys[i].refused = why
	}
	return keys
}
