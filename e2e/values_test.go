package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
)

// cuts are the ways of reading t that give the same rows.
var cuts = []struct{ name, config string }{
	{"full", "mode: full"},
	{"ranges of the primary key", "mode: chunked, chunk_size: 500"},
	{"ranges of a column with NULLs", "mode: chunked, chunk_column: bucket, chunk_size: 50"},
	{"a uuid key", "mode: chunked, chunk_by_key: uid, chunk_size: 400"},
	{"a composite key", "mode: chunked, chunk_by_key: part_a, chunk_size: 300"},
}

// exportsOf is a config with one export a cut.
func exportsOf(format string, columns []column, from string) string {
	config := "source: { type: postgres, url_env: DATABASE_URL }\nexports:\n"
	for i, c := range cuts {
		config += fmt.Sprintf("  - { name: cut%d, %s, %s, format: %s, columns: { %s }, destination: { type: local, path: out/%s/cut%d } }\n",
			i, from, c.config, format, overridesOf(columns), format, i)
	}
	return config
}

// overridesOf is what columns: of a config says of the columns.
func overridesOf(columns []column) string {
	var overrides []string
	for _, c := range columns {
		if c.override != "" {
			overrides = append(overrides, c.name+`: "`+c.override+`"`)
		}
	}
	return strings.Join(overrides, ", ")
}

func TestEveryValueArrivesInParquet(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	db := newDatabase(t)
	createEveryType(t, db, 3000)
	columns := slices.Concat(keys, everyType)
	forDuckDB := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.notDuckDB })
	want, wantDuckDB := sourceRows(t, db, "t", columns), sourceRows(t, db, "t", forDuckDB)
	for _, workers := range []int{1, 8} {
		d := newDesk(t)
		d.env["DATABASE_URL"] = db.url
		d.write(t, "rivet.yaml", exportsOf("parquet", everyType, "table: t"))
		d.must(t, "run", "--workers", fmt.Sprint(workers))
		for i, c := range cuts {
			t.Run(fmt.Sprintf("%s, %d workers", c.name, workers), func(t *testing.T) {
				p := published(t, inFolder(t, filepath.Join(d.dir, "out/parquet", fmt.Sprintf("cut%d", i))))
				if tasks := len(p.manifest.Parts); i > 0 && tasks < 5 {
					t.Errorf("%d parts: nothing was cut", tasks)
				}
				sameRows(t, want, normalized(t, p.rows(t, "pyarrow", namesOf(columns)), nil))
				sameRows(t, wantDuckDB, normalized(t, p.rows(t, "duckdb", namesOf(forDuckDB)), nil))
			})
		}
	}
}

func TestEveryValueArrivesFromTheOldestAndTheNewestServer(t *testing.T) {
	for name, variable := range map[string]string{"oldest": testenv.PostgresOldURL, "newest": testenv.PostgresNewURL} {
		t.Run(name, func(t *testing.T) {
			testenv.Server(t, testenv.ReaderPython)
			db := newDatabaseOn(t, variable)
			createEveryType(t, db, 500)
			columns := slices.Concat(keys, everyType)
			want := sourceRows(t, db, "t", columns)
			d := newDesk(t)
			d.env["DATABASE_URL"] = db.url
			d.write(t, "rivet.yaml", exportsOf("parquet", everyType, "table: t"))
			d.must(t, "run", "--workers", "4")
			for i := range cuts {
				p := published(t, inFolder(t, filepath.Join(d.dir, "out/parquet", fmt.Sprintf("cut%d", i))))
				sameRows(t, want, normalized(t, p.rows(t, "pyarrow", namesOf(columns)), nil))
			}
		})
	}
}

func TestEveryValueThatCSVHoldsArrivesInCSV(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	db := newDatabase(t)
	createEveryType(t, db, 3000)
	fit := slices.DeleteFunc(slices.Clone(everyType), func(c column) bool { return c.list || c.notCSV })
	columns := slices.Concat(keys, fit)
	names := strings.Join(namesOf(columns), ", ")
	db.exec(t, "ALTER TABLE t RENAME TO everything; CREATE TABLE t AS SELECT "+names+" FROM everything; ALTER TABLE t ADD PRIMARY KEY (id), "+
		"ALTER uid SET NOT NULL, ADD UNIQUE (uid), ALTER part_a SET NOT NULL, ALTER part_b SET NOT NULL, ADD UNIQUE (part_a, part_b); ANALYZE t")
	want := sourceRows(t, db, "t", columns)
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	d.write(t, "rivet.yaml", exportsOf("csv", fit, "table: t"))
	d.must(t, "run", "--workers", "4")
	for i, c := range cuts {
		t.Run(c.name, func(t *testing.T) {
			p := published(t, inFolder(t, filepath.Join(d.dir, "out/csv", fmt.Sprintf("cut%d", i))))
			sameRows(t, want, normalized(t, p.rows(t, "csv", namesOf(columns)), columns))
		})
	}
}

func normalized(t *testing.T, rows []string, fromCSV []column) []string {
	t.Helper()
	for i, r := range rows {
		rows[i] = normal(t, r, fromCSV)
	}
	return rows
}
