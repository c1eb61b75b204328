package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// trouble is a run that cannot succeed.
type trouble struct {
	name string
	// sql is run before, on a database with the table lines.
	sql string
	// config is an export's keys after its name, or a whole file if it begins
	// with "source:".
	config string
	args   []string // "run" if there are none
	env    map[string]string
	// midway is SQL that is run when the first chunk is done.
	midway string
	code   int
	// says are what the error must contain: its code, and the names of what is
	// wrong.
	says []string
}

const (
	toFolder = "destination: { type: local, path: out }"
	byRanges = "table: public.lines, mode: chunked, chunk_size: 100, format: parquet, "
)

var troubles = []trouble{
	{name: "a server that is not there", env: map[string]string{"DATABASE_URL": "postgres://u:$SECRET@127.0.0.1:1/d"}, code: fault.ExitRetryable, says: []string{"127.0.0.1:1"}},
	{name: "a wrong password", env: map[string]string{"DATABASE_URL": "$URL_WITH_WRONG_PASSWORD"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_SOURCE_", "password"}},
	{name: "a database that is not there", env: map[string]string{"DATABASE_URL": "$URL_nowhere"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_SOURCE_", "nowhere"}},
	{name: "a variable that is not set", env: map[string]string{"DATABASE_URL": ""}, code: fault.ExitGeneric, says: []string{"DATABASE_URL"}},
	{name: "a table that is not there", config: "table: public.nothing, format: parquet, " + toFolder, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_SOURCE_TABLE_MISSING", `"public"."nothing"`}},
	{name: "a table that the user may not read", sql: "REVOKE ALL ON lines FROM public", code: fault.ExitGeneric, says: []string{"LAPSTRAKE_SOURCE_", "lines"}},
	{name: "a chunk column that is not there", config: "table: public.lines, mode: chunked, chunk_column: nr, format: parquet, " + toFolder, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_", "nr"}},
	{name: "a chunk column in another case", config: "table: public.lines, mode: chunked, chunk_column: ID, format: parquet, " + toFolder, code: fault.ExitGeneric, says: []string{"ID", "the column is id"}},
	{name: "an override of a column that is not there", config: byRanges + "columns: { w: text }, " + toFolder, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CONFIG_COLUMN_UNKNOWN", "w"}},
	{name: "types without a mapping", sql: "ALTER TABLE lines ADD n numeric, ADD p point", code: fault.ExitGeneric, says: []string{"LAPSTRAKE_TYPE_UNMAPPED", `column "n"`, "decimal(p,s)", `column "p"`}},
	{name: "a value that cannot be written", sql: "ALTER TABLE lines ADD at timestamp; UPDATE lines SET at = 'infinity' WHERE id = 1234", code: fault.ExitRefused, says: []string{"LAPSTRAKE_SOURCE_VALUE_UNREPRESENTABLE", "at", "infinity"}},
	{name: "a table that vanishes midway", midway: "DROP TABLE lines", code: fault.ExitGeneric, says: []string{"LAPSTRAKE_SOURCE_TABLE_MISSING", `export "lines"`}},
	{name: "a column that vanishes midway", midway: "ALTER TABLE lines DROP v", code: fault.ExitDrift, says: []string{"LAPSTRAKE_SOURCE_", `column "v" is gone`}},
	{name: "a bucket that is not there", config: byRanges + "destination: { type: s3, bucket: lapstrake-e2e-nowhere }", code: fault.ExitGeneric, says: []string{"LAPSTRAKE_DEST_", "lapstrake-e2e-nowhere"}},
	{name: "a key that the store does not know", config: byRanges + "destination: { type: s3, bucket: $BUCKET }", env: map[string]string{"AWS_SECRET_ACCESS_KEY": "$SECRET"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_DEST_", "$BUCKET"}},
	{name: "a bucket that may only be read", config: byRanges + "destination: { type: s3, bucket: $BUCKET, endpoint: \"$STORE\", region: us-east-1, allow_anonymous: true }", env: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_DEST_", "$BUCKET"}},
	{name: "a folder that may only be read", config: byRanges + "destination: { type: local, path: /sys/lapstrake }", code: fault.ExitGeneric, says: []string{"/sys/lapstrake"}},
	{name: "a folder that is a file", config: byRanges + "destination: { type: local, path: rivet.yaml }", code: fault.ExitGeneric, says: []string{"rivet.yaml"}},
	{name: "two exports with one folder", config: "source: { type: postgres, url_env: DATABASE_URL }\nexports:\n  - { name: one, " + byRanges + toFolder + " }\n  - { name: two, " + byRanges + toFolder + " }\n", code: fault.ExitGeneric, says: []string{"rivet.yaml:4", "one", "two"}},
	{name: "a key that is misspelt", config: "source:\n  type: postgres\n  url_env: DATABASE_URL\nexports:\n  - name: lines\n    tabel: lines\n", code: fault.ExitGeneric, says: []string{"rivet.yaml:6", "tabel", "did you mean table?"}},
	{name: "a file that is not YAML", config: "source: [", code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CONFIG_YAML", "rivet.yaml"}},
	{name: "a mode that is not supported", config: "table: lines, mode: cdc, format: parquet, " + toFolder, code: fault.ExitGeneric, says: []string{"rivet.yaml:3", "cdc"}},
	{name: "a config that is not there", args: []string{"run", "-c", "elsewhere.yaml"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CONFIG_UNREADABLE", "elsewhere.yaml"}},
	{name: "an export that is not there", args: []string{"run", "-e", "other"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CONFIG_EXPORT_UNKNOWN", "other"}},
	{name: "a flag that is not there", args: []string{"run", "--wrkers", "2"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CLI_USAGE", "--wrkers"}},
	{name: "a flag without a number", args: []string{"run", "--workers", "two"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CLI_USAGE", "two"}},
	{name: "an argument too many", args: []string{"run", "lines"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CLI_USAGE", "lines"}},
	{name: "two arguments of resume", args: []string{"resume", "one", "two"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CLI_USAGE"}},
	{name: "a verb that is not there", args: []string{"rnu"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CLI_USAGE", "rnu"}},
	{name: "nothing to resume", args: []string{"resume"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_RUN_NOTHING_TO_RESUME"}},
	{name: "a run that nobody knows", args: []string{"resume", "lines_20200101T000000.000"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_RUN_UNKNOWN", "lines_20200101T000000.000"}},
	{name: "a state file in a folder that is a file", args: []string{"run", "--state", "rivet.yaml/state.db"}, code: fault.ExitGeneric, says: []string{"rivet.yaml/state.db"}},
	{name: "a state table that is not there", args: []string{"run", "--state", "dynamodb://lapstrake-nowhere"}, code: fault.ExitGeneric, says: []string{"lapstrake-nowhere"}},
	{name: "a lease that is no duration", env: map[string]string{"LAPSTRAKE_LEASE": "soon"}, code: fault.ExitGeneric, says: []string{"LAPSTRAKE_CONFIG_SETTING", "soon"}},
}

func TestTroubleIsOneClearErrorAndNothingIsPublished(t *testing.T) {
	db := newDatabase(t)
	c := newCloud(t)
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":["s3:GetObject","s3:ListBucket"],"Resource":["arn:aws:s3:::%[1]s","arn:aws:s3:::%[1]s/*"]}]}`, c.bucket)
	if _, err := c.client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: aws.String(c.bucket), Policy: aws.String(policy)}); err != nil {
		t.Fatal(err)
	}
	role, secret := "e2e_"+strings.ToLower(rand.Text()[:12]), "hunter2-"+rand.Text()
	db.exec(t, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", role, secret))
	t.Cleanup(func() {
		if _, err := db.conn.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role); err != nil {
			t.Error(err)
		}
	})
	at, err := url.Parse(db.url)
	if err != nil {
		t.Fatal(err)
	}
	as := func(password, path string) string {
		to := *at
		to.User = url.UserPassword(role, password)
		if path != "" {
			to.Path = path
		}
		return to.String()
	}
	fill := strings.NewReplacer("$SECRET", secret, "$BUCKET", c.bucket, "$STORE", testenv.Server(t, testenv.S3Endpoint),
		"$URL_WITH_WRONG_PASSWORD", as(secret+"-not", ""), "$URL_nowhere", as(secret, "/nowhere")).Replace
	for _, tc := range troubles {
		t.Run(tc.name, func(t *testing.T) {
			db.exec(t, "DROP TABLE IF EXISTS lines; "+createLines+"; GRANT SELECT ON lines TO public; "+tc.sql)
			d := newDesk(t)
			for k, v := range c.env {
				d.env[k] = v
			}
			d.env["DATABASE_URL"] = as(secret, "")
			for k, v := range tc.env {
				d.env[k] = fill(v)
			}
			d.write(t, "rivet.yaml", fill(tc.file()))
			args := tc.args
			if args == nil {
				args = []string{"run"}
			}
			watch := func(_ *process, line string) {
				if tc.midway != "" && strings.Contains(line, chunkDone) {
					db.exec(t, tc.midway)
					tc.midway = ""
				}
			}
			o := d.start(t, watch, args...).wait(t)
			if o.code != tc.code || strings.Count("\n"+o.stderr, "\nError: ") != 1 {
				t.Errorf("want exit code %d and one error: %s", tc.code, o)
			}
			_, message, _ := strings.Cut("\n"+o.stderr, "\nError: ")
			for _, word := range tc.says {
				if word = fill(word); !strings.Contains(message, word) {
					t.Errorf("the error does not say %q: %s", word, o)
				}
			}
			unpublished(t, d.dir)
			d.keepsSecret(t, secret, o)
		})
	}
}

func TestEveryExportThatFailsHasItsErrorAndTheOthersRun(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, createLines)
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	config := "source: { type: postgres, url_env: DATABASE_URL }\nexports:\n"
	for _, table := range []string{"nothing", "lines", "nowhere"} {
		config += fmt.Sprintf("  - { name: %[1]s, table: public.%[1]s, format: parquet, destination: { type: local, path: out/%[1]s } }\n", table)
	}
	d.write(t, "rivet.yaml", config)
	o := d.run(t, "run")
	for _, table := range []string{"nothing", "nowhere"} {
		if n := strings.Count("\n"+o.stderr, "\nError: [LAPSTRAKE_SOURCE_TABLE_MISSING] export \""+table+"\""); n != 1 {
			t.Errorf("%d errors of %s", n, table)
		}
	}
	if o.code != fault.ExitGeneric || strings.Count("\n"+o.stderr, "\nError: ") != 2 {
		t.Errorf("want exit code %d and two errors: %s", fault.ExitGeneric, o)
	}
	if p := published(t, inFolder(t, filepath.Join(d.dir, "out/lines"))); p.manifest.RowCount != 2000 {
		t.Errorf("%d rows are published", p.manifest.RowCount)
	}
}

// file is the config of the case.
func (tc trouble) file() string {
	switch {
	case strings.HasPrefix(tc.config, "source:"):
		return tc.config
	case tc.config == "":
		return lineConfig
	}
	return "source: { type: postgres, url_env: DATABASE_URL }\nexports:\n  - { name: lines, " + tc.config + " }\n"
}

// keepsSecret fails when the secret was printed or stored.
func (d *desk) keepsSecret(t *testing.T, secret string, o outcome) {
	t.Helper()
	if strings.Contains(o.stdout+o.stderr, secret) {
		t.Errorf("the secret was printed: %s", o)
	}
	for _, dir := range []string{d.dir, d.home, d.tmp} {
		for _, name := range files(t, dir) {
			body, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(body), secret) {
				t.Errorf("the secret was stored in %s", name)
			}
		}
	}
}
