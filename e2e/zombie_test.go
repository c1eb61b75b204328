package e2e

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// writes are requests in which processes are stopped or killed.
var writes = []struct {
	name string
	// inTable is true for a request to the table, else it is one to the store.
	inTable    bool
	n          int
	what, text string
}{
	{"creates its run", true, 1, "TransactWriteItems", `"planning"`},
	{"takes the fence", false, 1, "PUT cursor.json", `"opening"`},
	{"leaves its trace", false, 1, "PUT trace", ""},
	{"opens the fence", false, 1, "PUT cursor.json", `"open"`},
	{"stores its plan", false, 1, "PUT plan.json", ""},
	{"starts its run", true, 1, "UpdateItem", `"running"`},
	{"stores its first part", false, 1, "PUT part", ""},
	{"stores its last part", false, contestedChunks, "PUT part", ""},
	{"completes a task", true, 3, "UpdateItem", `"completed"`},
	{"freezes its run", true, 1, "UpdateItem", `"finalizing"`},
	{"commits", false, 1, "PUT sidecar", ""},
	{"publishes its manifest", false, 1, "PUT manifest.json", ""},
	{"publishes its marker", false, 1, "PUT _SUCCESS", ""},
	{"commits the cursor", false, 1, "PUT cursor.json", `"committed"`},
	{"records its success", true, 1, "TransactWriteItems", `"succeeded"`},
}

// A process is stopped in a write, which is on its way. A newer run publishes.
// Then the write arrives, and the process wakes up: nothing of it replaces what
// is newer.
func TestAZombieWakesUpAfterANewerRun(t *testing.T) {
	c := needContest(t)
	for _, w := range writes {
		t.Run("stopped when it "+w.name, func(t *testing.T) {
			t.Parallel()
			x := contest(t, c, "zombie "+w.name)
			store, table := x.proxies(t)
			at := store
			if w.inTable {
				at = table
			}
			late := at.hold(nth(w.n, w.what, w.text))
			zombie := x.desk(t, store, table).start(t, nil, x.command("run")...)
			select {
			case <-late.arrived:
			case <-zombie.done:
				t.Fatalf("no such write: %s", zombie.wait(t))
			}
			_ = zombie.cmd.Process.Signal(syscall.SIGSTOP)
			x.judge(t)
			x.change(t)
			x.desk(t, nil, nil).must(t, x.command("run", "--supersede")...)
			newer := x.wantNewest(t)

			late.release()
			_ = zombie.cmd.Process.Signal(syscall.SIGCONT)
			o := zombie.wait(t)
			m := x.wantNewest(t)
			_, committed := x.judge(t)
			mine := contract.RunID("")
			for id := range committed {
				if id != newer.RunID {
					mine = id
				}
			}
			switch {
			case m.RunID != newer.RunID && (m.Generation <= newer.Generation || m.RunID != mine):
				t.Errorf("run %s at generation %d replaced %s at %d", m.RunID, m.Generation, newer.RunID, newer.Generation)
			case mine == "" && o.code != fault.ExitRefused:
				t.Errorf("it was sealed, and ends with %s", o)
			case mine != "" && o.code != 0:
				t.Errorf("it has committed, and ends with %s", o)
			}
			x.desk(t, nil, nil).must(t, "validate")
		})
	}
}

// A process is killed in a write, which landed or not. Another one completes the
// run or starts anew.
func TestAProcessIsKilledInAWrite(t *testing.T) {
	c := needContest(t)
	for i, w := range writes {
		for _, landed := range []bool{false, true} {
			t.Run(fmt.Sprintf("when it %s, landed %v", w.name, landed), func(t *testing.T) {
				t.Parallel()
				x := contest(t, c, fmt.Sprintf("killed %s %v", w.name, landed))
				store, table := x.proxies(t)
				at := store
				if w.inTable {
					at = table
				}
				victim := at.kill(nth(w.n, w.what, w.text), landed)
				first := x.desk(t, store, table).start(t, nil, x.command("run")...)
				victim <- first
				if o := first.wait(t); o.code != 128+int(syscall.SIGKILL) {
					t.Fatalf("it was not killed: %s", o)
				}
				x.judge(t)
				next := x.desk(t, nil, nil)
				// A run without a generation is not resumed before its planner's
				// time is over.
				if planned := i > 3; planned && (i%2 == 0) == landed {
					x.complete(t, next)
				} else {
					next.must(t, x.command("run", "--supersede")...)
				}
				x.wantNewest(t)
				next.must(t, "validate")
			})
		}
	}
}
