package mapping

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Populate enters all pages into the page tables (MADV_POPULATE_READ; on kernels before 5.14 by touching each page).
func (m *Map) Populate() error {
	for {
		switch err := unix.Madvise(m.data, unix.MADV_POPULATE_READ); {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.EINVAL): // before 5.14
			m.touch()
			return nil
		default:
			return fmt.Errorf("madvise POPULATE_READ on all of %s: %w", m.name, err)
		}
	}
}

var touched atomic.Uint32 // where touch leaves its sum, so that its loads are not optimized away

func (m *Map) touch() {
	var sum uint32
	for i := 0; i < len(m.data); i += os.Getpagesize() {
		sum += uint32(m.data[i])
	}
	touched.Store(sum)
}

// Drop removes all pages from the page tables (MADV_DONTNEED, which on a shared mapping of a file loses nothing).
func (m *Map) Drop() error {
	if err := unix.Madvise(m.data, unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("madvise DONTNEED on all of %s: %w", m.name, err)
	}
	return nil
}
