package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
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

// server is the database, looked at from the machine that it runs on.
type server struct {
	conn       *pgx.Conn
	postmaster int
}

// watch finds the process whose children serve connections.
func watch(ctx context.Context, at string) (*server, error) {
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return nil, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", conn.PgConn().PID()))
	if err != nil {
		return nil, fmt.Errorf("the server's processes are not on this machine: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "PPid:"); ok {
			pid, err := strconv.Atoi(strings.TrimSpace(text))
			return &server{conn: conn, postmaster: pid}, err
		}
	}
	return nil, fmt.Errorf("the server's process has no parent")
}

func (s *server) close(ctx context.Context) { _ = s.conn.Close(context.WithoutCancel(ctx)) }

// cpu is what the connections that have ended have used. It waits until all but
// its own have.
func (s *server) cpu(ctx context.Context) (time.Duration, error) {
	for others := 1; others > 0; {
		err := s.conn.QueryRow(ctx, "select count(*) from pg_sleep(0.1), pg_stat_activity where backend_type in ('client backend', 'parallel worker') and pid <> pg_backend_pid()").Scan(&others)
		if err != nil {
			return 0, err
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.postmaster))
	if err != nil {
		return 0, err
	}
	const ticks = 100 // a second, on every Linux that Go runs on
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var total time.Duration
	for _, f := range fields[13:15] { // children that were waited for: user and system
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * time.Second / ticks
	}
	return total, nil
}

// around measures what do costs the database. do has ended its connections.
func (s *server) around(ctx context.Context, do func() error) (time.Duration, error) {
	before, err := s.cpu(ctx)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := s.cpu(ctx)
	return after - before, err
}

// measure runs a command to its end, with its output below dir/out.
func (s *server) measure(ctx context.Context, dir string, cmd *exec.Cmd) (usage, error) {
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
	u.server, err = s.around(ctx, func() error {
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
