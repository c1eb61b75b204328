package main

import (
	"cmp"
	"os"
	"runtime/debug"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// processBytes is for what does not grow with the workers.
const processBytes = 32 << 20

// workerBytes is what one worker holds of an export at most: a part, an open row
// group whose pages do not shrink, and two batches.
func workerBytes(e exportconfig.Export) int64 {
	return e.PartBytes + e.PartBytes/8 + cmp.Or(e.RowGroupBytes, exportconfig.UsualRowGroupBytes) + 32<<20
}

// garbagePercent is how much garbage may lie beside what is in use. A part is
// most of that, and an export makes little garbage: looking for it early costs
// nothing, and twice the memory would be for nothing.
const garbagePercent = 25

// limitMemory has the garbage collector keep the process within what its
// workers hold, and within four fifths of what the host allows. The limit gives
// way when more is needed. GOGC and GOMEMLIMIT are stronger.
func limitMemory(workers int, e exportconfig.Export) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := processBytes + int64(workers)*workerBytes(e)
	if most := wiring.HeapMemory(os.LookupEnv, os.DirFS("/")); most > 0 {
		limit = min(limit, most)
	}
	debug.SetMemoryLimit(limit)
}
