package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// M10: what a run needs to know of earlier ones is in the destination. Between
// two runs everything local is deleted, and the second one continues where the
// first one ended, or seals it if it was killed.
func TestM10EverythingLocalDeletedBetweenRuns(t *testing.T) {
	c := needContest(t)
	for _, mode := range append([]string{wholeTable}, newRows...) {
		for _, place := range []string{"bucket", "folder"} {
			for _, tc := range []struct {
				name string
				line string // at which the first run is killed
			}{{"after a run", ""}, {"after a run that was killed when it had started", `"run started"`}, {"after a run that was killed at its first chunk", chunkDone}} {
				t.Run(mode+" into a "+place+", "+tc.name, func(t *testing.T) {
					t.Parallel()
					x := contest(t, c, "local "+mode+tc.name)
					x.mode = mode
					if place == "folder" {
						x.folder = t.TempDir()
					}
					d := x.desk(t, nil, nil)
					n := 0
					if tc.line != "" {
						n = 1
					}
					o := d.start(t, signalAt(n, tc.line, syscall.SIGKILL), "run").wait(t)
					_, before := x.judge(t)
					if killed := o.code == 128+int(syscall.SIGKILL); killed != (n > 0) || n == 0 && len(before) != 1 {
						t.Fatalf("%d runs have committed after %s", len(before), o)
					}
					x.grow(t, 100)

					if err := os.RemoveAll(filepath.Join(d.dir, ".lapstrake")); err != nil {
						t.Fatal(err)
					}
					next := x.desk(t, nil, nil) // another machine, which has the config and nothing else
					next.must(t, "run")
					m := x.wantNewest(t)
					if m.Generation != 2 {
						t.Errorf("generation %d: the second run knows nothing of the first", m.Generation)
					}
					if len(before) == 1 && mode != wholeTable && m.RowCount != 100 {
						t.Errorf("the second run delivers %d rows, new are 100", m.RowCount)
					}
					_, after := x.judge(t)
					if names := x.sidecars(t); len(after) != len(before)+1 || len(names) != 2 {
						t.Errorf("%d runs have committed, %d had before; the first one is sealed or not: %q", len(after), len(before), names)
					}
				})
			}
		}
	}
}
