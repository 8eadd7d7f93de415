//go:build !386 && !arm && !mips && !mipsle

package prefetchmicro

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/strategy"
)

// To those who neither own nor may write the file, mincore says that all is resident, without an error, and cachestat
// EPERM (where it checks). Both rows are skipped with that cause, and not with the suspicion of a filter.
func TestResidencyIsHidden(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can look at a file as somebody else")
	}
	f, setup := openFile(t)
	const nobody, other = 65534, 65533
	dir := filepath.Dir(f.Path())
	if err := errors.Join(os.Chown(f.Path(), other, -1), os.Chmod(f.Path(), 0o644), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	refusing := linux
	refusing.cachestat = func(uint, *unix.CachestatRange, *unix.Cachestat_t, uint) error { return unix.EPERM }
	for _, tc := range []struct {
		call Call
		k    kernel
	}{{Mincore(), linux}, {Cachestat(), refusing}} {
		open := func() error {
			o, err := measured{tc.call, mapping.Random, false, tc.k, nil}.Open(f, setup)
			if err == nil {
				err = o.Close()
			}
			return err
		}
		var err error
		as(t, nobody, func() { err = open() })
		if !errors.Is(err, strategy.ErrUnsupported) || !errors.Is(err, pagecache.ErrUnsupported) || strings.Contains(err.Error(), "seccomp") {
			t.Errorf("%s as somebody else: %v", tc.call.name, err)
		}
		if err := open(); tc.call.mapped && err != nil || !tc.call.mapped && !strings.Contains(err.Error(), "seccomp") {
			t.Errorf("%s as root: %v", tc.call.name, err)
		}
	}
}

// as runs f with the effective user id on this thread alone.
func as(t *testing.T, uid int, f func()) {
	t.Helper()
	const keep = ^uintptr(0)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
		t.Fatal(errno)
	}
	defer unix.RawSyscall(unix.SYS_SETRESUID, keep, 0, keep)
	f()
}

// loopDevice is a block device of the size of f.
func loopDevice(t *testing.T, f *strategy.File) *strategy.File {
	t.Helper()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("a loop device (needs root): %v", err)
	}
	defer control.Close()
	n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
	if err != nil {
		t.Skipf("a free loop device: %v", err)
	}
	path := fmt.Sprintf("/dev/loop%d", n)
	loop, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Skipf("opening a loop device: %v", err)
	}
	t.Cleanup(func() { loop.Close() })
	backing, err := f.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer backing.Close()
	if err := unix.IoctlSetInt(int(loop.Fd()), unix.LOOP_SET_FD, int(backing.Fd())); err != nil {
		t.Skipf("setting up %s: %v", path, err) // somebody else may have taken it
	}
	t.Cleanup(func() {
		if err := unix.IoctlSetInt(int(loop.Fd()), unix.LOOP_CLR_FD, 0); err != nil {
			t.Error(err)
		}
	})
	return readFile(t, path)
}

// Older kernels refuse readahead(2) on block devices with EINVAL: that skips the row there, and nowhere else.
func TestReadaheadRefusedOnDevices(t *testing.T) {
	f, setup := openFile(t)
	dev := loopDevice(t, f)
	for _, tc := range []struct {
		call     Call
		f        *strategy.File
		remedies []string
	}{
		{Readahead(), dev, []string{"Linux 6.7", "regular file"}}, {Readahead(), f, nil}, {FadviseWillneed(), dev, nil},
	} {
		_, err := measured{tc.call, mapping.Normal, false, failing(unix.EINVAL, 0), nil}.Open(tc.f, setup)
		requireRefusal(t, err, unix.EINVAL, tc.remedies)
	}
}

// The kernel reads no more than hintLimit of a range, and says nothing: a cold row of larger ones is skipped, of smaller
// ones is not, and neither is one of calls that are not cut.
func TestHintsAreCut(t *testing.T) {
	testfile.RequireDisk(t, t.TempDir())
	f, setup := openFile(t)
	dev := loopDevice(t, f)
	fd, err := dev.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	limit := hintLimit(fd, "/sys")
	if limit == 0 {
		t.Fatalf("%s does not tell its limit", dev.Path())
	}
	if limit >= dev.Size() {
		t.Skipf("%s takes %d bytes in one request, it has %d", dev.Path(), limit, dev.Size())
	}
	page := int64(dev.PageSize())
	for _, c := range Calls() {
		if c.effect != readbench.EffectHint {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			want := dev.Size() / page
			if c.capped {
				want = limit / page
			}
			setup := setup
			setup.MaxRange = int(dev.Size())
			r, _ := reader(t, measured{c, mapping.Random, false, linux, nil}, dev, setup)
			b := lookBeside(t, dev, r)
			b.evict(t)
			rs := make([]strategy.Range, c.batch)
			for i := range rs {
				rs[i] = strategy.Range{N: int(dev.Size())}
				if i > 0 {
					rs[i].N = 1
				}
			}
			if err := c.do(r, rs); err != nil {
				t.Fatal(err)
			}
			b.settle(t, 0, want)
			if got := b.resident(t, 0, dev.Size()/page); got != want {
				t.Errorf("%d pages are resident after a hint of all, want %d", got, want)
			}
			for _, tc := range []struct {
				size int64
				cold bool
				skip bool
			}{
				{limit - page, true, false}, // it may lie in a page more
				{limit - page + 2, true, c.capped},
				{limit - page + 2, false, false},
			} {
				setup.MaxRange = int(tc.size)
				o, err := measured{c, mapping.Random, tc.cold, linux, nil}.Open(dev, setup)
				if err == nil {
					err = o.Close()
				}
				if err != nil && !errors.Is(err, strategy.ErrUnsupported) || (err != nil) != tc.skip {
					t.Errorf("%d bytes, cold %v, limit %d: %v", tc.size, tc.cold, limit, err)
				}
				if err != nil && (!strings.Contains(err.Error(), fmt.Sprint(limit)) || !strings.Contains(err.Error(), "READ_SIZE")) {
					t.Errorf("cause or remedy is missing in: %v", err)
				}
			}
		})
	}
}

// A partition has the limits of its disk; what does not tell both has none that is known.
func TestQueueLimit(t *testing.T) {
	sys := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(sys, "devices", path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		"sda/queue/read_ahead_kb": "128\n", "sda/queue/max_sectors_kb": "1280\n", "sda/sda1/partition": "1\n",
		"sdb/queue/read_ahead_kb": "8192\n", "sdb/queue/max_sectors_kb": "4096\n",
		"sdc/queue/read_ahead_kb": "128\n",
		"sdd/queue/read_ahead_kb": "many\n", "sdd/queue/max_sectors_kb": "4096\n",
	} {
		write(path, text)
	}
	if err := os.MkdirAll(filepath.Join(sys, "dev/block"), 0o755); err != nil {
		t.Fatal(err)
	}
	for minor, tc := range []struct {
		device string
		want   int64
	}{{"sda", 1280 << 10}, {"sda/sda1", 1280 << 10}, {"sdb", 8192 << 10}, {"sdc", 0}, {"sdd", 0}} {
		if err := os.Symlink("../../devices/"+tc.device, filepath.Join(sys, fmt.Sprintf("dev/block/8:%d", minor))); err != nil {
			t.Fatal(err)
		}
		if got := queueLimit(sys, 8, uint32(minor)); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.device, got, tc.want)
		}
	}
	if got := queueLimit(sys, 0, 42); got != 0 { // as btrfs and overlayfs number their files' devices
		t.Errorf("no device: %d", got)
	}
}
