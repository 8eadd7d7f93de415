//go:build !386 && !arm && !mips && !mipsle

package prefetchmicro

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernel is the system calls that are measured. Offsets are passed as 64-bit systems take them, in one register: the build
// tags of this package leave out the others. Tests put others in their place.
type kernel struct {
	mincore        func(p, pages []byte) error
	cachestat      func(fd uint, r *unix.CachestatRange, s *unix.Cachestat_t, flags uint) error
	nowait         func(fd int, p []byte, off int64) (int, error)
	madvise        func(p []byte, advice int) error
	fadvise        func(fd int, off, n int64, advice int) error
	readahead      func(fd int, off, n int64) error
	pidfdOpen      func(pid, flags int) (int, error)
	processMadvise func(pidfd int, iovs []unix.Iovec, advice int) (int, error)
}

var linux = kernel{
	mincore: func(p, pages []byte) error {
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
		return errnoError(errno)
	},
	cachestat: unix.Cachestat,
	nowait: func(fd int, p []byte, off int64) (int, error) {
		iov := unix.Iovec{Base: unsafe.SliceData(p)}
		iov.SetLen(len(p))
		n, _, errno := unix.Syscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&iov)), 1, uintptr(off), 0, unix.RWF_NOWAIT)
		return int(n), errnoError(errno)
	},
	madvise: unix.Madvise,
	fadvise: unix.Fadvise,
	readahead: func(fd int, off, n int64) error {
		_, _, errno := unix.Syscall(unix.SYS_READAHEAD, uintptr(fd), uintptr(off), uintptr(n))
		return errnoError(errno)
	},
	pidfdOpen: unix.PidfdOpen,
	processMadvise: func(pidfd int, iovs []unix.Iovec, advice int) (int, error) {
		n, _, errno := unix.Syscall6(unix.SYS_PROCESS_MADVISE, uintptr(pidfd), uintptr(unsafe.Pointer(unsafe.SliceData(iovs))), uintptr(len(iovs)), uintptr(advice), 0, 0)
		return int(n), errnoError(errno)
	},
}

// errnoError is the error of an errno, without allocating for none.
func errnoError(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}
