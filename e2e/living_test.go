package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Rows that keep their key come exactly once, whatever comes and goes beside
// them while the run reads (MAN-16).
func TestRowsThatStayComeOnceWhileOthersComeAndGo(t *testing.T) {
	for _, cut := range []string{"chunk_size: 100", "chunk_by_key: v, chunk_size: 100"} {
		t.Run(cut, func(t *testing.T) {
			d, db := newLines(t)
			db.exec(t, "ALTER TABLE lines ALTER v SET NOT NULL, ADD UNIQUE (v)")
			d.write(t, "rivet.yaml", strings.Replace(lineConfig, "chunk_size: 100", cut, 1))
			stay := "SELECT id::text || ' ' || v FROM lines WHERE id BETWEEN 1 AND 2000 AND id % 7 > 0"
			want := db.texts(t, stay)
			n := 0
			o := d.start(t, func(_ *process, line string) {
				if !strings.Contains(line, chunkDone) {
					return
				}
				n++
				db.exec(t, fmt.Sprintf("INSERT INTO lines SELECT i, md5(i::text) FROM (VALUES (%d), (%d)) v(i); DELETE FROM lines WHERE id %% 7 = 0 AND id / 7 %% 20 = %d", -n, 2000+n, n))
			}, "run", "--workers", "2").wait(t)
			if o.code != 0 || n < 10 {
				t.Fatalf("%d changes: %s", n, o)
			}
			got := make(map[string]int)
			for _, row := range published(t, inFolder(t, filepath.Join(d.dir, "out"))).rows(t, "pyarrow", []string{"id", "v"}) {
				var values []string
				if err := json.Unmarshal([]byte(row), &values); err != nil {
					t.Fatal(err)
				}
				got[strings.Join(values, " ")]++
			}
			for _, row := range want {
				if got[row] != 1 {
					t.Errorf("row %s comes %d times", row, got[row])
				}
			}
		})
	}
}

func TestConnectionsThatBreakAreMadeAgain(t *testing.T) {
	d, db := newLines(t)
	d.write(t, "rivet.yaml", strings.Replace(lineConfig, "mode:", "tuning: { retry_backoff_ms: 10, max_retries: 5 }, mode:", 1))
	broken := 0
	o := d.start(t, func(_ *process, line string) {
		if strings.Contains(line, chunkDone) && broken < 5 {
			broken += len(db.texts(t, "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"))
		}
	}, "run", "--workers", "2").wait(t)
	if o.code != 0 || broken == 0 {
		t.Fatalf("%d connections were broken: %s", broken, o)
	}
	holdsLines(t, db, published(t, inFolder(t, filepath.Join(d.dir, "out"))))
}

func TestAnEmptyTableIsASuccessWithoutParts(t *testing.T) {
	for _, tc := range []struct {
		name, keys string
		published  bool
	}{
		{"published", "", true},
		{"left out", "skip_empty: true, ", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, db := newLines(t)
			db.exec(t, "TRUNCATE lines")
			d.write(t, "rivet.yaml", strings.Replace(lineConfig, "mode:", tc.keys+"mode:", 1))
			d.must(t, "run")
			if !tc.published {
				unpublished(t, d.dir)
				return
			}
			if p := published(t, inFolder(t, filepath.Join(d.dir, "out"))); len(p.manifest.Parts) > 0 {
				t.Errorf("%d parts", len(p.manifest.Parts))
			}
			d.must(t, "validate")
			if code, out := d.rivet(t, "validate", "-c", "rivet.yaml"); code != 0 {
				t.Errorf("the upstream's validate: exit code %d\n%s", code, out)
			}
		})
	}
}

// Names go through SQL, YAML, Parquet and paths unharmed (SEC-04).
func TestNamesThatNeedQuotesArriveAsTheyAre(t *testing.T) {
	d, db := newLines(t)
	db.exec(t, `CREATE SCHEMA "Shop"; CREATE TABLE "Shop"."Order" ("Id" integer PRIMARY KEY, "a ""b"" c" text, "Größe" text, "select" text, "x.y" text, "; DROP TABLE lines" text);
		INSERT INTO "Shop"."Order" SELECT i, 'one', 'two', 'three', 'four', 'five' FROM generate_series(1, 1000) i; ANALYZE`)
	d.write(t, "rivet.yaml", `source: { type: postgres, url_env: DATABASE_URL }
exports:
  - { name: "Shop orders: täglich", table: Shop.Order, mode: chunked, chunk_size: 200, format: parquet, destination: { type: local, path: "out/übung {export}" } }
`)
	o := d.must(t, "run", "--json")
	var result struct {
		PerExport []struct{ Prefix string } `json:"per_export"`
	}
	if err := json.Unmarshal([]byte(o.stdout), &result); err != nil {
		t.Fatal(err)
	}
	d.must(t, "validate")
	p := published(t, inFolder(t, filepath.Join(d.dir, "out", "übung Shop orders: täglich")))
	if p.manifest.RowCount != 1000 || len(p.manifest.Parts) != 5 {
		t.Errorf("%d rows in %d parts, in %v", p.manifest.RowCount, len(p.manifest.Parts), result)
	}
	const sum = `SELECT string_agg(DISTINCT concat("a ""b"" c", "Größe", "select", "x.y", "; DROP TABLE lines"), '') || sum("Id")::VARCHAR FROM `
	if want, got := db.texts(t, strings.Replace(sum+`"Shop"."Order"`, "VARCHAR", "text", 1))[0], p.query(t, sum+"parts"); got != want {
		t.Errorf("DuckDB reads %s, in the source is %s", got, want)
	}
}
