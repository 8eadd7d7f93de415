package hostinfo

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/readbench/suite/internal/blockdev"
)

// Of describes where f lies. proc and sys are the roots of those file systems, normally /proc and /sys.
func Of(f *os.File, proc, sys string) Info {
	stack := blockdev.Of(f, proc, sys)
	var top string // queue of the device that the file system lies on
	if len(stack.Devices) > 0 {
		top = stack.Devices[0].Queue
	}
	readAhead := content(stack.ReadAhead)
	if readAhead == unknown && top != "" {
		readAhead = content(filepath.Join(top, "read_ahead_kb"))
	}
	mem := smaller(memory(proc), memoryLimit(proc, sys))
	return Info{
		Device: stack.Counted(),
		Memory: mem,
		Facts: []Fact{
			{"kernel", content(filepath.Join(proc, "sys/kernel/osrelease"))},
			{"go", runtime.Version()},
			{"cpus", strconv.Itoa(runtime.NumCPU())},
			{"memory", inMiB(mem)},
			{"filesystem", orUnknown(stack.FileSystem)},
			{"device", devices(stack)},
			{"rotational", ofBottom(stack, "rotational")},
			{"scheduler", ofBottom(stack, "scheduler")},
			{"read-ahead-kb", readAhead},
			{"huge-pages", chosen(content(filepath.Join(sys, "kernel/mm/transparent_hugepage/enabled")))},
		},
	}
}

// devices names the devices down to the bottom, or says why they are not known.
func devices(s blockdev.Stack) string {
	switch chain := s.Chain(); {
	case chain != "":
		return chain
	case s.Unseen != "":
		return fmt.Sprintf("%s (%s)", unknown, s.Unseen)
	}
	return unknown
}

// ofBottom is a setting of the queues of the devices at the bottom, which read from the store; several are separated by commas.
func ofBottom(s blockdev.Stack, setting string) string {
	var all []string
	for _, d := range s.Bottom() {
		value := unknown
		if d.Queue != "" {
			value = chosen(content(filepath.Join(d.Queue, setting)))
		}
		if !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	return orUnknown(strings.Join(all, ", "))
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
