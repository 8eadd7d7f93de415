//go:build !386 && !arm && !mips && !mipsle

package prefetchmicro

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// measured is a call on a mapping, or a descriptor, with some advice.
type measured struct {
	Call
	advice mapping.Advice
	cold   bool // the row promises that all of its ranges come from the device
	kernel kernel
	config *config.Config // nil in tests
}

func (s measured) Name() string { return s.name }

// Open makes one call, to see whether the kernel has it.
func (s measured) Open(f *strategy.File, setup strategy.Setup) (_ strategy.Opened, err error) {
	fd, err := f.Open(0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	page := int64(f.PageSize())
	o := &opened{measured: s, fd: fd, pidfd: -1, page: page, size: f.Size(), setup: setup}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
		}
	}()
	if s.cold && s.capped {
		if err := s.fits(setup.MaxRange, page, hintLimit(fd, "/sys")); err != nil {
			return nil, s.config.Blame(err, "READ_SIZE")
		}
	}
	if s.mapped {
		if o.m, err = mapping.Open(fd, f.Size(), f.PageSize()); err != nil {
			return nil, err
		}
		err = o.m.Advise(s.advice)
	} else {
		err = s.adviseFile(fd)
	}
	if err != nil {
		return nil, err
	}
	if s.pidfd {
		if o.pidfd, err = s.kernel.pidfdOpen(os.Getpid(), 0); err != nil {
			o.pidfd = -1
			return nil, s.missing(fd, os.NewSyscallError("pidfd_open", err))
		}
	}
	rs := make([]strategy.Range, s.batch)
	for i := range rs {
		rs[i].N = int(min(f.Size(), int64(setup.MaxRange)))
	}
	if err := o.try(rs); err != nil {
		return nil, err
	}
	if s.mapped {
		return &mapped{o}, nil
	}
	return o, nil
}

// fits returns an error that skips a cold row whose ranges of n bytes, rounded out to pages, the kernel would cut at
// limit bytes without a word, 0 if that is not known.
func (s measured) fits(n int, page, limit int64) error {
	_, most := mapping.RoundOut(page-1, n, page, math.MaxInt64)
	if limit == 0 || most <= limit {
		return nil
	}
	return strategy.Unsupported("%s: a range of %d bytes lies in up to %d bytes of pages, of which the kernel would read no more than %d for one hint; "+
		"take smaller ranges (%sREAD_SIZE), or raise the device's read_ahead_kb", s.name, n, most, limit, config.EnvPrefix)
}

// try makes the call once, and looks whether its answers are about the file's pages.
func (o *opened) try(rs []strategy.Range) error {
	err := o.do(o.caller(), rs)
	if o.looks {
		// To those whom the kernel hides residency from, mincore says that all is resident, and cachestat EPERM. (Before
		// that was so, cachestat answered everybody.)
		hidden := pagecache.Visible(o.fd)
		switch {
		case hidden == nil:
		case err == nil && o.mapped:
			return strategy.Unsupported("%s: %w", o.name, hidden)
		case errors.Is(err, unix.EPERM):
			return strategy.Unsupported("%w: %w", err, hidden)
		}
	}
	if err != nil {
		return o.missing(o.fd, err)
	}
	if o.looks && !o.mapped && !pagecache.CachestatSees(o.fd) {
		return strategy.Unsupported("%s: it does not see the pages of files on overlayfs; take a file on another file system (%sFILE)", o.name, config.EnvPrefix)
	}
	return nil
}

// missing makes the errors that mean "not here" (Call.refused) a reason to skip the row, with cause and remedy.
func (s measured) missing(fd *os.File, err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err
	}
	why, ok := s.refused[errno]
	if !ok && isDevice(fd) {
		why, ok = s.onDevice[errno]
	}
	if !ok {
		return err
	}
	return strategy.Unsupported("%w, on Linux %s: %s", err, release(), why)
}

func release() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "(unknown release)"
	}
	return unix.ByteSliceToString(u.Release[:])
}

func (s measured) adviseFile(fd *os.File) error {
	if s.advice != mapping.Random {
		return nil
	}
	if err := unix.Fadvise(int(fd.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
		return fmt.Errorf("%s: posix_fadvise RANDOM on all of %s: %w", s.name, fd.Name(), err)
	}
	return nil
}

type opened struct {
	measured
	fd         *os.File
	m          *mapping.Map // nil unless the call works on a mapping
	pidfd      int          // of this process; −1 unless the call needs it
	page, size int64
	setup      strategy.Setup
}

// mapped is opened with a mapping, whose pages the runner must drop to evict them.
type mapped struct{ *opened }

func (o *mapped) Populate(off, n int64) error { return o.m.Populate(off, n) }
func (o *mapped) Drop(off, n int64) error     { return o.m.Drop(off, n) }

func (o *opened) Close() error {
	err := o.fd.Close()
	if o.m != nil {
		err = errors.Join(err, o.m.Close())
	}
	if o.pidfd >= 0 {
		err = errors.Join(err, unix.Close(o.pidfd))
	}
	return err
}

func (o *opened) Reader(int) (strategy.Reader, error) { return o.caller(), nil }

func (o *opened) caller() *caller {
	c := &caller{name: o.name, kind: o.kind, do: o.do, kernel: &o.kernel, fd: int(o.fd.Fd()), pidfd: o.pidfd, page: o.page, size: o.size,
		pageShift: uint(bits.TrailingZeros64(uint64(o.page))), iovs: make([]unix.Iovec, o.batch)}
	if o.m != nil {
		c.data = o.m.Bytes()
	}
	c.pages = make([]byte, int64(o.setup.MaxRange)/o.page+2)
	return c
}
