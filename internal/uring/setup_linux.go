package uring

// What opens a ring at the kernel, for every engine: the flags to try, and what they are called.

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

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
