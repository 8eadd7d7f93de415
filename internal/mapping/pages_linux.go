package mapping

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Populate enters the pages of n bytes at off, a multiple of the page size, into the page tables (MADV_POPULATE_READ; on
// kernels before 5.14 by touching each page).
func (m *Map) Populate(off, n int64) error {
	p := m.data[off : off+n]
	for {
		switch err := unix.Madvise(p, unix.MADV_POPULATE_READ); {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.EINVAL): // before 5.14
			touch(p)
			return nil
		default:
			return fmt.Errorf("madvise POPULATE_READ on %d bytes at %d of %s: %w", n, off, m.name, err)
		}
	}
}

var touched atomic.Uint32 // where touch leaves its sum, so that its loads are not optimized away

func touch(p []byte) {
	var sum uint32
	for i := 0; i < len(p); i += os.Getpagesize() {
		sum += uint32(p[i])
	}
	touched.Store(sum)
}

// Drop removes the pages of n bytes at off, a multiple of the page size, from the page tables (MADV_DONTNEED, which on
// a shared mapping of a file loses nothing).
func (m *Map) Drop(off, n int64) error {
	if err := unix.Madvise(m.data[off:off+n], unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("madvise DONTNEED on %d bytes at %d of %s: %w", n, off, m.name, err)
	}
	return nil
}
