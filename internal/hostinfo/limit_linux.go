package hostinfo

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// memoryLimit is the smallest memory limit, in bytes, of the control groups that this process is in and of
// their ancestors; 0 if there is none. cgroup version 2 (memory.max) and version 1 (memory.limit_in_bytes) are
// looked at, wherever each is mounted.
func memoryLimit(proc, sys string) (limit int64) {
	b, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		// ID:controllers:path, the controllers empty for version 2
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch controllers := strings.Split(fields[1], ","); {
		case fields[1] == "":
			for _, mount := range []string{"fs/cgroup", "fs/cgroup/unified"} {
				limit = smaller(limit, lowest(filepath.Join(sys, mount), fields[2], "memory.max"))
			}
		case slices.Contains(controllers, "memory"):
			limit = smaller(limit, lowest(filepath.Join(sys, "fs/cgroup/memory"), fields[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// lowest is the smallest limit of a group and its ancestors, 0 if there is none.
func lowest(mount, group, file string) (limit int64) {
	for dir := filepath.Clean("/" + group); ; dir = filepath.Dir(dir) {
		const none = 1 << 60 // version 1 says so with a huge number, version 2 with "max"
		if n, err := strconv.ParseInt(content(filepath.Join(mount, dir, file)), 10, 64); err == nil && n < none {
			limit = smaller(limit, n)
		}
		if dir == "/" {
			return limit
		}
	}
}

// smaller is the smaller of two limits, 0 standing for none.
func smaller(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
