package uring

// A request is what a Ring asks of the kernel. Memory that it names is not Go's, which may move or free it.
type request struct {
	op        uint8
	fixedFile bool // fd is an index of registered files
	fd        int32
	n         uint32
	off       uint64
	addr      uint64 // of memory; of a cancellation, the data of what is to be cancelled
	advice    uint32
	data      uint64 // comes back with the completion
}

// A completion is the kernel's answer to the request of the same data.
type completion struct {
	data uint64
	res  int32 // bytes, or a negative error number
}

// An engine is a submission queue and a completion queue. It is used by one goroutine at a time.
type engine interface {
	// push puts a request into the submission queue; false says that it is full.
	push(q *request) bool
	// pushed is how many requests the kernel has not taken yet.
	pushed() uint32
	// enter hands over what was pushed, waits until there are at least wait completions, and returns how many requests
	// the kernel took. Completions may be fewer, if the wait was interrupted or not all was taken.
	enter(wait uint32) (uint32, error)
	// reap takes as many completions as there are, and have room, out of their queue.
	reap(into []completion) int
	// registerBuffer makes p the buffer of index 0, registerFile fd the file of index 0.
	registerBuffer(p []byte) error
	registerFile(fd int) error
	// flags are those of io_uring_setup that are in use.
	flags() uint32
	// close gives everything back to the system. No request is under way any more.
	close() error
}
