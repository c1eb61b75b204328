package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

func TestEveryExampleIsAConfig(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://user@localhost/shop")
	seen := 0
	err := filepath.WalkDir("../examples", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		seen++
		cfg, err := wiring.LoadConfigFile(path, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if len(cfg.Exports) == 0 {
			t.Errorf("%s has no export", path)
		}
		return nil
	})
	if err != nil || seen < 3 {
		t.Errorf("%d examples, %v", seen, err)
	}
}

func TestTheLocalExampleRunsAsItsCommentsSay(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, `CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL, amount numeric(12,2), created_at timestamptz NOT NULL);
		INSERT INTO orders SELECT i, 'customer ' || i % 100, i * 0.37, timestamptz '2026-01-01 00:00:00+00' + i * interval '1 minute' FROM generate_series(1, 20000) i; ANALYZE orders`)
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	if err := os.CopyFS(filepath.Join(d.dir, "examples/local"), os.DirFS("../examples/local")); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile("../examples/local/rivet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)^# +lapstrake (.+)$`).FindAllStringSubmatch(string(body), -1)
	if len(said) < 2 {
		t.Fatalf("the comments say %v", said)
	}
	for _, command := range said {
		d.must(t, strings.Fields(command[1])...)
	}
	at := filepath.Join(d.dir, "examples/local/exports")
	if p := published(t, inFolder(t, filepath.Join(at, "orders"))); p.manifest.RowCount != 20000 {
		t.Errorf("orders has %d rows", p.manifest.RowCount)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readers := regexp.MustCompile("(?s)```python\n(.+?)```").FindAllStringSubmatch(string(readme), -1)
	if len(readers) < 2 {
		t.Errorf("README.md shows %d readers", len(readers))
	}
	for _, r := range readers {
		cmd := exec.CommandContext(t.Context(), testenv.Server(t, testenv.ReaderPython), "-c", r[1])
		cmd.Dir = filepath.Join(d.dir, "examples/local")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "20000") {
			t.Errorf("README.md's reader finds other than 20000 rows: %v\n%s%s", err, r[1], out)
		}
	}
	runs, err := os.ReadDir(filepath.Join(at, "orders_by_day"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if !strings.HasPrefix(r.Name(), "orders_by_day_") {
			continue
		}
		p := published(t, inFolder(t, filepath.Join(at, "orders_by_day", r.Name())))
		if days := db.texts(t, "SELECT count(DISTINCT created_at::date)::text FROM orders")[0]; fmt.Sprint(p.manifest.RowCount) != days {
			t.Errorf("orders_by_day has %d rows, there are %s days", p.manifest.RowCount, days)
		}
		return
	}
	t.Errorf("orders_by_day has no folder of its run: %v", runs)
}

var (
	named = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)+\\.\\w+)`")
	link  = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// What a document names is there: files in backticks in architecture.md, and
// where every document's links lead.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	documents, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, document := range append(documents, more...) {
		body, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(body), -1) {
			seen++
			there(t, document, filepath.Join(filepath.Dir(document), m[1]))
		}
		if filepath.Base(document) != "architecture.md" {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(string(body), -1) {
			seen++
			there(t, document, filepath.Join("..", m[1]))
		}
	}
	if seen < 30 {
		t.Errorf("%d names seen: the test no longer tests anything", seen)
	}
}

func there(t *testing.T, document, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s names %s, which is not there", document, path)
	}
}
