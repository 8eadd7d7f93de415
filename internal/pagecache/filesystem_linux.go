package pagecache

import (
	"os"

	"golang.org/x/sys/unix"
)

// fileSystem is the magic number of the file system that f lies on, 0 if it is not known. A block device lies on none:
// its node does, and its pages are its own.
func fileSystem(f *os.File) int64 {
	var node unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &node); err != nil || node.Mode&unix.S_IFMT == unix.S_IFBLK {
		return 0
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		return 0
	}
	return int64(st.Type)
}

// InMemory reports whether f lies on a file system without a device, whose pages are the file: on tmpfs or ramfs.
func InMemory(f *os.File) bool {
	magic := fileSystem(f)
	return magic == unix.TMPFS_MAGIC || magic == unix.RAMFS_MAGIC
}
