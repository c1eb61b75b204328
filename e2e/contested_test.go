package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/contract"
)

// contested is one export that several processes write, on a cloud or in a
// folder.
type contested struct {
	cloud  cloud
	folder string // "" on a cloud
	db     *database
	export string
	// mode is its mode in the config, of whole tables or of what is new.
	mode string
	// versions are the rows of the table at all times: a run reads one of them.
	versions []map[string]int
	newest   contract.Generation // that manifest.json has had
}

const (
	contestedRows   = 600
	contestedChunks = 6
	wholeTable      = "mode: chunked, chunk_size: 100"
)

// newRows are the modes whose runs deliver what no run has delivered.
var newRows = []string{"mode: incremental, cursor_column: id", "mode: chunked, chunk_by_key: id, keyset_incremental: true"}

// contest makes an export with a database of its own in a cloud.
func contest(t *testing.T, c cloud, name string) *contested {
	t.Helper()
	db := newDatabase(t)
	db.exec(t, fmt.Sprintf("CREATE TABLE lines (id integer PRIMARY KEY, v text); INSERT INTO lines SELECT i, md5(i::text) FROM generate_series(1, %d) i; ANALYZE lines", contestedRows))
	x := &contested{cloud: c, db: db, mode: wholeTable, export: strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))}
	x.remember(t)
	return x
}

// remember notes the rows that the table has now.
func (x *contested) remember(t *testing.T) {
	t.Helper()
	rows := make(map[string]int)
	for _, row := range x.db.texts(t, "SELECT id || ',' || v FROM lines") {
		rows[row]++
	}
	x.versions = append(x.versions, rows)
}

// grow adds rows to the table.
func (x *contested) grow(t *testing.T, n int) {
	t.Helper()
	x.db.exec(t, fmt.Sprintf("INSERT INTO lines SELECT m + i, md5((m + i)::text) FROM generate_series(1, %d) i, (SELECT max(id) m FROM lines) AS top", n))
	x.remember(t)
}

// change gives every row of the table another value.
func (x *contested) change(t *testing.T) {
	t.Helper()
	x.db.exec(t, "UPDATE lines SET v = 'new ' || v")
	x.remember(t)
}

// desk is a machine that reaches the servers through the proxies, those that
// there are.
func (x *contested) desk(t *testing.T, store, table *proxy) *desk {
	t.Helper()
	d := newDesk(t)
	maps.Copy(d.env, x.cloud.env)
	d.env["DATABASE_URL"] = x.db.url
	if store != nil {
		d.env["AWS_ENDPOINT_URL_S3"] = store.url
	}
	if table != nil {
		d.env["AWS_ENDPOINT_URL_DYNAMODB"] = table.url
	}
	to := fmt.Sprintf(`{ type: s3, bucket: %s, prefix: "shop/{export}" }`, x.cloud.bucket)
	if x.folder != "" {
		to = fmt.Sprintf("{ type: local, path: %q }", x.folder)
	}
	d.write(t, "rivet.yaml", fmt.Sprintf(`source: { type: postgres, url_env: DATABASE_URL }
exports:
  - { name: %s, table: public.lines, %s, parallel: 2, format: csv, compression: none, destination: %s }
`, x.export, x.mode, to))
	return d
}

// command is a verb with the table of the cloud.
func (x *contested) command(verb ...string) []string {
	return append(verb, "--state", "dynamodb://"+x.cloud.table)
}

// proxies are one before each server.
func (x *contested) proxies(t *testing.T) (store, table *proxy) {
	t.Helper()
	return newProxy(t, x.cloud.env["AWS_ENDPOINT_URL_S3"]), newProxy(t, x.cloud.env["AWS_ENDPOINT_URL_DYNAMODB"])
}

func (x *contested) get(t *testing.T) func(string) []byte {
	if x.folder != "" {
		return inFolder(t, x.folder)
	}
	return x.cloud.inBucket(t, "shop/"+x.export)
}

// judge fails the test when a reader could be deceived: a marker without its
// manifest, an older generation over a newer one, or a success, of whatever run,
// that is not the table as it was at some time, each row once; or, where runs
// deliver what is new, a row in two successes. It returns the manifest that a
// reader trusts now, if there is one, and the runs that have succeeded.
func (x *contested) judge(t *testing.T) (*contract.Manifest, map[contract.RunID]bool) {
	t.Helper()
	get, union := x.get(t), make(map[string]int)
	committed := make(map[contract.RunID]bool)
	for _, name := range x.sidecars(t) {
		m := x.decode(t, name, get(name))
		if m.Status == contract.StatusSuccess {
			committed[m.RunID] = true
			x.wantRows(t, name, m, union)
		}
	}
	body, marker := get(contract.ManifestName), get(contract.SuccessName)
	if body == nil {
		if marker != nil {
			t.Fatal("there is a marker and no manifest")
		}
		return nil, committed
	}
	m := x.decode(t, contract.ManifestName, body)
	if m.Generation < x.newest {
		t.Fatalf("the manifest went from generation %d to %d", x.newest, m.Generation)
	}
	x.newest = m.Generation
	if !committed[m.RunID] {
		t.Fatalf("the manifest of run %s stands, and that run has not committed", m.RunID)
	}
	x.wantRows(t, contract.ManifestName, m, make(map[string]int))
	if !bytes.Equal(marker, contract.SuccessBody(body)) {
		return nil, committed // not yet, says the marker
	}
	return &m, committed
}

