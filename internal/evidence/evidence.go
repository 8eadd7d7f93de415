// Package evidence counts what a process really did, as the kernel saw it.
package evidence

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Counters are running totals of this process (Disk: of the whole device).
type Counters struct {
	DeviceBytes  uint64        // bytes that this process made a device deliver (read_bytes of /proc/self/io)
	ReadSyscalls uint64        // read system calls: read, pread, preadv (syscr)
	MajorFaults  uint64        // page faults on pages that were not in the page cache
	MinorFaults  uint64        // other page faults, also those that waited for a page that was being read
	CPU          time.Duration // user and system time of all threads
	Switches     uint64        // context switches, voluntary and not
	Disk         Disk
}

// Disk are running totals of the device, whoever caused them.
type Disk struct {
	Weighted time.Duration // the time-integral of the number of requests in flight
}

// Sub returns c − d.
func (c Counters) Sub(d Counters) Counters {
	return Counters{
		DeviceBytes:  c.DeviceBytes - d.DeviceBytes,
		ReadSyscalls: c.ReadSyscalls - d.ReadSyscalls,
		MajorFaults:  c.MajorFaults - d.MajorFaults,
		MinorFaults:  c.MinorFaults - d.MinorFaults,
		CPU:          c.CPU - d.CPU,
		Switches:     c.Switches - d.Switches,
		Disk:         Disk{c.Disk.Weighted - d.Disk.Weighted},
	}
}

// Add returns c + d.
func (c Counters) Add(d Counters) Counters { return c.Sub(Counters{}.Sub(d)) }

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
	return c, s.readProc(&c)
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

// A Meter sums counters over intervals. It is not safe for concurrent use.
type Meter struct {
	source    Source
	at, sum   Counters
	intervals int
}

// NewMeter returns a stopped meter at zero.
func NewMeter(s Source) *Meter { return &Meter{source: s} }

// Start begins an interval.
func (m *Meter) Start() (err error) {
	m.at, err = m.source.Read()
	return err
}

// Stop ends the interval that Start began and adds it to the sum.
func (m *Meter) Stop() error {
	now, err := m.source.Read()
	if err != nil {
		return err
	}
	m.sum = m.sum.Add(now.Sub(m.at))
	m.at = now
	m.intervals++
	return nil
}

// Sum returns the counters over all intervals so far.
func (m *Meter) Sum() Counters { return m.sum }

// Intervals is how many intervals the sum is over.
func (m *Meter) Intervals() int { return m.intervals }

// Reset sets the sum to zero.
func (m *Meter) Reset() { m.sum, m.intervals = Counters{}, 0 }
