package datafile

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives the file all its blocks, so that a full disk is noticed now and not in the middle.
func allocate(f *os.File, size int64) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("statfs: %w", err)
	}
	var own unix.Stat_t // a part file that somebody left may have blocks already
	if err := unix.Fstat(int(f.Fd()), &own); err != nil {
		return fmt.Errorf("stat: %w", err)
	}
	if free := int64(st.Bavail)*st.Bsize + own.Blocks*512; free < size {
		return fmt.Errorf("%w: %d bytes wanted, %d free on its file system: set READBENCH_FILE to a path on a larger one, or a smaller READBENCH_SIZE", unix.ENOSPC, size, free)
	}
	if err := f.Truncate(size); err != nil {
		return err
	}
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) { // writing every block allocates it, too
		return nil
	}
	if err != nil {
		return fmt.Errorf("fallocate %d bytes: %w", size, err)
	}
	return nil
}

// openDirect opens the file for writing past the page cache, or through it where the file system has no
// O_DIRECT (tmpfs).
func openDirect(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_DIRECT, 0)
	if errors.Is(err, unix.EINVAL) {
		return os.OpenFile(path, os.O_WRONLY, 0)
	}
	return f, err
}
