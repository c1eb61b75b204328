package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine describes in a line what the figures are of.
func machine(ctx context.Context, db engine, runs int) string {
	model := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(text), " ")
	}
	return fmt.Sprintf("%d × %s, %s, %s on the same machine; least of %d runs, turn by turn; load at the start %s",
		runtime.NumCPU(), model, runtime.Version(), db.version(ctx), runs, load)
}
