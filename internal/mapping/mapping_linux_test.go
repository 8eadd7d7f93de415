package mapping

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
)

// region is what the kernel says about one mapping in /proc/self/smaps.
type region struct {
	rss   int64 // bytes entered in the page tables
	flags []string
}

func regionOf(t *testing.T, m *Map) region {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skipf("the kernel tells nothing about mappings (CONFIG_PROC_PAGE_MONITOR): %v", err)
	}
	_, rest, ok := strings.Cut("\n"+string(b), fmt.Sprintf("\n%x-%x ", unsafe.SliceData(m.data), uintptr(unsafe.Pointer(unsafe.SliceData(m.data)))+roundedLen(m)))
	if !ok {
		t.Fatal("the mapping is not one region of /proc/self/smaps")
	}
	var r region
	for line := range strings.Lines(rest) {
		if _, err := fmt.Sscanf(line, "Rss: %d kB", &r.rss); err == nil {
			r.rss <<= 10
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok {
			r.flags = strings.Fields(flags)
			break
		}
	}
	return r
}

func roundedLen(m *Map) uintptr {
	page := uintptr(os.Getpagesize())
	return (uintptr(len(m.data)) + page - 1) / page * page
}

// The kernel has the advice for the whole mapping, and Normal takes it back.
func TestAdviseReachesTheKernel(t *testing.T) {
	const size = 64<<10 + 100
	m := open(t, newFile(t, size), size, os.Getpagesize())
	for _, c := range []struct {
		advice Advice
		flag   string
	}{
		{Random, "rr"}, {Sequential, "sr"}, {Normal, ""}, {Sequential, "sr"}, {Random, "rr"}, {Normal, ""},
	} {
		if err := m.Advise(c.advice); err != nil {
			t.Fatal(err)
		}
		flags := regionOf(t, m).flags
		for _, flag := range []string{"rr", "sr"} { // random read, sequential read
			if got := slices.Contains(flags, flag); got != (flag == c.flag) {
				t.Errorf("advised %s: flag %s is set: %v (of %v)", c.advice, flag, got, flags)
			}
		}
	}
}

// Populate enters all pages, Drop removes all, as often as one likes, and the content stays.
func TestPopulateAndDrop(t *testing.T) {
	for _, size := range []int64{1, 64 << 10, 1<<20 + 100} {
		f := newFile(t, size)
		m := open(t, f, size, os.Getpagesize())
		all := int64(roundedLen(m))
		for range 2 {
			if err := m.Populate(0, size); err != nil {
				t.Fatal(err)
			}
			if got := regionOf(t, m).rss; got != all {
				t.Errorf("%d bytes: %d are entered after Populate, want %d", size, got, all)
			}
			if err := m.Drop(0, size); err != nil {
				t.Fatal(err)
			}
			if got := regionOf(t, m).rss; got != 0 {
				t.Errorf("%d bytes: %d are entered after Drop", size, got)
			}
		}
		want, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Bytes()) != string(want) {
			t.Error("the content is another one after Drop")
		}
	}
}

// Where the kernel cannot populate, touching enters all pages as well.
func TestTouchEntersAllPages(t *testing.T) {
	const size = 1<<20 + 100
	f := newFile(t, size)
	testfile.RequireDisk(t, filepath.Dir(f.Name()))
	if _, err := (pagecache.Evictor{}).Evict(t.Context(), f, size); err != nil {
		t.Fatal(err)
	}
	m := open(t, f, size, os.Getpagesize())
	if err := m.Advise(Random); err != nil { // cold and without read-ahead, so that a fault enters its own page alone
		t.Fatal(err)
	}
	touch(m.data)
	if got, want := regionOf(t, m).rss, int64(roundedLen(m)); got != want {
		t.Errorf("%d bytes are entered, want %d", got, want)
	}
}

// A hint is accepted by the kernel wherever it is, the ragged end included, and at every granularity that is a
// multiple of the system's page; and it reads: all pages of the range become resident.
func TestWillNeedReads(t *testing.T) {
	for _, page := range []int64{4 << 10, 16 << 10, 64 << 10} {
		if page%int64(os.Getpagesize()) != 0 {
			continue // no multiple of this system's page
		}
		size := 7*page + 100
		f := newFile(t, size)
		testfile.RequireDisk(t, filepath.Dir(f.Name()))
		m := open(t, f, size, int(page))
		for _, c := range []struct {
			rule   string
			off, n int64
		}{
			{"in the first page", 10, 20},
			{"the first page", 0, page},
			{"straddling two pages", 3*page - 1, 2},
			{"a page's length, unaligned", 3*page + 1, page},
			{"in the last page", size - 50, 50},
			{"straddling into the last page", 7*page - 1, 2},
			{"the whole file", 0, size},
		} {
			t.Run(fmt.Sprintf("page=%dKiB/%s", page>>10, c.rule), func(t *testing.T) {
				if _, err := (pagecache.Evictor{Unmap: func() error { return m.Drop(0, size) }}).Evict(t.Context(), f, size); err != nil {
					t.Fatal(err)
				}
				if err := m.WillNeed(c.off, int(c.n)); err != nil {
					t.Fatal(err)
				}
				start, length := RoundOut(c.off, int(c.n), page, size)
				r, err := pagecache.Resident(f, start, length)
				if err != nil || r.Resident != r.Pages {
					t.Errorf("of the pages of %d bytes at %d: %v, %v", length, start, r, err)
				}
			})
		}
	}
}

// A hint that the kernel refuses is an error that names the file and the range: here, for a granularity below
// the system's page.
func TestWillNeedTellsTheKernelsError(t *testing.T) {
	m := open(t, newFile(t, 64<<10), 64<<10, 512)
	err := m.WillNeed(512, 100)
	if err == nil || !strings.Contains(err.Error(), m.name) || !strings.Contains(err.Error(), "512 bytes at 512") {
		t.Errorf("unaligned: %v", err)
	}
}
