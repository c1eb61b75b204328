package verify

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/fault"
)

func TestADocumentSurvivesARoundTrip(t *testing.T) {
	p := publish(t, memory.LikeS3, 2)
	p.remove(part1)
	p.put("a<b>.txt", []byte("x"))
	r := p.verify(Options{})
	d := NewDocument(r, "p/", contract.NewTime(time.Date(2026, 11, 29, 12, 30, 0, 0, time.UTC)))
	body := must(d.Encode())
	got, err := DecodeDocument(body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if d.Verdict != Failed || d.UntrackedObjects != 1 || d.ManifestFingerprint != contract.FingerprintOf(p.get("manifest.json")) {
		t.Errorf("document is %+v", d)
	}
	for _, text := range []string{`"verdict": "failed"`, `"checked_at": "2026-11-29T12:30:00+00:00"`, `"code": "RIVET_VERIFY_PART_MISSING"`} {
		if !strings.Contains(string(body), text) {
			t.Errorf("the document lacks %s:\n%s", text, body)
		}
	}
}

func TestADocumentOfTheFutureIsRefused(t *testing.T) {
	if _, err := DecodeDocument([]byte(`{"verdict_version": 2}`)); fault.ClassOf(err) != fault.Refused {
		t.Errorf("error is %v", err)
	}
	if _, err := DecodeDocument([]byte(`nonsense`)); err == nil {
		t.Error("nonsense was read")
	}
}

func TestVerdictInOneWord(t *testing.T) {
	p := publish(t, memory.LikeS3, 1)
	if v := p.verify(Options{}).Verdict(); v != Passed {
		t.Errorf("a good prefix is %s", v)
	}
	p.remove("manifest.json")
	if v := p.verify(Options{}).Verdict(); v != Failed {
		t.Errorf("a marker without its manifest is %s", v)
	}
	p.remove("_SUCCESS")
	if v := p.verify(Options{}).Verdict(); v != Reduced {
		t.Errorf("parts without a manifest are %s", v)
	}
}
