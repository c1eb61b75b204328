package localdir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// A child process kills itself with SIGKILL at its n-th step, for every n. What
// it leaves at the final names is whole or absent, never a part (DST-18), and
// the next process can go on.
func TestAKilledProcessLeavesNothingPartial(t *testing.T) {
	part := bytes.Repeat([]byte("row "), 5<<20) // 20 MiB, three pieces
	if os.Getenv(killFolder) != "" {
		childWrites(t, part)
		return
	}
	for n := 1; ; n++ {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), killFolder+"="+dir, killStep+"="+strconv.Itoa(n))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		if err != nil && !killed {
			t.Fatalf("step %d: %v\n%s", n, err, out)
		}
		checkWhole(t, n, dir, part)
		if !killed {
			if n < 12 {
				t.Fatalf("only %d steps seen: the test no longer tests anything", n)
			}
			return
		}
	}
}

const (
	killFolder = "LAPSTRAKE_LOCALDIR_KILL_FOLDER"
	killStep   = "LAPSTRAKE_LOCALDIR_KILL_STEP"
)

// childWrites creates a part and replaces a manifest, and dies at the step that
// it was told.
func childWrites(t *testing.T, part []byte) {
	left, err := strconv.Atoi(os.Getenv(killStep))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, os.Getenv(killFolder))
	s.step = func(string) error {
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
		return nil
	}
	v, err := s.Create(t.Context(), "manifest.json", []byte("before"), destination.Meta{})
	if err == nil {
		_, err = s.Create(t.Context(), "run/part-000001.parquet", part, destination.Meta{})
	}
	if err == nil {
		_, err = s.Replace(t.Context(), "manifest.json", v, []byte("after"), destination.Meta{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func checkWhole(t *testing.T, n int, dir string, part []byte) {
	t.Helper()
	s := open(t, dir)
	err := s.List(t.Context(), "", func(o destination.Object) error {
		body, _, err := s.Get(t.Context(), o.Key, 64<<20)
		switch {
		case err != nil:
			return err
		case o.Key == "manifest.json" && (string(body) == "before" || string(body) == "after"):
		case o.Key == "run/part-000001.parquet" && contract.FingerprintOf(body) == contract.FingerprintOf(part):
		default:
			return fmt.Errorf("%s holds %d bytes: %.20q", o.Key, len(body), body)
		}
		return nil
	})
	if err != nil {
		t.Errorf("killed at step %d: %v", n, err)
	}
	// The next process is not held up by the dead one's lock or files.
	_, v, err := s.Get(t.Context(), "manifest.json", 100)
	if errors.Is(err, destination.ErrNotFound) {
		v, err = destination.Absent, nil
	}
	if err == nil {
		_, err = s.Replace(t.Context(), "manifest.json", v, []byte("the next process"), destination.Meta{})
	}
	if err != nil {
		t.Errorf("after a kill at step %d: %v", n, err)
	}
	for _, name := range names(t, dir) {
		if strings.HasSuffix(name, tempSuffix) && !isTemp(name[strings.LastIndexByte(name, '/')+1:]) {
			t.Errorf("%s would be listed", name)
		}
	}
}
