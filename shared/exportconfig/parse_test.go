package exportconfig

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// env is the surroundings of most tests.
func env() Env {
	variables := map[string]string{"DB_PASS": "S3cr3t", "EMPTY": "", "SIZE": "1000", "HOST": "localhost", "NUL": "a\x00b", "REF": "ssm://orders/url"}
	return Env{
		Dir:    "/srv/etl",
		Params: map[string]string{"day": "2026-11-28", "nothing": "", "quote": "x' or 'x"},
		LookupEnv: func(name string) (string, bool) {
			v, ok := variables[name]
			return v, ok
		},
		ReadFile: func(name string) ([]byte, error) {
			if name == "sql/orders.sql" {
				return []byte("select * from orders\n where day = '${day}' ;\n-- end\n"), nil
			}
			return nil, errors.New("open " + name + ": no such file")
		},
	}
}

// file is a config whose source and export are right but for what is given.
func file(export string) string {
	return "source: {type: postgres, url_env: DATABASE_URL}\nexports:\n- name: orders\n" + indent(export)
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("  " + line)
	}
	return b.String()
}

const rest = "table: public.orders\nformat: parquet\ndestination: {type: local, path: out}\n"

func TestTheUpstreamsSampleIsReadButForWhatIsNotSupported(t *testing.T) {
	sample, err := os.ReadFile("testdata/upstream.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := Parse("rivet.yaml", sample, Env{Dir: "/etc"})
	want := `rivet.yaml:24: export "orders_inc": meta_columns.row_hash is not supported by this version: no columns are added`
	if err == nil || err.Error() != want {
		t.Fatalf("got %v\nwant %s", err, want)
	}
	if fault.ClassOf(err) != fault.Usage || fault.CodeOf(err) != CodeUnsupported || fault.ExitCode(err) != fault.ExitGeneric {
		t.Errorf("class %s, code %s", fault.ClassOf(err), fault.CodeOf(err))
	}
	var names []string
	for _, e := range cfg.Exports {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, " "); got != "orders_full orders_chunked orders_csv" {
		t.Errorf("exports without a problem: %s", got)
	}
	if err := Concerning(err, "orders_full", "orders_csv"); err != nil {
		t.Errorf("the other exports cannot be run: %v", err)
	}
	if err := Concerning(err, "orders_full", "orders_inc"); err == nil || err.Error() != want {
		t.Errorf("the refused export can be run: %v", err)
	}
}

func TestEveryDefaultIsResolved(t *testing.T) {
	cfg, err := Parse("rivet.yaml", []byte(file(rest)), Env{Dir: "/srv/etl"})
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Dir:    "/srv/etl",
		Source: Source{Name: "default", Type: "postgres", URLRef: "env://DATABASE_URL"},
		Exports: []Export{{
			Name: "orders", Line: 3, Table: "public.orders", Mode: "full", ChunkMaxAttempts: 4, Parallel: 1,
			Format: "parquet", Compression: "zstd", CompressionLevel: 3, Verify: "size",
			PartBytes: 32 << 20, MaxValueBytes: 256 << 20, RetryBackoffMillis: 2000, LockTimeoutSeconds: 30,
			Destination:   wire.Location{Kind: "local", URI: "file:///srv/etl/out"},
			ParquetWriter: "native", ParquetEncoding: "compatible", OnConflict: "reject", IfSuccess: "new_run",
		}},
	}
	want.Exports[0].Diagnostics = cfg.Exports[0].Diagnostics
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Error(diff)
	}
	if d := cfg.Exports[0].Diagnostics; len(d) != 1 || d[0].Code != "GLOB_READERS_SEE_OLD_PARTS" {
		t.Errorf("diagnostics %v", d)
	}
}

// windowed fills in what the exports with a window in TestEveryKeyIsRead have
// from the root.
func windowed(e Export) Export {
	e.Table, e.ChunkMaxAttempts, e.Parallel = "customers", 11, 1
	e.Format, e.Compression, e.Verify, e.PartBytes = "csv", "none", "size", 32<<20
	e.MaxValueBytes, e.BatchRows, e.RetryBackoffMillis, e.StatementTimeoutSeconds, e.LockTimeoutSeconds = 2<<20, 5, 5000, 7, 10
	e.OnConflict, e.IfSuccess = "supersede", "refuse"
	return e
}

