package uring

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/iobuf"
)

// fakeSystem is a system that refuses some things, and counts what it hands out.
type fakeSystem struct {
	system
	setupErr, mmapErr, registerErr error
	buffersErr                     error  // of memory for reads
	unknown                        uint32 // flags of setup that this kernel does not know
	features                       uint32 // that it does not have
	sysctl                         string

	fds      int // setups that succeeded, and were not closed
	mapped   int // bytes
	unmapped int
	buffers  []*iobuf.Buffer
}

func (f *fakeSystem) setup(entries uint32, p *params) (int, error) {
	if f.setupErr != nil {
		return -1, f.setupErr
	}
	if p.flags&f.unknown != 0 {
		return -1, unix.EINVAL
	}
	fd, err := f.system.setup(entries, p)
	if err == nil {
		f.fds++
		p.features &^= f.features
	}
	return fd, err
}

func (f *fakeSystem) close(fd int) error {
	f.fds--
	return f.system.close(fd)
}

func (f *fakeSystem) mmap(fd int, off int64, n, flags int) ([]byte, error) {
	if err := f.mmapErr; err != nil {
		return nil, err
	}
	f.mapped += n
	return f.system.mmap(fd, off, n, flags)
}

func (f *fakeSystem) munmap(p []byte) error {
	f.unmapped += len(p)
	return f.system.munmap(p)
}

func (f *fakeSystem) buffer(n int, huge bool) (*iobuf.Buffer, error) {
	if err := f.buffersErr; err != nil {
		return nil, err
	}
	b, err := f.system.buffer(n, huge)
	f.buffers = append(f.buffers, b)
	return b, err
}

// left says what was not given back.
func (f *fakeSystem) left() string {
	open := 0
	for _, b := range f.buffers {
		if b.Bytes() != nil {
			open++
		}
	}
	if f.fds == 0 && f.mapped == f.unmapped && open == 0 {
		return ""
	}
	return fmt.Sprintf("%d descriptors, %d bytes of mappings, %d buffers", f.fds, f.mapped-f.unmapped, open)
}

func (f *fakeSystem) register(fd int, op uint32, arg unsafe.Pointer, n uint32) error {
	if f.registerErr != nil {
		return f.registerErr
	}
	return f.system.register(fd, op, arg, n)
}

func (f *fakeSystem) disabled() string             { return f.sysctl }
func (f *fakeSystem) memlock() (soft, hard uint64) { return 65536, math.MaxUint64 }
func (f *fakeSystem) release() string              { return "5.4.0-test" }

