package main

import (
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

// progress tells on stderr how a run comes along: a line that is written over
// on a terminal, and otherwise nothing, since the log has one event a line.
type progress struct {
	out      io.Writer
	export   string
	terminal bool

	mu      sync.Mutex
	running map[contract.TaskID]bool
	done    int
	rows    int64
	bytes   int64
}

func newProgress(o *options, export string) *progress {
	return &progress{out: o.err, export: export, terminal: isTerminal(o.err), running: make(map[contract.TaskID]bool)}
}

// begin prints the run id, before anything else can go wrong.
func (p *progress) begin(id contract.RunID) {
	if p.terminal {
		fmt.Fprintf(p.out, "%s: run %s\n", p.export, id)
	}
}

// chunk is told of every change of a chunk.
func (p *progress) chunk(c runstate.Chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, c.ID)
	switch c.Status {
	case runstate.ChunkRunning:
		p.running[c.ID] = true
	case runstate.ChunkCompleted:
		p.done++
		p.rows += c.Rows
		p.bytes += c.Bytes
	}
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s: %d chunks done, %d running, %s rows, %s", p.export, p.done, len(p.running), grouped(p.rows), size(p.bytes))
	}
}

func (p *progress) end(run runstate.Run, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && (p.done > 0 || len(p.running) > 0) {
		fmt.Fprintln(p.out)
	}
}

// logger writes one JSON event a line to stderr, or on a terminal only what a
// person should see.
func (o *options) logger() *slog.Logger {
	if !isTerminal(o.err) {
		return telemetry.JSONLogger(o.err, slog.LevelInfo)
	}
	return slog.New(telemetry.Redacting(slog.NewTextHandler(o.err, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: withoutTime})))
}

func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// codeOf is for results.
func codeOf(err error) string { return string(fault.CodeOf(err)) }

// grouped prints n with thin groups of three digits.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size prints a number of bytes in binary units.
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}
