package lambdahost

import (
	"io/fs"
	"runtime/debug"

	"github.com/lapstrake/lapstrake/shared/wiring"
)

// LimitMemory has the garbage collector keep the heap within four fifths of
// the function's or container's memory, unless GOMEMLIMIT says something else,
// and returns the limit in bytes, 0 for none set. root is os.DirFS("/").
func LimitMemory(lookup func(string) (string, bool), root fs.FS) int64 {
	if _, set := lookup("GOMEMLIMIT"); set {
		return 0
	}
	limit := wiring.HeapMemory(lookup, root)
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	return limit
}
