package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
)

// Redacting returns a handler that redacts messages and attributes before inner
// sees them, whatever their kind, adds the attributes of the context (see With)
// and gives the time in UTC.
func Redacting(inner slog.Handler) slog.Handler { return redacting{inner} }

type redacting struct{ inner slog.Handler }

func (h redacting) Enabled(ctx context.Context, l slog.Level) bool { return h.inner.Enabled(ctx, l) }

func (h redacting) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time.UTC(), r.Level, Redact(r.Message), r.PC)
	for _, a := range attrsOf(ctx) {
		out.AddAttrs(redactAttr(a))
	}
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(redactAttr(a))
		return true
	})
	return h.inner.Handle(ctx, out)
}

func (h redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = redactAttr(a)
	}
	return redacting{h.inner.WithAttrs(clean)}
}

func (h redacting) WithGroup(name string) slog.Handler { return redacting{h.inner.WithGroup(name)} }

func redactAttr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch {
	case v.Kind() == slog.KindGroup:
		inner := make([]slog.Attr, len(v.Group()))
		for i, g := range v.Group() {
			inner[i] = redactAttr(g)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(inner...)}
	case isSecretName(a.Key):
		return slog.String(a.Key, hidden)
	case v.Kind() == slog.KindString:
		return slog.String(a.Key, Redact(v.String()))
	case v.Kind() == slog.KindAny:
		return slog.Attr{Key: a.Key, Value: redactAny(v.Any())}
	}
	return slog.Attr{Key: a.Key, Value: v}
}

func redactAny(v any) slog.Value {
	switch x := v.(type) {
	case nil:
		return slog.AnyValue(nil)
	case error:
		return slog.StringValue(Redact(x.Error()))
	case fmt.Stringer:
		return slog.StringValue(Redact(x.String()))
	}
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.String {
		return slog.StringValue(Redact(rv.String()))
	}
	// Anything else is shown as its JSON is.
	b, err := json.Marshal(v)
	if err != nil {
		return slog.StringValue(Redact(fmt.Sprint(v)))
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return slog.StringValue(Redact(string(b)))
	}
	return slog.AnyValue(redactTree(tree))
}

func redactTree(v any) any {
	switch x := v.(type) {
	case string:
		return Redact(x)
	case []any:
		for i := range x {
			x[i] = redactTree(x[i])
		}
	case map[string]any:
		for k, inner := range x {
			if isSecretName(k) {
				inner = hidden
			}
			x[k] = redactTree(inner)
		}
	}
	return v
}