// TestEveryKeyIsRead sets every supported key to something else than its
// default.
func TestEveryKeyIsRead(t *testing.T) {
	config := `
lapstrake: {source_name: shop-1, on_conflict: supersede, if_success: refuse, consistency: per_task, parquet: {writer: arrow, encoding: compact}}
source:
  type: postgres
  host: db.example.com
  port: 6432
  user: reader
  password_env: DB_PASS
  database: shop
  environment: local
  tls: {ca_file: ca.pem, accept_invalid_certs: true, accept_invalid_hostnames: true}
  tuning: {profile: safe, statement_timeout_s: 7, max_value_mb: 2, batch_size: 5}
notifications: {slack: {webhook_url_env: HOOK, on: [failure, degraded]}}
parallel_exports: true
exports:
- name: orders.eu
  query: select * from orders where day = '${day}';
  mode: chunked
  chunk_column: id
  chunk_size: ${SIZE}
  chunk_checkpoint: true
  parallel: 3
  format: parquet
  compression: gzip
  compression_level: 9
  max_file_size: 1.5MB
  skip_empty: true
  verify: content
  columns: {amount: "decimal(18,2)", Note: text}
  parquet: {row_group_strategy: fixed_rows, row_group_rows: 500}
  tuning: {batch_size_memory_mb: 3, lock_timeout_s: 4, retry_backoff_ms: 6}
  lapstrake: {on_conflict: reject, if_success: new_run, parquet: {encoding: compatible}}
  destination:
    type: s3
    bucket: lake
    prefix: /shop//{export}/{table}/{date}/{run_id}/{other}/x
    region: eu-central-1
    endpoint: http://127.0.0.1:7070
    access_key_env: AK
    secret_key_env: SK
    session_token_env: ST
    allow_anonymous: false
- name: customers
  table: customers
  mode: chunked
  chunk_by_key: id
  chunk_count: 8
  chunk_max_attempts: 2
  format: csv
  compression: none
  destination: {type: local, path: "/data/{date}/c"}
- name: changes
  table: customers
  mode: incremental
  cursor_column: updated_at
  incremental_cursor_mode: coalesce
  cursor_fallback_column: created_at
  settle: {after: 5m, column: seen_at}
  format: csv
  destination: {type: local, path: "/changes"}
- name: keys
  table: customers
  mode: chunked
  chunk_by_key: id
  keyset_incremental: true
  format: csv
  destination: {type: local, path: "/keys"}
- name: days
  table: customers
  mode: time_window
  time_column: seen_at
  time_column_type: unix
  days_window: 7
  format: csv
  destination: {type: local, path: "/days"}
`
	cfg, err := Parse("rivet.yaml", []byte(config), env())
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Dir: "/srv/etl",
		Source: Source{
			Name: "shop-1", Type: "postgres", Host: "db.example.com", Port: 6432, User: "reader", Database: "shop", PasswordRef: "env://DB_PASS",
			TLS: TLS{Mode: "verify-full", CAFile: "/srv/etl/ca.pem", AcceptInvalidCerts: true, AcceptInvalidHostnames: true},
		},
		Slack: &Slack{WebhookURLRef: "env://HOOK", On: []string{"failure", "degraded"}},
		Exports: []Export{
			{
				Name: "orders.eu", Line: 16, Query: "select * from orders where day = '2026-11-28'", Mode: "chunked", ChunkColumn: "id", ChunkSize: 1000,
				ChunkMaxAttempts: 11, Parallel: 3, Format: "parquet", Compression: "gzip", CompressionLevel: 9, SkipEmpty: true, Verify: "content",
				Columns: map[string]string{"amount": "decimal(18,2)", "Note": "text"}, RowGroupRows: 500, RowGroupBytes: 3 << 17, PartBytes: 3 << 19,
				MaxValueBytes: 2 << 20, BatchBytes: 3 << 20, RetryBackoffMillis: 6, StatementTimeoutSeconds: 7, LockTimeoutSeconds: 4,
				Destination: wire.Location{Kind: "s3", URI: "s3://lake/shop/orders.eu/orders.eu", Region: "eu-central-1", Endpoint: "http://127.0.0.1:7070",
					AccessKeyEnv: "AK", SecretKeyEnv: "SK", SessionTokenEnv: "ST"},
				PrefixTemplate: "{date}/{run_id}/{other}/x/", ParquetWriter: "arrow", ParquetEncoding: "compatible", OnConflict: "reject", IfSuccess: "new_run",
			},
			{
				Name: "customers", Line: 43, Table: "customers", Mode: "chunked", ChunkByKey: "id", ChunkCount: 8, ChunkMaxAttempts: 2, Parallel: 1,
				Format: "csv", Compression: "none", Verify: "size", PartBytes: 32 << 20, MaxValueBytes: 2 << 20, BatchRows: 5, RetryBackoffMillis: 5000,
				StatementTimeoutSeconds: 7, LockTimeoutSeconds: 10,
				Destination:    wire.Location{Kind: "local", URI: "file:///data"},
				PrefixTemplate: "{date}/c/", OnConflict: "supersede", IfSuccess: "refuse",
			},
			windowed(Export{
				Name: "changes", Line: 52, Mode: Incremental, CursorColumn: "updated_at", CursorFallback: "created_at", Settle: &Settle{After: 5 * time.Minute, Column: "seen_at"},
				Destination: wire.Location{Kind: "local", URI: "file:///changes"},
			}),
			windowed(Export{
				Name: "keys", Line: 61, Mode: "chunked", ChunkByKey: "id", KeysetIncremental: true, Destination: wire.Location{Kind: "local", URI: "file:///keys"},
			}),
			windowed(Export{
				Name: "days", Line: 68, Mode: TimeWindow, TimeColumn: "seen_at", TimeColumnType: "unix", DaysWindow: 7, Destination: wire.Location{Kind: "local", URI: "file:///days"},
			}),
		},
	}
	for i := range cfg.Exports[2:] {
		cfg.Exports[2+i].Diagnostics = nil // of a folder that every run writes into
	}
	cfg.Diagnostics = nil // of parameters that this file does not use
	if diff := cmp.Diff(want, cfg); diff != "" {
		t.Error(diff)
	}
	if s := cfg.SourceOf(cfg.Exports[0]); s.StatementTimeoutSeconds != 7 || s.LockTimeoutSeconds != 4 || s.Host != "db.example.com" {
		t.Errorf("source of the export: %+v", s)
	}
}

