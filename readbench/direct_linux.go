package readbench

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/evidence"
)

// openDirect opens f with O_DIRECT and finds out the alignment, in bytes, that its reads need.
func openDirect(f *File) (*os.File, int, error) {
	fd, err := f.Open(unix.O_DIRECT)
	if errors.Is(err, unix.EINVAL) {
		return nil, 0, Unsupported("direct reads: open %s with O_DIRECT: %w: its file system has no direct reads (tmpfs has none); use one on a disk", f.Path(), err)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("direct reads: %w", err)
	}
	flags, err := unix.FcntlInt(fd.Fd(), unix.F_GETFL, 0)
	if err == nil && flags&unix.O_DIRECT == 0 {
		err = Unsupported("direct reads: the kernel dropped O_DIRECT from %s: its reads would go through the page cache; use a file on another file system", f.Path())
	}
	if err != nil {
		return nil, 0, errors.Join(err, fd.Close())
	}
	align, err := directAlignment(fd, f.PageSize())
	if err != nil {
		return nil, 0, errors.Join(err, fd.Close())
	}
	return fd, align, nil
}

// directAlignment asks statx (STATX_DIOALIGN, Linux 6.1). Where the kernel does not say, whole pages are the
// multiple that every file system takes. Buffers are page-aligned, which is more than any known device wants.
func directAlignment(fd *os.File, page int) (int, error) {
	var st unix.Statx_t
	err := unix.Statx(int(fd.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st)
	if err != nil || st.Mask&unix.STATX_DIOALIGN == 0 {
		return page, nil
	}
	if st.Dio_offset_align == 0 {
		return 0, Unsupported("direct reads: statx says that %s cannot be read directly; is its data encrypted, compressed or in-line?", fd.Name())
	}
	return int(max(st.Dio_offset_align, st.Dio_mem_align)), nil
}

// verifyDirect looks whether read, one direct read, made a device deliver anything.
func verifyDirect(path string, read func() error) error {
	source := evidence.Source{Proc: "/proc"}
	before, err := source.Read()
	if err != nil {
		return Unsupported("direct reads: whether reads are direct cannot be seen here: %w", err)
	}
	err = read()
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		return Unsupported("direct reads: %s was opened for direct reads, but the first one was refused: %w; does its file system support O_DIRECT?", path, err)
	case err != nil:
		return err
	}
	after, err := source.Read()
	if err != nil {
		return err
	}
	if after.DeviceBytes == before.DeviceBytes {
		return Unsupported("a direct read of %s reached no device: its file system takes O_DIRECT but has none (tmpfs), or does not tell; use one on a disk", path)
	}
	return nil
}
