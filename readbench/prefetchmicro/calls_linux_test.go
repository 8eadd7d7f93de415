package prefetchmicro

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/readbench"
)

func openFile(t *testing.T) (*readbench.File, readbench.Setup) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.bin")
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: 4 << 20, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	c, err := readbench.Load([]string{readbench.EnvPrefix + "FILE=" + path})
	if err != nil {
		t.Fatal(err)
	}
	f, err := readbench.OpenFile(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, readbench.Setup{Config: c, Threads: 1, Batch: processMadviseRanges, MaxRange: 16 << 10}
}

// failing is a kernel whose calls fail with err once they were made as often as after says.
func failing(err error, after int) kernel {
	calls := 0
	fail := func() error {
		if calls++; calls > after {
			return err
		}
		return nil
	}
	return kernel{
		mincore: func(p, pages []byte) error { return errors.Join(linux.mincore(p, pages), fail()) },
		cachestat: func(fd uint, r *unix.CachestatRange, s *unix.Cachestat_t, flags uint) error {
			return errors.Join(linux.cachestat(fd, r, s, flags), fail())
		},
		nowait: func(_ int, p []byte, _ int64) (int, error) { return len(p), fail() },
		madvise: func(p []byte, advice int) error {
			return errors.Join(linux.madvise(p, advice), fail())
		},
		fadvise: func(fd int, off, n int64, advice int) error {
			return errors.Join(linux.fadvise(fd, off, n, advice), fail())
		},
		readahead: func(fd int, off, n int64) error { return errors.Join(linux.readahead(fd, off, n), fail()) },
		processMadvise: func(pidfd int, iovs []unix.Iovec, advice int) (int, error) {
			n, err := linux.processMadvise(pidfd, iovs, advice)
			return n, errors.Join(err, fail())
		},
	}
}

// What the kernel does not have, or a filter forbids, is found out when the row is opened, and skips it with the
// release and the errno. EINVAL does so for advice that older kernels do not know; for all else it is a failure.
func TestRefusedAtOpen(t *testing.T) {
	f, setup := openFile(t)
	for _, c := range Calls() {
		for _, tc := range []struct {
			errno unix.Errno
			skip  bool
		}{
			{unix.ENOSYS, true}, {unix.EPERM, true}, {unix.EOPNOTSUPP, true},
			{unix.EINVAL, c.name == "populate-read" || c.name == "process-madvise"},
			{unix.EIO, false}, {unix.EFAULT, false}, {unix.ENOMEM, false}, {unix.EBADF, false},
		} {
			t.Run(c.name+"/"+unix.ErrnoName(tc.errno), func(t *testing.T) {
				_, err := strategy{c, mapping.Random, failing(tc.errno, 0)}.Open(f, setup)
				if !errors.Is(err, tc.errno) {
					t.Fatalf("the error is %v", err)
				}
				if errors.Is(err, readbench.ErrUnsupported) != tc.skip {
					t.Errorf("skipped: %v, want %v: %v", !tc.skip, tc.skip, err)
				}
				for _, want := range []string{"Linux " + release(), since[c.name]} {
					if tc.skip && !strings.Contains(err.Error(), want) {
						t.Errorf("%q is missing in: %v", want, err)
					}
				}
			})
		}
	}
}

// A call that fails later is an error of the op, which fails the row, and it does not count.
func TestRefusedLater(t *testing.T) {
	f, setup := openFile(t)
	for _, c := range Calls() {
		for _, errno := range []unix.Errno{unix.EINVAL, unix.EPERM, unix.ENOSYS, unix.EIO} {
			t.Run(c.name+"/"+unix.ErrnoName(errno), func(t *testing.T) {
				r, do := reader(t, strategy{c, mapping.Normal, failing(errno, 5+1)}, f, setup) // 5 by nowait and 1 by others at open
				var err error
				calls := uint64(0)
				for err == nil && calls < 100 {
					before := r.Counts().Calls[kinds[c.name]]
					if err = do(); err == nil {
						calls += r.Counts().Calls[kinds[c.name]] - before
					}
				}
				if !errors.Is(err, errno) {
					t.Fatalf("after %d calls: %v", calls, err)
				}
				if errors.Is(err, readbench.ErrUnsupported) {
					t.Errorf("a failure in mid-run is a reason to skip: %v", err)
				}
				if n := r.Counts().Calls[kinds[c.name]]; n > calls+5 || n < calls {
					t.Errorf("%d calls are counted, %d succeeded", n, calls)
				}
			})
		}
	}
}

