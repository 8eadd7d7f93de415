package files

import (
	"os"
	"syscall"
)

// allocated is how many bytes of a file have blocks, or -1 if that is not known.
func allocated(st os.FileInfo) int64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Blocks * 512
	}
	return -1
}
