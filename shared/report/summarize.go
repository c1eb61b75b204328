package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// New reduces a run to its summary. Chunks come in ascending order of ids, a
// split or repair after the task that it came from.
func New(in Input) Summary {
	run, plan := in.Run, in.Plan
	s := Summary{
		RunID: run.RunID, ExportName: run.Export, Status: statusOf(run, in.Manifest), RunStatus: run.Status, Generation: run.Gen,
		StartedAt: contract.NewTime(run.CreatedAt), DestinationKind: run.Root.Kind, DestinationURI: joinURI(run.Root.URI, run.Prefix),
		SourceEngine: optional(plan.Engine), Format: plan.Export.Format, Compression: plan.Export.Compression, BatchSize: optional(plan.Export.BatchRows),
		Mode: plan.Export.Mode, Strategy: plan.Strategy, Consistency: plan.Consistency, Source: sourceOf(in),
		SchemaFingerprint: plan.SchemaFingerprint, SchemaChanged: plan.SchemaChanged(), Verdict: run.Verdict,
		SchemaChanges: []string{}, PlanWarnings: []PlanWarning{}, Parts: []Part{}, Chunks: []Chunk{},
	}
	if !run.FinishedAt.IsZero() {
		s.FinishedAt = optional(contract.NewTime(run.FinishedAt))
		s.DurationMillis = max(run.FinishedAt.Sub(run.CreatedAt).Milliseconds(), 0)
	}
	for _, k := range plan.Key {
		s.Key = append(s.Key, k.Expression())
	}
	for _, c := range plan.Columns {
		s.Columns = append(s.Columns, Column{Name: c.Name, Type: c.Type.String(), Native: c.Native})
	}
	for _, d := range slices.Concat(plan.Export.Diagnostics, plan.Diagnostics) {
		w := PlanWarning{Rule: d.Code, Message: d.Message}
		if !slices.Contains(s.PlanWarnings, w) {
			s.PlanWarnings = append(s.PlanWarnings, w)
		}
	}
	if e := run.Error; e != nil {
		s.ErrorMessage, s.ErrorCode = &e.Message, e.Code
	}
	if v := in.Verification; v != nil {
		s.Validation = &Validation{Passed: v.Passed, Manifest: v}
		s.Verdict = cmp.Or(s.Verdict, map[bool]string{true: "passed", false: "failed"}[v.Passed])
	}
	if run.Status == runstate.RunFailed {
		s.Resumable = true
		s.ResumeCommand = optional(cmp.Or(in.ResumeCommand, "lapstrake resume "+string(run.RunID)))
	}
	s.addChunks(in.Chunks)
	s.addRepairs(in.Chunks)
	s.addOutcome(in)
	return s
}

// addChunks also counts what the tasks have delivered so far.
func (s *Summary) addChunks(chunks []runstate.Chunk) {
	chunks = slices.SortedFunc(slices.Values(chunks), func(a, b runstate.Chunk) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range chunks {
		out := Chunk{
			ID: c.ID, Status: c.Status, Generation: c.Gen, Rows: c.Rows, Bytes: c.Bytes, Attempts: c.Attempts, MaxAttempts: c.MaxAttempts, Worker: c.Worker,
			SplitOf: c.SplitOf, RepairOf: c.RepairOf, SupersededBy: c.SupersededBy, Error: c.Error, Parts: []string{},
			StartedAt: instant(c.StartedAt),
		}
		if c.Status == runstate.ChunkCompleted || c.Status == runstate.ChunkFailed {
			out.CompletedAt = instant(c.ChangedAt)
		}
		for _, p := range c.Parts {
			out.Parts = append(out.Parts, p.Path)
			if c.Live() && c.Status == runstate.ChunkCompleted {
				s.Parts = append(s.Parts, Part{Path: p.Path, Rows: p.Rows, SizeBytes: p.SizeBytes, Fingerprint: p.Fingerprint})
				s.BytesWritten += p.SizeBytes
				s.TotalRows += p.Rows
			}
		}
		s.Retries += max(c.Attempts-1, 0)
		s.Chunks = append(s.Chunks, out)
	}
	s.FilesProduced = len(s.Parts)
}

// addRepairs says of tasks that were done again that their rows are younger than
// the others.
func (s *Summary) addRepairs(chunks []runstate.Chunk) {
	n := 0
	var last time.Time
	for _, c := range chunks {
		if c.Live() && c.RepairOf != "" && c.Status == runstate.ChunkCompleted {
			n++
			if c.ChangedAt.After(last) {
				last = c.ChangedAt
			}
		}
	}
	if n > 0 {
		s.PlanWarnings = append(s.PlanWarnings, PlanWarning{
			Rule:    "TASKS_READ_AGAIN",
			Message: fmt.Sprintf("parts of %d tasks were missing or damaged and were made again, the last at %s: their rows are as the source had them then", n, contract.NewTime(last)),
		})
	}
}

// addOutcome replaces what the tasks delivered by what was published.
func (s *Summary) addOutcome(in Input) {
	if o := in.Run.Outcome; o != nil {
		s.TotalRows, s.BytesWritten, s.FilesProduced, s.ManifestPrint = o.Rows, o.Bytes, o.Parts, o.ManifestFingerprint
	}
	m := in.Manifest
	if m == nil || m.RunID != in.Run.RunID {
		return // another run has published at this prefix since
	}
	s.ManifestName = contract.SidecarName(m.RunID)
	s.TotalRows, s.FilesProduced, s.BytesWritten, s.Parts = m.RowCount, m.PartCount, 0, []Part{}
	for _, p := range m.Committed() {
		s.Parts = append(s.Parts, Part{Path: p.Path, Rows: p.Rows, SizeBytes: p.SizeBytes, Fingerprint: p.ContentFingerprint})
		s.BytesWritten += p.SizeBytes
	}
}

// statusOf is the run's status in the upstream's words. A superseded run was
// stopped from outside; a succeeded one without a manifest had no rows and was
// told to publish nothing then.
func statusOf(run runstate.Run, m *contract.Manifest) string {
	switch run.Status {
	case runstate.RunSucceeded:
		if m == nil && run.Outcome != nil && run.Outcome.ManifestFingerprint == "" {
			return "skipped"
		}
		return "success"
	case runstate.RunFailed, runstate.RunRefused:
		return "failed"
	case runstate.RunSuperseded:
		return "interrupted"
	}
	return "running"
}

func sourceOf(in Input) string {
	p := in.Plan
	switch {
	case p.Table != "" && p.Schema != "":
		return p.Schema + "." + p.Table
	case p.Table != "":
		return p.Table
	case p.Query != "":
		return "query"
	}
	return exportSource(p.Export)
}

func exportSource(e exportconfig.Export) string {
	if e.Table == "" && e.Query != "" {
		return "query"
	}
	return e.Table
}

// optional returns nil for a zero value: null in JSON.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func instant(t time.Time) *contract.Time {
	if t.IsZero() {
		return nil
	}
	v := contract.NewTime(t)
	return &v
}

func joinURI(root, prefix string) string {
	return strings.TrimSuffix(root, "/") + "/" + prefix
}
