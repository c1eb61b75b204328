package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// judgement is what both commands say of a prefix.
type judgement struct {
	Code     int
	Passed   bool
	Verified int
	Failures []string // but for untracked objects, which may stay
}

func judge(t *testing.T, code int, stdout string) judgement {
	t.Helper()
	var report struct {
		Exports []struct {
			Verification struct {
				Passed   bool                    `json:"passed"`
				Verified int                     `json:"parts_verified"`
				Failures []struct{ Code string } `json:"failures"`
			} `json:"verification"`
		} `json:"exports"`
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || len(report.Exports) != 1 {
		t.Fatalf("exit code %d, no report of one export (%v):\n%s", code, err, stdout)
	}
	v := report.Exports[0].Verification
	j := judgement{Code: code, Passed: v.Passed, Verified: v.Verified}
	for _, f := range v.Failures {
		if f.Code != "RIVET_VERIFY_UNTRACKED_OBJECT" {
			j.Failures = append(j.Failures, f.Code)
		}
	}
	slices.Sort(j.Failures)
	return j
}

// rivet runs the upstream's command at the desk.
func (d *desk) rivet(t *testing.T, args ...string) (code int, stdout string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Server(t, testenv.UpstreamCLI), args...)
	cmd.Dir = d.dir
	for k, v := range d.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Logf("rivet %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// The upstream's validate reads our config and agrees with ours on our output,
// whole and damaged.
func TestTheUpstreamAcceptsOurPrefixes(t *testing.T) {
	testenv.Server(t, testenv.UpstreamCLI)
	d, _ := newLines(t)
	for _, format := range []string{"parquet", "csv"} {
		for _, mode := range []string{"mode: full", "mode: chunked, chunk_size: 100"} {
			for _, tc := range []struct {
				name   string
				damage func(t *testing.T, part string)
				code   int
			}{
				{"whole", func(*testing.T, string) {}, 0},
				{"without a part", func(t *testing.T, part string) { remove(t, part) }, fault.ExitIntegrity},
				{"with a part cut short", func(t *testing.T, part string) { truncate(t, part) }, fault.ExitIntegrity},
			} {
				t.Run(fmt.Sprintf("%s, %s, %s", format, mode, tc.name), func(t *testing.T) {
					d := d.move(t)
					d.write(t, "rivet.yaml", strings.NewReplacer("format: parquet", "format: "+format, "mode: chunked, chunk_size: 100", mode).Replace(lineConfig))
					d.must(t, "run")
					p := published(t, inFolder(t, filepath.Join(d.dir, "out")))
					tc.damage(t, filepath.Join(d.dir, "out", p.manifest.Parts[0].Path))
					o := d.run(t, "validate", "--json")
					ours := judge(t, o.code, o.stdout)
					code, stdout := d.rivet(t, "validate", "-c", "rivet.yaml", "--format", "json")
					theirs := judge(t, code, stdout)
					if diff := cmp.Diff(theirs, ours); diff != "" {
						t.Errorf("(-upstream +ours):\n%s", diff)
					}
					if ours.Code != tc.code || ours.Passed != (tc.code == 0) {
						t.Errorf("want exit code %d: %+v", tc.code, ours)
					}
				})
			}
		}
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, name string) {
	t.Helper()
	info, err := os.Stat(name)
	if err == nil {
		err = os.Truncate(name, info.Size()-1)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestWeAcceptTheUpstreamsPrefixes(t *testing.T) {
	d := newDesk(t)
	sample, err := filepath.Abs("../shared/contract/testdata/upstream-sample")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"full", "chunked", "inc", "csv"} {
		parts := len(published(t, inFolder(t, filepath.Join(sample, folder))).files)
		for _, depth := range []string{"light", "sample", "full"} {
			t.Run(folder+" at depth "+depth, func(t *testing.T) {
				o := d.must(t, "validate", "--prefix", filepath.Join(sample, folder), "--depth", depth, "--json")
				want := judgement{Passed: true, Verified: parts}
				if depth == "light" {
					want.Verified = 0
				}
				if folder == "csv" && depth == "full" { // as the upstream says of it
					want.Failures = []string{"RIVET_VERIFY_VALUE_CHECK_NOT_AVAILABLE"}
				}
				if diff := cmp.Diff(want, judge(t, o.code, o.stdout)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Both programs make of one config and one table the same rows, and each
// accepts the other's prefix.
func TestTheUpstreamsRunOfTheSameConfigHasTheSameRows(t *testing.T) {
	testenv.Server(t, testenv.UpstreamCLI)
	d, db := newLines(t)
	if code, out := d.rivet(t, "run", "-c", "rivet.yaml"); code != 0 {
		t.Fatalf("rivet run: exit code %d\n%s", code, out)
	}
	holdsLines(t, db, published(t, inFolder(t, filepath.Join(d.dir, "out"))))
	d.must(t, "validate")
}
