package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
)

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func now() time.Time { return clock.System{}.Now() }

// usage is what one run has used. Of several runs the least of each counts.
type usage struct {
	cpu, wall time.Duration
	server    time.Duration // CPU of the database
	rss       int64         // bytes, of the largest process
	output    int64         // bytes
}

func (u *usage) least(v usage) {
	u.cpu, u.wall, u.server = min(u.cpu, v.cpu), min(u.wall, v.wall), min(u.server, v.server)
	u.rss, u.output = min(u.rss, v.rss), min(u.output, v.output)
}

// ownCPU is what this process has used so far.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constants
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// around measures what do costs the database. do has ended its connections.
func around(ctx context.Context, db engine, do func() error) (time.Duration, error) {
	before, err := db.cpu(ctx)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := db.cpu(ctx)
	return after - before, err
}

// measure runs a command to its end, with its output below dir/out.
func measure(ctx context.Context, db engine, dir string, cmd *exec.Cmd) (usage, error) {
	out := filepath.Join(dir, "out")
	if err := os.RemoveAll(out); err != nil {
		return usage{}, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return usage{}, err
	}
	var said bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	var u usage
	var err error
	u.server, err = around(ctx, db, func() error {
		begun := now()
		err := cmd.Run()
		u.wall = now().Sub(begun)
		return err
	})
	if err != nil {
		text := said.Bytes()
		return u, fmt.Errorf("%w\n%s", err, text[max(0, len(text)-2000):])
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	u.cpu = time.Duration(used.Utime.Nano() + used.Stime.Nano())
	u.rss = used.Maxrss << 10
	err = filepath.WalkDir(out, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && strings.Contains(d.Name(), "parquet") {
			u.output += info.Size()
		}
		return err
	})
	return u, err
}
