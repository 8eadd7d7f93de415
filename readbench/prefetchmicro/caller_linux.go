//go:build !386 && !arm && !mips && !mipsle

package prefetchmicro

// The part of a worker: what it needs to make its calls, and what it counts of them. It does not know which calls there are.

import (
	"fmt"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"github.com/readbench/suite/readbench/strategy"
)

// A caller makes the calls of one worker.
type caller struct {
	name, kind string // the call's
	do         func(c *caller, rs []strategy.Range) error
	kernel     *kernel
	fd, pidfd  int
	page, size int64
	pageShift  uint
	data       []byte       // the mapping
	pages      []byte       // one for each page of a range: what mincore tells
	iovs       []unix.Iovec // what process_madvise is told
	within     unix.CachestatRange
	stat       unix.Cachestat_t
	byte1      [1]byte

	calls          uint64 // that succeeded
	reads          uint64 // read system calls, successful or not
	retried        uint64
	probed, missed uint64
	_              cpu.CacheLinePad
}

// Read is not what a call is for.
func (c *caller) Read(strategy.Range) ([]byte, error) {
	return nil, fmt.Errorf("%s delivers no bytes: it is measured in prefetchmicro only", c.name)
}

func (c *caller) Counts() strategy.Counts {
	return strategy.Counts{
		Calls:   map[string]uint64{c.kind: c.calls},
		Retried: c.retried, Probed: c.probed, Missed: c.missed, ReadSyscalls: c.reads,
	}
}
