package exportconfig

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/lapstrake/lapstrake/shared/rowtype"
)

const maxNameBytes = 200

var tableRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]{0,62}(\.[A-Za-z_][A-Za-z0-9_$]{0,62})?$`)

// export reads one export with every default resolved.
func (r *reader) export(m, source *mapping, own ownKeys) Export {
	e := Export{
		Name: m.text("name"), Line: m.line,
		Mode: m.or("mode", "full"), Parallel: max(int(m.number("parallel")), 1),
		SkipEmpty: m.yes("skip_empty"), Verify: m.or("verify", "size"),
	}
	r.name(m, e.Name)
	r.relation(m, &e)
	if r.sourceType == mongo {
		r.collection(m)
	}
	r.tune(m, source, &e)
	r.chunks(m, &e)
	r.window(m, &e)
	r.output(m, &e)
	r.parquet(m.block("parquet"), m, &e)
	r.columns(m, &e)
	r.destination(m.block("destination"), &e)
	lapstrake := m.block("lapstrake")
	keys := r.lapstrake(lapstrake, own)
	e.OnConflict, e.IfSuccess = keys.onConflict, keys.ifSuccess
	switch e.Format {
	case "parquet":
		e.ParquetWriter, e.ParquetEncoding = keys.parquetWriter, keys.parquetEncoding
	case "csv":
		if lapstrake.has("parquet") {
			r.fail(m.scope, lapstrake.lineOf("parquet"), "lapstrake.parquet is read with format: parquet only")
		}
	}
	if e.Destination.URI != "" && e.PrefixTemplate == "" {
		e.Diagnostics = append(e.Diagnostics, Diagnostic{Code: "GLOB_READERS_SEE_OLD_PARTS", Message: fmt.Sprintf(
			"export %s: every run writes into one folder and nothing is deleted, so a reader of the whole folder sees the rows of old runs too: load what manifest.json lists, or put {run_id} or {date} into the destination", quote(e.Name))})
	}
	return e
}

// name checks what becomes a part of object keys, of folder names and of run
// ids.
func (r *reader) name(m *mapping, name string) {
	line := m.lineOf("name")
	switch {
	case name == "":
	case strings.ContainsAny(name, `/\{}`) || strings.Contains(name, "..") || strings.HasPrefix(name, "."):
		r.fail(m.scope, line, `name may not have "/", "\", "..", "{" or "}", nor start with "."`)
	case strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }) || strings.TrimSpace(name) != name:
		r.fail(m.scope, line, "name may not have control characters, nor white space around it")
	case len(name) > maxNameBytes:
		r.fail(m.scope, line, "name has %d bytes, at most %d are allowed", len(name), maxNameBytes)
	case strings.Contains(name, "__snapshot_"):
		r.fail(m.scope, line, "name may not have __snapshot_ in it, which is kept for baselines of change data capture")
	}
}

// relation reads what is extracted: a table or a query.
func (r *reader) relation(m *mapping, e *Export) {
	which := m.given("query", "query_file", "table", "tables")
	switch {
	case len(which) == 0:
		r.fail(m.scope, m.line, "exactly one of query, query_file and table is needed")
		return
	case len(which) > 1:
		r.fail(m.scope, m.lineOf(which[1]), "there is %s: give exactly one", joinWords(which, "", "and"))
		return
	}
	v := m.get(which[0])
	if v == nil {
		return
	}
	switch which[0] {
	case "table":
		switch {
		case r.sourceType == mongo:
			if !collectionRule.MatchString(v.text) {
				r.fail(m.scope, v.line, "table must be the name of a collection or view, of ASCII letters, digits, _, -, ., : and @, not %s; for another name make a view", quote(v.raw))
			}
		case !tableRule.MatchString(v.text):
			r.fail(m.scope, v.line, "table must be [schema.]name of ASCII letters, digits, _ and $, not %s; for another name use query", quote(v.raw))
		}
		e.Table = v.text
	case "query":
		e.Query = r.statement(m, which[0], v.text)
	case "query_file":
		if text, ok := r.queryFile(m, v); ok {
			e.Query = r.statement(m, which[0], text)
		}
	}
}

