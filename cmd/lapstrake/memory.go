package main

import (
	"os"
	"runtime/debug"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
)

// processBytes is for what does not grow with the workers.
const processBytes = 64 << 20

// workerBytes is what one worker holds of an export at most: a part in pieces
// and joined, an open row group that may be half full, and a batch with its
// pages.
func workerBytes(e exportconfig.Export) int64 {
	return 2*e.PartBytes + 2*e.RowGroupBytes + 32<<20
}

// limitMemory has the garbage collector keep the process within what its
// workers hold. Without a limit it lets garbage grow to as much again. The
// limit gives way when more is needed, and GOMEMLIMIT is stronger.
func limitMemory(workers int, e exportconfig.Export) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(processBytes + int64(workers)*workerBytes(e))
	}
}
