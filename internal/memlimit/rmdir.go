package memlimit

import (
	"os"

	"golang.org/x/sys/unix"
)

func rmdir(path string) error {
	if err := unix.Rmdir(path); err != nil {
		return &os.PathError{Op: "rmdir", Path: path, Err: err}
	}
	return nil
}
