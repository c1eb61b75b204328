package e2e

import (
	"crypto/rand"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// newGroup makes a control group whose processes the kernel ends when they take
// more than limit bytes together, and returns its folder. It lies in the group
// of the test or, where that one may have none, in one around it.
//
// It takes root and control groups that are not mounted read-only, which most
// containers have. That is a property of the machine and nothing that a script
// could install: without it the test is skipped, also where every server is
// required.
func newGroup(t *testing.T, limit int64) string {
	t.Helper()
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip("this system has no control groups")
	}
	why := error(nil)
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, own, _ := strings.Cut(rest, ":")
		mount, file := "/sys/fs/cgroup", "memory.max"
		if controllers == "memory" {
			mount, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if controllers != "" {
			continue
		}
		for at := own; ; at = path.Dir(at) {
			dir := filepath.Join(mount, at, "lapstrake-e2e-"+rand.Text()[:8])
			if why = limited(dir, file, limit); why == nil {
				t.Cleanup(func() {
					if err := syscall.Rmdir(dir); err != nil {
						t.Errorf("remove the control group: %v", err)
					}
				})
				return dir
			}
			if at == "/" || controllers != "" {
				break
			}
		}
	}
	t.Skipf("no control group can be made here: %v", why)
	return ""
}

// limited makes the group, and leaves nothing if it cannot be limited.
func limited(dir, file string, limit int64) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	_, err := os.Stat(filepath.Join(dir, file)) // a file that is not there would be made elsewhere
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(limit, 10)), 0o644)
	}
	if err != nil {
		_ = syscall.Rmdir(dir)
	}
	return err
}

// createWide makes rows of 3 kB that shrink little.
const createWide = `CREATE UNLOGGED TABLE wide (id bigint PRIMARY KEY, body text NOT NULL);
ALTER TABLE wide ALTER body SET STORAGE external;
INSERT INTO wide SELECT i, (SELECT string_agg(md5((i * 100 + n)::text), '') FROM generate_series(1, 94) n) FROM generate_series(1, %d::bigint) i;
ANALYZE wide`

// The smallest functions that these rows are promised to fit into: a part of the
// size of the defaults has to fit beside all else. With LAPSTRAKE_E2E_FULL=1 the
// tables have more than one part.
func TestAnExportFitsIntoASmallFunction(t *testing.T) {
	scale := 1
	if os.Getenv("LAPSTRAKE_E2E_FULL") != "" {
		scale = 10
	}
	for _, tc := range []struct {
		name, table, create string
		rows                int
		megabytes           int64
	}{
		{"lineitem in 256 MB", "lineitem", createLineItem, 600_000 * scale, 256},
		{"rows of 3 kB in 512 MB", "wide", createWide, 60_000 * scale, 512},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDesk(t)
			d.group = newGroup(t, tc.megabytes<<20)
			db := newDatabase(t)
			db.exec(t, fmt.Sprintf(tc.create, tc.rows))
			d.env["DATABASE_URL"] = db.url
			d.write(t, "rivet.yaml", "source: { type: postgres, url_env: DATABASE_URL }\nexports:\n  - { name: small, table: public."+tc.table+
				", mode: full, format: parquet, destination: { type: local, path: out } }\n")
			o := d.must(t, "run", "--workers", "1")
			t.Logf("at most %d MiB, %.1f CPU-seconds", o.peak>>20, o.cpu.Seconds())
			p := published(t, inFolder(t, filepath.Join(d.dir, "out")))
			if p.manifest.RowCount != int64(tc.rows) {
				t.Errorf("%d rows are published, the table has %d", p.manifest.RowCount, tc.rows)
			}
		})
	}
}

// A value that does not fit is refused by name. The system would end the process
// without a word.
func TestAValueBeyondItsLimitIsNotReadIntoMemory(t *testing.T) {
	d := newDesk(t)
	d.group = newGroup(t, 128<<20)
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE documents (id integer PRIMARY KEY, body text); ALTER TABLE documents ALTER body SET STORAGE external;"+
		"INSERT INTO documents VALUES (1, 'short'), (2, repeat('x', 20 << 20)), (3, repeat('x', 300 << 20))")
	d.env["DATABASE_URL"] = db.url
	for _, where := range []string{"id < 3", "id <> 2"} {
		d.write(t, "rivet.yaml", "source: { type: postgres, url_env: DATABASE_URL }\nexports:\n  - { name: documents, query: 'select * from documents where "+where+
			"', mode: full, format: parquet, tuning: { max_value_mb: 16 }, destination: { type: local, path: out } }\n")
		o := d.run(t, "run", "--workers", "1")
		if o.code != fault.ExitRefused || !strings.Contains(o.stderr, "LAPSTRAKE_SOURCE_VALUE_TOO_LARGE") || !strings.Contains(o.stderr, "max_value_mb") || !strings.Contains(o.stderr, "row 2") {
			t.Errorf("%s: %s", where, o)
		}
	}
}
