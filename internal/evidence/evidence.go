// Package evidence counts what a process really did, as the kernel saw it.
package evidence

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// StrangeSyscalls is how many read system calls there may be in an interval that neither the strategy nor
// reading the counters made: the Go scheduler's.
const StrangeSyscalls = 4

// A Source reads counters.
type Source struct {
	Proc   string // root of the proc file system, normally /proc
	Device string // name of the device in /proc/diskstats, or "" to leave Disk zero
}

// Read returns the present totals.
func (s Source) Read() (Counters, error) {
	var c Counters
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return c, fmt.Errorf("getrusage: %w", err)
	}
	c.MajorFaults, c.MinorFaults = uint64(ru.Majflt), uint64(ru.Minflt)
	c.CPU = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	c.Switches = uint64(ru.Nvcsw) + uint64(ru.Nivcsw)
	err := readProc(s.Proc, s.Device, &c)
	return c, err
}

// OwnReads is how many read system calls lie between two readings with nothing in between: those of reading. It is the
// least of several tries, since the Go scheduler may make one at any time.
func (s Source) OwnReads() (least uint64, err error) {
	const tries = 5
	for i := range tries {
		before, err := s.Read()
		if err != nil {
			return 0, err
		}
		after, err := s.Read()
		if err != nil {
			return 0, err
		}
		if n := after.ReadSyscalls - before.ReadSyscalls; i == 0 || n < least {
			least = n
		}
	}
	return least, nil
}
