package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/contract"
)

// contested is one export on a cloud that several processes write at once.
type contested struct {
	cloud  cloud
	db     *database
	export string
	// versions are the rows of the table at all times: a run reads one of them.
	versions []map[string]int
	newest   contract.Generation // that manifest.json has had
}

const (
	contestedRows   = 600
	contestedChunks = 6
)

// contest makes an export with a database of its own in a cloud.
func contest(t *testing.T, c cloud, name string) *contested {
	t.Helper()
	db := newDatabase(t)
	db.exec(t, fmt.Sprintf("CREATE TABLE lines (id integer PRIMARY KEY, v text); INSERT INTO lines SELECT i, md5(i::text) FROM generate_series(1, %d) i; ANALYZE lines", contestedRows))
	x := &contested{cloud: c, db: db, export: strings.Map(func(r rune) rune {
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
	d.write(t, "rivet.yaml", fmt.Sprintf(`source: { type: postgres, url_env: DATABASE_URL }
exports:
  - { name: %s, table: public.lines, mode: chunked, chunk_size: %d, parallel: 2, format: csv, compression: none, destination: { type: s3, bucket: %s, prefix: "shop/{export}" } }
`, x.export, contestedRows/contestedChunks, x.cloud.bucket))
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
	return x.cloud.inBucket(t, "shop/"+x.export)
}

// judge fails the test when a reader could be deceived: a marker without its
// manifest, an older generation over a newer one, or a success, of whatever run,
// that is not the table as it was at some time, each row once. It returns the
// manifest that a reader trusts now, if there is one, and the runs that have
// succeeded.
func (x *contested) judge(t *testing.T) (*contract.Manifest, map[contract.RunID]bool) {
	t.Helper()
	get := x.get(t)
	committed := make(map[contract.RunID]bool)
	for _, name := range x.sidecars(t) {
		m := x.decode(t, name, get(name))
		if m.Status == contract.StatusSuccess {
			committed[m.RunID] = true
			x.wantTable(t, name, m)
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
	x.wantTable(t, contract.ManifestName, m)
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
	out, err := x.cloud.client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(x.cloud.bucket), Prefix: aws.String("shop/" + x.export + "/manifest-")})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range out.Contents {
		if name := path.Base(aws.ToString(o.Key)); contract.IsSidecarName(name) {
			names = append(names, name)
		}
	}
	return names
}

// wantTable fails the test unless the parts of a manifest are the table at some
// time.
func (x *contested) wantTable(t *testing.T, name string, m contract.Manifest) {
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
	for _, version := range x.versions {
		if maps.Equal(version, rows) {
			return
		}
	}
	t.Fatalf("%s of run %s: %d different rows of %d in the table; it is not the table at any time", name, m.RunID, len(rows), len(x.versions[0]))
}

// wantNewest fails the test unless a reader finds the table as it is now, and
// the cursor is that of the run that published it.
func (x *contested) wantNewest(t *testing.T) contract.Manifest {
	t.Helper()
	m, _ := x.judge(t)
	if m == nil {
		t.Fatal("nothing is published")
	}
	versions := x.versions
	x.versions = versions[len(versions)-1:]
	x.wantTable(t, "the newest manifest", *m)
	x.versions = versions
	doc, err := contract.DecodeCursor(x.cloud.inBucket(t, "shop/"+x.export)(contract.CursorKey(contract.ExportName(x.export))))
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
