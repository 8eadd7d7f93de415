package pagecache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/testfile"
)

var page = int64(os.Getpagesize())

// newFile is a file of random bytes, synced, open for reading.
func newFile(t *testing.T, size int64) *os.File {
	t.Helper()
	return testfile.OnDisk(t, random(size))
}

func random(size int64) []byte {
	p := make([]byte, size)
	var seed [32]byte
	rand.NewChaCha8(seed).Read(p)
	return p
}

func evict(t *testing.T, f *os.File, size int64) {
	t.Helper()
	if r, err := (Evictor{}).Evict(t.Context(), f, size); err != nil || r.Resident != 0 {
		t.Fatalf("evicting: %v, %v", r, err)
	}
}

// requireResident asks both kernel interfaces, and fails unless each says want.
func requireResident(t *testing.T, f *os.File, off, n int64, want Residency) {
	t.Helper()
	if got, err := mincore(f, off, n); err != nil || got != want {
		t.Errorf("%d bytes at %d: mincore says %v, %v, want %v", n, off, got, err, want)
	}
	switch got, err := cachestat(f, off, n); {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EPERM):
		t.Logf("cachestat is not available here (Linux 6.5 has it, a system-call filter may forbid it): %v", err)
	case err != nil || got != want:
		t.Errorf("%d bytes at %d: cachestat says %v, %v, want %v", n, off, got, err, want)
	}
	if got, err := Resident(f, off, n); err != nil || got != want {
		t.Errorf("%d bytes at %d: Resident says %v, %v, want %v", n, off, got, err, want)
	}
}

// A page counts if the range touches any byte of it. Pages 2, 3, 7, 40 and the last one, of which there are 100
// bytes, are resident.
func TestResidentCountsPages(t *testing.T) {
	const pages = 64
	size := (pages-1)*page + 100
	f := newFile(t, size)
	evict(t, f, size)
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM); err != nil { // no read-ahead
		t.Fatal(err)
	}
	for _, p := range []int64{2, 3, 7, 40, pages - 1} {
		if _, err := f.ReadAt(make([]byte, 1), p*page); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		rule            string
		off, n          int64
		pages, resident int64
	}{
		{"the whole file", 0, size, pages, 5},
		{"one byte in a resident page", 2*page + 17, 1, 1, 1},
		{"one byte in another page", 4*page + 17, 1, 1, 0},
		{"one whole page", 2 * page, page, 1, 1},
		{"a page's last byte and the next one's first", 3*page - 1, 2, 2, 2},
		{"the last byte before a resident page", 2*page - 1, 1, 1, 0},
		{"one byte into the resident page", 2*page - 1, 2, 2, 1},
		{"aligned range", 2 * page, 6 * page, 6, 3},
		{"begins within a page", 2*page + 1, 6*page - 1, 6, 3},
		{"begins within a page and ends in the next one after as many", 2*page + 1, 6 * page, 7, 3},
		{"ends one byte into the resident page", 4 * page, 3*page + 1, 4, 1},
		{"ends before it", 4 * page, 3 * page, 3, 0},
		{"the end of the file", size - 1, 1, 1, 1},
		{"all but the first byte", 1, size - 1, pages, 5},
		{"all but the first page and the last byte", page, size - page - 1, pages - 1, 5},
		{"nothing resident in between", 8 * page, 32 * page, 32, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			requireResident(t, f, c.off, c.n, Residency{Pages: c.pages, Resident: c.resident})
		})
	}
}

func TestEvictAndWarm(t *testing.T) {
	for _, size := range []int64{1, page - 1, page, page + 1, 10*page + 100, 3 * warmChunk, 3*warmChunk + 1} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			f := newFile(t, size)
			pages := (size + page - 1) / page
			evict(t, f, size)
			requireResident(t, f, 0, size, Residency{Pages: pages})
			if err := Warm(t.Context(), f, size); err != nil {
				t.Fatal(err)
			}
			requireResident(t, f, 0, size, Residency{Pages: pages, Resident: pages})
			evict(t, f, size)
		})
	}
}

