package readbench

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// fileAdvice is what a descriptor is advised, once.
type fileAdvice int

const (
	adviseNothing    fileAdvice = unix.FADV_NORMAL
	adviseSequential fileAdvice = unix.FADV_SEQUENTIAL
	adviseRandom     fileAdvice = unix.FADV_RANDOM
)

// advise gives advice on the whole file.
func advise(f *os.File, a fileAdvice) error {
	if err := unix.Fadvise(int(f.Fd()), 0, 0, int(a)); err != nil {
		return fmt.Errorf("posix_fadvise %d on all of %s: %w", a, f.Name(), err)
	}
	return nil
}

// willNeed asks the kernel to start reading n bytes at off. It does not allocate unless it fails.
func willNeed(fd int, off, n int64) error {
	if err := unix.Fadvise(fd, off, n, unix.FADV_WILLNEED); err != nil {
		return fmt.Errorf("posix_fadvise WILLNEED on %d bytes at %d: %w", n, off, err)
	}
	return nil
}
