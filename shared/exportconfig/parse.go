package exportconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// MaxFileBytes bounds a config.
const MaxFileBytes = 1 << 20

// Parse reads a config. file is its name as messages show it. Parse does no
// input or output of its own, and the same input always gives the same answer.
//
// The error is an [*Error] with everything that is wrong, by line. Next to it
// stand the exports that have no problem of their own, so that a caller who
// wants just some of them asks [Concerning] whether they can be run.
func Parse(file string, data []byte, env Env) (Config, error) {
	r := &reader{problems: problems{file: file}, vars: variables{env: env, used: map[string]bool{}}}
	root := r.document(data)
	if root == nil {
		return Config{}, r.err()
	}
	m := r.mapping(root, "", "", scope{})
	if r.visits > maxVisits {
		r.list = nil
		r.add(0, CodeYAML, nil, "the file has more than %d keys, counting those that aliases repeat", maxVisits)
	}
	if m == nil || r.visits > maxVisits {
		return Config{}, r.err()
	}
	cfg := Config{Dir: env.Dir, Source: r.source(m)}
	cfg.Slack = r.slack(m.block("notifications").block("slack"))
	own := r.lapstrake(m.block("lapstrake"), ownKeys{onConflict: "reject", ifSuccess: "new_run", parquetWriter: "native", parquetEncoding: "compatible"})
	cfg.Source.Name = r.sourceName(m.block("lapstrake"))
	r.sourceAuth(m.block("lapstrake"), m.block("source"), &cfg.Source)
	if list := m.get("exports"); list != nil {
		for _, e := range list.blocks {
			cfg.Exports = append(cfg.Exports, r.export(e, m.block("source"), own))
		}
		r.apart(cfg.Exports)
	}
	cfg.Exports = slices.DeleteFunc(cfg.Exports, func(e Export) bool { return e.Name == "" || r.concerns(e.Name) })
	cfg.Diagnostics = r.unusedParams()
	return cfg, r.err()
}

// document reads the one document of a file. What YAML's own messages quote
// from the file is left out: it may be a piece of a password.
func (r *reader) document(data []byte) *yaml.Node {
	if len(data) > MaxFileBytes {
		r.add(0, CodeYAML, nil, "the file has %d bytes, at most %d are read", len(data), MaxFileBytes)
		return nil
	}
	var doc, more yaml.Node
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err == nil {
		err = loader.Load(&doc)
	}
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		r.add(0, CodeYAML, nil, "the file is empty")
		return nil
	}
	again := err == nil
	if again {
		err = loader.Load(&more)
	}
	var broken *yaml.LoadError
	switch {
	case again && errors.Is(err, io.EOF):
		return doc.Content[0]
	case errors.As(err, &broken) && broken.Mark.Line > 0:
		r.add(broken.Mark.Line, CodeYAML, nil, "not YAML: %s", withoutQuotations(broken.Message))
	case err != nil:
		r.add(0, CodeYAML, nil, "not YAML: the file has a character that is not allowed")
	default:
		r.add(more.Line, CodeYAML, nil, "a second document starts here: only one is read")
	}
	return nil
}

func withoutQuotations(s string) string {
	parts := strings.Split(s, "'")
	for i := 1; i < len(parts)-1; i += 2 {
		if len(parts[i]) > 1 { // punctuation that was expected says what is missing
			parts[i] = "…"
		}
	}
	return strings.Join(parts, "'")
}

// ownKeys are the keys of a lapstrake block.
type ownKeys struct {
	onConflict, ifSuccess          string
	parquetWriter, parquetEncoding string
}

func (r *reader) lapstrake(m *mapping, otherwise ownKeys) ownKeys {
	parquet := m.block("parquet")
	return ownKeys{
		onConflict:      m.or("on_conflict", otherwise.onConflict),
		ifSuccess:       m.or("if_success", otherwise.ifSuccess),
		parquetWriter:   parquet.or("writer", otherwise.parquetWriter),
		parquetEncoding: parquet.or("encoding", otherwise.parquetEncoding),
	}
}

// slack reads notifications.slack. Exactly one address is given.
func (r *reader) slack(m *mapping) *Slack {
	if m == nil {
		return nil
	}
	s := &Slack{}
	if m.has("webhook_url") == m.has("webhook_url_env") {
		r.fail(m.scope, m.line, "notifications.slack needs exactly one of webhook_url and webhook_url_env")
	}
	if v := m.get("webhook_url"); v != nil {
		s.WebhookURLRef, s.Inline.URL = r.secret(m, "webhook_url", "http", "https")
	}
	if v := m.get("webhook_url_env"); v != nil {
		s.WebhookURLRef = r.envReference(m, "webhook_url_env")
	}
	if v := m.get("on"); v != nil {
		for _, event := range v.list {
			if event.text != "failure" && event.text != "schema_change" && event.text != "degraded" {
				r.fail(m.scope, event.line, "notifications.slack.on knows failure, schema_change and degraded, not %s", quote(event.raw))
			}
			s.On = append(s.On, event.text)
		}
	}
	return s
}

// unusedParams warns of parameters that nothing refers to: most are misspelt.
func (r *reader) unusedParams() []Diagnostic {
	var found []Diagnostic
	for _, name := range slices.Sorted(maps.Keys(r.vars.env.Params)) {
		if !r.vars.used[name] {
			found = append(found, Diagnostic{Code: "PARAM_UNUSED", Message: fmt.Sprintf("parameter %s is given, but the config does not refer to ${%s}", showKey(name), showKey(name))})
		}
	}
	return found
}