func (x *contested) decode(t *testing.T, name string, body []byte) contract.Manifest {
	t.Helper()
	m, err := contract.DecodeManifest(body)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

// sidecars are the names of all runs' own manifests.
func (x *contested) sidecars(t *testing.T) []string {
	t.Helper()
	var names []string
	if x.folder != "" {
		for _, name := range files(t, x.folder) {
			if contract.IsSidecarName(name) {
				names = append(names, name)
			}
		}
		return names
	}
	out, err := x.cloud.client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(x.cloud.bucket), Prefix: aws.String("shop/" + x.export + "/manifest-")})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out.Contents {
		if name := path.Base(aws.ToString(o.Key)); contract.IsSidecarName(name) {
			names = append(names, name)
		}
	}
	return names
}

// wantRows adds the rows of a manifest to those that were seen, and fails the
// test unless they are the table at some time or, where runs deliver what is new,
// rows of it that no other success has.
func (x *contested) wantRows(t *testing.T, name string, m contract.Manifest, seen map[string]int) {
	t.Helper()
	rows := x.rows(t, name, m)
	for row, n := range rows {
		seen[row] += n
		if x.mode != wholeTable && (seen[row] != 1 || x.versions[len(x.versions)-1][row] != 1) {
			t.Fatalf("%s of run %s: row %s is delivered %d times, and is in the table %d times", name, m.RunID, row, seen[row], x.versions[len(x.versions)-1][row])
		}
	}
	if x.mode == wholeTable && !slices.ContainsFunc(x.versions, func(v map[string]int) bool { return maps.Equal(v, rows) }) {
		t.Fatalf("%s of run %s: %d different rows of %d in the table; it is not the table at any time", name, m.RunID, len(rows), len(x.versions[0]))
	}
}

// rows are those of the parts that a manifest lists.
func (x *contested) rows(t *testing.T, name string, m contract.Manifest) map[string]int {
	t.Helper()
	get, rows := x.get(t), make(map[string]int)
	for _, p := range m.Parts {
		body := get(p.Path)
		if contract.FingerprintOf(body) != p.ContentFingerprint || int64(len(body)) != p.SizeBytes {
			t.Fatalf("%s: part %s is not as the manifest says", name, p.Path)
		}
		records, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
		if err != nil || len(records) == 0 {
			t.Fatalf("%s: part %s: %v", name, p.Path, err)
		}
		for _, record := range records[1:] {
			rows[strings.Join(record, ",")]++
		}
	}
	return rows
}

// wantNewest fails the test unless a reader finds the table as it is now, in the
// newest manifest or, where runs deliver what is new, in all successes together;
// and the cursor is that of the run that has published.
func (x *contested) wantNewest(t *testing.T) contract.Manifest {
	t.Helper()
	m, _ := x.judge(t)
	if m == nil {
		t.Fatal("nothing is published")
	}
	get, found := x.get(t), make(map[string]int)
	if x.mode == wholeTable {
		found = x.rows(t, contract.ManifestName, *m)
	} else {
		for _, name := range x.sidecars(t) {
			if success := x.decode(t, name, get(name)); success.Status == contract.StatusSuccess {
				maps.Copy(found, x.rows(t, name, success))
			}
		}
	}
	if now := x.versions[len(x.versions)-1]; !maps.Equal(now, found) {
		t.Fatalf("a reader finds %d rows, the table has %d", len(found), len(now))
	}
	doc, err := contract.DecodeCursor(get(contract.CursorKey(contract.ExportName(x.export))))
	if err != nil || doc.OwnerRunID != m.RunID || doc.State != contract.FenceCommitted || doc.Generation < m.Generation {
		t.Errorf("the cursor is that of %s at generation %d, %s (%v); the manifest that of %s at %d", doc.OwnerRunID, doc.Generation, doc.State, err, m.RunID, m.Generation)
	}
	return *m
}

// complete resumes the last run when the lease of its killed process has ended,
// or runs the export anew if there is nothing to resume.
func (x *contested) complete(t *testing.T, d *desk) {
	t.Helper()
	for range 1000 {
		o := d.run(t, x.command("resume")...)
		switch {
		case o.code == 0:
			return
		case strings.Contains(o.stderr, "LAPSTRAKE_RUN_ACTIVE"):
			continue
		case strings.Contains(o.stderr, "LAPSTRAKE_RUN_NOTHING_TO_RESUME"):
			d.must(t, x.command("run")...)
			return
		}
		t.Fatalf("resume: %s", o)
	}
	t.Fatal("the lease never ends")
}

func needContest(t *testing.T) cloud {
	t.Helper()
	testenv.Server(t, testenv.PostgresURL)
	return newCloud(t)
}
