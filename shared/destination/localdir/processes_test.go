package localdir

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// Several processes count together by compare-and-swap: none of their
// increments is lost, so the lock holds between processes.
func TestProcessesDoNotOverwriteOneAnother(t *testing.T) {
	const folder = "LAPSTRAKE_LOCALDIR_COUNT_FOLDER"
	const processes, increments = 4, 25
	if dir := os.Getenv(folder); dir != "" {
		s := open(t, dir)
		for range increments {
			for !increment(t, s) {
			}
		}
		return
	}
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := s.Create(t.Context(), "counter", []byte("0 at first"), destination.Meta{}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), folder+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("child: %v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	if got, _ := count(t, s); got != processes*increments {
		t.Errorf("the counter is at %d, want %d", got, processes*increments)
	}
}

func increment(t *testing.T, s *Store) bool {
	n, v := count(t, s)
	_, err := s.Replace(t.Context(), "counter", v, fmt.Appendf(nil, "%d by %d", n+1, os.Getpid()), destination.Meta{})
	if err != nil && !errors.Is(err, destination.ErrMoved) {
		t.Fatal(err)
	}
	return err == nil
}

func count(t *testing.T, s *Store) (n int, v destination.Version) {
	t.Helper()
	body, v, err := s.Get(t.Context(), "counter", 100)
	if err == nil {
		_, err = fmt.Sscan(string(body), &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n, v
}
