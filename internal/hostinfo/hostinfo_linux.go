package hostinfo

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Of describes where f lies. proc and sys are the roots of those file systems, normally /proc and /sys.
func Of(f *os.File, proc, sys string) Info {
	dev := deviceNumber(f)
	dir := filepath.Join(sys, "dev/block", dev)
	name, queue := "", filepath.Join(dir, "queue")
	if target, err := os.Readlink(dir); err == nil {
		name = filepath.Base(target)
		if _, err := os.Stat(queue); err != nil { // a partition has its disk's
			queue = filepath.Join(dir, "../queue")
			if resolved, err := filepath.EvalSymlinks(dir); err == nil {
				queue = filepath.Join(filepath.Dir(resolved), "queue")
			}
		}
	}
	readAhead := content(filepath.Join(sys, "class/bdi", dev, "read_ahead_kb"))
	if readAhead == unknown {
		readAhead = content(filepath.Join(queue, "read_ahead_kb"))
	}
	mem := smaller(memory(proc), memoryLimit(proc, sys))
	return Info{
		Device: name,
		Memory: mem,
		Facts: []Fact{
			{"kernel", content(filepath.Join(proc, "sys/kernel/osrelease"))},
			{"go", runtime.Version()},
			{"cpus", strconv.Itoa(runtime.NumCPU())},
			{"memory", inMiB(mem)},
			{"filesystem", fileSystem(proc, dev)},
			{"device", orUnknown(name)},
			{"rotational", content(filepath.Join(queue, "rotational"))},
			{"scheduler", chosen(content(filepath.Join(queue, "scheduler")))},
			{"read-ahead-kb", readAhead},
			{"huge-pages", chosen(content(filepath.Join(sys, "kernel/mm/transparent_hugepage/enabled")))},
		},
	}
}

const unknown = "unknown"

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

// deviceNumber is "major:minor" of the device that holds f, or of f itself if it is one.
func deviceNumber(f *os.File) string {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return unknown
	}
	dev := uint64(st.Dev)
	if st.Mode&unix.S_IFMT == unix.S_IFBLK {
		dev = uint64(st.Rdev)
	}
	return fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
}

func content(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return unknown
	}
	return orUnknown(strings.TrimSpace(string(b)))
}

// chosen returns the bracketed word of a list such as "[none] mq-deadline".
func chosen(list string) string {
	for word := range strings.FieldsSeq(list) {
		if strings.HasPrefix(word, "[") {
			return strings.Trim(word, "[]")
		}
	}
	return list
}

// memory is the machine's memory in bytes, whatever this process may use of it; 0 if unknown.
func memory(proc string) int64 {
	root, err := procfs.NewFS(proc)
	if err != nil {
		return 0
	}
	m, err := root.Meminfo()
	if err != nil || m.MemTotal == nil {
		return 0
	}
	return int64(*m.MemTotal) << 10
}

// inMiB leaves out what changes between boots: the kernel's own share, by some KiB.
func inMiB(bytes int64) string {
	if bytes == 0 {
		return unknown
	}
	return fmt.Sprintf("%dMiB", bytes>>20)
}

func fileSystem(proc, dev string) string {
	b, err := os.ReadFile(filepath.Join(proc, "self/mountinfo"))
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(b)) {
		// ID parent major:minor root mountpoint options [tags] - type source superoptions
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		kind := strings.Fields(after)
		if ok && len(fields) > 2 && len(kind) > 0 && fields[2] == dev {
			return kind[0]
		}
	}
	return unknown
}
