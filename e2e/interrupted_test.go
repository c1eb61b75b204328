package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// lines is a table of rows that differ, and an export that cuts it into twenty
// chunks.
const (
	createLines = "CREATE TABLE lines (id integer PRIMARY KEY, v text); INSERT INTO lines SELECT i, md5(i::text) FROM generate_series(1, 2000) i; ANALYZE lines"
	lineChunks  = 20
	lineConfig  = `source: { type: postgres, url_env: DATABASE_URL }
exports:
  - { name: lines, table: public.lines, mode: chunked, chunk_size: 100, format: parquet, destination: { type: local, path: out } }
`
)

var lineColumns = []column{{name: "id", canonical: "%s::text"}, {name: "v", canonical: "%s"}}

// newLines is a desk with the table and the export.
func newLines(t *testing.T) (*desk, *database) {
	t.Helper()
	testenv.Server(t, testenv.ReaderPython)
	db := newDatabase(t)
	db.exec(t, createLines)
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	d.write(t, "rivet.yaml", lineConfig)
	return d, db
}

// holdsLines compares what is published with the table.
func holdsLines(t *testing.T, db *database, p publication) {
	t.Helper()
	sameRows(t, sourceRows(t, db, "lines", lineColumns), normalized(t, p.rows(t, "pyarrow", namesOf(lineColumns)), nil))
}

const chunkDone = `"chunk completed"`

func TestAKilledRunIsInvisibleAndResumesToEveryRowOnce(t *testing.T) {
	for _, tc := range []struct {
		name string
		nth  int
		line string
		kept int // chunks that the resume must not read again
	}{
		{"when the run has started", 1, `"run started"`, 0},
		{"at the first chunk", 1, chunkDone, 1},
		{"at the second chunk", 2, chunkDone, 2},
		{"half way", lineChunks / 2, chunkDone, lineChunks / 2},
		{"at the last chunk but one", lineChunks - 1, chunkDone, lineChunks - 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, db := newLines(t)
			o := d.start(t, signalAt(tc.nth, tc.line, syscall.SIGKILL), "run", "--workers", "2").wait(t)
			if o.code != 128+int(syscall.SIGKILL) {
				t.Fatalf("it was not killed: %s", o)
			}
			unpublished(t, filepath.Join(d.dir, "out"))
			o = d.must(t, "resume", "--workers", "2")
			if read := strings.Count(o.stderr, chunkDone); read > lineChunks-tc.kept {
				t.Errorf("%d chunks were read again, %d were done", read, tc.kept)
			}
			holdsLines(t, db, published(t, inFolder(t, filepath.Join(d.dir, "out"))))
			d.must(t, "validate")
		})
	}
}

func TestAKilledRunsSuccessorReadsEverythingItself(t *testing.T) {
	d, db := newLines(t)
	d.start(t, signalAt(7, chunkDone, syscall.SIGKILL), "run").wait(t)
	db.exec(t, "UPDATE lines SET v = 'new ' || v")
	d.must(t, "run")
	holdsLines(t, db, published(t, inFolder(t, filepath.Join(d.dir, "out"))))
}

func TestARunThatIsKilledAgainAndAgainComesToItsEnd(t *testing.T) {
	d, db := newLines(t)
	o := d.start(t, signalAt(3, chunkDone, syscall.SIGKILL), "run", "--workers", "2").wait(t)
	lives := 1
	for ; o.code == 128+int(syscall.SIGKILL); lives++ {
		if lives > lineChunks {
			t.Fatal("no life gets any further")
		}
		unpublished(t, filepath.Join(d.dir, "out"))
		o = d.start(t, signalAt(3, chunkDone, syscall.SIGKILL), "resume", "--workers", "2").wait(t)
	}
	if o.code != 0 || lives < 4 {
		t.Fatalf("after %d lives: %s", lives, o)
	}
	holdsLines(t, db, published(t, inFolder(t, filepath.Join(d.dir, "out"))))
}

