package fadvise

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Advice is what a descriptor is advised, once.
type Advice int

// The kinds of advice: Linux does not read ahead with Random, and twice as far with Sequential.
const (
	Normal     Advice = unix.FADV_NORMAL
	Sequential Advice = unix.FADV_SEQUENTIAL
	Random     Advice = unix.FADV_RANDOM
)

// Advise gives advice on the whole file, which holds for this descriptor.
func Advise(f *os.File, a Advice) error {
	if err := unix.Fadvise(int(f.Fd()), 0, 0, int(a)); err != nil {
		return fmt.Errorf("posix_fadvise %d on all of %s: %w", a, f.Name(), err)
	}
	return nil
}

// WillNeed asks the kernel to start reading n bytes at off. It does not allocate unless it fails.
func WillNeed(fd int, off, n int64) error {
	if err := unix.Fadvise(fd, off, n, unix.FADV_WILLNEED); err != nil {
		return fmt.Errorf("posix_fadvise WILLNEED on %d bytes at %d: %w", n, off, err)
	}
	return nil
}
