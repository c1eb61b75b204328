package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// desk is where a user sits: a folder to work in, a home, an environment, and
// nothing of the machine's own settings.
type desk struct {
	dir, home, tmp string
	env            map[string]string
	group          string // folder of the control group that commands run in; "" is the test's own
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{dir: t.TempDir(), home: t.TempDir(), tmp: t.TempDir()}
	d.env = map[string]string{"HOME": d.home, "TMPDIR": d.tmp, "PATH": os.Getenv("PATH")}
	return d
}

// move returns another desk with the same environment: another machine.
func (d *desk) move(t *testing.T) *desk {
	t.Helper()
	to := newDesk(t)
	env := maps.Clone(d.env)
	maps.Copy(env, map[string]string{"HOME": to.home, "TMPDIR": to.tmp})
	to.env = env
	return to
}

// write stores a file in the folder.
func (d *desk) write(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// outcome is a command that has ended.
type outcome struct {
	code           int
	stdout, stderr string
	peak           int64 // bytes of memory, at most
	cpu            time.Duration
}

func (o outcome) String() string {
	return fmt.Sprintf("exit code %d\n--- stdout\n%s--- stderr\n%s", o.code, o.stdout, o.stderr)
}

// process is a command that runs.
type process struct {
	cmd    *exec.Cmd
	stdout bytes.Buffer
	done   chan struct{}

	mu     sync.Mutex
	stderr strings.Builder
}

// start runs the command in the desk's folder. watch, if there is one, is
// called with every line of stderr before the next one is read.
func (d *desk) start(t *testing.T, watch func(p *process, line string), args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Minute)
	cmd := exec.CommandContext(ctx, binary, args...)
	if d.group != "" {
		cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, d.group, binary}, args...)...)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	p.cmd.Dir = d.dir
	for k, v := range d.env {
		p.cmd.Env = append(p.cmd.Env, k+"="+v)
	}
	p.cmd.Stdout = &p.stdout
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		cancel()
	})
	go func() {
		defer close(p.done)
		lines := bufio.NewReader(stderr)
		for {
			line, err := lines.ReadString('\n')
			p.mu.Lock()
			p.stderr.WriteString(line)
			p.mu.Unlock()
			if watch != nil && line != "" {
				watch(p, line)
			}
			if err != nil {
				break
			}
		}
		_ = p.cmd.Wait()
	}()
	return p
}

// wait returns when the process has ended. The exit code of one that a signal
// ended is 128 and its number.
func (p *process) wait(t *testing.T) outcome {
	t.Helper()
	<-p.done
	state := p.cmd.ProcessState
	o := outcome{code: state.ExitCode(), stdout: p.stdout.String(), stderr: p.stderr.String(), cpu: state.UserTime() + state.SystemTime()}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		o.peak = usage.Maxrss << 10
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		o.code = 128 + int(status.Signal())
	}
	return o
}

// run runs the command to its end.
func (d *desk) run(t *testing.T, args ...string) outcome {
	t.Helper()
	return d.start(t, nil, args...).wait(t)
}

// must is run for a command that has to succeed.
func (d *desk) must(t *testing.T, args ...string) outcome {
	t.Helper()
	o := d.run(t, args...)
	if o.code != 0 {
		t.Fatalf("lapstrake %s: %s", strings.Join(args, " "), o)
	}
	return o
}

// signalAt sends a signal when the n-th line that contains text has been
// printed, counting from 1. With n 0 it never does.
func signalAt(n int, text string, s syscall.Signal) func(*process, string) {
	seen := 0
	return func(p *process, line string) {
		if strings.Contains(line, text) {
			if seen++; seen == n {
				_ = p.cmd.Process.Signal(s)
			}
		}
	}
}

// files lists what is below a folder, by paths relative to it.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() {
			name, _ := filepath.Rel(dir, path)
			all = append(all, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}
