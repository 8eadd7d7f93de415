package directio

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/readbench/strategy"
)

// Open opens f for direct reads (O_DIRECT) and finds out the alignment, in bytes, that these need. It does not believe the flag: it
// looks whether it was kept.
func Open(f *strategy.File) (fd *os.File, align int, err error) {
	fd, err = f.Open(unix.O_DIRECT)
	if errors.Is(err, unix.EINVAL) {
		return nil, 0, strategy.Unsupported("direct reads: open %s with O_DIRECT: %w: its file system has no direct reads (tmpfs has none); use one on a disk", f.Path(), err)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("direct reads: %w", err)
	}
	flags, err := unix.FcntlInt(fd.Fd(), unix.F_GETFL, 0)
	if err == nil && flags&unix.O_DIRECT == 0 {
		err = strategy.Unsupported("direct reads: the kernel dropped O_DIRECT from %s: its reads would go through the page cache; use a file on another file system", f.Path())
	}
	if err != nil {
		return nil, 0, errors.Join(err, fd.Close())
	}
	if align, err = alignment(fd, f.PageSize()); err != nil {
		return nil, 0, errors.Join(err, fd.Close())
	}
	return fd, align, nil
}

// alignment asks statx (STATX_DIOALIGN, Linux 6.1). Where the kernel does not say, whole pages are the
// multiple that every file system takes. Buffers are page-aligned, which is more than any known device wants.
func alignment(fd *os.File, page int) (int, error) {
	var st unix.Statx_t
	err := unix.Statx(int(fd.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st)
	if err != nil || st.Mask&unix.STATX_DIOALIGN == 0 {
		return page, nil
	}
	if st.Dio_offset_align == 0 {
		return 0, strategy.Unsupported("direct reads: statx says that %s cannot be read directly; is its data encrypted, compressed or in-line?", fd.Name())
	}
	return int(max(st.Dio_offset_align, st.Dio_mem_align)), nil
}

// Refused reports whether an error of a read means that the file system has no direct reads.
func Refused(err error) bool { return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) }
