//go:build !linux

package prefetch

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

func system() *kernel {
	err := fmt.Errorf("unsupported on %s", runtime.GOOS)
	return &kernel{
		page:           os.Getpagesize(),
		cachestat:      func(int, int64, int64) (int64, error) { return 0, err },
		mincore:        func([]byte, []byte) error { return err },
		fadvise:        func(int, int64, int64) error { return err },
		madvise:        func(p []byte) error { return unix.Madvise(p, unix.MADV_WILLNEED) },
		processMadvise: func(int, []unix.Iovec) (int, error) { return 0, err },
		pidfdOpen:      func() (int, error) { return -1, err },
		closeFD:        unix.Close,
		identity:       func(int) any { return nil },
		visible:        func(int) error { return err },
		read:           func(int, []byte, int64) error { return nil },
		direct:         func(int) (func(int64) error, func() error, error) { return nil, nil, err },
		now:            time.Now,
	}
}
