package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/contract"
)

// publication is what a reader of Success manifests finds in a prefix.
type publication struct {
	manifest contract.Manifest
	files    []string // of the committed parts, on disk
}

// published reads a prefix as a careful reader does: the marker, the manifest
// that it vouches for, and the parts that are committed in it. get returns
// nothing for an object that is not there.
func published(t *testing.T, get func(key string) []byte) publication {
	t.Helper()
	marker, body := get(contract.SuccessName), get(contract.ManifestName)
	if want := contract.SuccessBody(body); !bytes.Equal(marker, want) {
		t.Fatalf("the marker is %q, and that of the manifest would be %q", marker, want)
	}
	m, err := contract.DecodeManifest(body)
	if err != nil {
		t.Fatal(err)
	}
	if m.Status != contract.StatusSuccess {
		t.Fatalf("the manifest's status is %s", m.Status)
	}
	p := publication{manifest: m}
	dir, rows := t.TempDir(), int64(0)
	for _, part := range m.Parts {
		if part.Status != contract.PartCommitted {
			continue
		}
		content := get(part.Path)
		if got := contract.FingerprintOf(content); int64(len(content)) != part.SizeBytes || got != part.ContentFingerprint {
			t.Fatalf("part %s has %d bytes, %s; the manifest says %d, %s", part.Path, len(content), got, part.SizeBytes, part.ContentFingerprint)
		}
		name := filepath.Join(dir, filepath.Base(part.Path))
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
		p.files = append(p.files, name)
		rows += part.Rows
	}
	if rows != m.RowCount {
		t.Fatalf("the parts have %d rows, the manifest %d", rows, m.RowCount)
	}
	return p
}

// inFolder is the get of a local prefix.
func inFolder(t *testing.T, dir string) func(string) []byte {
	return func(key string) []byte {
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(key)))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return body
	}
}

// unpublished fails when a reader would take anything below a folder for a
// finished run.
func unpublished(t *testing.T, dir string) {
	t.Helper()
	for _, name := range files(t, dir) {
		base := filepath.Base(name)
		if base == contract.SuccessName || base == contract.ManifestName {
			t.Errorf("%s is published", name)
		}
	}
}

// rows returns the rows of a publication as testdata/read.py prints them, in
// no order.
func (p publication) rows(t *testing.T, reader string, columns []string) []string {
	t.Helper()
	args := append([]string{"testdata/read.py", reader, strings.Join(columns, ",")}, p.files...)
	cmd := exec.CommandContext(t.Context(), testenv.Server(t, testenv.ReaderPython), args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("read with %s: %v\n%s", reader, err, stderr.String())
	}
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// query returns the one text that DuckDB answers about the view parts.
func (p publication) query(t *testing.T, sql string) string {
	t.Helper()
	const script = "import duckdb, sys\nparts = duckdb.connect()\nparts.execute('CREATE VIEW parts AS SELECT * FROM read_parquet(' + repr(sys.argv[2:]) + ')')\nprint(parts.execute(sys.argv[1]).fetchone()[0])"
	out, err := exec.CommandContext(t.Context(), testenv.Server(t, testenv.ReaderPython), append([]string{"-c", script, sql}, p.files...)...).Output()
	if err != nil {
		t.Fatalf("ask DuckDB: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// sameRows compares two multisets of rows, and shows the first that differ.
func sameRows(t *testing.T, want, got []string) {
	t.Helper()
	want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	if slices.Equal(want, got) {
		return
	}
	missing, extra := difference(want, got), difference(got, want)
	t.Errorf("%d rows, want %d; %d are missing, %d are too many; the first of them (-want +got):\n%s",
		len(got), len(want), len(missing), len(extra), cmp.Diff(first(missing), first(extra)))
}

// difference returns what of a is not in b, both sorted, counting repetitions.
func difference(a, b []string) []string {
	var only []string
	for _, x := range a {
		for len(b) > 0 && b[0] < x {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == x {
			b = b[1:]
			continue
		}
		only = append(only, x)
	}
	return only
}

func first(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return strings.ReplaceAll(rows[0], `, `, ",\n")
}
