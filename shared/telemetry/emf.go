package telemetry

import (
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
)

// EMF writes metrics in CloudWatch's embedded metric format, one JSON object a
// line: on Lambda's standard output they become metrics and can be searched as
// log events.
//
// The dimensions are stack and function, and beside them stack and export where
// the export is known. Every other attribute is a property: CloudWatch bills and
// keeps each combination of dimensions, so a run id must never be one.
type EMF struct {
	stack, function string
	clock           clock.Clock

	mu  sync.Mutex
	out io.Writer
}

// Namespace of the metrics.
const Namespace = "Lapstrake"

// NewEMF returns an observer that writes to out. stack and function are not
// empty: CloudWatch drops a metric with an empty dimension.
func NewEMF(out io.Writer, c clock.Clock, stack, function string) *EMF {
	return &EMF{stack: stack, function: function, clock: c, out: out}
}

// Count implements [Observer].
func (e *EMF) Count(m Metric, n int64, attrs ...slog.Attr) {
	unit := "Count"
	if m == PartBytes {
		unit = "Bytes"
	}
	e.write(m, unit, n, attrs)
}

// Duration implements [Observer].
func (e *EMF) Duration(m Metric, d time.Duration, attrs ...slog.Attr) {
	e.write(m, "Seconds", d.Seconds(), attrs)
}

type emfMetadata struct {
	Timestamp         int64          `json:"Timestamp"`
	CloudWatchMetrics []emfDirective `json:"CloudWatchMetrics"`
}

type emfDirective struct {
	Namespace  string      `json:"Namespace"`
	Dimensions [][]string  `json:"Dimensions"`
	Metrics    []emfMetric `json:"Metrics"`
}

type emfMetric struct {
	Name string `json:"Name"`
	Unit string `json:"Unit"`
}

func (e *EMF) write(m Metric, unit string, value any, attrs []slog.Attr) {
	event := map[string]any{}
	for _, a := range attrs {
		a = redactAttr(a)
		event[a.Key] = a.Value.Any()
	}
	dimensions := [][]string{{"stack", "function"}}
	if export, ok := event[AttrExport].(string); ok && export != "" {
		dimensions = append(dimensions, []string{"stack", AttrExport})
	}
	event["stack"], event["function"], event[string(m)] = e.stack, e.function, value
	event["_aws"] = emfMetadata{
		Timestamp:         e.clock.Now().UnixMilli(),
		CloudWatchMetrics: []emfDirective{{Namespace: Namespace, Dimensions: dimensions, Metrics: []emfMetric{{Name: string(m), Unit: unit}}}},
	}
	line, err := json.Marshal(event)
	if err != nil {
		return // an attribute that JSON has no form for
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.out.Write(append(line, '\n')) // nobody could be told
}
