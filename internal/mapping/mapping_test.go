package mapping

import (
	"os"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/testfile"
)

func newFile(t *testing.T, size int64) *os.File {
	t.Helper()
	p := make([]byte, size)
	for i := range p {
		p[i] = byte(i%251) + 1
	}
	return testfile.Of(t, p)
}

func open(t *testing.T, f *os.File, size int64, page int) *Map {
	t.Helper()
	m, err := Open(f, size, page)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if m.data != nil {
			m.Close()
		}
	})
	return m
}

// The range is the whole pages that the bytes touch; at the end of the file it ends there.
func TestRoundOut(t *testing.T) {
	for _, page := range []int64{4 << 10, 16 << 10, 64 << 10} {
		const pages = 8
		aligned, ragged := pages*page, (pages-1)*page+100
		for _, c := range []struct {
			rule          string
			off, n, size  int64
			start, length int64
		}{
			{"the first byte", 0, 1, aligned, 0, page},
			{"within the first page", 100, 200, aligned, 0, page},
			{"the first page", 0, page, aligned, 0, page},
			{"the first page's last byte", page - 1, 1, aligned, 0, page},
			{"the second page's first byte", page, 1, aligned, page, page},
			{"a page in the middle", 3 * page, page, aligned, 3 * page, page},
			{"a page's length, straddling two", 3*page + 1, page, aligned, 3 * page, 2 * page},
			{"two bytes, straddling two pages", 3*page - 1, 2, aligned, 2 * page, 2 * page},
			{"several whole pages", 2 * page, 4 * page, aligned, 2 * page, 4 * page},
			{"a page more or less at both ends", 2*page - 1, 4*page + 2, aligned, page, 6 * page},
			{"within the last page", 7*page + 50, 60, aligned, 7 * page, page},
			{"the last page", 7 * page, page, aligned, 7 * page, page},
			{"the last byte", 8*page - 1, 1, aligned, 7 * page, page},
			{"the whole file", 0, aligned, aligned, 0, aligned},
			{"the last page, of which there are 100 bytes", 7*page + 10, 20, ragged, 7 * page, 100},
			{"the last byte of that", ragged - 1, 1, ragged, 7 * page, 100},
			{"straddling into it", 7*page - 1, 2, ragged, 6 * page, page + 100},
			{"the whole of such a file", 0, ragged, ragged, 0, ragged},
			{"a file of less than a page", 10, 20, 100, 0, 100},
		} {
			start, length := RoundOut(c.off, int(c.n), page, c.size)
			if start != c.start || length != c.length {
				t.Errorf("page size %d, %s: %d bytes at %d of %d become %d at %d, want %d at %d",
					page, c.rule, c.n, c.off, c.size, length, start, c.length, c.start)
			}
		}
	}
}

func TestOpenMapsTheContent(t *testing.T) {
	const size = 3*4096 + 100
	f := newFile(t, size)
	want, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{1, 4096, size} {
		if got := open(t, f, n, os.Getpagesize()).Bytes(); string(got) != string(want[:n]) {
			t.Errorf("%d bytes mapped are not the file's first", n)
		}
	}
	m := open(t, f, size, os.Getpagesize())
	f.Close()
	if string(m.Bytes()) != string(want) {
		t.Error("after the file was closed they are not the file's")
	}
}

func TestOpenRefuses(t *testing.T) {
	f := newFile(t, 4096)
	writeOnly, err := os.OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writeOnly.Close()
	for _, c := range []struct {
		rule string
		f    *os.File
		size int64
	}{
		{"no bytes", f, 0},
		{"a negative number of bytes", f, -1},
		{"a file that may not be read", writeOnly, 4096},
	} {
		m, err := Open(c.f, c.size, os.Getpagesize())
		if err == nil {
			m.Close()
			t.Errorf("%s: it maps", c.rule)
		} else if !strings.Contains(err.Error(), f.Name()) {
			t.Errorf("%s: error %v does not name the file", c.rule, err)
		}
	}
}

func TestCloseTwiceIsAnError(t *testing.T) {
	m := open(t, newFile(t, 4096), 4096, os.Getpagesize())
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if m.Bytes() != nil {
		t.Error("there are bytes after Close")
	}
	if err := m.Close(); err == nil || !strings.Contains(err.Error(), "closed already") {
		t.Errorf("second Close: %v", err)
	}
}

// An advice that does not exist is refused: silently taken for another one, a row would measure something else.
func TestAdviseRefusesWhatItDoesNotKnow(t *testing.T) {
	m := open(t, newFile(t, 4096), 4096, os.Getpagesize())
	if err := m.Advise(Advice(7)); err == nil || !strings.Contains(err.Error(), "Advice(7)") {
		t.Errorf("Advise(Advice(7)): %v", err)
	}
}

func TestAdviceNames(t *testing.T) {
	for a, want := range map[Advice]string{Normal: "normal", Random: "random", Sequential: "sequential", 7: "Advice(7)", -1: "Advice(-1)"} {
		if got := a.String(); got != want {
			t.Errorf("advice %d is %q, want %q", int(a), got, want)
		}
	}
	if Normal != Advice(0) {
		t.Error("the zero Advice is not what a mapping has without any")
	}
}

// A hint costs no memory: it is on the measured path.
func TestWillNeedDoesNotAllocate(t *testing.T) {
	const size = 64 << 10
	m := open(t, newFile(t, size), size, os.Getpagesize())
	off := int64(0)
	allocs := testing.AllocsPerRun(100, func() {
		if err := m.WillNeed(off, 5000); err != nil {
			t.Fatal(err)
		}
		off = (off + 4097) % (size - 5000)
	})
	if allocs != 0 {
		t.Errorf("%v allocations a hint", allocs)
	}
}
