package uring

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

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

// newEngine opens queues for depth requests.
func newEngine(sys system, o Options) (engine, error) {
	switch o.Engine {
	case EngineRing, "":
		return newQueue(sys, uint32(o.Depth), o.OneThread, o.KeepProcessor)
	case EngineGiouring:
		if o.KeepProcessor {
			return nil, fmt.Errorf("io_uring: engine %s makes its own system calls: it cannot keep the processor (Options.KeepProcessor)", EngineGiouring)
		}
		return newGiouring(sys, uint32(o.Depth), o.OneThread)
	}
	return nil, fmt.Errorf("io_uring: no engine %q: there are %s and %s", o.Engine, EngineRing, EngineGiouring)
}

// setupFlags are the flags to try, the best first. A ring that several threads use in turn has neither
// single-issuer, which forbids that, nor coop-taskrun: the completion of a request runs on the thread that submitted it,
// which may be busy in another goroutine when a second thread waits for it, so it must be interrupted.
func setupFlags(oneThread bool) []uint32 {
	if oneThread {
		return []uint32{
			setupSubmitAll | setupSingleIssuer | setupDeferTaskrun, // Linux 6.1
			setupSubmitAll | setupCoopTaskrun,                      // 5.19
			setupSubmitAll,                                         // 5.18
			0,
		}
	}
	return []uint32{setupSubmitAll, 0}
}

// setup makes the descriptor of a ring with the best flags that the kernel knows.
func setup(sys system, entries uint32, oneThread bool) (int, *params, error) {
	const needed uint32 = featSingleMmap | featNoDrop | featRWCurPos
	what := fmt.Sprintf("io_uring_setup with %d entries", entries)
	var err error
	for _, flags := range setupFlags(oneThread) {
		p := &params{flags: flags}
		var fd int
		fd, err = sys.setup(entries, p)
		if errors.Is(err, unix.EINVAL) {
			continue // a kernel that does not know one of the flags
		}
		if err != nil {
			return -1, nil, refused(sys, what, queueBytes(entries), err)
		}
		if p.features&needed != needed {
			err := unsupported("%s: kernel %s has features %#x; 5.6 or later is needed, which has %#x", what, sys.release(), p.features, needed)
			return -1, nil, errors.Join(err, sys.close(fd))
		}
		return fd, p, nil
	}
	return -1, nil, refused(sys, what, queueBytes(entries), err)
}

// queueBytes is about what the queues for so many requests need: a request and two completions each.
func queueBytes(entries uint32) int { return int(entries) * (64 + 2*16 + 4) }

// flagNames is for people.
func flagNames(flags uint32) string {
	var names []string
	for _, f := range []struct {
		bit  uint32
		name string
	}{
		{setupSingleIssuer, "single-issuer"},
		{setupDeferTaskrun, "defer-taskrun"},
		{setupCoopTaskrun, "coop-taskrun"},
		{setupSubmitAll, "submit-all"},
	} {
		if flags&f.bit != 0 {
			names = append(names, f.name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ",")
}
