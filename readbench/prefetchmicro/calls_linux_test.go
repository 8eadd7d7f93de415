//go:build !386 && !arm && !mips && !mipsle

package prefetchmicro

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

func openFile(t *testing.T) (*strategy.File, strategy.Setup) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.bin")
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: 4 << 20, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	f := readFile(t, path)
	return f, strategy.Setup{Threads: 1, Batch: processMadviseRanges, MaxRange: 4 * f.PageSize()}
}

// readFile opens a file to read.
func readFile(t *testing.T, path string) *strategy.File {
	t.Helper()
	c, err := config.Load([]string{config.EnvPrefix + "FILE=" + path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := files.Open(t.Context(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f.File
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
		pidfdOpen: linux.pidfdOpen,
		processMadvise: func(pidfd int, iovs []unix.Iovec, advice int) (int, error) {
			n, err := linux.processMadvise(pidfd, iovs, advice)
			return n, errors.Join(err, fail())
		},
	}
}

// What the kernel does not have, or a filter forbids, is found out when the row is opened, and skips it with the
// release, the errno and the remedy. Any other error fails it.
func TestRefusedAtOpen(t *testing.T) {
	f, setup := openFile(t)
	const filter, built = "seccomp", "CONFIG_ADVISE_SYSCALLS"
	remedies := map[string]map[unix.Errno][]string{
		"mincore":          {unix.ENOSYS: {filter}, unix.EPERM: {filter}},
		"cachestat":        {unix.ENOSYS: {"Linux 6.5", filter}, unix.EPERM: {filter}, unix.EOPNOTSUPP: {"hugetlbfs"}},
		"nowait":           {unix.ENOSYS: {"Linux 4.6", filter}, unix.EPERM: {filter}, unix.EOPNOTSUPP: {"4.14", "file system"}},
		"madvise-willneed": {unix.ENOSYS: {built, filter}, unix.EPERM: {filter}},
		"process-madvise":  {unix.ENOSYS: {"Linux 5.10", built, filter}, unix.EPERM: {"CAP_SYS_NICE", "Linux 6.12", filter}, unix.EINVAL: {"Linux 5.15"}},
		"fadvise-willneed": {unix.ENOSYS: {built, filter}, unix.EPERM: {filter}},
		"readahead":        {unix.ENOSYS: {filter}, unix.EPERM: {filter}},
		"populate-read":    {unix.ENOSYS: {built}, unix.EPERM: {filter}, unix.EINVAL: {"Linux 5.14"}},
	}
	for _, c := range Calls() {
		for _, errno := range []unix.Errno{unix.ENOSYS, unix.EPERM, unix.EOPNOTSUPP, unix.EINVAL, unix.EIO, unix.EFAULT, unix.ENOMEM, unix.EBADF} {
			t.Run(c.name+"/"+unix.ErrnoName(errno), func(t *testing.T) {
				_, err := measured{c, mapping.Random, false, failing(errno, 0), nil}.Open(f, setup)
				requireRefusal(t, err, errno, remedies[c.name][errno])
			})
		}
	}
	for errno, remedy := range map[unix.Errno][]string{unix.ENOSYS: {"pidfd_open with 5.3"}, unix.EPERM: {filter}, unix.EMFILE: nil} {
		t.Run("pidfd_open/"+unix.ErrnoName(errno), func(t *testing.T) {
			k := linux
			k.pidfdOpen = func(int, int) (int, error) { return -1, errno }
			_, err := measured{ProcessMadvise(), mapping.Random, false, k, nil}.Open(f, setup)
			requireRefusal(t, err, errno, remedy)
		})
	}
}

// requireRefusal fails the test unless err wraps errno, and skips the row with the remedies, or fails it if there are none.
func requireRefusal(t *testing.T, err error, errno unix.Errno, remedies []string) {
	t.Helper()
	if !errors.Is(err, errno) {
		t.Fatalf("the error is %v", err)
	}
	if skip := errors.Is(err, strategy.ErrUnsupported); skip != (remedies != nil) {
		t.Errorf("skipped: %v: %v", skip, err)
	}
	for _, want := range remedies {
		for _, want := range []string{want, "Linux " + release()} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is missing in: %v", want, err)
			}
		}
	}
}

// Only a call that names the process by a descriptor makes one.
func TestProcessDescriptor(t *testing.T) {
	f, setup := openFile(t)
	for _, c := range Calls() {
		k, made := linux, 0
		k.pidfdOpen = func(pid, flags int) (int, error) {
			made++
			return linux.pidfdOpen(pid, flags)
		}
		o, err := measured{c, mapping.Random, false, k, nil}.Open(f, setup)
		if err == nil {
			err = o.Close()
		}
		if err != nil && !errors.Is(err, strategy.ErrUnsupported) {
			t.Error(err)
		}
		if want := c.name == "process-madvise"; made > 1 || made == 1 != want {
			t.Errorf("%s makes %d", c.name, made)
		}
	}
}

// A call that fails later is an error of the op, which fails the row, and it does not count.
func TestRefusedLater(t *testing.T) {
	f, setup := openFile(t)
	for _, c := range Calls() {
		for _, errno := range []unix.Errno{unix.EINVAL, unix.EPERM, unix.ENOSYS, unix.EIO} {
			t.Run(c.name+"/"+unix.ErrnoName(errno), func(t *testing.T) {
				r, do := reader(t, measured{c, mapping.Normal, false, failing(errno, 5+1), nil}, f, setup) // 5 by nowait and 1 by others at open
				var err error
				calls := uint64(0)
				for err == nil && calls < 100 {
					before := r.Counts().Calls[c.kind]
					if err = do(); err == nil {
						calls += r.Counts().Calls[c.kind] - before
					}
				}
				if !errors.Is(err, errno) {
					t.Fatalf("after %d calls: %v", calls, err)
				}
				if errors.Is(err, strategy.ErrUnsupported) {
					t.Errorf("a failure in mid-run is a reason to skip: %v", err)
				}
				if n := r.Counts().Calls[c.kind]; n > calls+5 || n < calls {
					t.Errorf("%d calls are counted, %d succeeded", n, calls)
				}
			})
		}
	}
}

// rangeEvery is how far apart, in bytes, the ranges are that reader's calls get.
const rangeEvery = 1 << 18

// reader opens a call; do makes its call on a batch of ranges.
func reader(t *testing.T, s measured, f *strategy.File, setup strategy.Setup) (c *caller, do func() error) {
	t.Helper()
	o, err := s.Open(f, setup)
	if err != nil {
		if errors.Is(err, strategy.ErrUnsupported) {
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
	rs := make([]strategy.Range, s.batch)
	for i := range rs {
		rs[i] = strategy.Range{Off: int64(i)*rangeEvery + c.page - 1, N: 4 * int(c.page)}
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
			c, do := reader(t, measured{tc.call, mapping.Random, false, k, nil}, f, setup)
			if err := do(); err != nil {
				t.Fatal(err)
			}
			if n := c.Counts(); n.Retried == 0 || n.Retried != n.Calls[c.kind] || n.Missed != 0 {
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
	_, do := reader(t, measured{ProcessMadvise(), mapping.Random, false, k, nil}, f, setup)
	if err := do(); err == nil || !strings.Contains(err.Error(), "it advised") {
		t.Errorf("the error is %v", err)
	}
}

// No call allocates, delivers bytes, or counts what it is not.
func TestCalls(t *testing.T) {
	f, setup := openFile(t)
	for _, c := range Calls() {
		t.Run(c.name, func(t *testing.T) {
			r, do := reader(t, measured{c, mapping.Random, false, linux, nil}, f, setup)
			if n := testing.AllocsPerRun(100, func() {
				if err := do(); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("a call allocates %v times", n)
			}
			if _, err := r.Read(strategy.Range{N: 1}); err == nil {
				t.Error("it delivers bytes")
			}
			n := r.Counts()
			if n.Probed > 0 != (c.effect == readbench.EffectProbe) || n.Missed > n.Probed || len(n.Calls) != 1 || n.Calls[c.kind] == 0 {
				t.Errorf("counts %+v", n)
			}
			if reads := n.ReadSyscalls; reads > 0 != (c.name == "nowait") || reads > 0 && reads < n.Calls[c.kind] {
				t.Errorf("counts %+v", n)
			}
		})
	}
}
