package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination/localdir"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// validate runs the upstream's own validate on the folder dir, at the given
// depth, and returns its verdict.
func validate(t *testing.T, rivet, dir string, m contract.Manifest, depth Depth) contract.ManifestVerification {
	t.Helper()
	config := filepath.Join(t.TempDir(), "rivet.yaml")
	text := fmt.Sprintf(`source: {type: postgres, url: "postgresql://u:p@127.0.0.1:1/x"}
exports:
  - name: %s
    table: orders_sample
    mode: full
    format: %s
    destination: {type: local, path: %q}
`, m.ExportName, m.Format, dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), rivet, "validate", "-c", config, "--format", "json", "--depth", string(depth))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run() // exit 3 and 1 are verdicts too
	var report struct {
		Exports []struct {
			Verification contract.ManifestVerification `json:"verification"`
		} `json:"exports"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil || len(report.Exports) != 1 {
		t.Fatalf("upstream: %v, %v\n%s\n%s", runErr, err, stdout.Bytes(), stderr.Bytes())
	}
	return report.Exports[0].Verification
}

// folder is a published prefix on disk, its parts those of the upstream and its
// manifest ours, with the fields that only we write.
type folder struct {
	t   *testing.T
	dir string
	m   contract.Manifest
}

func newFolder(t *testing.T) *folder {
	f := &folder{t: t, dir: t.TempDir()}
	err := os.CopyFS(f.dir, os.DirFS(filepath.Join(sample, "chunked")))
	if err != nil {
		t.Fatal(err)
	}
	if f.m, err = contract.DecodeManifest(f.read(contract.ManifestName)); err != nil {
		t.Fatal(err)
	}
	f.m.Generation, f.m.Control = 7, ".."
	f.m.RunRecord = &contract.RunRecordRef{Key: "_lapstrake/x/runs/r/record-g000007.json", Fingerprint: contract.FingerprintOf(nil)}
	f.m.Source.Extraction.Consistency, f.m.Source.Extraction.Key = "per_task", []string{"id"}
	for i := range f.m.Parts { // and names of ours
		name := contract.PartNaming{Generation: 7, Ext: f.m.Format}.Name(contract.BaseTaskID(i), 0)
		if err := os.Rename(filepath.Join(f.dir, f.m.Parts[i].Path), filepath.Join(f.dir, name)); err != nil {
			t.Fatal(err)
		}
		f.m.Parts[i].Path = name
	}
	f.publish()
	return f
}

func (f *folder) publish() {
	f.t.Helper()
	body := must(f.m.Encode())
	f.write(contract.ManifestName, body)
	f.write(contract.SidecarName(f.m.RunID), body)
	f.write(contract.SuccessName, contract.SuccessBody(body))
}

func (f *folder) read(name string) []byte {
	f.t.Helper()
	body, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return body
}

func (f *folder) write(name string, body []byte) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, body, 0o600)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) remove(name string) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

// The upstream judges our prefixes as we do, whole and damaged. Where the two
// differ on purpose, ours is told.
func TestTheUpstreamJudgesOurPrefixesAsWeDo(t *testing.T) {
	rivet := testenv.Server(t, testenv.UpstreamCLI)
	for _, tc := range []struct {
		name   string
		damage func(f *folder)
		depth  Depth
		ours   []string // where it is not the upstream's
	}{
		{name: "whole", depth: Full},
		{name: "whole, by its listing", depth: Sample},
		{name: "whole, by its pair", depth: Light},
		{name: "without a marker", depth: Sample, damage: func(f *folder) { f.remove("_SUCCESS") }},
		{name: "with a stale marker", depth: Sample, damage: func(f *folder) { f.write("_SUCCESS", []byte("xxh3:0123456789abcdef\n")) }},
		{name: "with a damaged marker", depth: Sample, damage: func(f *folder) { f.write("_SUCCESS", []byte("done")) }},
		{name: "with an empty marker", depth: Sample, damage: func(f *folder) { f.write("_SUCCESS", nil) }},
		{name: "without its manifest", depth: Sample, damage: func(f *folder) { f.remove("manifest.json") }},
		{name: "without its pair", depth: Sample, damage: func(f *folder) { f.remove("manifest.json"); f.remove("_SUCCESS") }},
		{name: "with a manifest that is not JSON", depth: Sample, damage: func(f *folder) { f.write("manifest.json", []byte("{")) },
			ours: []string{"MANIFEST_INCONSISTENT", "SUCCESS_STALE"}}, // the upstream stops there
		{name: "with a manifest that does not add up", depth: Sample, damage: func(f *folder) {
			f.write("manifest.json", bytes.Replace(f.read("manifest.json"), []byte(`"row_count"`), []byte(`"row_count": 1, "other"`), 1))
		}},
		{name: "of a run that has failed", depth: Sample, damage: func(f *folder) { f.m.Status = contract.StatusFailed; f.publish() }},
		{name: "with a part gone", depth: Sample, damage: func(f *folder) { f.remove(f.m.Parts[1].Path) }},
		{name: "with a part cut", depth: Sample, damage: func(f *folder) { f.write(f.m.Parts[1].Path, []byte("x")) }},
		{name: "with a superseded part", depth: Sample, damage: func(f *folder) {
			f.m.Parts[1].Status = contract.PartSuperseded
			f.m.PartCount--
			f.m.RowCount -= f.m.Parts[1].Rows
			f.publish()
		}},
		{name: "with a stray", depth: Sample, damage: func(f *folder) {
			f.write("report.xlsx", []byte("x"))
			f.write("_quarantine/r/x", nil)
			f.write("manifest-notes.json", nil)
		}},
		{name: "with the control folder inside", depth: Sample, damage: func(f *folder) { f.write("_lapstrake/x/cursor.json", []byte("{}")) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFolder(t)
			if tc.damage != nil {
				tc.damage(f)
			}
			store, err := localdir.Open(t.Context(), wire.Location{Kind: "local", URI: "file://" + f.dir})
			if err != nil {
				t.Fatal(err)
			}
			r, err := Verify(t.Context(), store, Options{Depth: tc.depth})
			if err != nil {
				t.Fatal(err)
			}
			theirs := validate(t, rivet, f.dir, f.m, tc.depth)
			theirs.Failures = slices.DeleteFunc(theirs.Failures, func(f contract.Failure) bool {
				return f.Key == "_lapstrake/x/cursor.json" // a folder that it does not know
			})
			if theirs.Failures == nil {
				theirs.Failures = []contract.Failure{}
			}
			for _, v := range []*contract.ManifestVerification{&theirs, &r.Verification} {
				for i := range v.Failures {
					v.Failures[i].Detail = "" // in each one's own words
				}
			}
			theirs.PartsMD5Verified = r.Verification.PartsMD5Verified // it proves the content of no local file
			if tc.ours != nil {
				if d := cmp.Diff(tc.ours, codes(r.Verification.Failures)); d != "" {
					t.Errorf("ours (-want +got):\n%s", d)
				}
				return
			}
			if d := cmp.Diff(indented(t, theirs), indented(t, r.Verification)); d != "" {
				t.Errorf("(-upstream +ours):\n%s", d)
			}
		})
	}
}
