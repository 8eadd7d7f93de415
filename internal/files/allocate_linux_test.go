package files

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives a file blocks that nobody has written. It wraps errors.ErrUnsupported where that cannot be seen.
func allocate(f *os.File, size int64) error {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return err
	}
	if st.Type != unix.EXT4_SUPER_MAGIC && st.Type != unix.XFS_SUPER_MAGIC && st.Type != unix.BTRFS_SUPER_MAGIC {
		return fmt.Errorf("%s lies on another file system than ext4, xfs and btrfs: %w", f.Name(), errors.ErrUnsupported)
	}
	return unix.Fallocate(int(f.Fd()), 0, 0, size)
}
