package exportconfig

const mebibyte = 1 << 20

// profile is what tuning.profile stands for.
type profile struct {
	maxRetries, backoffMillis, lockTimeoutSeconds int
	batchRows                                     int
}

// profiles leave statement_timeout_s alone: the upstream's values limit one
// fetch, and here one statement reads a whole task.
var profiles = map[string]profile{
	"fast":     {maxRetries: 1, backoffMillis: 1000, lockTimeoutSeconds: 0},
	"balanced": {maxRetries: 3, backoffMillis: 2000, lockTimeoutSeconds: 30},
	"safe":     {maxRetries: 10, backoffMillis: 5000, lockTimeoutSeconds: 10, batchRows: 2000},
}

const (
	defaultMaxValueBytes = 256 * mebibyte
	// UsualRowGroupBytes is what one row group may hold in memory when the config
	// does not say (architecture §3.3).
	UsualRowGroupBytes = 32 * mebibyte
)

// tune reads the tuning of an export: its own block, then the source's, then
// the profile.
func (r *reader) tune(export, source *mapping, e *Export) {
	own, shared := export.block("tuning"), source.block("tuning")
	find := func(name string) *value {
		if v := own.get(name); v != nil {
			return v
		}
		return shared.get(name)
	}
	number := func(name string, otherwise int) int {
		if v := find(name); v != nil {
			return int(v.number)
		}
		return otherwise
	}
	name := "balanced"
	if source.text("environment") == "local" {
		name = "fast"
	}
	if v := find("profile"); v != nil {
		name = v.text
	}
	p := profiles[name]
	e.ChunkMaxAttempts = number("max_retries", p.maxRetries) + 1
	e.RetryBackoffMillis = number("retry_backoff_ms", p.backoffMillis)
	e.StatementTimeoutSeconds = number("statement_timeout_s", 0)
	e.LockTimeoutSeconds = number("lock_timeout_s", p.lockTimeoutSeconds)
	e.MaxValueBytes = r.vars.env.MaxValueBytes
	if e.MaxValueBytes == 0 {
		e.MaxValueBytes = defaultMaxValueBytes
	}
	if v := find("max_value_mb"); v != nil {
		e.MaxValueBytes = v.number * mebibyte
	}
	r.batch(own, shared, p, e)
	for _, k := range tuningKeys {
		if v := find(k.name); v != nil && k.tell && v.text != "0" && v.text != "false" {
			e.Diagnostics = append(e.Diagnostics, Diagnostic{Code: "KEY_WITHOUT_EFFECT", Message: "tuning." + k.name + " has no effect: " + plain(k.accepted)})
		}
	}
}

// batch reads the size of a batch: the nearest block that gives one decides.
func (r *reader) batch(own, shared *mapping, p profile, e *Export) {
	for _, m := range []*mapping{own, shared} {
		switch {
		case m.has("batch_size") && m.has("batch_size_memory_mb"):
			r.fail(m.scope, m.lineOf("batch_size_memory_mb"), "tuning has batch_size and batch_size_memory_mb: give one")
			return
		case m.has("batch_size"):
			e.BatchRows = int(m.number("batch_size"))
			return
		case m.has("batch_size_memory_mb"):
			e.BatchBytes = m.number("batch_size_memory_mb") * mebibyte
			return
		}
	}
	e.BatchRows = p.batchRows
}

// parquet reads the row groups of an export. A part with a configured size has
// at least four of them, as upstream.
func (r *reader) parquet(m, export *mapping, e *Export) {
	e.RowGroupRows = m.number("row_group_rows")
	target := m.number("target_row_group_mb") * mebibyte
	switch m.or("row_group_strategy", "auto") {
	case "fixed_rows":
		if !m.has("row_group_rows") {
			r.fail(m.scope, m.lineOf("row_group_strategy"), "parquet.row_group_strategy: fixed_rows needs parquet.row_group_rows")
		}
	case "fixed_memory":
		if target == 0 {
			target = 128 * mebibyte
		}
	}
	if most := m.number("max_row_group_mb") * mebibyte; most > 0 && target > most {
		target = most
	}
	e.RowGroupBytes = target
	if export.has("max_file_size") {
		quarter := max(e.PartBytes/4, 1)
		if target == 0 || target > quarter {
			e.RowGroupBytes = min(quarter, UsualRowGroupBytes)
		}
	}
}
