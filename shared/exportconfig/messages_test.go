package exportconfig

import (
	"strings"
	"testing"
)

const (
	noToken = "rivet.yaml:4: lapstrake.source_auth: rds_iam needs source.tls with mode: verify-full and no exception, as a token is a password while it lasts"

	src    = "source: {type: postgres, url_env: DATABASE_URL}\n"
	export = "exports:\n- {name: orders, table: t, format: csv, destination: {type: local, path: out}}\n"
	// where and out complete an export that says how it is read.
	out = "destination: {type: local, path: out}\n"
)

// TestMessages is the table of what the reader says. A message has the line,
// what is wrong there, and what to write instead.
// ofMongo is an export of a source of type mongo.
func ofMongo(keys string) string {
	return "source: {type: mongo, url_env: U}\nexports:\n- name: orders\n  " + keys + "\n  format: csv\n  destination: {type: local, path: out}\n"
}

func TestMessages(t *testing.T) {
	for _, tc := range []struct {
		name   string
		config string
		want   string // lines of the error
	}{
		// The file.
		{"an empty file", "", "rivet.yaml: the file is empty"},
		{"nothing but a comment", "# none\n", "rivet.yaml: the file is empty"},
		{"a control character in the file", "source: \x01\n", "rivet.yaml: not YAML: the file has a character that is not allowed"},
		{"a list", "- a\n", "rivet.yaml:1: the file must be a block of keys"},
		{"broken YAML", src + "exports: [\n", "rivet.yaml:3: not YAML: did not find expected node content"},
		{"a tab", "source:\n\ttype: postgres\n", "rivet.yaml:2: not YAML: found character that cannot start any token"},
		{"two documents", src + export + "---\na: 1\n", "rivet.yaml:4: a second document starts here: only one is read"},
		{"required keys", "{}", "rivet.yaml:1: exports is missing\nrivet.yaml:1: source is missing"},
		{"keys without a value", "source:\nexports:\n", "rivet.yaml:1: source is missing\nrivet.yaml:2: exports is missing"},
		{"no export", src + "exports: []\n", "rivet.yaml:2: exports must be a list of 1 to 2000 blocks"},
		{"a merge key", src + export + "<<: {a: 1}\n", "rivet.yaml:4: merge keys (<<) are not read: write the keys out"},
		{"a key twice", src + export + "source: {}\n", "rivet.yaml:4: source stands here and in line 1"},
		{"an alias works as what it stands for", "source: {type: postgres, url_env: &u DATABASE_URL}\n" +
			"exports:\n- {name: orders, table: *u, format: csv, destination: {type: local, path: out}}\n", ""},

		// Keys.
		{"a misspelt key", file(rest + "chunk_sise: 5\n"), `rivet.yaml:7: export "orders": unknown key chunk_sise; did you mean chunk_size?`},
		{"a misspelt key of a block", file(rest + "parquet: {row_group_row: 5}\n"), `rivet.yaml:7: export "orders": unknown key parquet.row_group_row; did you mean row_group_rows?`},
		{"nothing like a key", file(rest + "frobnicate: 5\n"), `rivet.yaml:7: export "orders": unknown key frobnicate`},
		{"a tuning key in the export", file(rest + "batch_size: 5\n"), `rivet.yaml:7: export "orders": unknown key batch_size: move it under tuning`},
		{"a tuning key in the source", "source: {type: postgres, url_env: U, throttle_ms: 5}\n" + export, `rivet.yaml:1: unknown key source.throttle_ms: move it under tuning`},
		{"a key of another block", file(rest + "bucket: lake\n"), `rivet.yaml:7: export "orders": unknown key bucket: it belongs under exports[].destination`},
		{"a key of the root", file(rest + "notifications: {}\n"), `rivet.yaml:7: export "orders": unknown key notifications: it belongs at the top of the file`},
		{"a line that lost its space", file(rest + "{password:hunter2: 1}: 5\n"), `rivet.yaml:7: export "orders": a key must be a word`},
		{"a misspelt key of a refused block", src + export + "load: {targett: bigquery}\n",
			"rivet.yaml:4: load is not supported by this version: load what manifest.json lists with a tool of the warehouse\nrivet.yaml:4: unknown key load.targett; did you mean target?"},

		// Types.
		{"a number that is none", file(rest + "parallel: many\n"), `rivet.yaml:7: export "orders": parallel must be a whole number from 1 to 256, not "many"`},
		{"a number in quotes", file(rest + "parallel: '2'\n"), `rivet.yaml:7: export "orders": parallel must be a whole number from 1 to 256, not "2"`},
		{"a number out of range", file(rest + "parallel: 0\n"), `rivet.yaml:7: export "orders": parallel must be a whole number from 1 to 256, not "0"`},
		{"a number beyond 64 bits", file(rest + "mode: chunked\nchunk_size: 99999999999999999999\n"),
			`rivet.yaml:8: export "orders": chunk_size must be a whole number from 1 to 4611686018427387904, not "99999999999999999999"`},
		{"text that YAML takes for a number", file("table: 5\nformat: csv\n" + out), `rivet.yaml:4: export "orders": table must be text: put it in quotes`},
		{"a bool that is none", file(rest + "skip_empty: yes\n"), `rivet.yaml:7: export "orders": skip_empty must be true or false, not "yes"`},
		{"a word that is none", file("table: t\nformat: parket\n" + out), `rivet.yaml:5: export "orders": format must be parquet or csv, not "parket"; did you mean parquet?`},
		{"a block where text is wanted", file("table: {a: b}\nformat: csv\n" + out), `rivet.yaml:4: export "orders": table must be text`},
		{"text where a block is wanted", file("table: t\nformat: csv\ndestination: out\n"), `rivet.yaml:6: export "orders": destination must be a block of keys`},
		{"empty text", file("table: ''\nformat: csv\n" + out), `rivet.yaml:4: export "orders": table must not be empty`},
		{"a custom tag", file("table: !secret abc\nformat: csv\n" + out), `rivet.yaml:4: export "orders": table must be text: put it in quotes`},

		// Variables.
		{"a variable that is not set", file("table: ${NOPE}\nformat: csv\n" + out), // SEC-03
			`rivet.yaml:4: export "orders": table: ${NOPE} has no value: set the environment variable NOPE or pass --param NOPE=…`},
		{"a variable that is set but empty", file("table: ${EMPTY}\nformat: csv\n" + out),
			`rivet.yaml:4: export "orders": table: ${EMPTY} is set but empty: give the environment variable EMPTY a value, or pass --param EMPTY= if it is meant to be empty`},
		{"no name", file("table: ${}\nformat: csv\n" + out), `rivet.yaml:4: export "orders": table: "${…}" must hold the name of a parameter or environment variable`},
		{"no end", file("table: ${DB_PASS\nformat: csv\n" + out), `rivet.yaml:4: export "orders": table: "${" is not closed by "}"`},
		{"a NUL", file("table: ${NUL}\nformat: csv\n" + out), `rivet.yaml:4: export "orders": table: the value of ${NUL} has a NUL character`},
		{"a value that breaks out of a query", file("query: select * from t where a = '${quote}'\nformat: csv\n" + out),
			`rivet.yaml:4: export "orders": query: the value of ${quote} may not be inserted into a query: quotes, backslashes, dollar signs, semicolons, comments and control characters could change the statement`},

		// The source.
		{"another engine", "source: {type: oracle, url_env: U}\n" + export, "rivet.yaml:1: source.type: oracle is not supported by this version: postgres, mysql, mssql and mongo are the sources so far"},
		{"no address", "source: {type: postgres}\n" + export, "rivet.yaml:1: source needs one of url, url_env and url_file, or host, user and database"},
		{"two addresses", "source:\n  type: postgres\n  url_env: U\n  url_file: f\n" + export, "rivet.yaml:4: source has url_env and url_file: give exactly one"},
		{"a URL and its parts", "source:\n  type: postgres\n  url_env: U\n  host: h\n" + export, "rivet.yaml:4: source has url_env and host: a URL holds them all"},
		{"parts that are missing", "source: {type: postgres, host: localhost}\n" + export, "rivet.yaml:1: source.database is missing\nrivet.yaml:1: source.user is missing"},
		{"two passwords", "source: {type: postgres, host: localhost, user: u, database: d, password: a, password_env: B}\n" + export, "rivet.yaml:1: source has password and password_env: give one"},
		{"a remote host without tls", "source: {type: postgres, host: db.example.com, user: u, database: d}\n" + export, "rivet.yaml:1: source.tls is missing: without it only a loopback host is spoken to"},
		{"several hosts", "source: {type: postgres, host: 'localhost,db.example.com', user: u, database: d}\n" + export, "rivet.yaml:1: source.host must be one host name or address"},
		{"a URL of another engine", "source: {type: postgres, url: 'mysql://u:S3cr3t@h/d'}\n" + export, "rivet.yaml:1: source.url has the scheme mysql://, which is not that of source.type"},
		{"a URL of PostgreSQL", "source: {type: mysql, url: 'postgres://u:S3cr3t@h/d'}\n" + export, "rivet.yaml:1: source.url has the scheme postgres://, which is not that of source.type"},
		{"no URL of MySQL", "source: {type: mysql, url: 'u:S3cr3t@h/d'}\n" + export, "rivet.yaml:1: source.url must start with mysql:// or mariadb://, or be a reference (env://, file://, secretsmanager://, ssm://)"},
		{"no URL", "source: {type: postgres, url: 'u:S3cr3t@h/d'}\n" + export, "rivet.yaml:1: source.url must start with postgres:// or postgresql://, or be a reference (env://, file://, secretsmanager://, ssm://)"},
		{"a URL where its variable is wanted", "source: {type: postgres, url_env: 'postgres://u:S3cr3t@h/d'}\n" + export,
			"rivet.yaml:1: source.url_env must be the name of an environment variable; an address or a reference stands under url"},
		{"an empty reference", "source: {type: postgres, url: 'ssm://'}\n" + export, "rivet.yaml:1: source.url is a reference with nothing to refer to: write env://NAME, file:///path, secretsmanager://name or ssm://name"},
		{"settings of MongoDB", "source: {type: postgres, url_env: U, mongo: {json: relaxed}}\n" + export, "rivet.yaml:1: source.mongo is read with type: mongo only"},
		{"settings of MongoDB that keep a position", "source: {type: mongo, url_env: U, mongo: {resume: true}}\n" + export, "rivet.yaml:1: source.mongo.resume is not supported by this version: ids need not grow with time, so a run reads all of them"},
		{"no URL of MongoDB", "source: {type: mongo, url: 'u:S3cr3t@h/d'}\n" + export, "rivet.yaml:1: source.url must start with mongodb:// or mongodb+srv://, or be a reference (env://, file://, secretsmanager://, ssm://)"},
		{"a query of MongoDB", ofMongo("query: 'db.t.find()'"), `rivet.yaml:4: export "orders": query is not read with source.type: mongo: name a collection or a view as table`},
		{"a cursor of MongoDB", ofMongo("table: t\n  mode: incremental\n  cursor_column: a"), `rivet.yaml:5: export "orders": mode: incremental is not read with source.type: mongo: use full, or chunked, which cuts by _id`},
		{"a column of MongoDB", ofMongo("table: t\n  mode: chunked\n  chunk_column: a"), `rivet.yaml:6: export "orders": chunk_column is not read with source.type: mongo: a collection is cut by _id, its one key`},
		{"a key of MongoDB that is none", ofMongo("table: t\n  mode: chunked\n  chunk_by_key: a"), `rivet.yaml:6: export "orders": chunk_by_key must be _id with source.type: mongo, the one key of a collection`},
		{"a position of MongoDB", ofMongo("table: t\n  mode: chunked\n  chunk_by_key: _id\n  keyset_incremental: true"), `rivet.yaml:7: export "orders": keyset_incremental is not read with source.type: mongo: ids need not grow with time`},
		{"types of MongoDB", ofMongo("table: t\n  columns: {_id: int8}"), `rivet.yaml:5: export "orders": columns is not read with source.type: mongo: a collection has the columns _id and document, both text`},
		{"a collection of another alphabet", ofMongo("table: 'a/b'"), `rivet.yaml:4: export "orders": table must be the name of a collection or view, of ASCII letters, digits, _, -, ., : and @, not "a/b"; for another name make a view`},
		{"a source name", src + export + "lapstrake: {source_name: Shop}\n", `rivet.yaml:4: lapstrake.source_name must be 1 to 32 characters of a-z, 0-9 and -, not "Shop"`},
		{"a token and a URL", src + export + "lapstrake: {source_auth: rds_iam}\n", "rivet.yaml:4: lapstrake.source_auth: rds_iam takes the place of source.url_env: give host, user and database, and no password"},
		{"a token and a password", "source: {type: postgres, host: h, user: u, database: d, password_env: P, tls: {}}\n" + export + "lapstrake: {source_auth: rds_iam}\n",
			"rivet.yaml:4: lapstrake.source_auth: rds_iam takes the place of source.password_env: give host, user and database, and no password"},
		{"a token in plain text", "source: {type: postgres, host: localhost, user: u, database: d}\n" + export + "lapstrake: {source_auth: rds_iam}\n", noToken},
		{"a token for whoever answers", "source: {type: mysql, host: h, user: u, database: d, tls: {mode: require}}\n" + export + "lapstrake: {source_auth: rds_iam}\n", noToken},
		{"a token for any certificate", "source: {type: mysql, host: h, user: u, database: d, tls: {accept_invalid_certs: true}}\n" + export + "lapstrake: {source_auth: rds_iam}\n", noToken},
		{"a token for another host", "source: {type: mysql, host: h, user: u, database: d, tls: {accept_invalid_hostnames: true}}\n" + export + "lapstrake: {source_auth: rds_iam}\n", noToken},
		{"a token for MongoDB", "source: {type: mongo, url_env: U}\n" + export + "lapstrake: {source_auth: rds_iam}\n", "rivet.yaml:4: lapstrake.source_auth: rds_iam is for source.type: postgres and mysql"},
		{"a way to sign in that is not known", src + export + "lapstrake: {source_auth: kerberos}\n", `rivet.yaml:4: lapstrake.source_auth must be password or rds_iam, not "kerberos"`},
		{"one snapshot", src + export + "lapstrake: {consistency: exported}\n", "rivet.yaml:4: lapstrake.consistency: exported is not supported by this version: every task has a snapshot of its own"},

		// What is read.
		{"no relation", file("format: csv\n" + out), `rivet.yaml:3: export "orders": exactly one of query, query_file and table is needed`},
		{"two relations", file("table: t\nquery: select 1\nformat: csv\n" + out), `rivet.yaml:5: export "orders": there is table and query: give exactly one`},
		{"a table that needs quotes", file("table: my table\nformat: csv\n" + out), `rivet.yaml:4: export "orders": table must be [schema.]name of ASCII letters, digits, _ and $, not "my table"; for another name use query`},
		{"two statements", file("query: select 1; drop table t\nformat: csv\n" + out), `rivet.yaml:4: export "orders": query has more than one statement: only one SELECT is read`},
		{"a query file above", file("query_file: ../q.sql\nformat: csv\n" + out), `rivet.yaml:4: export "orders": query_file must be a path below the folder of the config, not "../q.sql"`},
		{"a query file above, hidden", file("query_file: sql/../../q.sql\nformat: csv\n" + out), `rivet.yaml:4: export "orders": query_file must be a path below the folder of the config, not "sql/../../q.sql"`},
		{"an absolute query file", file("query_file: /etc/passwd\nformat: csv\n" + out), `rivet.yaml:4: export "orders": query_file must be a path below the folder of the config, not "/etc/passwd"`},
		{"a query file that is not there", file("query_file: q.sql\nformat: csv\n" + out), `rivet.yaml:4: export "orders": query_file: open q.sql: no such file`},
		{"a window without its column and length", file("table: t\nmode: time_window\nformat: csv\n" + out),
			"rivet.yaml:3: export \"orders\": days_window is missing: mode: time_window needs it\nrivet.yaml:3: export \"orders\": time_column is missing: mode: time_window needs it"},
		{"a window without its mode", file(rest + "days_window: 3\n"), `rivet.yaml:7: export "orders": days_window is read with mode: time_window only, and the mode is full`},
		{"a window of another type", file("table: t\nmode: time_window\ntime_column: at\ndays_window: 3\ntime_column_type: millis\nformat: csv\n" + out),
			`rivet.yaml:8: export "orders": time_column_type must be timestamp or unix, not "millis"`},
		{"cdc", file("tables: [a, b]\nmode: cdc\ncdc: {slot: s}\nformat: csv\n" + out), `rivet.yaml:5: export "orders": mode: cdc is not supported by this version: changes are not captured; use mode: full or mode: chunked`},
		{"a cursor without its mode", file(rest + "cursor_column: at\n"), `rivet.yaml:7: export "orders": cursor_column is read with mode: incremental only, and the mode is full`},
		{"incremental without a cursor", file(rest + "mode: incremental\n"), `rivet.yaml:3: export "orders": cursor_column is missing: mode: incremental needs it`},
		{"a cursor in chunks", file(rest + "mode: incremental\ncursor_column: at\nchunk_size: 5\n"), `rivet.yaml:9: export "orders": chunk_size is read with mode: chunked only, and the mode is incremental`},
		{"coalesce with nothing to fall back on", file(rest + "mode: incremental\ncursor_column: at\nincremental_cursor_mode: coalesce\n"),
			`rivet.yaml:9: export "orders": cursor_fallback_column is missing: incremental_cursor_mode: coalesce needs it`},
		{"something to fall back on without coalesce", file(rest + "mode: incremental\ncursor_column: at\ncursor_fallback_column: made\n"),
			`rivet.yaml:9: export "orders": cursor_fallback_column is read with incremental_cursor_mode: coalesce only`},
		{"a cursor that falls back on itself", file(rest + "mode: incremental\ncursor_column: at\nincremental_cursor_mode: coalesce\ncursor_fallback_column: at\n"),
			`rivet.yaml:10: export "orders": cursor_fallback_column is cursor_column again: name another column`},
		{"settle without its mode", file(rest + "settle: {after: 5m}\n"), `rivet.yaml:7: export "orders": settle is read with mode: incremental only, and the mode is full`},
		{"settle without an age", file(rest + "mode: incremental\ncursor_column: at\nsettle: {column: made}\n"), `rivet.yaml:9: export "orders": settle.after is missing`},
		{"an age that is none", file(rest + "mode: incremental\ncursor_column: at\nsettle: {after: 5 minutes}\n"), `rivet.yaml:9: export "orders": settle.after must be an age such as 90s, 5m, 2h or 1d, not "5 minutes"`},
		{"an age of nothing", file(rest + "mode: incremental\ncursor_column: at\nsettle: {after: 0s}\n"), `rivet.yaml:9: export "orders": settle.after must be an age such as 90s, 5m, 2h or 1d, not "0s"`},
		{"keyset_incremental without a key", file(rest + "keyset_incremental: true\n"),
			`rivet.yaml:7: export "orders": keyset_incremental needs mode: chunked with chunk_by_key, the key that it continues by`},
		{"keys that ask for nothing", file(rest + "keyset_incremental: false\nchunk_dense: false\nmeta_columns: {exported_at: false, row_hash: false}\non_schema_drift: continue\n"), ""},
		{"hints", file(rest + "wave: 1\nparallel_safe: true\nsource_group: g\nreconcile_required: true\nchunk_checkpoint: true\ntarget: bq\nshape_drift_warn_factor: 2.5\n"), ""},
		{"chunk_dense", file(rest + "chunk_dense: true\n"), `rivet.yaml:7: export "orders": chunk_dense is not supported by this version: the upstream has removed it, because it is unsafe under writes`},
		{"chunk_by_days", file(rest + "mode: chunked\nchunk_by_days: 3\n"), `rivet.yaml:8: export "orders": chunk_by_days is not supported by this version: use chunk_column or chunk_by_key`},
		{"quality", file(rest + "quality: {row_count_min: 5}\n"), `rivet.yaml:7: export "orders": quality is not supported by this version: publishing without the gates would be another answer`},
		{"partition_by", file(rest + "partition_by: day\n"),
			`rivet.yaml:7: export "orders": partition_by is not supported by this version: no folders by value are written; {date} in the destination gives a folder for the day of the run`},
		{"on_schema_drift: fail", file(rest + "on_schema_drift: fail\n"),
			`rivet.yaml:7: export "orders": on_schema_drift: fail is not supported by this version: a run is not compared with the run before; a change within a run always fails it`},
		{"a row hash of some columns", file(rest + "meta_columns: {row_hash: [a]}\n"), `rivet.yaml:7: export "orders": meta_columns.row_hash is not supported by this version: no columns are added`},
		{"a chunk key in full mode", file(rest + "chunk_size: 5\n"), `rivet.yaml:7: export "orders": chunk_size is read with mode: chunked only, and the mode is full`},
		{"two sizes", file(rest + "mode: chunked\nchunk_size: 5\nchunk_count: 5\n"), `rivet.yaml:9: export "orders": there is chunk_size and chunk_count: give one`},
		{"two keys", file(rest + "mode: chunked\nchunk_column: a\nchunk_by_key: b\n"), `rivet.yaml:9: export "orders": there is chunk_column and chunk_by_key: give one`},
		{"a query without a key", file("query: select 1\nmode: chunked\nformat: csv\n" + out), `rivet.yaml:3: export "orders": chunk_column is missing: the rows of a query are cut by a column that the config names`},
		{"a query with chunk_by_key", file("query: select 1\nmode: chunked\nchunk_by_key: id\nformat: csv\n" + out), `rivet.yaml:6: export "orders": chunk_by_key needs table: a query has no catalog to look into`},
		{"two sizes of a batch", file(rest + "tuning: {batch_size: 5, batch_size_memory_mb: 5}\n"), `rivet.yaml:7: export "orders": tuning has batch_size and batch_size_memory_mb: give one`},

		// What is written.
		{"a type", file(rest + "columns:\n  a: decimal(5)\n  b: text\n"), `rivet.yaml:8: export "orders": columns.a: "decimal(5)" needs a precision and a scale, such as decimal(38,9)`},
		{"a codec for CSV", file("table: t\nformat: csv\ncompression: zstd\n" + out), `rivet.yaml:6: export "orders": compression: CSV is not compressed: leave it out, or write compression: none`}, // DST-17
		{"a profile for CSV", file("table: t\nformat: csv\ncompression_profile: fast\n" + out), `rivet.yaml:6: export "orders": compression_profile: CSV is not compressed: leave it out, or write compression: none`},
		{"a writer that is none", src + export + "lapstrake: {parquet: {writer: arow}}\n", `rivet.yaml:4: lapstrake.parquet.writer must be native or arrow, not "arow"; did you mean arrow?`},
		{"an encoding of CSV", file("table: t\nformat: csv\nlapstrake: {parquet: {encoding: compact}}\n" + out), `rivet.yaml:6: export "orders": lapstrake.parquet is read with format: parquet only`},
		{"parquet for CSV", file("table: t\nformat: csv\nparquet: {}\n" + out), `rivet.yaml:6: export "orders": parquet is read with format: parquet only`},
		{"a level of a codec without levels", file(rest + "compression: snappy\ncompression_level: 3\n"), `rivet.yaml:8: export "orders": compression_level: snappy has no levels`},
		{"a level that gzip does not have", file(rest + "compression: gzip\ncompression_level: 10\n"), `rivet.yaml:8: export "orders": compression_level: gzip has the levels 1 to 9, not "10"`},
		{"a size", file(rest + "max_file_size: 5 TB\n"), `rivet.yaml:7: export "orders": max_file_size must be <n>[B|KB|MB|GB], such as 128MB or 0.5GB, not "5 TB"`},
		{"a size of nothing", file(rest + "max_file_size: 0.4B\n"), `rivet.yaml:7: export "orders": max_file_size must be <n>[B|KB|MB|GB], such as 128MB or 0.5GB, not "0.4B"`},
		{"a part of more than a GiB", file(rest + "max_file_size: 1.01GB\n"), `rivet.yaml:7: export "orders": max_file_size is "1.01GB", at most 1GB is allowed: a part is uploaded in one request`}, // DST-10
		{"fixed rows without rows", file(rest + "parquet: {row_group_strategy: fixed_rows}\n"), `rivet.yaml:7: export "orders": parquet.row_group_strategy: fixed_rows needs parquet.row_group_rows`},

		// The destination.
		{"another store", file("table: t\nformat: csv\ndestination: {type: gcs, bucket: b}\n"), `rivet.yaml:6: export "orders": destination.type: gcs is not supported by this version: local and s3 are the only destinations so far`},
		{"a stream as destination", file("table: t\nformat: csv\ndestination: {type: stdout}\n"), `rivet.yaml:6: export "orders": destination.type: stdout is not supported by this version: local and s3 are the only destinations so far`},
		{"no bucket", file("table: t\nformat: csv\ndestination: {type: s3}\n"), `rivet.yaml:6: export "orders": destination.bucket is missing`},
		{"an address as bucket", file("table: t\nformat: csv\ndestination: {type: s3, bucket: 's3://lake'}\n"), `rivet.yaml:6: export "orders": destination.bucket must be the name of a bucket, not "s3://lake"`},
		{"a bucket of a local destination", file("table: t\nformat: csv\ndestination: {type: local, bucket: b}\n"), `rivet.yaml:6: export "orders": destination.bucket is read with type: s3 only`},
		{"a path of s3", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, path: b}\n"), `rivet.yaml:6: export "orders": destination.path is read with type: local only`},
		{"path and prefix", file("table: t\nformat: csv\ndestination: {type: local, path: a, prefix: b}\n"), `rivet.yaml:6: export "orders": destination has path and prefix, which are the same for type: local: give one`},
		{"a prefix that leaves the bucket", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, prefix: a/../b}\n"), `rivet.yaml:6: export "orders": destination.prefix may not have "." or ".." as a folder`},
		{"a prefix that is an address", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, prefix: 's3://lake/a'}\n"), `rivet.yaml:6: export "orders": destination.prefix is a folder in the bucket, not an address`},
		{"a prefix that is too long", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, prefix: " + strings.Repeat("a", 513) + "}\n"), `rivet.yaml:6: export "orders": destination.prefix has 513 bytes, at most 512 are allowed`},
		{"a control character", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, prefix: \"a\\nb\"}\n"), `rivet.yaml:6: export "orders": destination.prefix has a control character`},
		{"the control folder", file("table: t\nformat: csv\ndestination: {type: local, path: out/_lapstrake/x}\n"), `rivet.yaml:6: export "orders": destination.path: a folder may not be called _lapstrake, which is kept for control objects`},
		{"a partition", file("table: t\nformat: csv\ndestination: {type: local, path: 'out/{partition}'}\n"),
			`rivet.yaml:6: export "orders": destination.path: {partition} is not supported by this version: no folders by value are written; {date} in the destination gives a folder for the day of the run`},
		{"an endpoint elsewhere", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, endpoint: 'https://minio.example.com'}\n"),
			`rivet.yaml:6: export "orders": destination.endpoint may be other than loopback only with allow_anonymous: true; to sign in to an S3 of your own set AWS_ENDPOINT_URL_S3 in the environment`},
		{"an endpoint elsewhere for everybody", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, endpoint: 'https://minio.example.com', allow_anonymous: true}\n"), ""},
		{"an endpoint with a password", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, endpoint: 'http://u:S3cr3t@localhost'}\n"),
			`rivet.yaml:6: export "orders": destination.endpoint must be http:// or https:// with a host and a port only`},
		{"half a pair of keys", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, access_key_env: A}\n"), `rivet.yaml:6: export "orders": destination.access_key_env and destination.secret_key_env go together`},
		{"a key in the place of its variable", file("table: t\nformat: csv\ndestination: {type: s3, bucket: lake, access_key_env: A, secret_key_env: 'S3cr3t/S3cr3t'}\n"),
			`rivet.yaml:6: export "orders": destination.secret_key_env must be the name of an environment variable`},

		// Exports among themselves.
		{"a name twice", src + export + "- {name: orders, table: t, format: csv, destination: {type: local, path: b}}\n", `rivet.yaml:4: export "orders": the name stands here and in line 3: names are unique`},
		{"names with one control folder", src + "exports:\n- {name: a b, table: t, format: csv, destination: {type: local, path: x}}\n- {name: a-b, table: t, format: csv, destination: {type: local, path: y}}\n",
			`rivet.yaml:4: export "a-b": its control folder would be a-b, as that of export "a b" in line 3: rename one`},
		{"one destination", src + export + "- {name: b, table: t, format: csv, destination: {type: local, path: ./out/}}\n",
			`rivet.yaml:4: export "b": its destination is equal to that of export "orders" in line 3, or one lies inside the other: give each export a folder of its own, for example with {export}`},
		{"a name that is a path", src + "exports:\n- {name: a/b, table: t, format: csv, destination: {type: local, path: x}}\n", `rivet.yaml:3: export "a/b": name may not have "/", "\", "..", "{" or "}", nor start with "."`},
		{"a name of a baseline", src + "exports:\n- {name: a__snapshot_b, table: t, format: csv, destination: {type: local, path: x}}\n", `rivet.yaml:3: export "a__snapshot_b": name may not have __snapshot_ in it, which is kept for baselines of change data capture`},
		{"no name", src + "exports:\n- {table: t, format: csv, destination: {type: local, path: x}}\n", `rivet.yaml:3: exports[0]: name is missing`},

		// Notifications.
		{"an event", src + export + "notifications: {slack: {webhook_url_env: H, on: [success]}}\n", `rivet.yaml:4: notifications.slack.on knows failure, schema_change and degraded, not "success"`},
		{"no address", src + export + "notifications: {slack: {on: [failure]}}\n", "rivet.yaml:4: notifications.slack needs exactly one of webhook_url and webhook_url_env"},
		{"an address that is none", src + export + "notifications: {slack: {webhook_url: hooks.example.com/S3cr3t}}\n", "rivet.yaml:4: notifications.slack.webhook_url must start with http:// or https://, or be a reference (env://, file://, secretsmanager://, ssm://)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse("rivet.yaml", []byte(tc.config), env())
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got\n%s\nwant\n%s\nof\n%s", got, tc.want, tc.config)
			}
		})
	}
}
