package prefetch

import (
	"time"

	"golang.org/x/sys/unix"
)

// kernel is what an Advisor asks of the kernel, so that tests can answer instead. Errors are those of the
// system calls.
type kernel struct {
	page int // the system's page size, in bytes

	cachestat      func(fd int, off, n int64) (pages int64, err error) // pages of the range that are resident
	mincore        func(p, vec []byte) error                           // bit 0 of vec[i]: page i of p is resident
	fadvise        func(fd int, off, n int64) error
	madvise        func(p []byte) error
	processMadvise func(pidfd int, iov []unix.Iovec) (n int, err error) // bytes advised
	pidfdOpen      func() (fd int, err error)                           // of this process
	closeFD        func(fd int) error

	identity func(fd int) any                                                          // the same for the same file and no other, to be compared; nil if that cannot be told
	visible  func(fd int) error                                                        // an error if the kernel hides from us what is resident of a file
	read     func(fd int, p []byte, off int64) error                                   // into the page cache
	direct   func(fd int) (device func(off int64) error, done func() error, err error) // reads of one page past the page cache
	now      func() time.Time
}
