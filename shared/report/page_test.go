package report

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

const attack = "`" + `"'><script>alert(1)</script><img src=x onerror=alert(1)> | [x](javascript:alert(1)) {{.}} </style></title>`

// hostile is a run every text of which tries to become markup.
func hostile() Input {
	in := failed()
	in.Run.RunID, in.Run.Export, in.Run.Root.URI, in.Run.Prefix = "r"+attack, contract.ExportName(attack), "s3://"+attack, attack+"/"
	in.Run.Error = &fault.Failure{Code: fault.Code(attack), Message: attack}
	in.Plan.Engine, in.Plan.Schema, in.Plan.Table, in.Plan.Consistency, in.Plan.Strategy = attack, attack, attack, attack, attack
	in.Plan.Export.Format, in.Plan.Export.Compression, in.Plan.Export.Diagnostics[0].Code, in.Plan.Export.Diagnostics[0].Message = attack, attack, attack, attack
	in.Plan.Columns[0].Name, in.Plan.Columns[0].Native, in.Plan.Key[0].Name = attack, attack, attack
	for i := range in.Chunks {
		c := &in.Chunks[i]
		c.Worker, c.Status, c.Error = attack, runstate.ChunkStatus(attack), in.Run.Error
		for j := range c.Parts {
			c.Parts[j].Path, c.Parts[j].Fingerprint = attack, contract.Fingerprint(attack)
		}
	}
	m := contract.Manifest{RunID: in.Run.RunID, Parts: []contract.Part{{Path: attack, Status: contract.PartCommitted}}, PartCount: 1}
	in.Manifest = &m
	in.Verification = &contract.ManifestVerification{DepthLevel: attack, Failures: []contract.Failure{contract.UntrackedObject(attack, 1), contract.SuccessMalformed([]byte(attack))}}
	in.ResumeCommand = attack
	return in
}

func TestThePageHoldsNothingThatRunsOrLoads(t *testing.T) {
	allowed := strings.Fields("html head meta title style body main header div span svg path b h1 h2 h3 small section p pre code ul li table tr th td details summary line rect text footer")
	for name, in := range map[string]Input{"published": crashed(), "failed": failed(), "empty": {}, "hostile": hostile()} {
		body, err := New(in).HTML()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), "ZgotmplZ") {
			t.Errorf("%s: a value was filtered out of the page", name)
		}
		d := xml.NewDecoder(strings.NewReader(string(body)))
		d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
		seen := 0
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, ok := tok.(xml.StartElement)
			if !ok {
				continue
			}
			seen++
			if !slices.Contains(allowed, e.Name.Local) {
				t.Errorf("%s: element %s", name, e.Name.Local)
			}
			for _, a := range e.Attr {
				if n := a.Name.Local; strings.HasPrefix(n, "on") || n == "src" || n == "href" || strings.Contains(a.Value, "url(") {
					t.Errorf("%s: %s %s=%q", name, e.Name.Local, n, a.Value)
				}
			}
		}
		if seen < 30 {
			t.Errorf("%s: only %d elements", name, seen)
		}
	}
}

func TestMarkdownTablesKeepTheirShape(t *testing.T) {
	body, err := New(hostile()).Markdown()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(body), "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if bars != 3 && bars != 5 && bars != 8 {
			t.Errorf("%d bars: %s", bars, line)
		}
	}
	text, _, _ := strings.Cut(string(body), "## Read it")
	text = regexp.MustCompile("`[^`]*`").ReplaceAllString(strings.ReplaceAll(text, "\\`", ""), "")
	if strings.Contains(strings.ReplaceAll(text, `\<`, ""), "<script") {
		t.Errorf("markup is left:\n%s", text)
	}
}

func TestReportsOfTheSameRunAreTheSameBytes(t *testing.T) {
	for range 5 {
		a, b := New(crashed()), New(crashed())
		for name, make := range map[string]func(Summary) ([]byte, error){"json": Summary.JSON, "md": Summary.Markdown, "html": Summary.HTML} {
			x, errX := make(a)
			y, errY := make(b)
			if errX != nil || errY != nil || string(x) != string(y) {
				t.Errorf("%s differs (%v, %v)", name, errX, errY)
			}
		}
	}
}