// A process that slept while another one, which knows nothing of it, ran the
// export anew, changes nothing any more.
func TestASleeperWakesUpAfterItsSuccessor(t *testing.T) {
	for _, tc := range []struct {
		name string
		line string
		nth  int
	}{
		{"half way", chunkDone, lineChunks / 2},
		{"after its last chunk", chunkDone, lineChunks},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, db := newLines(t)
			seen := 0
			o := d.start(t, func(p *process, line string) {
				if strings.Contains(line, tc.line) {
					seen++
				}
				if seen != tc.nth || !strings.Contains(line, tc.line) {
					return
				}
				_ = p.cmd.Process.Signal(syscall.SIGSTOP)
				db.exec(t, "UPDATE lines SET v = 'new ' || v")
				d.must(t, "run", "--state", "elsewhere.db")
				_ = p.cmd.Process.Signal(syscall.SIGCONT)
			}, "run").wait(t)
			p := published(t, inFolder(t, filepath.Join(d.dir, "out")))
			holdsLines(t, db, p)
			d.must(t, "validate")
			if o.code != fault.ExitRefused {
				t.Errorf("want exit code %d: %s", fault.ExitRefused, o)
			}
		})
	}
}

var printedCommand = regexp.MustCompile(`(?:resume|validate) with: lapstrake (.*)`)

func TestASignalFailsTheRunAndSaysHowToResume(t *testing.T) {
	for _, tc := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(tc.signal.String(), func(t *testing.T) {
			d, db := newLines(t)
			o := d.start(t, signalAt(3, chunkDone, tc.signal), "run", "--summary-output", "summary.json").wait(t)
			if o.code != tc.code {
				t.Fatalf("want exit code %d: %s", tc.code, o)
			}
			unpublished(t, filepath.Join(d.dir, "out"))
			said := printedCommand.FindStringSubmatch(o.stderr)
			if said == nil {
				t.Fatalf("no word of resume: %s", o)
			}
			var runs []runstate.Run
			if err := json.Unmarshal([]byte(d.must(t, "status", "--json").stdout), &runs); err != nil {
				t.Fatal(err)
			}
			if len(runs) != 1 || runs[0].Status != runstate.RunFailed || runs[0].Error.Code != "LAPSTRAKE_RUN_INTERRUPTED" {
				t.Errorf("status shows %+v", runs)
			}
			o = d.must(t, strings.Fields(said[1])...)
			if read := strings.Count(o.stderr, chunkDone); read > lineChunks-3 {
				t.Errorf("%d chunks were read again", read)
			}
			holdsLines(t, db, published(t, inFolder(t, filepath.Join(d.dir, "out"))))
		})
	}
}

// Whenever a signal comes, either the run is done or the command that is
// printed ends it.
func TestASignalAtAnyTimeIsNoOtherError(t *testing.T) {
	for _, tc := range []struct {
		line string
		nth  int
	}{{"GLOB_READERS_SEE_OLD_PARTS", 1}, {`"run started"`, 1}, {chunkDone, 1}, {chunkDone, lineChunks}, {`"run succeeded"`, 1}} {
		t.Run(fmt.Sprintf("%d of %s", tc.nth, tc.line), func(t *testing.T) {
			d, db := newLines(t)
			o := d.start(t, signalAt(tc.nth, tc.line, syscall.SIGTERM), "run", "--state", "other.db").wait(t)
			if said := printedCommand.FindStringSubmatch(o.stderr); o.code == 143 && said != nil {
				o = d.run(t, strings.Fields(said[1])...)
			}
			if o.code != 0 {
				t.Fatal(o)
			}
			holdsLines(t, db, published(t, inFolder(t, filepath.Join(d.dir, "out"))))
		})
	}
}

func TestASecondProcessOnOneStateFileNamesTheFirst(t *testing.T) {
	d, db := newLines(t)
	var second outcome
	tried := false
	o := d.start(t, func(p *process, line string) {
		if tried || !strings.Contains(line, chunkDone) {
			return
		}
		tried = true
		_ = p.cmd.Process.Signal(syscall.SIGSTOP)
		second = d.run(t, "run")
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		if pid := fmt.Sprint(p.cmd.Process.Pid); second.code != 2 || !strings.Contains(second.stderr, pid) {
			t.Errorf("want exit code 2 and pid %s: %s", pid, second)
		}
	}, "run").wait(t)
	if o.code != 0 || !tried {
		t.Fatalf("the first: %s", o)
	}
	holdsLines(t, db, published(t, inFolder(t, filepath.Join(d.dir, "out"))))
}
