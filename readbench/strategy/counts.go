package strategy

// Counts is what a reader did: calls by kind, and what went wrong on the way. Only the calls of Read, Prefetch
// and ReadBatch count, not those of opening and closing.
type Counts struct {
	// Calls are the successful calls by kind; each kind that the reader can make has an entry, and is reported
	// as KIND/op.
	Calls map[string]uint64
	// ReadSyscalls is how many read system calls (read, pread, preadv, …; not io_uring) were made, successful
	// or not. The runner compares it with the kernel's own count for the process.
	ReadSyscalls uint64
	Short        uint64 // calls that delivered fewer bytes than asked for, and were continued
	Retried      uint64 // calls repeated after EINTR or EAGAIN
	Probed       uint64 // ranges whose residency was looked at
	Missed       uint64 // of these, not wholly resident
}

// Add adds d to c.
func (c *Counts) Add(d Counts) {
	if c.Calls == nil {
		c.Calls = map[string]uint64{}
	}
	for kind, n := range d.Calls {
		c.Calls[kind] += n
	}
	c.ReadSyscalls += d.ReadSyscalls
	c.Short += d.Short
	c.Retried += d.Retried
	c.Probed += d.Probed
	c.Missed += d.Missed
}

// Since returns what c counts beyond an earlier d.
func (c Counts) Since(d Counts) Counts {
	calls := make(map[string]uint64, len(c.Calls))
	for kind, n := range c.Calls {
		calls[kind] = n - d.Calls[kind]
	}
	return Counts{calls, c.ReadSyscalls - d.ReadSyscalls, c.Short - d.Short, c.Retried - d.Retried, c.Probed - d.Probed, c.Missed - d.Missed}
}
