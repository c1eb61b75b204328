package wiring

import (
	"testing"
	"testing/fstest"
)

func TestMemoryThatTheHostAllows(t *testing.T) {
	const none = "9223372036854771712\n" // what version 1 says for no limit
	for _, tc := range []struct {
		name   string
		lambda string
		files  map[string]string
		want   int64
	}{
		{"a Lambda function", "256", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1073741824\n"}, 256 << 20},
		{"nonsense on Lambda", "much", nil, 0},
		{"no control groups", "", nil, 0},
		{"a container of version 2", "", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512 << 20},
		{"a service of version 2", "", map[string]string{"proc/self/cgroup": "0::/system.slice/x.service\n", "sys/fs/cgroup/system.slice/x.service/memory.max": "268435456\n"}, 256 << 20},
		{"the group around it is smaller", "", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "268435456\n", "sys/fs/cgroup/a/memory.max": "134217728\n"}, 128 << 20},
		{"no limit in version 2", "", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 0},
		{"a group of version 1", "", map[string]string{"proc/self/cgroup": "5:cpu,memory:/x\n0::/\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "268435456\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": none}, 256 << 20},
		{"a container of version 1, whose name is that outside", "", map[string]string{"proc/self/cgroup": "5:memory:/docker/0123\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n"}, 256 << 20},
		{"no limit in version 1", "", map[string]string{"proc/self/cgroup": "5:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": none}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tc.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			lookup := func(name string) (string, bool) {
				return tc.lambda, name == "AWS_LAMBDA_FUNCTION_MEMORY_SIZE" && tc.lambda != ""
			}
			if got := HostMemory(lookup, root); got != tc.want {
				t.Fatalf("%d bytes, want %d", got, tc.want)
			}
		})
	}
}
