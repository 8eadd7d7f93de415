package uring

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/iobuf"
)

// system is what this package asks of the operating system: the three calls of io_uring, memory, and what explains a
// refusal. Tests put another one in its place where this kernel does not produce what they need.
type system interface {
	setup(entries uint32, p *params) (fd int, err error)
	enter(fd int, submit, wait, flags uint32) (consumed uint32, err error)
	enterKeeping(fd int, submit, wait, flags uint32) (consumed uint32, err error) // for Options.KeepProcessor
	register(fd int, op uint32, arg unsafe.Pointer, n uint32) error
	mmap(fd int, off int64, n, flags int) ([]byte, error)
	munmap(p []byte) error
	buffer(n int, huge bool) (*iobuf.Buffer, error)
	close(fd int) error

	// disabled is the content of /proc/sys/kernel/io_uring_disabled, "" if there is none.
	disabled() string
	// memlock is RLIMIT_MEMLOCK in bytes.
	memlock() (soft, hard uint64)
	// release is the kernel's version, as of uname -r.
	release() string
}

// linux is the real one.
type linux struct{}

func (linux) setup(entries uint32, p *params) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries), uintptr(unsafe.Pointer(p)), 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func (linux) enter(fd int, submit, wait, flags uint32) (uint32, error) {
	n, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(fd), uintptr(submit), uintptr(wait), uintptr(flags), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return uint32(n), nil
}

func (linux) enterKeeping(fd int, submit, wait, flags uint32) (uint32, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(fd), uintptr(submit), uintptr(wait), uintptr(flags), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return uint32(n), nil
}

func (linux) register(fd int, op uint32, arg unsafe.Pointer, n uint32) error {
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(fd), uintptr(op), uintptr(arg), uintptr(n), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func (linux) mmap(fd int, off int64, n, flags int) ([]byte, error) {
	return unix.Mmap(fd, off, n, unix.PROT_READ|unix.PROT_WRITE, flags|unix.MAP_POPULATE)
}

func (linux) munmap(p []byte) error { return unix.Munmap(p) }

func (linux) buffer(n int, huge bool) (*iobuf.Buffer, error) { return iobuf.New(n, huge) }

func (linux) close(fd int) error { return unix.Close(fd) }

func (linux) disabled() string {
	b, err := os.ReadFile("/proc/sys/kernel/io_uring_disabled")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (linux) memlock() (soft, hard uint64) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l); err != nil {
		return 0, 0
	}
	return l.Cur, l.Max
}

func (linux) release() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}
