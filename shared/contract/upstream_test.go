package contract

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// testdata/upstream-sample is what the upstream's CLI wrote for the source and
// the config beside it.
func upstreamFiles(t *testing.T, pattern string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata/upstream-sample", pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no upstream files match %s: %v", pattern, err)
	}
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestUpstreamManifestsEncodeToTheSameBytes(t *testing.T) {
	for name, body := range upstreamFiles(t, "*/manifest*.json") {
		m, err := DecodeManifest(body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := m.Encode()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(string(body), string(got)); diff != "" {
			t.Errorf("%s (-upstream +ours)\n%s", name, diff)
		}
	}
}

func TestUpstreamMarkersAreOfTheirManifests(t *testing.T) {
	for name, body := range upstreamFiles(t, "*/_SUCCESS") {
		manifest, err := os.ReadFile(filepath.Join(filepath.Dir(name), ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(SuccessBody(manifest), body) {
			t.Errorf("%s holds %q, ours is %q", name, body, SuccessBody(manifest))
		}
		if f, err := ParseSuccess(body); err != nil || f != FingerprintOf(manifest) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

func TestUpstreamPartsHaveTheIdentityThatTheirManifestStates(t *testing.T) {
	parts := 0
	for name, body := range upstreamFiles(t, "*/manifest-*.json") {
		m, err := DecodeManifest(body)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Committed() {
			content, err := os.ReadFile(filepath.Join(filepath.Dir(name), p.Path))
			if err != nil {
				t.Fatal(err)
			}
			parts++
			got := Part{p.PartID, p.Path, p.Rows, int64(len(content)), FingerprintOf(content), MD5Base64(content), p.Status}
			if diff := cmp.Diff(p, got); diff != "" {
				t.Errorf("%s (-manifest +file)\n%s", p.Path, diff)
			}
		}
	}
	if parts != 9 {
		t.Fatalf("%d parts seen, want 9", parts)
	}
}

func TestUpstreamSchemaFingerprints(t *testing.T) {
	columns := rowbatchtest.UpstreamColumns()
	withoutTags := slices.Delete(slices.Clone(columns), 4, 5)
	for name, columns := range map[string][]rowtype.Column{"full": columns, "chunked": columns, "inc": columns, "csv": withoutTags} {
		for file, body := range upstreamFiles(t, name+"/"+ManifestName) {
			m, err := DecodeManifest(body)
			if err != nil {
				t.Fatal(err)
			}
			if got := SchemaFingerprint(columns); got != m.SchemaFingerprint {
				t.Errorf("%s: %s, ours is %s", file, m.SchemaFingerprint, got)
			}
		}
	}
}

// The shapes of verdicts are the upstream's, field for field in its order.
func TestUpstreamVerdictsEncodeToTheSameBytes(t *testing.T) {
	body, err := os.ReadFile("testdata/upstream-sample/validate.json")
	if err != nil {
		t.Fatal(err)
	}
	type warning struct {
		ExportName ExportName `json:"export_name"`
		Warning    Failure    `json:"warning"`
	}
	type export struct {
		ExportName     ExportName           `json:"export_name"`
		ResolvedPrefix string               `json:"resolved_prefix"`
		Verification   ManifestVerification `json:"verification"`
	}
	var v struct {
		Exports  []export  `json:"exports"`
		Warnings []warning `json:"warnings"`
		Errors   []string  `json:"errors"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	for i := range v.Exports {
		verification := &v.Exports[i].Verification
		verification.Passed = false
		verification.Settle()
	}
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.TrimSpace(body)), string(got)); diff != "" {
		t.Errorf("(-upstream +ours)\n%s", diff)
	}
}
