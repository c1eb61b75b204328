package telemetry

import (
	"context"
	"log/slog"
	"time"
)

// Metric is the name of a metric (architecture §6).
type Metric string

// The metrics of the functions. Those that end in Seconds are durations.
const (
	RowsRead         Metric = "RowsRead"
	PartBytes        Metric = "PartBytes"
	ChunkSeconds     Metric = "ChunkSeconds"
	Attempts         Metric = "Attempts"
	ZombieWrites     Metric = "ZombieWrites"
	FenceLost        Metric = "FenceLost"
	Splits           Metric = "Splits"
	HandOffs         Metric = "HandOffs" // split children that were left to the sweep
	RunFailed        Metric = "RunFailed"
	ValidationFailed Metric = "ValidationFailed"
)

// Observer is told of what is counted and measured. Attributes say of what; an
// implementation uses only those of few values, such as AttrExport, to tell one
// series from another. It is safe for concurrent use and never fails: a lost
// metric stops no run.
type Observer interface {
	Count(m Metric, n int64, attrs ...slog.Attr)
	Duration(m Metric, d time.Duration, attrs ...slog.Attr)
}

// Or returns o, or Nop for nil: an observer is an option of a handler.
func Or(o Observer) Observer {
	if o == nil {
		return Nop{}
	}
	return o
}

// Nop observes nothing.
type Nop struct{}

// Count implements [Observer].
func (Nop) Count(Metric, int64, ...slog.Attr) {}

// Duration implements [Observer].
func (Nop) Duration(Metric, time.Duration, ...slog.Attr) {}

// Logged writes metrics to a log, at level debug.
type Logged struct{ Log *slog.Logger }

// Count implements [Observer].
func (l Logged) Count(m Metric, n int64, attrs ...slog.Attr) {
	l.log(m, slog.Int64("value", n), attrs)
}

// Duration implements [Observer].
func (l Logged) Duration(m Metric, d time.Duration, attrs ...slog.Attr) {
	l.log(m, slog.Float64("value", d.Seconds()), attrs)
}

func (l Logged) log(m Metric, value slog.Attr, attrs []slog.Attr) {
	l.Log.LogAttrs(context.Background(), slog.LevelDebug, "metric", append([]slog.Attr{slog.String("metric", string(m)), value}, attrs...)...)
}
