package strategy

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

// A Pipeliner is a BatchReader that keeps two batches under way. The runner starts the reads of the next op before it
// finishes those of this one, so that the device does not run dry between two ops:
//
//	Start(op 0), Start(op 1), Finish (of op 0), Start(op 2), Finish (of op 1), …
//
// Ops of a workload's own call ReadBatch instead: never while a batch is under way.
type Pipeliner interface {
	BatchReader
	// Start begins reading a batch, without waiting for it. At most one that was started before is not finished
	// then. rs is the caller's and must not be kept.
	Start(rs []Range) error
	// Finish waits for the batch that was started first, and calls each as ReadBatch does. After an error of
	// Start or Finish no read of any batch is under way any more.
	Finish(each func(i int, p []byte) error) error
}

// Pipelined is how many batches of a Pipeliner are under way at the most.
const Pipelined = 2

// A Settler is a Reader that leaves reads under way when Read and ReadBatch return: read-ahead of its own. Settle waits
// for them; what they deliver is not used later. It is called on the reader's goroutine, with the timer running, at the
// end of a call and before the workers meet to have the file evicted.
type Settler interface {
	Settle() error
}

// A Forgetter keeps in mind which pages it has hinted or seen resident, not their bytes. Forget is called on the reader's goroutine
// after the file was evicted, before the next range is drawn.
type Forgetter interface {
	Forget()
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
