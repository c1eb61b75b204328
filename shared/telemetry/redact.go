// Package telemetry is how the functions speak of themselves: structured logs
// in which no secret stands. Layer: L4 (observability).
package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"regexp"
)

// Everything that is printed goes through these: the user information of a URL,
// and the value of a password in a key=value text or a query string. A URL's
// user information ends at the last "@" before its path, since passwords hold
// "@" unescaped in the wild.
var (
	userInfo = regexp.MustCompile(`\b([a-zA-Z][a-zA-Z0-9+.-]*)://[^\s/?#'"` + "`" + `<>]*@`)
	keyValue = regexp.MustCompile(`(?i)\b(password|passwd|pwd|secret|token)(\s*[=:]\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s&,;'"]+)`)
)

// Redact hides what looks like a secret in s.
func Redact(s string) string {
	s = userInfo.ReplaceAllString(s, "$1://REDACTED@")
	return keyValue.ReplaceAllString(s, "$1$2***")
}

// JSONLogger writes one JSON event a line, redacted.
func JSONLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(Redacting(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})))
}

// Redacting returns a handler that redacts messages and attributes before inner
// sees them. Values of other kinds than text, errors and Stringers cannot hold
// a secret of ours and pass as they are.
func Redacting(inner slog.Handler) slog.Handler { return redacting{inner} }

type redacting struct{ inner slog.Handler }

func (h redacting) Enabled(ctx context.Context, l slog.Level) bool { return h.inner.Enabled(ctx, l) }

func (h redacting) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, Redact(r.Message), r.PC)
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
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, Redact(v.String()))
	case slog.KindGroup:
		var inner []any
		for _, g := range v.Group() {
			inner = append(inner, redactAttr(g))
		}
		return slog.Group(a.Key, inner...)
	case slog.KindAny:
		switch x := v.Any().(type) {
		case error:
			return slog.String(a.Key, Redact(x.Error()))
		case fmt.Stringer:
			return slog.String(a.Key, Redact(x.String()))
		}
	}
	return slog.Attr{Key: a.Key, Value: v}
}