func (r *reader) statement(m *mapping, name, text string) string {
	query, err := statement(text, r.sourceType)
	if err != nil {
		r.fail(m.scope, m.lineOf(name), "%s %v", name, err)
	}
	return query
}

// queryFile reads a query from a file below the folder of the config.
func (r *reader) queryFile(m *mapping, v *value) (string, bool) {
	clean := path.Clean(v.text)
	if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(clean, `\`) || clean == "." {
		r.fail(m.scope, v.line, "query_file must be a path below the folder of the config, not %s", quote(v.raw))
		return "", false
	}
	if r.vars.env.ReadFile == nil {
		r.fail(m.scope, v.line, "query_file cannot be read here: this config has no folder; use query")
		return "", false
	}
	body, err := r.vars.env.ReadFile(clean)
	if err != nil {
		why := "cannot be read"
		if v.raw == v.text { // an error names the file, and would show the value of a variable
			why = err.Error()
		}
		r.fail(m.scope, v.line, "query_file: %s", why)
		return "", false
	}
	one := &value{line: v.line}
	before := len(r.list)
	r.expandText(string(body), one, key{name: "query"}, "query_file", m.scope)
	return one.text, len(r.list) == before
}

// chunks reads how the export is cut.
func (r *reader) chunks(m *mapping, e *Export) {
	if v := m.get("chunk_max_attempts"); v != nil {
		e.ChunkMaxAttempts = int(v.number)
	}
	sizes := m.given("chunk_size", "chunk_size_memory_mb", "chunk_count", "chunk_by_days")
	keys := m.given("chunk_column", "chunk_by_key")
	if m.has("mode") && m.get("mode") == nil {
		return // the mode has been refused, and would decide the rest
	}
	if all := append(keys, sizes...); e.Mode != "chunked" && len(all) > 0 {
		r.fail(m.scope, m.lineOf(all[0]), "%s is read with mode: chunked only, and the mode is %s", all[0], e.Mode)
		return
	}
	if len(sizes) > 1 {
		r.fail(m.scope, m.lineOf(sizes[1]), "there is %s: give one", joinWords(sizes, "", "and"))
	}
	if len(keys) > 1 {
		r.fail(m.scope, m.lineOf(keys[1]), "there is chunk_column and chunk_by_key: give one")
	}
	if !m.has("table") {
		for _, name := range m.given("chunk_by_key", "chunk_size_memory_mb") {
			r.fail(m.scope, m.lineOf(name), "%s needs table: a query has no catalog to look into", name)
		}
		if e.Mode == "chunked" && len(keys) == 0 && (m.has("query") || m.has("query_file")) {
			r.fail(m.scope, m.line, "chunk_column is missing: the rows of a query are cut by a column that the config names")
		}
	}
	e.ChunkColumn, e.ChunkByKey = m.text("chunk_column"), m.text("chunk_by_key")
	e.ChunkSize, e.ChunkCount = m.number("chunk_size"), int(m.number("chunk_count"))
	e.ChunkBytes = m.number("chunk_size_memory_mb") * mebibyte
}

// columns reads the overrides (reference §4.6). Which columns there are, the
// planner knows.
func (r *reader) columns(m *mapping, e *Export) {
	v := m.get("columns")
	if v == nil || len(v.dict) == 0 {
		return
	}
	e.Columns = map[string]string{}
	for name, as := range v.dict {
		e.Columns[name] = as.text
		if _, err := rowtype.ParseOverride(as.text); err != nil {
			_, err = rowtype.ParseOverride(as.raw) // speaks of ${VAR}, not of its value
			r.fail(m.scope, as.line, "columns.%s: %v", name, err)
		}
	}
}
