// Package telemetry is how the functions speak of themselves: structured logs
// in which no secret stands, and metrics. Layer: L4 (observability).
package telemetry

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// Names of attributes, the same in every event.
const (
	AttrRunID      = "run_id"
	AttrExport     = "export"
	AttrGeneration = "gen"
	AttrTask       = "task"
	AttrAttempt    = "attempt"
	AttrTraceID    = "trace_id"
	AttrRequestID  = "request_id"
	AttrQueue      = "queue"
	AttrMessageID  = "message_id"
	AttrReceives   = "receives"
	AttrError      = "error"
	AttrCode       = "code"
	AttrClass      = "class"
)

// JSONLogger writes one JSON event a line, redacted, with times in UTC.
func JSONLogger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(Redacting(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})))
}

// Err is an error with its class and code, as three attributes.
func Err(err error) slog.Attr {
	attrs := []any{slog.String(AttrError, err.Error()), slog.String(AttrClass, string(fault.ClassOf(err)))}
	if code := fault.CodeOf(err); code != "" {
		attrs = append(attrs, slog.String(AttrCode, string(code)))
	}
	return slog.Group("", attrs...)
}

// TraceID returns the trace id of a W3C traceparent, or "".
func TraceID(traceparent string) string {
	parts := strings.Split(traceparent, "-")
	if len(parts) < 4 || len(parts[1]) != 32 {
		return ""
	}
	return parts[1]
}

type attrsKey struct{}

// With returns a context whose events have attrs as well: those that are
// logged with it through a handler of this package.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	return context.WithValue(ctx, attrsKey{}, append(slices.Clip(attrsOf(ctx)), attrs...))
}

func attrsOf(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return attrs
}
