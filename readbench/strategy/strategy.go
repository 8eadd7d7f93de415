// Package strategy is the contract between readbench and ways of reading a file: what a plug-in implements, and what it is
// asked for. The built-in ways (package strategies) are plug-ins like any other. It knows nothing of how they are measured.
//
// One role is required: a Strategy opens a file, once a row; what it Opened makes a Reader for each worker; a Reader returns
// bytes. Everything else is an ability, an interface of its own that is looked up once, before the timer starts:
//
//	of a Reader   Prefetcher   hints a batch of ranges before any of them is read
//	              BatchReader  reads a batch in one go
//	              Pipeliner    keeps two batches under way
//	              Settler      reads ahead on its own, and can be made to stop
//	              Forgetter    keeps in mind what it hinted or saw resident
//	              Counter      tells which calls it made
//	of an Opened  Mapper       holds pages of the file in page tables
//	              Direct       reads past the page cache
//	of a Strategy Labeler      has parts of its own in the names of its rows
//
// A whole strategy:
//
//	type mine struct{}
//
//	func (mine) Name() string { return "mine" }
//	func (mine) Open(f *strategy.File, s strategy.Setup) (strategy.Opened, error) {
//		fd, err := f.Open(0)
//		return &opened{fd, s}, err
//	}
//
//	type opened struct {
//		*os.File // Close
//		setup strategy.Setup
//	}
//
//	func (o *opened) Reader(int) (strategy.Reader, error) {
//		return &reader{o.File, make([]byte, o.setup.MaxRange)}, nil
//	}
//
//	type reader struct {
//		file *os.File
//		buf  []byte
//	}
//
//	func (r *reader) Read(rg strategy.Range) ([]byte, error) {
//		_, err := r.file.ReadAt(r.buf[:rg.N], rg.Off)
//		return r.buf[:rg.N], err
//	}
//
// Package readtest checks the contract, rule by rule; random.Run and its like measure.
package strategy

import (
	"fmt"
	"strings"
)

// A Strategy is one way of getting bytes from a file into a caller's hands: mmap, pread, O_DIRECT, a ring.
// It holds no state of a run; Open makes that. It is opened once per row, so several times in a process.
type Strategy interface {
	// Name is the strategy's short name, for instance "pread-direct". It must not contain '/' or white space.
	Name() string
	// Open prepares reading f, outside the timer. The caller closes what it returns. An error that wraps
	// ErrUnsupported (see Unsupported) skips the row with that cause; any other error fails it.
	Open(f *File, s Setup) (Opened, error)
}

// CheckName reports what is wrong with a strategy's name, or nil.
func CheckName(name string) error {
	if name == "" || strings.ContainsAny(name, "/ \t\n") {
		return fmt.Errorf("a strategy's name is not empty and has no '/' or white space, this is %q", name)
	}
	return nil
}

// A Labeler is a Strategy with key=value parts of its own in the names of its rows, such as policy=always.
type Labeler interface {
	Labels() []string
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
// It may also implement Prefetcher, BatchReader, Pipeliner, Settler, Counter and Forgetter.
type Reader interface {
	// Read returns the bytes of r. The slice is the reader's own (a buffer, or the mapping itself) and is valid
	// until the reader's next call; the caller does not write to it. Any range inside the file is allowed,
	// aligned or not. If not all bytes can be had, that is an error.
	Read(r Range) ([]byte, error)
}
