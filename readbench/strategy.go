package readbench

import (
	"errors"
	"fmt"
	"strings"

	"github.com/readbench/suite/internal/refusal"
)

// A Range is n bytes at an offset of a file.
type Range struct {
	Off int64 // byte offset, at least 0
	N   int   // bytes, at least 1; Off+N is at most the file's size
}

// A Strategy is one way of getting bytes from a file into a caller's hands: mmap, pread, O_DIRECT, a ring.
// It holds no state of a run; Open makes that. It is opened once per row, so several times in a process.
type Strategy interface {
	// Name is the strategy's short name, for instance "pread-direct". It must not contain '/' or white space.
	Name() string
	// Open prepares reading f, outside the timer. The caller closes what it returns. An error that wraps
	// ErrUnsupported (see Unsupported) skips the row with that cause; any other error fails it.
	Open(f *File, s Setup) (Opened, error)
}

// Setup tells a strategy what it will be asked for.
type Setup struct {
	Config   *Config
	Threads  int // workers, each with a reader of its own
	Batch    int // ranges of one op at the most
	MaxRange int // bytes of one range at the most
	Depth    int // reads that one worker has in flight at the most, where a strategy has several
	Order    Order
}

// Order is how the ranges of a row follow each other.
type Order int

// The orders.
const (
	OrderRandom     Order = iota // anywhere in the file
	OrderSequential              // one after the other: each worker scans a stripe of the file of its own, over and over
)

// Stripe is the part of f that a worker reads, from an offset to below another: its stripe if the order is
// sequential, else all of f. Stripes have whole reads, and as many of them as go round; what is left of the file
// is not read.
func (s Setup) Stripe(f *File, worker int) (from, to int64) {
	if s.Order != OrderSequential {
		return 0, f.size
	}
	reads := f.size / int64(s.MaxRange) / int64(s.Threads)
	length := reads * int64(s.MaxRange)
	return int64(worker) * length, int64(worker+1) * length
}

// Opened is a strategy at work on one file. Its methods are safe for concurrent use.
//
// It may also implement Mapper (it maps the file) or Direct (its reads bypass the page cache).
type Opened interface {
	// Reader makes the reader of one worker (0 ≤ worker < Setup.Threads). It is called once per row, outside
	// the timer, on the goroutine that will use the reader as long as the row lasts and does nothing else: so
	// it may lock that goroutine to its thread. If the reader is an io.Closer, it is closed on the same
	// goroutine, before Close. Errors are treated as those of Strategy.Open.
	Reader(worker int) (Reader, error)
	// Close releases everything. No reader is in use any more.
	Close() error
}

// A Reader is the measured path of one worker. It is used by one goroutine and must not allocate. It serves no bytes that it
// kept from earlier calls: a hot row would measure that memory, where its name says page cache. (A cold row finds out.)
//
// It may also implement Prefetcher, BatchReader, Counter and Forgetter; each is looked up once, before the timer starts.
type Reader interface {
	// Read returns the bytes of r. The slice is the reader's own (a buffer, or the mapping itself) and is valid
	// until the reader's next call; the caller does not write to it. Any range inside the file is allowed,
	// aligned or not. If not all bytes can be had, that is an error.
	Read(r Range) ([]byte, error)
}

// A Prefetcher asks the kernel to start reading a batch of ranges before any of them is read. The runner calls
// it once for each batch. A hint that fails is an error: it fails the row. rs is the caller's and must not be
// kept.
type Prefetcher interface {
	Prefetch(rs []Range) error
}

// A BatchReader reads a batch of ranges in one go. It calls each exactly once for every index of rs, in any
// order, on the calling goroutine; p is valid until each returns. An error of each ends the batch and is
// returned. Before it returns, no read of the batch is under way any more. rs is the caller's and must not be
// kept. The runner prefers it to Read.
type BatchReader interface {
	ReadBatch(rs []Range, each func(i int, p []byte) error) error
}

// A Counter tells what a reader did since it was made. It is called on the reader's goroutine, outside the timer.
//
// A row whose readers are not all Counters runs, and times, bytes and device are what they are said to be. What is lost: it has
// no KIND/op, short/op or retried/op; that the strategy reads by the calls it is named for is not verified (one that calls
// itself a ring may well call pread), nor that the hints of a cold row which reads nothing had an effect. Rows of probes need
// Counters.
type Counter interface {
	Counts() Counts
}

// A Forgetter keeps in mind which pages it has hinted or seen resident, not their bytes. Forget is called on the reader's goroutine
// after the file was evicted, before the next range is drawn.
type Forgetter interface {
	Forget()
}

// A Mapper is an Opened that holds pages of the file in page tables, which keeps them from being evicted.
type Mapper interface {
	// Populate enters the pages of n bytes at off into the page tables. They are resident when it is called. Both are
	// multiples of the page size, but for the end of the file.
	Populate(off, n int64) error
	// Drop removes the pages of n bytes at off from the page tables; the next access faults. The mapping stays valid.
	Drop(off, n int64) error
}

// Direct is an Opened whose reads bypass the page cache: they go to the device in every case, which the runner
// verifies.
type Direct interface {
	// Alignment is the multiple, in bytes and a power of two, at which a range starts and ends without the strategy
	// having to read more than was asked for. Random reads start at such a multiple.
	Alignment() int
}

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

// add adds d to c.
func (c *Counts) add(d Counts) {
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

// since returns what c counts beyond an earlier d.
func (c Counts) since(d Counts) Counts {
	calls := make(map[string]uint64, len(c.Calls))
	for kind, n := range c.Calls {
		calls[kind] = n - d.Calls[kind]
	}
	return Counts{calls, c.ReadSyscalls - d.ReadSyscalls, c.Short - d.Short, c.Retried - d.Retried, c.Probed - d.Probed, c.Missed - d.Missed}
}

// ErrUnsupported is wrapped by errors that say: this cannot run here. The row is skipped with the cause.
var ErrUnsupported = errors.New("unsupported here")

// Unsupported returns an error that wraps ErrUnsupported. Its text names what was attempted, the cause and the
// remedy; %w in the format wraps a cause too.
func Unsupported(format string, args ...any) error {
	return refusal.Errorf(ErrUnsupported, format, args...)
}

// checkName reports what is wrong with a strategy's name.
func checkName(name string) error {
	if name == "" || strings.ContainsAny(name, "/ \t\n") {
		return fmt.Errorf("a strategy's name is not empty and has no '/' or white space, this is %q", name)
	}
	return nil
}
