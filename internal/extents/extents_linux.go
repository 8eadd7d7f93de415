package extents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The request of FS_IOC_FIEMAP (linux/fiemap.h), with room for so many extents.
const batch = 512

type fiemap struct {
	start, length   uint64
	flags           uint32
	mapped, room, _ uint32
	extents         [batch]extent
}

type extent struct {
	logical, physical, length uint64
	_                         [2]uint64
	flags                     uint32
	_                         [3]uint32
}

const (
	ioctlFiemap = 0xc020660b // _IOWR('f', 11, struct fiemap)
	flagSync    = 0x1        // write the file back first: what was just written has no extents yet
)

// asker is FS_IOC_FIEMAP on a file: an interface for tests.
type asker func(*fiemap) error

// Of returns of what the first size bytes of f consist; size is at least 1. It looks at all extents as long as nothing is
// wrong with them, and at no more than some ten thousand after something is. Where the
// file system has no FIEMAP, the map has no more than the size. It gives up when ctx ends.
func Of(ctx context.Context, f *os.File, size int64) (Map, error) {
	m, err := of(ctx, size, func(q *fiemap) error {
		for {
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), ioctlFiemap, uintptr(unsafe.Pointer(q)))
			switch errno {
			case 0:
				return nil
			case unix.EINTR:
			default:
				return errno
			}
		}
	})
	if err != nil {
		err = fmt.Errorf("the extents of %s: %w", f.Name(), err)
	}
	return m, err
}

func of(ctx context.Context, size int64, ask asker) (Map, error) {
	const enough = 20 // batches after the first that has something
	m := Map{Size: size}
	q := &fiemap{}
	at, found := int64(0), 0
	for first := true; at < size; first = false {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		*q = fiemap{start: uint64(at), length: uint64(size - at), room: batch}
		if first {
			q.flags = flagSync
		}
		switch err := ask(q); {
		case first && (errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EBADR) || errors.Is(err, unix.ENOSYS)):
			return m, nil
		case err != nil:
			return m, err
		}
		last, before := q.mapped == 0, at
		for _, e := range q.extents[:min(q.mapped, batch)] {
			from, to := max(int64(e.logical), at), min(int64(e.logical+e.length), size)
			if from > at {
				m.Hole += min(from, size) - at
			}
			if to > from {
				m.add(to-from, e.flags)
			}
			at = max(at, from, to)
			last = last || e.flags&flagLast != 0
		}
		switch {
		case last && at < size:
			m.Hole += size - at
			at = size
		case at == before:
			return m, fmt.Errorf("none of them goes beyond byte %d of %d, and none is the last one", at, size)
		}
		if !m.clean() {
			if found++; found > enough && at < size {
				m.Partial = true
				return m, nil
			}
		}
	}
	return m, nil
}
