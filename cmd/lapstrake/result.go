package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// result is what a verb that extracts prints: the upstream's aggregate
// (reference §8.4), with our own fields at the end of each export.
type result struct {
	AggregateID  string         `json:"run_aggregate_id"`
	StartedAt    contract.Time  `json:"started_at"`
	FinishedAt   contract.Time  `json:"finished_at"`
	DurationMS   int64          `json:"duration_ms"`
	ConfigPath   string         `json:"config_path"`
	ParallelMode string         `json:"parallel_mode"`
	TotalExports int            `json:"total_exports"`
	SuccessCount int            `json:"success_count"`
	FailedCount  int            `json:"failed_count"`
	SkippedCount int            `json:"skipped_count"`
	TotalRows    int64          `json:"total_rows"`
	TotalFiles   int            `json:"total_files"`
	TotalBytes   int64          `json:"total_bytes"`
	PerExport    []exportResult `json:"per_export"`
}

type exportResult struct {
	ExportName   string  `json:"export_name"`
	Status       string  `json:"status"`
	RunID        string  `json:"run_id"`
	Rows         int64   `json:"rows"`
	Files        int     `json:"files"`
	Bytes        int64   `json:"bytes"`
	DurationMS   int64   `json:"duration_ms"`
	Mode         string  `json:"mode"`
	ErrorMessage *string `json:"error_message"`
	ErrorCode    string  `json:"error_code,omitempty"`

	Generation          contract.Generation  `json:"generation,omitempty"`
	Verdict             string               `json:"verdict,omitempty"`
	Prefix              string               `json:"prefix,omitempty"`
	ManifestFingerprint contract.Fingerprint `json:"manifest_fingerprint,omitempty"`
	// Extraction is the manifest's, in modes with a window.
	Extraction *contract.Extraction `json:"extraction,omitempty"`
}

func newResult(config string, now time.Time) *result {
	return &result{
		AggregateID: "agg_" + now.Format("20060102T150405.000"), StartedAt: contract.NewTime(now),
		ConfigPath: config, ParallelMode: "sequential", PerExport: []exportResult{},
	}
}

func (r *result) add(e exportconfig.Export, run runstate.Run, err error, took time.Duration) {
	x := exportResult{
		ExportName: e.Name, RunID: string(run.RunID), DurationMS: took.Milliseconds(), Mode: e.Mode, Status: "success",
		Generation: run.Gen, Verdict: run.Verdict, Prefix: joinURI(run.Root.URI, run.Prefix),
	}
	if o := run.Outcome; o != nil {
		x.Rows, x.Files, x.Bytes, x.ManifestFingerprint = o.Rows, o.Parts, o.Bytes, o.ManifestFingerprint
		x.Extraction = o.Extraction
		if o.ManifestFingerprint == "" {
			x.Status = "skipped"
		}
	}
	if err != nil {
		x.Status = "failed"
		if errors.Is(err, wiring.ErrInterrupted) {
			x.Status = "interrupted"
		}
		if fault.CodeOf(err) == planner.CodeComplete {
			x.Status = "complete" // nothing was done, and nothing is wrong
		}
		message := telemetry.Redact(err.Error())
		x.ErrorMessage, x.ErrorCode = &message, codeOf(err)
	}
	switch x.Status {
	case "success":
		r.SuccessCount++
	case "skipped", "complete":
		r.SkippedCount++
	default:
		r.FailedCount++
	}
	r.TotalExports++
	r.TotalRows += x.Rows
	r.TotalFiles += x.Files
	r.TotalBytes += x.Bytes
	r.PerExport = append(r.PerExport, x)
}

func (r *result) finish(now time.Time) {
	r.FinishedAt = contract.NewTime(now)
	r.DurationMS = r.FinishedAt.Sub(r.StartedAt.Time).Milliseconds()
}

func (r *result) text(w io.Writer) {
	for _, x := range r.PerExport {
		fmt.Fprintf(w, "%s: %s\n", x.ExportName, x.Status)
		line := func(name, format string, args ...any) {
			fmt.Fprintf(w, "  %-10s "+format+"\n", append([]any{name}, args...)...)
		}
		if x.RunID != "" {
			line("run", "%s", x.RunID)
		}
		if x.ErrorMessage == nil {
			line("rows", "%s", grouped(x.Rows))
			line("parts", "%d (%s)", x.Files, size(x.Bytes))
			if e := x.Extraction; e != nil {
				line("window", "%s", window(*e))
			}
			line("took", "%s", (time.Duration(x.DurationMS) * time.Millisecond).String())
			if x.Verdict != "" {
				line("verdict", "%s", x.Verdict)
			}
			line("at", "%s", x.Prefix)
		}
	}
}

// window prints what a run has read, and what it has not.
func window(e contract.Extraction) string {
	column := e.CursorColumn
	if e.CursorFallback != "" {
		column = "coalesce(" + column + ", " + e.CursorFallback + ")"
	}
	s := column + " from " + e.CursorLow + " to " + e.CursorHigh
	if e.CursorLow == "" {
		s = column + " up to " + e.CursorHigh
	}
	if e.NullRows > 0 {
		s += "; " + grouped(e.NullRows) + " without a cursor"
	}
	if e.RepeatedRows > 0 {
		s += "; " + grouped(e.RepeatedRows) + " repeated"
	}
	return s
}

func (r *result) store(path string) error {
	body, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(body, '\n'), 0o644)
}

func joinURI(root, prefix string) string {
	switch {
	case root == "":
		return ""
	case prefix == "" || root[len(root)-1] == '/':
		return root + prefix
	}
	return root + "/" + prefix
}