// A size that ends within a page means that page, too. Warming leaves what lies behind as it is; evicting takes
// it, too.
func TestEvictAndWarmAPrefix(t *testing.T) {
	const pages = 64
	f := newFile(t, pages*page)
	evict(t, f, pages*page)
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
		t.Fatal(err)
	}
	if err := Warm(t.Context(), f, 5*page+1); err != nil {
		t.Fatal(err)
	}
	requireResident(t, f, 0, 6*page, Residency{Pages: 6, Resident: 6})
	for p := range int64(pages) { // page by page, so that none is part of a larger unit of the cache
		if _, err := f.ReadAt(make([]byte, 1), p*page); err != nil {
			t.Fatal(err)
		}
	}
	requireResident(t, f, 0, pages*page, Residency{Pages: pages, Resident: pages})
	r, err := Evictor{}.Evict(t.Context(), f, 8*page+1)
	if err != nil || r != (Residency{Pages: 9}) {
		t.Errorf("evicting 8 pages and a byte: %v, %v", r, err)
	}
	requireResident(t, f, 0, pages*page, Residency{Pages: pages})
}

// What was written a moment ago is evicted, too, and nothing is lost.
func TestEvictWritesDirtyPagesBack(t *testing.T) {
	const pages = 64
	f := newFile(t, pages*page)
	w, err := os.OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	written := []byte(strings.Repeat("written", int(page)))
	if _, err := w.WriteAt(written, 3*page+5); err != nil {
		t.Fatal(err)
	}
	evict(t, f, pages*page)
	requireResident(t, f, 0, pages*page, Residency{Pages: pages})
	got := make([]byte, len(written))
	if _, err := f.ReadAt(got, 3*page+5); err != nil || string(got) != string(written) {
		t.Errorf("what was written is not what is read: %v", err)
	}
}

// One attempt is enough for that, nothing being in the way: it waits until the pages are written instead of
// only asking for it.
func TestOneAttemptWritesBack(t *testing.T) {
	const size, tries = 4 << 20, 3 // a page may be in use for a moment, but not every time
	f := newFile(t, size)
	var r Residency
	for range tries {
		if err := os.WriteFile(f.Name(), random(size), 0); err != nil { // truncates and dirties
			t.Fatal(err)
		}
		var err error
		if r, err = (Evictor{}).attempt(f, size); err != nil {
			t.Fatal(err)
		}
		if r.Resident == 0 {
			return
		}
	}
	t.Errorf("%v after one attempt, %d times", r, tries)
}

// mapTouched maps f without read-ahead and reads one byte of each of the pages, which holds those in the page cache.
func mapTouched(t *testing.T, f *os.File, size int64, pages ...int64) []byte {
	t.Helper()
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(data) })
	if err := unix.Madvise(data, unix.MADV_RANDOM); err != nil {
		t.Fatal(err)
	}
	sum := byte(0)
	for _, p := range pages {
		sum += data[p*page]
	}
	t.Logf("touched %d pages, sum %d", len(pages), sum)
	return data
}

// A mapped page stays, whatever is advised; the error says how many stay and why that may be.
func TestMappedPagesStay(t *testing.T) {
	const pages = 64
	size := pages * page
	f := newFile(t, size)
	evict(t, f, size)
	data := mapTouched(t, f, size, 1, 30, 31)

	r, err := Evictor{}.Evict(t.Context(), f, size)
	if want := (Residency{Pages: pages, Resident: 3}); r != want {
		t.Errorf("%v, want %v", r, want)
	}
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("error %v does not wrap ErrUnsupported", err)
	}
	if err != nil && strings.Contains(err.Error(), ErrUnsupported.Error()) {
		t.Errorf("error %v has the text by which programs tell it", err)
	}
	for _, part := range []string{f.Name(), "3 of 64 pages", "another process map it", "fuser"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not say %q", err, part)
		}
	}

	if r, err := (Evictor{Limit: 3.0 / pages}).Evict(t.Context(), f, size); err != nil || r.Resident != 3 {
		t.Errorf("3 pages may stay: %v, %v", r, err)
	}
	if _, err := (Evictor{Limit: 2.9 / pages}).Evict(t.Context(), f, size); !errors.Is(err, ErrUnsupported) {
		t.Errorf("2 pages may stay, 3 do: %v", err)
	}

	drop := Evictor{Unmap: func() error { return unix.Madvise(data, unix.MADV_DONTNEED) }}
	if r, err := drop.Evict(t.Context(), f, size); err != nil || r.Resident != 0 {
		t.Errorf("with the mapping's pages dropped first: %v, %v", r, err)
	}
}

