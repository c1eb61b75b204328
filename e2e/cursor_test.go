package e2e

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
)

// changesConfig is an export whose rows change. It is cut by the cursor when
// there is much to read.
const changesConfig = `source: { type: postgres, url_env: DATABASE_URL }
exports:
  - { name: changes, table: public.changes, mode: incremental, cursor_column: c, format: csv, destination: { type: local, path: out } }
`

// delivered is what the Success manifests of a folder hold together: how often
// each row is there, as id and version, and how many rows have no cursor by the
// last of them. It reads like a loader that takes every run once.
func delivered(t *testing.T, dir string) (rows map[string]int, manifests []contract.Manifest) {
	t.Helper()
	rows = make(map[string]int)
	for _, name := range files(t, dir) {
		if !contract.IsSidecarName(filepath.Base(name)) || strings.Contains(name, "_lapstrake") {
			continue
		}
		body, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := contract.DecodeManifest(body)
		if err != nil {
			t.Fatal(err)
		}
		if m.Status != contract.StatusSuccess {
			continue
		}
		manifests = append(manifests, m)
		for _, p := range m.Parts {
			part, err := os.ReadFile(filepath.Join(dir, filepath.Dir(name), p.Path))
			if err != nil || contract.FingerprintOf(part) != p.ContentFingerprint {
				t.Fatalf("part %s is not what the manifest says: %v", p.Path, err)
			}
			lines, err := csv.NewReader(strings.NewReader(string(part))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines[1:] {
				rows[line[0]+" v"+line[1]]++
			}
		}
	}
	return rows, manifests
}

// wantChanges fails unless every row with a cursor was delivered at its present
// version, and no version of a row twice.
func wantChanges(t *testing.T, when string, db *database, dir string) {
	t.Helper()
	got, _ := delivered(t, dir)
	for row, n := range got {
		if n != 1 {
			t.Errorf("%s: row %s comes %d times", when, row, n)
		}
	}
	for _, row := range db.texts(t, "SELECT id || ' v' || version FROM changes WHERE c IS NOT NULL") {
		if got[row] == 0 {
			t.Errorf("%s: row %s is lost", when, row)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// For every type of cursor: rows come, with ties, late equals and NULLs, change,
// and go, between and during runs. Some runs are killed, and before each one the
// machine has forgotten the ones before (M10, D15, CUR-01, CUR-03, CUR-16).
func TestIncrementalRunsHaveEveryRowOnce(t *testing.T) {
	for _, tc := range []struct{ spelled, value string }{ // value makes a cursor of the number n
		{"integer", "(%s)::integer"},
		{"bigint", "9007199254740993 + (%s)"},
		{"numeric(30,10)", "(%s) / 3.0"},
		{"date", "date '2026-01-01' + (%s)::integer"},
		{"timestamp", "timestamp '2026-01-01 00:00:00.123457' + (%s) * interval '1 microsecond'"},
		{"timestamptz", "timestamptz '2026-03-08 01:59:59.999990-05' + (%s) * interval '1 microsecond'"},
		{"text", "'v ''' || to_char(%s, '0000000') || '\\'"},
		{"uuid", "('00000000-0000-4000-8000-' || to_char(%s, 'FM000000000000'))::uuid"},
	} {
		t.Run(tc.spelled, func(t *testing.T) {
			db := newDatabase(t)
			value := func(n string) string { return fmt.Sprintf(tc.value, n) }
			db.exec(t, "CREATE TABLE changes (id integer PRIMARY KEY, version integer NOT NULL, c "+tc.spelled+"); CREATE INDEX ON changes (c); ALTER DATABASE "+
				db.texts(t, "SELECT current_database()::text")[0]+" SET timezone = 'America/New_York'")
			d := newDesk(t)
			d.env["DATABASE_URL"] = db.url
			config := d.write(t, "rivet.yaml", changesConfig)
			now, id, kills := 0, 0, 0
			change := func() { // ties with what is newest, newer rows, rows without a cursor, changed rows
				db.exec(t, fmt.Sprintf("INSERT INTO changes SELECT %d + i, 1, CASE WHEN i %% 7 = 0 THEN NULL ELSE %s END FROM generate_series(1, 20) i", id, value(fmt.Sprintf("%d + i / 6", now))))
				id += 20
				now += 3
				db.exec(t, fmt.Sprintf("UPDATE changes SET version = version + 1, c = %s WHERE id %% 11 = %d; DELETE FROM changes WHERE id %% 17 = %d", value(fmt.Sprint(now)), now%11, now%17))
			}
			for run := range 9 {
				change()
				if err := os.RemoveAll(filepath.Join(d.dir, ".lapstrake")); err != nil {
					t.Fatal(err)
				}
				var watch func(*process, string)
				switch run % 3 {
				case 1:
					watch = func(_ *process, line string) {
						if strings.Contains(line, `"run started"`) {
							change()
						}
					}
				case 2:
					watch = signalAt(1, []string{`"run started"`, chunkDone, `"run succeeded"`}[run/3], syscall.SIGKILL)
				}
				o := d.start(t, watch, "run", "-c", config).wait(t)
				if o.code == 128+int(syscall.SIGKILL) {
					kills++
				}
				if killed := o.code == 128+int(syscall.SIGKILL); !killed && o.code != 0 || killed && run%3 != 2 {
					t.Fatalf("run %d: %s", run, o)
				}
			}
			if kills != 3 {
				t.Errorf("%d runs were killed: the test no longer tests what it says", kills)
			}
			d.must(t, "run")
			wantChanges(t, "in the end", db, filepath.Join(d.dir, "out"))
			d.must(t, "run")
			wantChanges(t, "after a run with nothing to do", db, filepath.Join(d.dir, "out"))
			d.must(t, "validate")
			_, manifests := delivered(t, filepath.Join(d.dir, "out"))
			last := manifests[len(manifests)-1]
			if nulls := db.texts(t, "SELECT count(*)::text FROM changes WHERE c IS NULL")[0]; fmt.Sprint(last.Source.Extraction.NullRows) != nulls || last.RowCount != 0 {
				t.Errorf("the last manifest has %+v and %d rows, %s rows are without a cursor", last.Source.Extraction, last.RowCount, nulls)
			}
		})
	}
}

// A run that was killed is resumed in its window, whatever has come since; the
// next run has the rest.
func TestAResumedIncrementalRunKeepsItsWindow(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE changes (id integer PRIMARY KEY, version integer NOT NULL DEFAULT 1, c integer); INSERT INTO changes SELECT i, 1, i / 10 FROM generate_series(1, 2000) i; ANALYZE changes")
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	d.write(t, "rivet.yaml", changesConfig)
	d.start(t, signalAt(1, `"run started"`, syscall.SIGKILL), "run").wait(t)
	db.exec(t, "INSERT INTO changes SELECT i, 1, 200 FROM generate_series(3001, 3010) i; INSERT INTO changes VALUES (4000, 1, 300)")
	d.must(t, "resume")
	got, manifests := delivered(t, filepath.Join(d.dir, "out"))
	if got["4000 v1"] != 0 || manifests[0].Position.To.Value != "200" || got["3001 v1"] != 1 {
		t.Errorf("the resumed run has %d rows, up to %s", len(got), manifests[0].Position.To.Value)
	}
	d.must(t, "run")
	wantChanges(t, "after the next run", db, filepath.Join(d.dir, "out"))
}

func TestSettleHoldsYoungRowsBack(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE changes (id integer PRIMARY KEY, version integer NOT NULL DEFAULT 1, c integer, at timestamptz); INSERT INTO changes VALUES (1, 1, 1, now() - interval '1 day'), (2, 1, 3, now()), (3, 1, 4, now() - interval '1 day')")
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	d.write(t, "rivet.yaml", strings.Replace(changesConfig, "format:", "settle: { after: 1h, column: at }, format:", 1))
	d.must(t, "run")
	if got, _ := delivered(t, filepath.Join(d.dir, "out")); len(got) != 1 || got["1 v1"] != 1 {
		t.Errorf("the first run has %v", got)
	}
	db.exec(t, "INSERT INTO changes VALUES (4, 1, 2, now() - interval '1 day'); UPDATE changes SET at = now() - interval '1 day' WHERE id = 2") // committed late, in time
	d.must(t, "run")
	wantChanges(t, "after the second run", db, filepath.Join(d.dir, "out"))
}

func TestAKeyThatGrowsAndTheLastDays(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE changes (id integer PRIMARY KEY, version integer NOT NULL DEFAULT 1, c timestamp); INSERT INTO changes SELECT i, 1, now() AT TIME ZONE 'UTC' - i * interval '1 day' FROM generate_series(0, 9) i; INSERT INTO changes VALUES (10, 1, NULL)")
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	d.write(t, "rivet.yaml", `source: { type: postgres, url_env: DATABASE_URL }
exports:
  - { name: keys, table: public.changes, mode: chunked, chunk_by_key: id, keyset_incremental: true, format: csv, destination: { type: local, path: keys } }
  - { name: days, table: public.changes, mode: time_window, time_column: c, days_window: 2, format: csv, destination: { type: local, path: days } }
`)
	d.must(t, "run")
	db.exec(t, "INSERT INTO changes VALUES (11, 1, NULL), (12, 1, now() AT TIME ZONE 'UTC' - interval '2 days')")
	d.must(t, "run")
	got, _ := delivered(t, filepath.Join(d.dir, "keys"))
	if len(got) != 13 || got["12 v1"] != 1 || got["0 v1"] != 1 {
		t.Errorf("by key: %v", got)
	}
	got, manifests := delivered(t, filepath.Join(d.dir, "days"))
	x := manifests[len(manifests)-1].Source.Extraction
	if len(got) != 4 || got["2 v1"] != 2 || got["12 v1"] != 1 || x.Strategy != "timewindow" || x.NullRows != 2 || !strings.HasSuffix(x.CursorLow, " 00:00:00") {
		t.Errorf("by day: %v, %+v", got, x)
	}
}

// What the command prints of a window, its position and what is not in it.
func TestTheCommandShowsWindowAndPosition(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE changes (id integer, version integer NOT NULL DEFAULT 1, c integer); INSERT INTO changes VALUES (1, 1, 7), (2, 1, 7), (3, 1, NULL)")
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	d.write(t, "rivet.yaml", changesConfig)
	if o := d.must(t, "plan"); !strings.Contains(o.stdout, "c <= 7") || len(files(t, filepath.Join(d.dir, "out"))) > 0 {
		t.Errorf("plan: %s", o)
	}
	d.must(t, "run")
	o := d.must(t, "run", "--json")
	var result struct {
		PerExport []struct {
			Extraction contract.Extraction `json:"extraction"`
		} `json:"per_export"`
	}
	if err := json.Unmarshal([]byte(o.stdout), &result); err != nil {
		t.Fatal(err)
	}
	if x := result.PerExport[0].Extraction; x.CursorLow != "7" || x.CursorHigh != "7" || x.NullRows != 1 || x.RepeatedRows != 2 {
		t.Errorf("the result has %+v", x)
	}
	if o := d.must(t, "run"); !strings.Contains(o.stdout, "7 to 7") || !strings.Contains(o.stdout, "1 without a cursor") || !strings.Contains(o.stdout, "2 repeated") {
		t.Errorf("run: %s", o)
	}
	if o := d.must(t, "status"); !strings.Contains(o.stdout, "c = 7") {
		t.Errorf("status: %s", o)
	}
}

// Before a run is refused for an older copy of cursor.json, status and plan say
// that it would be.
func TestAnOlderCopyOfTheCursorIsShown(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE changes (id integer PRIMARY KEY, version integer NOT NULL DEFAULT 1, c integer); INSERT INTO changes VALUES (1, 1, 7)")
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	d.write(t, "rivet.yaml", changesConfig)
	d.must(t, "run")
	document := filepath.Join(d.dir, "out", filepath.FromSlash(contract.CursorKey("changes")))
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	db.exec(t, "INSERT INTO changes VALUES (2, 1, 8)")
	d.must(t, "run")
	const code = "LAPSTRAKE_STATE_CURSOR_OLD"
	if said := d.must(t, "status").String() + d.must(t, "plan").String(); strings.Contains(said, code) {
		t.Errorf("the newest document is called old: %s", said)
	}
	if err := os.WriteFile(document, old, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"status"}, {"plan"}} {
		if o := d.must(t, command...); !strings.Contains(o.stdout, "warning "+code) {
			t.Errorf("%v does not warn: %s", command, o)
		}
	}
	if o := d.must(t, "status", "--json"); !strings.Contains(o.stderr, code) || strings.Contains(o.stdout, code) {
		t.Errorf("status as JSON: %s", o)
	}
	if o := d.run(t, "run"); o.code == 0 || !strings.Contains(o.stderr, code) {
		t.Errorf("a run is not refused: %s", o)
	}
}

func TestTheIncrementalExampleRunsAsItsCommentsSay(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, `CREATE TABLE orders (id bigint PRIMARY KEY, updated_at timestamptz); CREATE TABLE payments (id bigint PRIMARY KEY); CREATE TABLE visits (id bigint, seen_at timestamptz);
		INSERT INTO orders SELECT i, now() - i * interval '1 minute' FROM generate_series(0, 99) i; INSERT INTO payments SELECT generate_series(1, 50);
		INSERT INTO visits SELECT i, now() - i * interval '1 day' FROM generate_series(0, 9) i`)
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	if err := os.CopyFS(filepath.Join(d.dir, "examples/incremental"), os.DirFS("../examples/incremental")); err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile("../examples/incremental/rivet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)^# +lapstrake (.+)$`).FindAllStringSubmatch(string(body), -1)
	if len(said) != 4 {
		t.Fatalf("the comments say %v", said)
	}
	for _, command := range said {
		d.must(t, strings.Fields(command[1])...)
	}
	rows := make(map[contract.ExportName]int64)
	for _, name := range files(t, filepath.Join(d.dir, "examples/incremental/exports")) {
		if filepath.Base(name) != contract.ManifestName {
			continue
		}
		p := published(t, inFolder(t, filepath.Join(d.dir, "examples/incremental/exports", filepath.Dir(name))))
		rows[p.manifest.ExportName] += p.manifest.RowCount
	}
	if rows["orders"] != 95 && rows["orders"] != 94 || rows["payments"] != 50 || rows["visits"] != 6 {
		t.Errorf("two runs have %v rows together", rows)
	}
}

// Each run is of a machine that has never seen the export: position and fence
// are in the bucket, the runs in a table of the cloud.
func TestIncrementalRunsFromNewMachinesOnACloud(t *testing.T) {
	c := newCloud(t)
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE changes (id integer PRIMARY KEY, version integer NOT NULL DEFAULT 1, c integer)")
	seen := make(map[string]int)
	for run := range 4 {
		db.exec(t, fmt.Sprintf("INSERT INTO changes SELECT %d + i, 1, %d + i / 4 FROM generate_series(1, 10) i", run*10, run*2))
		d := newDesk(t)
		maps.Copy(d.env, c.env)
		d.env["DATABASE_URL"] = db.url
		d.write(t, "rivet.yaml", strings.Replace(changesConfig, "{ type: local, path: out }", fmt.Sprintf("{ type: s3, bucket: %s, prefix: \"shop/{export}\" }", c.bucket), 1))
		d.must(t, "run", "--state", "dynamodb://"+c.table)
		for _, file := range published(t, c.inBucket(t, "shop/changes")).files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(strings.TrimSpace(string(body)), "\n")[1:] {
				seen[line]++
			}
		}
		d.leavesNothing(t)
	}
	for line, n := range seen {
		if n != 1 {
			t.Errorf("row %s comes %d times", line, n)
		}
	}
	if len(seen) != 40 {
		t.Errorf("%d of 40 rows", len(seen))
	}
}
