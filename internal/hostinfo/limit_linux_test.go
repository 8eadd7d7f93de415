package hostinfo

import "testing"

// The limit that binds is the smallest one on the way from the process's group to the root, in either version
// of control groups.
func TestMemoryLimit(t *testing.T) {
	for _, c := range []struct {
		rule      string
		proc, sys tree
		want      int64
	}{
		{"no control groups", tree{}, tree{}, 0},
		{"version 2, no limit", tree{"self/cgroup": "0::/user.slice/a\n"}, tree{"fs/cgroup/user.slice/a/memory.max": "max\n"}, 0},
		{"version 2, a limit", tree{"self/cgroup": "0::/user.slice/a\n"}, tree{"fs/cgroup/user.slice/a/memory.max": "4294967296\n"}, 4 << 30},
		{"version 2, an ancestor's is smaller", tree{"self/cgroup": "0::/a/b\n"},
			tree{"fs/cgroup/a/b/memory.max": "4096000\n", "fs/cgroup/a/memory.max": "2048000\n"}, 2048000},
		{"version 2 in a container: its root is the group", tree{"self/cgroup": "0::/\n"}, tree{"fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		{"version 1", tree{"self/cgroup": "4:memory:/job/1\n0::/\n"}, tree{"fs/cgroup/memory/job/1/memory.limit_in_bytes": "1073741824\n"}, 1 << 30},
		{"version 1 with several controllers", tree{"self/cgroup": "4:cpu,memory:/job\n"}, tree{"fs/cgroup/memory/job/memory.limit_in_bytes": "1073741824\n"}, 1 << 30},
		{"version 1, no limit", tree{"self/cgroup": "4:memory:/job\n"}, tree{"fs/cgroup/memory/job/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		{"both, version 2 without memory", tree{"self/cgroup": "4:memory:/job\n0::/\n"},
			tree{"fs/cgroup/memory/job/memory.limit_in_bytes": "5000000\n", "fs/cgroup/unified/cgroup.procs": "1\n"}, 5000000},
		{"a line of another form", tree{"self/cgroup": "memory\n\n"}, tree{}, 0},
	} {
		if got := memoryLimit(c.proc.make(t), c.sys.make(t)); got != c.want {
			t.Errorf("%s: %d, want %d", c.rule, got, c.want)
		}
	}
}
