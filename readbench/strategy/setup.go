package strategy

// Setup tells a strategy what it will be asked for. It is the same for all files of a row.
type Setup struct {
	Threads  int   // workers, each with a reader of its own
	Batch    int   // ranges of one op at the most
	MaxRange int   // bytes of one range at the most
	Depth    int   // reads that one worker has in flight at the most, where a strategy has several (READBENCH_DEPTH)
	Window   int64 // bytes that a strategy with a window hints before the cursor of a scan (READBENCH_WINDOW)
	Order    Order
	// OwnProcessors says that each worker has a processor of its own, which it may keep while it waits for the device. Without
	// (READBENCH_PROCS=inherit) others wait for that processor, as in a Go server.
	OwnProcessors bool
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