// An error of the caller's own Unmap is the answer, and nothing is advised.
func TestEvictPassesTheErrorOfUnmapOn(t *testing.T) {
	f := newFile(t, 4*page)
	if err := Warm(t.Context(), f, 4*page); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("cannot unmap")
	if _, err := (Evictor{Unmap: func() error { return failed }}).Evict(t.Context(), f, 4*page); !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
	requireResident(t, f, 0, 4*page, Residency{Pages: 4, Resident: 4})
}

// The pages of a file on tmpfs cannot go: the error says that it lies there.
func TestEvictOnTmpfs(t *testing.T) {
	fd, err := unix.MemfdCreate("data", unix.MFD_CLOEXEC)
	if err != nil {
		t.Skipf("no memfd, which is a file on tmpfs: %v", err)
	}
	f := os.NewFile(uintptr(fd), "memfd")
	defer f.Close()
	if _, err := f.Write(random(4 * page)); err != nil {
		t.Fatal(err)
	}
	r, err := Evictor{}.Evict(t.Context(), f, 4*page)
	if want := "evicting memfd: it lies on tmpfs, whose pages are the file; use a file system on a disk"; !errors.Is(err, ErrUnsupported) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if !InMemory(f) || InMemory(newFile(t, page)) {
		t.Error("which file is in memory is not seen")
	}
	if want := (Residency{Pages: 4, Resident: 4}); r != want {
		t.Errorf("%v, want %v", r, want)
	}
}

func TestEvictCancelled(t *testing.T) {
	f := newFile(t, 4*page)
	if err := Warm(t.Context(), f, 4*page); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Evictor{}).Evict(ctx, f, 4*page); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), f.Name()) {
		t.Errorf("cancelled before: %v", err)
	}
	requireResident(t, f, 0, 4*page, Residency{Pages: 4, Resident: 4})

	ctx, cancel = context.WithCancel(t.Context())
	mapTouched(t, f, 4*page, 0)
	attempts := 0
	_, err := Evictor{Unmap: func() error { attempts++; cancel(); return nil }}.Evict(ctx, f, 4*page)
	if !errors.Is(err, context.Canceled) || attempts != 1 {
		t.Errorf("cancelled during the first attempt: %d attempts, %v", attempts, err)
	}
}

func TestWarmCancelled(t *testing.T) {
	const chunks = 64
	f := newFile(t, chunks*warmChunk)
	evict(t, f, chunks*warmChunk)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Warm(ctx, f, chunks*warmChunk); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), f.Name()) {
		t.Errorf("cancelled before: %v", err)
	}
	requireResident(t, f, 0, chunks*warmChunk, Residency{Pages: chunks * warmChunk / page})
}

// A file that is resident is not read again: that works even when nothing may be read any more.
func TestWarmReadsNothingTwice(t *testing.T) {
	f := newFile(t, 4*page)
	if err := Warm(t.Context(), f, 4*page); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Warm(ctx, f, 4*page); err != nil {
		t.Error(err)
	}
}

// A file that ends before the size cannot be warm up to it.
func TestWarmBeyondTheEnd(t *testing.T) {
	f := newFile(t, 4*page)
	for _, size := range []int64{5 * page, 3 * warmChunk} {
		if err := Warm(t.Context(), f, size); !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), f.Name()) {
			t.Errorf("%d bytes of a file of %d: %v", size, 4*page, err)
		}
	}
}

func TestErrorsOfAClosedFile(t *testing.T) {
	f := newFile(t, page)
	f.Close()
	if _, err := Resident(f, 0, page); err == nil || !strings.Contains(err.Error(), f.Name()) {
		t.Errorf("Resident: %v", err)
	}
	if _, err := mincore(f, 0, page); err == nil || !strings.Contains(err.Error(), f.Name()) {
		t.Errorf("mincore: %v", err)
	}
	if _, err := (Evictor{}).Evict(t.Context(), f, page); err == nil || !strings.Contains(err.Error(), f.Name()) {
		t.Errorf("Evict: %v", err)
	}
	if err := Warm(t.Context(), f, page); err == nil {
		t.Error("Warm succeeds")
	}
}
