package e2e

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/standin"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// sqlServer starts the stand-in for SQL Server with the table dbo.orders, and
// returns its URL. No SQL Server was met.
func sqlServer(t *testing.T, rows int, now time.Time) (at string, d *standin.Database) {
	t.Helper()
	d = &standin.Database{Name: "shop", Snapshot: true, Now: func() time.Time { return now }}
	text := tdsfake.Type{Name: "nvarchar", Length: 50}
	d.Create("dbo", "orders", []standin.Column{
		{Name: "id", Type: tdsfake.Type{Name: "bigint"}, NotNull: true},
		{Name: "ref", Type: tdsfake.Type{Name: "uniqueidentifier"}, NotNull: true},
		{Name: "bucket", Type: tdsfake.Type{Name: "int"}},
		{Name: "price", Type: tdsfake.Type{Name: "decimal", Precision: 38, Scale: 10}},
		{Name: "note", Type: text},
		{Name: "updated_at", Type: tdsfake.Type{Name: "datetime"}, NotNull: true},
	}, "ref")
	for i := range rows {
		addOrder(d, i, now.Add(-time.Duration(i)*time.Minute))
	}
	s, err := standin.Serve(d, tdsfake.Options{Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return "sqlserver://sa:secret@" + s.Address() + "/shop", d
}

func orderRef(i int) (ref [16]byte) {
	for at := range ref {
		ref[at] = byte(i * (at + 3) * 37)
	}
	ref[3], ref[10] = byte(i), byte(i>>8)
	return ref
}

// addOrder adds the i-th order; every seventh has no bucket, every fifth no note.
func addOrder(d *standin.Database, i int, at time.Time) {
	row := []any{int64(i), orderRef(i), int64(i / 10), big.NewRat(int64(i)*1001-7, 1000), fmt.Sprintf("order %d 漢😀", i), at}
	if i%7 == 0 {
		row[2] = nil
	}
	if i%5 == 0 {
		row[4] = nil
	}
	d.Insert("dbo", "orders", row)
}

// orderText is the i-th order as ordersQuery prints it.
func orderText(i int) string {
	ref := orderRef(i)
	cells := []string{fmt.Sprint(i), fmt.Sprintf("%x-%x-%x-%x-%x", ref[:4], ref[4:6], ref[6:8], ref[8:10], ref[10:]), fmt.Sprint(i / 10), big.NewRat(int64(i)*1001-7, 1000).FloatString(10), fmt.Sprintf("order %d 漢😀", i)}
	if i%7 == 0 {
		cells[2] = "null"
	}
	if i%5 == 0 {
		cells[4] = "null"
	}
	return strings.Join(cells, "|")
}

const ordersQuery = "SELECT coalesce(string_agg(concat_ws('|', id, ref, coalesce(bucket::text, 'null'), price, coalesce(note, 'null')), '\n'), '') FROM parts"

func orderTexts(rows int) (all []string) {
	for i := range rows {
		all = append(all, orderText(i))
	}
	return all
}

func TestEveryRowOfTheStandInForSQLServerArrives(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	const rows = 700
	at, _ := sqlServer(t, rows, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	cuts := []sourceCut{
		{"full", "mode: full", 1},
		{"ranges of a column", "mode: chunked, chunk_column: id, chunk_count: 5", 5},
		{"ranges of a column with NULLs", "mode: chunked, chunk_column: bucket, chunk_size: 20", 3},
		{"a uniqueidentifier in the server's order", "mode: chunked, chunk_by_key: ref, chunk_size: 100", 4},
		{"a cursor", "mode: incremental, cursor_column: updated_at", 1},
	}
	d := newDesk(t)
	d.env["DATABASE_URL"] = at
	runCuts(t, d, "", "{ type: mssql, url_env: DATABASE_URL }", "table: dbo.orders", cuts, []string{"parquet"}, func(t *testing.T, of map[string]publication) {
		p := of["parquet"]
		if s := p.manifest.Source; s.Engine != "mssql" || s.Extraction.Consistency != "per_task" {
			t.Errorf("the manifest says %+v, %+v", s, s.Extraction)
		}
		sameRows(t, orderTexts(rows), strings.Split(p.query(t, ordersQuery), "\n"))
	})
}

// Without SNAPSHOT isolation the manifest says what the rows were read under.
func TestTheManifestOfSQLServerSaysWhatATaskSaw(t *testing.T) {
	at, db := sqlServer(t, 10, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	for versions, want := range map[bool]string{false: "per_task_read_committed", true: "per_task_statement_snapshot"} {
		db.Snapshot, db.Versions = false, versions
		d := newDesk(t)
		d.env["DATABASE_URL"] = at
		d.write(t, "rivet.yaml", "source: { type: mssql, url_env: DATABASE_URL }\nexports:\n  - { name: orders, table: orders, mode: full, format: csv, destination: { type: local, path: out } }\n")
		d.must(t, "run")
		if p := published(t, inFolder(t, filepath.Join(d.dir, "out"))); p.manifest.RowCount != 10 || p.manifest.Source.Extraction.Consistency != want {
			t.Errorf("%d rows, %q, want %q", p.manifest.RowCount, p.manifest.Source.Extraction.Consistency, want)
		}
	}
}

func TestTheExampleOfSQLServerRuns(t *testing.T) {
	testenv.Server(t, testenv.ReaderPython)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	at, db := sqlServer(t, 100, now)
	d := newDesk(t)
	d.env["DATABASE_URL"] = at
	body, err := os.ReadFile("../examples/sqlserver/rivet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d.write(t, "rivet.yaml", string(body))
	d.must(t, "run")
	if p := published(t, inFolder(t, filepath.Join(d.dir, "exports/orders"))); p.manifest.RowCount != 100 {
		t.Errorf("%d of 100 rows", p.manifest.RowCount)
	}
	addOrder(db, 100, now.Add(-4*time.Minute)) // young, and behind the position
	addOrder(db, 101, now.Add(-5*time.Minute-500*time.Millisecond))
	d.must(t, "run", "--export", "orders_new")
	runs, err := filepath.Glob(filepath.Join(d.dir, "exports/orders_new/*"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, run := range runs {
		if !strings.Contains(run, "_lapstrake") {
			got = append(got, strings.Split(published(t, inFolder(t, run)).query(t, ordersQuery), "\n")...)
		}
	}
	// Of the first 100, the six that are not older than five minutes wait, and so
	// does one of the late two.
	sameRows(t, slices.Concat(orderTexts(100)[6:], []string{orderText(101)}), got)
}
