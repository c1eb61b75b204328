package wiring

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// HostMemory returns how many bytes this process may take before the system
// ends it, 0 if nothing says so: the memory of the Lambda function, or the limit
// of the control group that a container runs in. root is os.DirFS("/").
func HostMemory(lookup func(string) (string, bool), root fs.FS) int64 {
	text, _ := lookup("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
	if megabytes, err := strconv.ParseInt(text, 10, 64); err == nil && megabytes > 0 {
		return megabytes << 20
	}
	return groupMemory(root)
}

// HeapMemory returns how much of HostMemory the garbage collector may fill: the
// rest is for what it does not count.
func HeapMemory(lookup func(string) (string, bool), root fs.FS) int64 {
	return HostMemory(lookup, root) / 5 * 4
}

// unlimited is above what any machine has: the first version of control groups
// says so for no limit.
const unlimited = 1 << 50

// groupMemory is the least limit of the process's control group and of those
// that it lies in. A container sees its own group as the root, whatever the
// kernel calls it.
func groupMemory(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	var least int64
	for line := range strings.Lines(string(groups)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		mounts, file := []string(nil), ""
		switch {
		case id == "0" && controllers == "":
			mounts, file = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}, "memory.max"
		case strings.Contains(","+controllers+",", ",memory,"):
			mounts, file = []string{"sys/fs/cgroup/memory"}, "memory.limit_in_bytes"
		}
		for _, mount := range mounts {
			for at := path.Clean("/" + group); ; at = path.Dir(at) {
				if n := limitIn(root, path.Join(mount, at, file)); n > 0 && (least == 0 || n < least) {
					least = n
				}
				if at == "/" {
					break
				}
			}
		}
	}
	return least
}

func limitIn(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n >= unlimited { // "max", or none
		return 0
	}
	return n
}
