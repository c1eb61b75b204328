package report

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// The lines on the page read the upstream's own output, through its manifest.
func TestTheReadersLinesRead(t *testing.T) {
	python := testenv.Server(t, testenv.ReaderPython)
	for _, folder := range []string{"full", "chunked", "inc", "csv"} {
		dir := filepath.Join(t.TempDir(), "it's a \"folder\"") // quotes in every language
		if err := os.CopyFS(dir, os.DirFS("../contract/testdata/upstream-sample/"+folder)); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(filepath.Join(dir, contract.ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		m, err := contract.DecodeManifest(body)
		if err != nil {
			t.Fatal(err)
		}
		in := Input{Manifest: &m}
		in.Run.RunID, in.Run.Root, in.Plan.Export.Format = m.RunID, wire.Location{Kind: "local", URI: "file://" + filepath.ToSlash(dir)}, m.Format
		for _, r := range New(in).readers() {
			work := t.TempDir()
			if err := os.WriteFile(filepath.Join(work, "lines"), []byte(r.Code), 0o600); err != nil {
				t.Fatal(err)
			}
			script := "exec(open('lines').read())\nprint(table.num_rows)"
			if r.Language == "sql" {
				script = "import duckdb\nprint(duckdb.connect().execute(open('lines').read()).fetchone()[0])"
			}
			cmd := exec.CommandContext(t.Context(), python, "-c", script)
			cmd.Dir = work
			out, err := cmd.CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != fmt.Sprint(m.RowCount) {
				t.Errorf("%s with %s: %v\n%s\n%s", folder, r.Name, err, r.Code, out)
			}
		}
	}
}
