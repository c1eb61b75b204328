package csv

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

//go:embed testdata/readers.py
var readersScript []byte

// Readers that share no code with this project, pyarrow and DuckDB, split a
// file into the same cells and tell NULL from an empty text.
func TestOtherReadersFindTheSameCells(t *testing.T) {
	python := testenv.Server(t, testenv.ReaderPython)
	columns := []rowtype.Column{
		{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}, NotNull: true},
		{Name: `Amount, "USD"`, Type: rowtype.Type{Kind: rowtype.Decimal, Precision: 18, Scale: 2}},
		{Name: "note", Type: rowtype.Type{Kind: rowtype.Text}},
		{Name: "document", Type: rowtype.Type{Kind: rowtype.JSON}},
		{Name: "at", Type: rowtype.Type{Kind: rowtype.Timestamp, UTC: true}},
		{Name: "bytes", Type: rowtype.Type{Kind: rowtype.Binary}},
	}
	body := write(t, columns, rowbatchtest.Rows(columns, 3000, 8))
	all := records(t, string(body))
	var expected struct {
		Names []string `json:"names"`
		Rows  [][]any  `json:"rows"`
	}
	for _, f := range all[0] {
		expected.Names = append(expected.Names, f.text)
	}
	for _, r := range all[1:] {
		row := make([]any, len(r))
		for i, f := range r {
			if f.quoted || f.text != "" {
				row[i] = f.text
			}
		}
		expected.Rows = append(expected.Rows, row)
	}
	want, err := json.Marshal(expected)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, content := range map[string][]byte{"readers.py": readersScript, "part.csv": body, "expected.json": want} {
		if err := os.WriteFile(path(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), python, path("readers.py"), path("part.csv"), path("expected.json")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
