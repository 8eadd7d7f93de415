package prefetchmicro

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/readbench"
)

// strategy is a call on a mapping, or a descriptor, with some advice.
type strategy struct {
	Call
	advice mapping.Advice
	kernel kernel
}

func (s strategy) Name() string { return s.name }

// Open makes one call, to see whether the kernel has it.
func (s strategy) Open(f *readbench.File, setup readbench.Setup) (_ readbench.Opened, err error) {
	fd, err := f.Open(0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	o := &opened{strategy: s, fd: fd, page: int64(f.PageSize()), size: f.Size(), setup: setup}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
		}
	}()
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
	if o.pidfd, err = unix.PidfdOpen(os.Getpid(), 0); err != nil && s.batch > 1 {
		return nil, s.missing(os.NewSyscallError("pidfd_open", err))
	}
	rs := make([]readbench.Range, s.batch)
	for i := range rs {
		rs[i].N = int(min(f.Size(), int64(setup.MaxRange)))
	}
	c := o.caller()
	if err := s.do(c, rs); err != nil {
		return nil, s.missing(err)
	}
	if s.name == Cachestat().name && !pagecache.CachestatSees(fd) {
		return nil, readbench.Unsupported("cachestat: it does not see the pages of files on overlayfs; take a file on another file system (%sFILE)", readbench.EnvPrefix)
	}
	if s.mapped {
		return &mapped{o}, nil
	}
	return o, nil
}

// missing makes the errors that mean "this kernel, or a filter, does not allow this call" a reason to skip the row.
// EINVAL is one for advice that older kernels do not know; any other EINVAL is our mistake.
func (s strategy) missing(err error) error {
	unknown := errors.Is(err, unix.EINVAL) && (s.name == PopulateRead().name || s.name == ProcessMadvise().name)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) || unknown {
		return readbench.Unsupported("Linux %s: %w; it came with %s, and a system-call filter (seccomp) may forbid it", release(), err, since[s.name])
	}
	return err
}

// since says which kernel brought a call.
var since = map[string]string{
	"mincore": "Linux 2.4", "cachestat": "Linux 6.5", "nowait": "Linux 4.14", "madvise-willneed": "Linux 2.4",
	"process-madvise": "Linux 5.10", "fadvise-willneed": "Linux 2.6", "readahead": "Linux 2.4", "populate-read": "Linux 5.14",
}

func release() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "(unknown release)"
	}
	return unix.ByteSliceToString(u.Release[:])
}

func (s strategy) adviseFile(fd *os.File) error {
	if s.advice != mapping.Random {
		return nil
	}
	if err := unix.Fadvise(int(fd.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
		return fmt.Errorf("%s: posix_fadvise RANDOM on all of %s: %w", s.name, fd.Name(), err)
	}
	return nil
}

type opened struct {
	strategy
	fd         *os.File
	m          *mapping.Map // nil unless the call works on a mapping
	pidfd      int          // of this process; −1 if there is none
	page, size int64
	setup      readbench.Setup
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
	if o.pidfd > 0 {
		err = errors.Join(err, unix.Close(o.pidfd))
	}
	return err
}

func (o *opened) Reader(int) (readbench.Reader, error) { return o.caller(), nil }

func (o *opened) caller() *caller {
	c := &caller{Call: o.Call, kernel: &o.kernel, fd: int(o.fd.Fd()), pidfd: o.pidfd, page: o.page, size: o.size, iovs: make([]unix.Iovec, o.batch)}
	if o.m != nil {
		c.data = o.m.Bytes()
	}
	c.pages = make([]byte, int64(o.setup.MaxRange)/o.page+2)
	return c
}

// A caller makes the calls of one worker.
type caller struct {
	Call
	kernel     *kernel
	fd, pidfd  int
	page, size int64
	data       []byte       // the mapping
	pages      []byte       // one for each page of a range: what mincore tells
	iovs       []unix.Iovec // what process_madvise is told
	within     unix.CachestatRange
	stat       unix.Cachestat_t
	byte1      [1]byte

	calls, failed  uint64 // that succeeded; read system calls that found nothing
	retried        uint64
	probed, missed uint64
	_              cpu.CacheLinePad
}

// Read is not what a call is for.
func (c *caller) Read(readbench.Range) ([]byte, error) {
	return nil, fmt.Errorf("%s delivers no bytes: it is measured in prefetchmicro only", c.name)
}

// kinds are the names of the system calls.
var kinds = map[string]string{
	"mincore": "mincore", "cachestat": "cachestat", "nowait": "preadv2", "madvise-willneed": "madvise",
	"process-madvise": "process_madvise", "fadvise-willneed": "fadvise", "readahead": "readahead", "populate-read": "madvise",
}

func (c *caller) Counts() readbench.Counts {
	n := readbench.Counts{
		Calls:   map[string]uint64{kinds[c.name]: c.calls},
		Retried: c.retried, Probed: c.probed, Missed: c.missed,
	}
	if c.name == Nowait().name {
		n.ReadSyscalls = c.calls + c.failed
	}
	return n
}
