package uring

import (
	"fmt"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// WillNeedFile asks the kernel to start reading the ranges that were added into the page cache (posix_fadvise(2) with
// POSIX_FADV_WILLNEED), and waits until it has accepted all of them, not for the reads. Ranges may be of any length up to
// 4 GiB. A hint that fails is an error, which fails the ring. No batch may be started and not finished.
//
// The kernel gives such a request to a thread of its own, io-wq, as it might block: it costs more than the system call
// would, and is worth its while only in larger numbers.
func (r *Ring) WillNeedFile() error {
	return r.hint("fadvise WILLNEED", func(rd read) error {
		r.req = request{op: opFadvise, fixedFile: r.opts.FixedFile, fd: r.fd, off: uint64(rd.off), n: uint32(rd.n), advice: unix.FADV_WILLNEED}
		return nil
	})
}

// WillNeedMap does the same for ranges of m, a mapping of a file, by madvise(2) with MADV_WILLNEED; offsets count from
// the first byte of m. Ranges are rounded out to pages, as madvise wants.
func (r *Ring) WillNeedMap(m []byte) error {
	page := int64(os.Getpagesize())
	return r.hint("madvise WILLNEED", func(rd read) error {
		start, end := rd.off&^(page-1), rd.off+int64(rd.n)
		if end > int64(len(m)) || end-start > math.MaxUint32 {
			return fmt.Errorf("the mapping has %d bytes", len(m))
		}
		end = min((end+page-1)&^(page-1), int64(len(m)))
		r.req = request{op: opMadvise, fd: -1, addr: uint64(uintptr(unsafe.Pointer(&m[start]))), n: uint32(end - start), advice: unix.MADV_WILLNEED}
		return nil
	})
}

// hint makes one request, by fill, of each range that was added, and waits for all of them.
func (r *Ring) hint(what string, fill func(read) error) error {
	if r.err != nil {
		return r.err
	}
	if r.first != r.next || r.busy {
		return r.fail(fmt.Errorf("io_uring: %s while %d started batches are not finished", what, r.next-r.first))
	}
	b := r.batch(r.next)
	b.pushed, b.left = 0, len(b.reads)
	for b.left > 0 {
		for ; r.flying < r.opts.Depth && b.pushed < len(b.reads); b.pushed++ {
			i := r.free[len(r.free)-1]
			r.free = r.free[:len(r.free)-1]
			r.slots[i].batch, r.slots[i].index = b, b.pushed
			if err := r.pushHint(i, what, fill); err != nil {
				return r.fail(err)
			}
		}
		wait := r.flying
		if b.pushed < len(b.reads) {
			wait = min(r.refill, r.flying)
		}
		entered, err := r.enter(wait)
		n := 0
		if err == nil {
			n = r.eng.reap(r.cqes)
			if entered && n < wait {
				r.counts.Retried++
			}
		}
		for _, c := range r.cqes[:n] {
			if cerr := r.hinted(c, what, fill); err == nil {
				err = cerr
			}
		}
		if err != nil {
			return r.fail(err)
		}
	}
	b.reads = b.reads[:0]
	return nil
}

// pushHint pushes the hint of slot i.
func (r *Ring) pushHint(i uint32, what string, fill func(read) error) error {
	rd := r.slots[i].batch.reads[r.slots[i].index]
	err := error(nil)
	if rd.off < 0 || rd.n < 1 || int64(rd.n) > math.MaxUint32 {
		err = fmt.Errorf("offsets start at 0, lengths at 1, and end at %d", uint32(math.MaxUint32))
	} else {
		err = fill(rd)
	}
	if err != nil {
		return fmt.Errorf("io_uring: %s on %d bytes at %d: %w", what, rd.n, rd.off, err)
	}
	return r.launch(i)
}

// hinted takes the completion of a hint.
func (r *Ring) hinted(c completion, what string, fill func(read) error) error {
	i, err := r.land(c)
	if err != nil {
		return err
	}
	s := &r.slots[i]
	switch errno := unix.Errno(max(0, -int(c.res))); {
	case errno == 0:
		s.batch.left--
		r.free = append(r.free, i)
		return nil
	case again(errno):
		r.counts.Retried++
		return r.pushHint(i, what, fill)
	default:
		rd := s.batch.reads[s.index]
		return fmt.Errorf("io_uring: %s on %d bytes at %d: %w", what, rd.n, rd.off, errno)
	}
}
