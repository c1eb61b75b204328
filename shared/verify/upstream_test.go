package verify

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/localdir"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const sample = "../contract/testdata/upstream-sample"

// upstream returns a copy of one folder of the upstream's own output.
func upstream(t *testing.T, folder string) *localdir.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), folder)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(sample, folder))); err != nil {
		t.Fatal(err)
	}
	store, err := localdir.Open(t.Context(), wire.Location{Kind: "local", URI: "file://" + dir})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// The upstream's verdicts on its own output are ours, but for one number: it
// never proves the content of a local file, and depth Full does.
func TestTheUpstreamsOutputHasTheUpstreamsVerdict(t *testing.T) {
	body, err := os.ReadFile(filepath.Join(sample, "validate.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Exports []struct {
			ResolvedPrefix string                        `json:"resolved_prefix"`
			Verification   contract.ManifestVerification `json:"verification"`
		} `json:"exports"`
	}
	if err := json.Unmarshal(body, &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Exports) != 4 {
		t.Fatalf("%d exports in the sample", len(report.Exports))
	}
	for _, e := range report.Exports {
		folder := path.Base(e.ResolvedPrefix)
		r, err := Verify(t.Context(), upstream(t, folder), Options{Depth: Full})
		if err != nil {
			t.Fatal(err)
		}
		e.Verification.PartsMD5Verified = e.Verification.PartsVerified
		want, got := indented(t, e.Verification), indented(t, r.Verification)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-upstream +ours):\n%s", folder, d)
		}
	}
}

func TestDamageToTheUpstreamsParquetIsFound(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(manifest string) string
		flip bool
		want string // without the path
	}{
		{name: "a flipped byte", flip: true, want: "PART_CHECKSUM_MISMATCH"},
		{name: "another number of rows", edit: func(m string) string { return strings.ReplaceAll(m, "2500", "2501") }, want: "PART_ROW_COUNT"},
		{name: "no hash to compare with", edit: func(m string) string {
			return strings.NewReplacer(`"xxh3:`+hashOf(m, `"content_fingerprint": "xxh3:`), `"`, hashOf(m, `"content_md5": "`), "").Replace(m)
		}, want: "VALUE_CHECK_NOT_AVAILABLE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			store := upstream(t, "full")
			var m contract.Manifest
			body, version, err := store.Get(t.Context(), contract.ManifestName, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if tc.edit != nil {
				edited := []byte(tc.edit(string(body)))
				if string(edited) == string(body) {
					t.Fatal("the manifest is as it was")
				}
				overwrite(t, store, contract.ManifestName, version, edited)
				_, v, _ := store.Get(t.Context(), contract.SuccessName, 100)
				overwrite(t, store, contract.SuccessName, v, contract.SuccessBody(edited))
			}
			if m, err = contract.DecodeManifest(body); err != nil {
				t.Fatal(err)
			}
			if tc.flip {
				part, v, err := store.Get(t.Context(), m.Parts[0].Path, 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				part[1000] ^= 1
				overwrite(t, store, m.Parts[0].Path, v, part)
			}
			r, err := Verify(t.Context(), store, Options{Depth: Full})
			if err != nil {
				t.Fatal(err)
			}
			got := codes(r.Verification.Failures)
			if len(got) != 1 || !strings.HasPrefix(got[0], tc.want) {
				t.Errorf("found %v, want %s", got, tc.want)
			}
		})
	}
}

// hashOf returns what follows after in s, up to the next quote.
func hashOf(s, after string) string {
	_, rest, _ := strings.Cut(s, after)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

func overwrite(t *testing.T, store destination.Store, key string, prev destination.Version, body []byte) {
	t.Helper()
	if _, err := store.Replace(t.Context(), key, prev, body, destination.Meta{}); err != nil {
		t.Fatal(err)
	}
}

func indented(t *testing.T, v contract.ManifestVerification) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