func TestRefusalsTellCauseAndRemedy(t *testing.T) {
	engines(t) // skips where there is nothing to refuse
	for _, c := range []struct {
		name        string
		sys         fakeSystem
		unsupported bool
		want        error
		text        []string
	}{
		{"switched off", fakeSystem{setupErr: unix.EPERM, sysctl: "2"}, true, unix.EPERM, []string{"io_uring_disabled is 2", "nobody", "sysctl kernel.io_uring_disabled=0"}},
		{"for a group", fakeSystem{setupErr: unix.EPERM, sysctl: "1"}, true, unix.EPERM, []string{"io_uring_disabled is 1", "CAP_SYS_ADMIN", "io_uring_group"}},
		{"seccomp", fakeSystem{setupErr: unix.EPERM, sysctl: "0"}, true, unix.EPERM, []string{"io_uring_disabled is 0", "seccomp"}},
		{"seccomp, no sysctl", fakeSystem{setupErr: unix.EACCES}, true, unix.EACCES, []string{"no /proc/sys/kernel/io_uring_disabled", "seccomp"}},
		{"no such call", fakeSystem{setupErr: unix.ENOSYS}, true, unix.ENOSYS, []string{"kernel 5.4.0-test", "5.1", "seccomp"}},
		{"locked memory", fakeSystem{setupErr: unix.ENOMEM}, true, unix.ENOMEM, []string{"needs 800 bytes", "soft 65536", "hard unlimited", "RLIMIT_MEMLOCK"}},
		{"locked memory of the queues", fakeSystem{mmapErr: unix.ENOMEM}, true, unix.ENOMEM, []string{"mmap of the queues", "soft 65536"}},
		{"memory of the buffers", fakeSystem{buffersErr: unix.ENOMEM}, true, unix.ENOMEM, []string{"8 buffers of 4096 bytes", "needs 32768 bytes"}},
		{"locked memory of the buffers", fakeSystem{registerErr: unix.ENOMEM}, true, unix.ENOMEM, []string{"registering buffers of 32768 bytes", "needs 32768 bytes", "soft 65536"}},
		{"old kernel", fakeSystem{features: featRWCurPos}, true, ErrUnsupported, []string{"kernel 5.4.0-test", "5.6"}},
		{"nothing fits", fakeSystem{setupErr: unix.EINVAL}, true, unix.EINVAL, []string{"kernel 5.4.0-test"}},
		{"too many files", fakeSystem{setupErr: unix.EMFILE}, false, unix.EMFILE, []string{"io_uring_setup with 8 entries"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sys := c.sys
			sys.system = linux{}
			r, err := open(&sys, Options{File: content(t), Depth: 8, MaxRange: 4096, FixedBuffers: true})
			if err == nil {
				r.Close()
				t.Fatal("no error")
			}
			if !errors.Is(err, c.want) || errors.Is(err, ErrUnsupported) != c.unsupported {
				t.Errorf("%v: is unsupported %t, want %t, and to wrap %v", err, !c.unsupported, c.unsupported, c.want)
			}
			if strings.Contains(err.Error(), ErrUnsupported.Error()) {
				t.Errorf("%q has the text by which programs tell it", err)
			}
			for _, text := range c.text {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not contain %q", err, text)
				}
			}
			if left := sys.left(); left != "" {
				t.Errorf("left open: %s", left)
			}
		})
	}
}

func TestSetupTakesTheBestThatTheKernelKnows(t *testing.T) {
	engines(t)
	for _, c := range []struct {
		oneThread bool
		unknown   uint32
		want      string
	}{
		{true, 0, "flags=single-issuer,defer-taskrun,submit-all "},
		{true, setupDeferTaskrun, "flags=coop-taskrun,submit-all "},
		{true, setupDeferTaskrun | setupSingleIssuer | setupCoopTaskrun, "flags=submit-all "},
		{true, setupDeferTaskrun | setupSingleIssuer | setupCoopTaskrun | setupSubmitAll, "flags=none "},
		{false, 0, "flags=submit-all "},
		{false, setupSubmitAll, "flags=none "},
	} {
		sys := &fakeSystem{system: linux{}, unknown: c.unknown}
		r, err := open(sys, Options{File: content(t), Depth: 8, MaxRange: 20000, OneThread: c.oneThread})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.String(), c.want) {
			t.Errorf("without %#x: %s, want %s", c.unknown, r, c.want)
		}
		doAndCheck(t, r, []read{{5, 10000}, {100000, 20000}, {1, 1}})
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left := sys.left(); left != "" {
			t.Errorf("left open: %s", left)
		}
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	f := content(t)
	for name, o := range map[string]Options{
		"no depth":        {File: f, MaxRange: 1},
		"depth":           {File: f, MaxRange: 1, Depth: maxEntries + 1},
		"length":          {File: f, MaxRange: 1<<30 + 1, Depth: 1},
		"alignment":       {File: f, MaxRange: 1, Depth: 1, Align: 3},
		"batches":         {File: f, MaxRange: 1, Depth: 1, Batches: -1},
		"no file":         {MaxRange: 1, Depth: 1},
		"engine":          {File: f, MaxRange: 1, Depth: 1, Engine: "liburing"},
		"fixed too large": {File: f, MaxRange: 1 << 24, Depth: 256, FixedBuffers: true},
		"giouring keeps":  {File: f, MaxRange: 1, Depth: 1, Engine: EngineGiouring, KeepProcessor: true},
	} {
		if r, err := Open(o); err == nil {
			t.Errorf("%s: no error", name)
			r.Close()
		}
	}
}
