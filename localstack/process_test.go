package localstack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// process is a running function. The local cloud runs them as plain processes
// of this machine.
type process struct {
	pid int
	env map[string]string
}

// processes returns the functions of a stack that are running.
func processes(t *testing.T, stack string) []process {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no /proc on this machine: %v", err)
	}
	var found []process
	for _, folder := range folders {
		body, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil {
			continue // another user's, or ended meanwhile
		}
		p := process{env: make(map[string]string)}
		for _, entry := range strings.Split(string(body), "\x00") {
			name, value, _ := strings.Cut(entry, "=")
			p.env[name] = value
		}
		program, _ := os.Readlink(filepath.Join(folder, "exe"))
		if p.env["LAPSTRAKE_STACK"] != stack || filepath.Base(program) != "bootstrap" {
			continue
		}
		if _, err := fmt.Sscan(filepath.Base(folder), &p.pid); err != nil {
			t.Fatal(err)
		}
		found = append(found, p)
	}
	return found
}

// kill ends the process of a worker, as chunk items name it, at once.
func (w *world) kill(worker string) {
	w.t.Helper()
	for _, p := range processes(w.t, w.Stack) {
		if p.env["AWS_LAMBDA_LOG_STREAM_NAME"] != worker {
			continue
		}
		victim, err := os.FindProcess(p.pid)
		if err == nil {
			err = victim.Kill()
		}
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Logf("killed %s, process %d", p.env["AWS_LAMBDA_FUNCTION_NAME"], p.pid)
		return
	}
	w.t.Fatalf("no process is the worker %s", worker)
}

// wantNothingOnDisk checks the folders and open files of the functions: all
// that is there is the program.
func (w *world) wantNothingOnDisk() {
	w.t.Helper()
	all := processes(w.t, w.Stack)
	if len(all) < 4 {
		w.t.Fatalf("%d processes are found, want one of each function", len(all))
	}
	for _, p := range all {
		folder := fmt.Sprintf("/proc/%d/", p.pid)
		entries, err := os.ReadDir(folder + "cwd")
		if err != nil {
			w.t.Fatal(err)
		}
		if len(entries) != 1 || entries[0].Name() != "bootstrap" {
			w.t.Errorf("%s has left %v in its folder", p.env["AWS_LAMBDA_FUNCTION_NAME"], entries)
		}
		files, err := filepath.Glob(folder + "fd/*")
		if err != nil {
			w.t.Fatal(err)
		}
		for _, file := range files {
			name, err := os.Readlink(file)
			if err != nil || !filepath.IsAbs(name) || strings.HasPrefix(name, "/sys/") {
				continue // closed meanwhile, a socket, or what Go's runtime reads of its limits
			}
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				w.t.Errorf("%s has the file %s open", p.env["AWS_LAMBDA_FUNCTION_NAME"], name)
			}
		}
	}
}
