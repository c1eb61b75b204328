package lambdahost

import (
	"runtime/debug"
	"strconv"
)

// LimitMemory has the garbage collector keep the heap within four fifths of
// the function's memory, unless GOMEMLIMIT says something else, and returns
// the limit in bytes, 0 for none set.
func LimitMemory(lookup func(string) (string, bool)) int64 {
	if _, set := lookup("GOMEMLIMIT"); set {
		return 0
	}
	text, _ := lookup("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
	megabytes, err := strconv.ParseInt(text, 10, 64)
	if err != nil || megabytes <= 0 {
		return 0
	}
	limit := megabytes << 20 / 5 * 4
	debug.SetMemoryLimit(limit)
	return limit
}