func TestUnusedParametersAreWarnedOf(t *testing.T) {
	cfg, err := Parse("rivet.yaml", []byte(file("table: t\nformat: csv\ndestination: {type: local, path: 'out/${day}'}\n")), env())
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Diagnostics) != 2 || cfg.Diagnostics[0].Code != "PARAM_UNUSED" || !strings.Contains(cfg.Diagnostics[0].Message, "nothing") {
		t.Errorf("diagnostics %v", cfg.Diagnostics)
	}
	if got := cfg.Exports[0].Destination.URI; got != "file:///srv/etl/out/2026-11-28" {
		t.Errorf("destination %s", got)
	}
}

func TestTuningWithoutEffectIsWarnedOf(t *testing.T) {
	cfg, err := Parse("rivet.yaml", []byte(file(rest+"tuning: {throttle_ms: 50, adaptive: false, memory_threshold_mb: 100}\n")), env())
	if err != nil {
		t.Fatal(err)
	}
	d := cfg.Exports[0].Diagnostics
	if len(d) != 2 || d[0].Code != "KEY_WITHOUT_EFFECT" || !strings.Contains(d[0].Message, "tuning.throttle_ms has no effect") {
		t.Errorf("diagnostics %v", d)
	}
}

func TestParseIsDeterministic(t *testing.T) {
	// Many problems of many exports at once: their order must not follow that
	// of a map.
	var config strings.Builder
	config.WriteString("source: {type: mysql, url_env: 'x y'}\nexports:\n")
	for _, name := range []string{"a", "b b", "b-b", "d"} {
		config.WriteString("- {name: " + name + ", table: t, format: csv, columns: {x: 1.5, y: nope, z: nope}, quality: {a: 1}, destination: {type: s3, bucket: lake}}\n")
	}
	_, first := Parse("rivet.yaml", []byte(config.String()), Env{})
	rapid.Check(t, func(t *rapid.T) {
		_, err := Parse("rivet.yaml", []byte(config.String()), Env{})
		if err.Error() != first.Error() {
			t.Fatalf("got\n%v\nafter\n%v", err, first)
		}
	})
}

func TestAllProblemsOfAFileAreReportedUpToALimit(t *testing.T) {
	var config strings.Builder
	config.WriteString(file(rest))
	for range 30 {
		config.WriteString("  wrong: 1\n")
	}
	_, err := Parse("rivet.yaml", []byte(config.String()), env())
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxProblems+1 || lines[maxProblems] != "rivet.yaml: and 10 more problems" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func TestAliasesDoNotMultiplyWithoutBound(t *testing.T) {
	config := src + "exports:\n- &x {name: a, " + strings.Repeat("wrong: 1, ", 30) + "table: t}\n" + strings.Repeat("- *x\n", maxExports-1)
	_, err := Parse("rivet.yaml", []byte(config), env())
	if err == nil || !strings.Contains(err.Error(), "more than 50000 keys") {
		t.Errorf("got %.200v", err)
	}
}

func FuzzParse(f *testing.F) {
	sample, err := os.ReadFile("testdata/upstream.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(sample))
	f.Add(file(rest))
	f.Add(file("query: \"select $$ a; $$ from (t) -- ${day}\"\nformat: csv\ndestination: {type: s3, bucket: lake, prefix: '{date}/{run_id}'}\n"))
	f.Add("a: &a [*a]\nexports: [*a]")
	f.Add("exports:\n- &e {name: x}\n- *e")
	f.Add("source:\nexports: null\nload: {partition: {range: {}}}")
	f.Fuzz(func(t *testing.T, config string) {
		cfg, err := Parse("rivet.yaml", []byte(config), env())
		if err == nil && len(cfg.Exports) == 0 {
			t.Error("a config without exports was read")
		}
		if err != nil {
			_ = err.Error()
			_ = Concerning(err, "orders")
			if fault.ClassOf(err) != fault.Usage {
				t.Errorf("class %s", fault.ClassOf(err))
			}
			if strings.Contains(err.Error(), "S3cr3t") {
				t.Error("the value of a variable is shown")
			}
		}
		for _, e := range cfg.Exports {
			if e.Table == "" && e.Query == "" || e.Destination.URI == "" || e.PartBytes < 1 || e.ChunkMaxAttempts < 1 {
				t.Errorf("an incomplete export was read: %+v", e)
			}
		}
	})
}
