package prefetch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func system() *kernel {
	return &kernel{
		page:      os.Getpagesize(),
		cachestat: cachestat,
		mincore:   mincore,
		fadvise:   func(fd int, off, n int64) error { return unix.Fadvise(fd, off, n, unix.FADV_WILLNEED) },
		madvise:   func(p []byte) error { return unix.Madvise(p, unix.MADV_WILLNEED) },
		processMadvise: func(pidfd int, iov []unix.Iovec) (int, error) {
			n, _, errno := unix.Syscall6(unix.SYS_PROCESS_MADVISE, uintptr(pidfd), uintptr(unsafe.Pointer(unsafe.SliceData(iov))), uintptr(len(iov)), unix.MADV_WILLNEED, 0, 0)
			if errno != 0 {
				return 0, errno
			}
			return int(n), nil
		},
		pidfdOpen: func() (int, error) { return unix.PidfdOpen(os.Getpid(), 0) },
		closeFD:   unix.Close,
		identity:  identity,
		visible:   visible,
		read:      read,
		direct:    direct,
		now:       time.Now,
	}
}

// cachestat and mincore read nothing from a device and return soon, so the scheduler is not told that they are
// under way.
func cachestat(fd int, off, n int64) (int64, error) {
	asked := unix.CachestatRange{Off: uint64(off), Len: uint64(n)}
	var stat unix.Cachestat_t
	if _, _, errno := unix.RawSyscall6(unix.SYS_CACHESTAT, uintptr(fd), uintptr(unsafe.Pointer(&asked)), uintptr(unsafe.Pointer(&stat)), 0, 0, 0); errno != 0 {
		return 0, errno
	}
	return int64(stat.Cache), nil
}

func mincore(p, vec []byte) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), uintptr(unsafe.Pointer(&vec[0]))); errno != 0 {
		return errno
	}
	return nil
}

type inode struct{ device, number uint64 }

func identity(fd int) any {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil
	}
	return inode{uint64(st.Dev), st.Ino}
}

// visible: since Linux 5.2 mincore says that all is resident to those who neither own nor may write a file.
func visible(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("stat: %w", err)
	}
	uid := os.Geteuid()
	if uid == 0 || uid == int(st.Uid) || unix.Faccessat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.W_OK, unix.AT_EACCESS) == nil {
		return nil
	}
	return errors.New("the kernel hides what is resident from those who neither own nor may write a file; copy it, or run as its owner")
}

func read(fd int, p []byte, off int64) error {
	for len(p) > 0 {
		n, err := unix.Pread(fd, p, off)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			p, off = p[n:], off+int64(n)
		}
	}
	return nil
}

func direct(fd int) (device func(off int64) error, done func() error, err error) {
	f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, nil, err
	}
	page := os.Getpagesize()
	raw := make([]byte, 2*page)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(raw)))) & (page - 1)
	return func(off int64) error { return read(int(f.Fd()), raw[skip:skip+page], off) }, f.Close, nil
}
