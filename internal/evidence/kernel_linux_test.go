package evidence

import (
	"crypto/rand"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
)

// These ask the kernel of this machine: what the counters mean is its word, not ours.

const size = 4 << 20

var page = os.Getpagesize()

// coldFile is a file of size bytes of which nothing is in the page cache.
func coldFile(t *testing.T) *os.File {
	t.Helper()
	p := make([]byte, size)
	rand.Read(p)
	f := testfile.OnDisk(t, p)
	evict(t, f)
	return f
}

func evict(t *testing.T, f *os.File) {
	t.Helper()
	if _, err := (pagecache.Evictor{}).Evict(t.Context(), f, size); err != nil {
		t.Fatal(err)
	}
}

// measured is what the counters say about f.
func measured(t *testing.T, f func()) Counters {
	t.Helper()
	m := NewMeter(Source{Proc: "/proc"})
	if err := m.Start(); err != nil {
		t.Skipf("the kernel does not tell: %v", err)
	}
	f()
	if err := m.Stop(); err != nil {
		t.Fatal(err)
	}
	return m.Sum()
}

// A read past the page cache counts to the byte. (A page of this program itself that is read at that moment
// counts, too, so there are three attempts; below the true number it may never be.)
func TestDeviceBytesOfADirectRead(t *testing.T) {
	name := coldFile(t).Name()
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECT, 0)
	if errors.Is(err, unix.EINVAL) {
		t.Skip("the file system of the temporary directory has no O_DIRECT: set TMPDIR to a directory on one that has")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(buf)
	for _, n := range []int{4096, 64 << 10, size} {
		var got uint64
		for range 3 {
			got = measured(t, func() {
				if k, err := f.ReadAt(buf[:n], 0); k != n || err != nil {
					t.Fatal(k, err)
				}
			}).DeviceBytes
			if got <= uint64(n) {
				break
			}
		}
		if got != uint64(n) {
			t.Errorf("a direct read of %d bytes counts as %d", n, got)
		}
	}
}

// Reads through the page cache count once, when the device delivers, and no more when the cache does.
func TestDeviceBytesOfCachedReads(t *testing.T) {
	f := coldFile(t)
	buf := make([]byte, size)
	read := func() {
		if _, err := f.ReadAt(buf, 0); err != nil {
			t.Fatal(err)
		}
	}
	if got := measured(t, read).DeviceBytes; got < size {
		t.Errorf("a cold read of %d bytes counts as %d", size, got)
	}
	if got := measured(t, read).DeviceBytes; got > size/10 {
		t.Errorf("the same again, hot, counts as %d", got)
	}
}

// Every pread is one call; reading the counters themselves takes some, and the runtime of the language a few.
func TestReadSyscallsCountReads(t *testing.T) {
	const reads, others = 1000, 50
	f := coldFile(t)
	buf := make([]byte, 10)
	got := measured(t, func() {
		for i := range reads {
			if _, err := f.ReadAt(buf, int64(i)); err != nil {
				t.Fatal(err)
			}
		}
	}).ReadSyscalls
	if got < reads || got > reads+others {
		t.Errorf("%d preads count as %d", reads, got)
	}
	if got := measured(t, func() {}).ReadSyscalls; got > others {
		t.Errorf("none count as %d", got)
	}
}

// A touch of a mapped page that is not in the cache, without read-ahead, is one major fault and one page from
// the device. A touch of one that is in the cache is a minor fault, or none if the kernel entered it together
// with a neighbour.
func TestFaultsOfAMapping(t *testing.T) {
	f := coldFile(t)
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(data)
	if err := unix.Madvise(data, unix.MADV_RANDOM); err != nil {
		t.Fatal(err)
	}
	sum := byte(0)
	touch := func() {
		for at := 0; at < size; at += page {
			sum += data[at]
		}
	}
	pages := uint64(size / page)
	cold := measured(t, touch)
	// A fault whose page arrives before the thread gets to wait for it is a minor one: on a busy machine, one
	// in twenty.
	if cold.MajorFaults < pages*3/4 || cold.MajorFaults > pages*105/100 {
		t.Errorf("%d cold touches are %d major faults", pages, cold.MajorFaults)
	}
	if cold.DeviceBytes < size || cold.DeviceBytes > size*105/100 {
		t.Errorf("%d cold touches, %d bytes, are %d bytes from the device", pages, size, cold.DeviceBytes)
	}
	if err := unix.Madvise(data, unix.MADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	hot := measured(t, touch)
	if hot.MajorFaults > pages/20 || hot.DeviceBytes > size/20 {
		t.Errorf("%d hot touches are %d major faults and %d bytes from the device", pages, hot.MajorFaults, hot.DeviceBytes)
	}
	if hot.MinorFaults == 0 {
		t.Error("hot touches of pages that are not entered are no minor faults")
	}
	t.Logf("sum %d; cold %+v; hot %+v", sum, cold, hot)
}

// Work is processor time of this process, and waiting for a device a switch.
func TestProcessorTimeAndSwitches(t *testing.T) {
	f := coldFile(t)
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1)
	got := measured(t, func() {
		for at := 0; at < size; at += page {
			if _, err := f.ReadAt(buf, int64(at)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got.CPU <= 0 {
		t.Errorf("%d reads took no processor time", size/page)
	}
	if want := uint64(size / page / 10); got.Switches < want {
		t.Errorf("%d cold reads are %d switches, want at least %d", size/page, got.Switches, want)
	}
}
