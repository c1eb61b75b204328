package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"time"
)

//go:embed page.gohtml
var pageSource string

// page is parsed once. html/template escapes every value for where it stands;
// nothing here is marked as safe.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"count": func(n any) string {
		switch n := n.(type) {
		case int:
			return count(int64(n))
		case int64:
			return count(n)
		}
		return fmt.Sprint(n)
	},
	"size": size,
	"px":   func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) },
	"add":  func(a, b int) int { return a + b },
	"half": func(f float64) float64 { return f / 2 },
	"sum":  func(a, b float64) float64 { return a + b },
}).Parse(pageSource))

// tile is one number that matters.
type tile struct{ Name, Value, Note string }

// HTML returns summary.html: one file without script and without anything that
// is loaded from elsewhere.
func (s Summary) HTML() ([]byte, error) {
	took := time.Duration(s.DurationMillis) * time.Millisecond
	tiles := []tile{
		{"rows", count(s.TotalRows), rate(s.TotalRows, took)},
		{"bytes", size(s.BytesWritten), perSecond(s.BytesWritten, took)},
		{"parts", count(int64(s.FilesProduced)), ""},
		{"duration", span(took), ""},
	}
	if s.ManifestPrint == "" && s.FilesProduced > 0 {
		tiles[0].Name, tiles[2].Name = "rows, not published", "parts, not published"
	}
	if s.FilesProduced > 0 {
		tiles[2].Note = size(s.BytesWritten/int64(s.FilesProduced)) + " each"
	}
	if s.FinishedAt == nil {
		tiles[3].Value = "running"
	}
	if n := len(s.Chunks); n > 0 {
		tiles[3].Note = fmt.Sprintf("%s tasks, %s repeated", count(int64(n)), count(int64(s.Retries)))
	}
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{
		"S": s, "Headline": s.headline(), "Tone": s.tone(), "Tiles": tiles, "Timeline": draw(s), "Facts": s.facts(), "Findings": s.findings(),
		"Readers": s.readers(), "Started": s.StartedAt.UTC().Format("2 January 2006, 15:04:05 UTC"),
		"Chunks": s.Chunks[:min(len(s.Chunks), listed)], "MoreChunks": max(len(s.Chunks)-listed, 0),
		"Parts": s.Parts[:min(len(s.Parts), listed)], "MoreParts": max(len(s.Parts)-listed, 0),
	})
	if err != nil {
		return nil, fmt.Errorf("make the page of run %s: %w", s.RunID, err)
	}
	return b.Bytes(), nil
}

func perSecond(bytes int64, d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return size(int64(float64(bytes)/d.Seconds())) + "/s"
}
