package evidence

import "time"

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
