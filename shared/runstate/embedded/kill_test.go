package embedded

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// childFile makes this test binary a worker on the named file that never ends.
const childFile = "LAPSTRAKE_TEST_EMBEDDED_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		work(path)
	}
	os.Exit(m.Run())
}

// work claims and completes task after task and prints what the table answered.
func work(path string) {
	table, err := Open(path, Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx, run, until := context.Background(), contract.NewRunID("a", noon), noon.Add(12*time.Hour)
	fail(table.CreateRun(ctx, runstate.Run{RunID: run, Export: "a", CreatedAt: noon, LeaseUntil: until}))
	for i := 0; ; i++ {
		id := contract.BaseTaskID(i)
		fail(table.PutChunk(ctx, runstate.Chunk{RunID: run, ID: id, Gen: 1, MaxAttempts: 3, CreatedAt: noon}))
		_, err := table.Claim(ctx, runstate.ClaimRequest{Run: run, Task: id, Gen: 1, Token: "child", Now: noon, LeaseUntil: until})
		fail(err)
		fmt.Println("claimed", id)
		_, err = table.Complete(ctx, runstate.Lease{Run: run, Task: id, Token: "child"}, runstate.Result{Rows: 1}, noon)
		fail(err)
		fmt.Println("completed", id)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func TestAKilledProcessLosesNothingThatWasAnswered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childFile+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var answered []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		answered = append(answered, lines.Text())
		if len(answered) != 21 {
			continue // after the kill: what was in the pipe
		}
		_, err := Open(path, Options{LockWait: time.Millisecond})
		if fault.CodeOf(err) != "LAPSTRAKE_STATE_LOCKED" || !strings.Contains(err.Error(), fmt.Sprintf("process %d ", child.Process.Pid)) {
			t.Errorf("while the child works: %v", err)
		}
		if err := child.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	_ = child.Wait() // killed
	if len(answered) < 21 {
		t.Fatalf("the child ended by itself after: %s", strings.Join(answered, "; "))
	}

	table := reopen(t, path, Options{})
	run := contract.NewRunID("a", noon)
	for _, line := range answered {
		what, id, _ := strings.Cut(line, " ")
		c, err := table.GetChunk(t.Context(), run, contract.TaskID(id))
		if err != nil || c.Status != runstate.ChunkCompleted && what == "completed" || c.Attempts != 1 {
			t.Errorf("%s was answered, and the table has %+v, %v", line, c, err)
		}
	}
	// What the child had claimed can be claimed at once.
	for shard := range 10 {
		list, err := table.ListChunks(t.Context(), run, shard)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if c.Status != runstate.ChunkRunning {
				continue
			}
			claim := runstate.ClaimRequest{Run: run, Task: c.ID, Gen: 1, Token: "after", Now: noon, LeaseUntil: noon.Add(time.Minute)}
			if _, err := table.Claim(t.Context(), claim); err != nil {
				t.Errorf("claim of what the child had: %v", err)
			}
		}
	}
}
