package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
)

// headline is the run in a few words, for people.
func (s Summary) headline() string {
	switch s.Status {
	case "success":
		switch s.Verdict {
		case "passed":
			return "published and verified"
		case "failed":
			return "published, and the verdict is FAILED"
		}
		return "published"
	case "skipped":
		return "no rows, nothing published"
	case "failed":
		return "failed"
	case "interrupted":
		return "superseded by a newer run"
	}
	return "running"
}

// tone is good, bad or open: how the headline is to be taken.
func (s Summary) tone() string {
	switch {
	case s.Status == "failed" || s.Verdict == "failed":
		return "bad"
	case s.Status == "success" || s.Status == "skipped":
		return "good"
	}
	return "open"
}

// fact is a line of the table of facts.
type fact struct{ Name, Value string }

// facts are the lines that have something to say.
func (s Summary) facts() []fact {
	finished := ""
	if s.FinishedAt != nil {
		finished = s.FinishedAt.String()
	}
	engine := ""
	if s.SourceEngine != nil {
		engine = *s.SourceEngine
	}
	all := []fact{
		{"run", string(s.RunID)},
		{"status", s.Status},
		{"verdict", s.Verdict},
		{"rows", fmt.Sprint(s.TotalRows)},
		{"parts", fmt.Sprint(s.FilesProduced)},
		{"bytes", fmt.Sprint(s.BytesWritten)},
		{"started", s.StartedAt.String()},
		{"finished", finished},
		{"duration", span(time.Duration(s.DurationMillis) * time.Millisecond)},
		{"attempts repeated", fmt.Sprint(s.Retries)},
		{"generation", fmt.Sprint(s.Generation)},
		{"source", strings.TrimSpace(engine + " " + s.Source)},
		{"mode", cmp.Or(s.Strategy, s.Mode)},
		{"key", strings.Join(s.Key, ", ")},
		{"consistency", s.Consistency},
		{"format", strings.Trim(s.Format+", "+s.Compression, ", ")},
		{"destination", s.DestinationURI},
		{"manifest", s.ManifestName},
		{"manifest fingerprint", string(s.ManifestPrint)},
		{"schema fingerprint", string(s.SchemaFingerprint)},
	}
	var said []fact
	for _, f := range all {
		if f.Value != "" {
			said = append(said, f)
		}
	}
	return said
}

// finding is one finding of the verdict, for people.
type finding struct {
	Code, Text string
	Fatal      bool
}

func (s Summary) findings() []finding {
	if s.Validation == nil || s.Validation.Manifest == nil {
		return nil
	}
	var out []finding
	for i, f := range s.Validation.Manifest.Failures {
		if i == listed {
			break
		}
		out = append(out, finding{Code: f.Kind.Code(), Text: describe(f), Fatal: f.Kind.Fatal()})
	}
	return out
}

// describe puts the facts of a finding into words.
func describe(f contract.Failure) string {
	switch f.Kind {
	case contract.VerdictPartMissing:
		return fmt.Sprintf("part %d is not there: %s", f.PartID, f.Path)
	case contract.VerdictPartSizeMismatch:
		return fmt.Sprintf("part %d has %d bytes, not %d: %s", f.PartID, f.ActualSize, f.ExpectedSize, f.Path)
	case contract.VerdictPartChecksumMismatch:
		return fmt.Sprintf("part %d has other content (%s, not %s): %s", f.PartID, f.Actual, f.Expected, f.Path)
	case contract.VerdictSuccessMalformed:
		return fmt.Sprintf("the success marker holds %q", f.BodyPreview)
	case contract.VerdictSuccessStale:
		return fmt.Sprintf("the success marker is of manifest %s, and %s is there", f.MarkerFingerprint, f.ManifestFingerprint)
	case contract.VerdictContentUnmet:
		return fmt.Sprintf("%d of %d parts were compared by size only", f.SizeOnly, f.Total)
	case contract.VerdictManifestRequired, contract.VerdictManifestMissing:
		return "the manifest is not there"
	case contract.VerdictRunNotSuccessful:
		return fmt.Sprintf("the manifest is of a run that is %s", f.Status)
	case contract.VerdictUntrackedObject:
		return fmt.Sprintf("no manifest lists %s (%s)", f.Key, size(f.SizeBytes))
	case contract.VerdictValueCheckNotAvailable:
		return fmt.Sprintf("%s files have no value checksums", f.Format)
	}
	return f.Detail
}
