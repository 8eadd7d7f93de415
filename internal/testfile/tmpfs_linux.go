package testfile

import "golang.org/x/sys/unix"

func inMemory(dir string) (bool, error) {
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	return st.Type == unix.TMPFS_MAGIC || st.Type == unix.RAMFS_MAGIC, err
}
