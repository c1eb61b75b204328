package report

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// listed bounds the rows of a table for people; the rest is in summary.json and
// the manifest.
const listed = 200

// Markdown returns summary.md.
func (s Summary) Markdown() ([]byte, error) {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# %s: %s\n\n", escapeMarkdown(string(s.ExportName)), s.headline())
	p("| | |\n|---|---|\n")
	for _, f := range s.facts() {
		p("| %s | %s |\n", f.Name, escapeMarkdown(f.Value))
	}
	if s.ErrorMessage != nil {
		p("\n## Error\n\n%s\n", escapeMarkdown(*s.ErrorMessage))
		if s.ErrorCode != "" {
			p("\n%s\n", codeSpan(string(s.ErrorCode)))
		}
		if s.ResumeCommand != nil {
			p("\nTake it up again with %s.\n", codeSpan(*s.ResumeCommand))
		}
	}
	if findings := s.findings(); len(findings) > 0 {
		p("\n## Findings\n\n")
		for _, f := range findings {
			p("- %s %s\n", codeSpan(f.Code), escapeMarkdown(f.Text))
		}
	}
	if len(s.PlanWarnings) > 0 {
		p("\n## Warnings of the plan\n\n")
		for _, w := range s.PlanWarnings {
			p("- %s %s\n", codeSpan(w.Rule), escapeMarkdown(w.Message))
		}
	}
	if len(s.Chunks) > 0 {
		p("\n## Chunks\n\n| task | status | rows | bytes | attempts | seconds | from |\n|---|---|--:|--:|--:|--:|---|\n")
		for _, c := range s.Chunks[:min(len(s.Chunks), listed)] {
			p("| %s | %s | %d | %d | %d | %s | %s |\n", c.ID, escapeMarkdown(string(c.Status)), c.Rows, c.Bytes, c.Attempts, c.Seconds(), escapeMarkdown(c.Origin()))
		}
		p("%s", rest(len(s.Chunks), "chunks", "summary.json"))
	}
	if len(s.Parts) > 0 {
		p("\n## Parts\n\n| path | rows | bytes | fingerprint |\n|---|--:|--:|---|\n")
		for _, part := range s.Parts[:min(len(s.Parts), listed)] {
			p("| %s | %d | %d | %s |\n", escapeMarkdown(part.Path), part.Rows, part.SizeBytes, escapeMarkdown(string(part.Fingerprint)))
		}
		p("%s", rest(len(s.Parts), "parts", "the manifest"))
	}
	for _, r := range s.readers() {
		p("\n## Read it with %s\n\n```%s\n%s\n```\n", r.Name, r.Language, r.Code)
	}
	return b.Bytes(), nil
}

func rest(n int, what, where string) string {
	if n <= listed {
		return ""
	}
	return fmt.Sprintf("\nand %d more %s: see %s.\n", n-listed, what, where)
}

// Seconds is how long the last attempt took, "" if it is not known.
func (c Chunk) Seconds() string {
	if c.StartedAt == nil || c.CompletedAt == nil || c.CompletedAt.Before(c.StartedAt.Time) {
		return ""
	}
	return fmt.Sprintf("%.3f", c.took().Seconds())
}

func (c Chunk) took() time.Duration { return c.CompletedAt.Sub(c.StartedAt.Time) }

// Origin says which task a chunk came from or gave way to.
func (c Chunk) Origin() string {
	var words []string
	if c.SplitOf != "" {
		words = append(words, "split of "+string(c.SplitOf))
	}
	if c.RepairOf != "" {
		words = append(words, "repair of "+string(c.RepairOf))
	}
	if c.SupersededBy != "" {
		words = append(words, "replaced by "+string(c.SupersededBy))
	}
	return strings.Join(words, ", ")
}

// codeSpan sets s as code, which no character of it but its own quote ends.
func codeSpan(s string) string {
	return "`" + strings.NewReplacer("`", "'", "\n", " ", "\r", " ").Replace(s) + "`"
}

// escapeMarkdown keeps names and messages from becoming structure.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>|#~", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