// reader opens a strategy; do makes its call on a batch of ranges.
func reader(t *testing.T, s strategy, f *readbench.File, setup readbench.Setup) (c *caller, do func() error) {
	t.Helper()
	o, err := s.Open(f, setup)
	if err != nil {
		if errors.Is(err, readbench.ErrUnsupported) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	r, err := o.Reader(0)
	if err != nil {
		t.Fatal(err)
	}
	c = r.(*caller)
	rs := make([]readbench.Range, s.batch)
	for i := range rs {
		rs[i] = readbench.Range{Off: int64(i)<<16 + 4095, N: setup.MaxRange}
	}
	return c, func() error { return c.do(c, rs) }
}

// A call that is interrupted is made again, and that is counted.
func TestInterrupted(t *testing.T) {
	f, setup := openFile(t)
	for _, tc := range []struct {
		call  Call
		errno unix.Errno
	}{{PopulateRead(), unix.EINTR}, {PopulateRead(), unix.EAGAIN}, {Nowait(), unix.EINTR}} {
		t.Run(fmt.Sprintf("%s/%s", tc.call.name, unix.ErrnoName(tc.errno)), func(t *testing.T) {
			k, interrupts := linux, 0
			k.madvise = func(p []byte, advice int) error {
				if interrupts++; interrupts%2 == 1 {
					return tc.errno
				}
				return linux.madvise(p, advice)
			}
			k.nowait = func(_ int, p []byte, _ int64) (int, error) {
				if interrupts++; interrupts%2 == 1 {
					return 0, tc.errno
				}
				return len(p), nil
			}
			c, do := reader(t, strategy{tc.call, mapping.Random, k}, f, setup)
			if err := do(); err != nil {
				t.Fatal(err)
			}
			if n := c.Counts(); n.Retried == 0 || n.Retried != n.Calls[kinds[c.name]] || n.Missed != 0 {
				t.Errorf("counts %+v", n)
			}
		})
	}
}

// process_madvise may stop half-way without an error; that is one.
func TestPartialProcessMadvise(t *testing.T) {
	f, setup := openFile(t)
	k := linux
	calls := 0
	k.processMadvise = func(pidfd int, iovs []unix.Iovec, advice int) (int, error) {
		n, err := linux.processMadvise(pidfd, iovs, advice)
		if calls++; calls > 1 {
			n /= 2
		}
		return n, err
	}
	_, do := reader(t, strategy{ProcessMadvise(), mapping.Random, k}, f, setup)
	if err := do(); err == nil || !strings.Contains(err.Error(), "it advised") {
		t.Errorf("the error is %v", err)
	}
}

// Probes tell what is resident, hints make it so, and none of it allocates.
func TestCalls(t *testing.T) {
	f, setup := openFile(t)
	for _, c := range Calls() {
		t.Run(c.name, func(t *testing.T) {
			r, do := reader(t, strategy{c, mapping.Random, linux}, f, setup)
			if err := do(); err != nil { // a hint, or a probe that starts to read
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(100, func() {
				if err := do(); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("a call allocates %v times", n)
			}
			if _, err := r.Read(readbench.Range{N: 1}); err == nil {
				t.Error("it delivers bytes")
			}
			if n := r.Counts(); n.Probed > 0 != (c.effect == readbench.EffectProbe) || n.Missed > n.Probed {
				t.Errorf("counts %+v", n)
			}
		})
	}
}
