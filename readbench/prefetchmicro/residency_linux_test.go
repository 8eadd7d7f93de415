//go:build !386 && !arm && !mips && !mipsle

package prefetchmicro

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/strategy"
)

// beside is a descriptor of f that reads nothing ahead: it shows and changes what the page cache holds, beside the call.
type beside struct {
	*os.File
	caller *caller
}

func lookBeside(t *testing.T, f *strategy.File, c *caller) beside {
	t.Helper()
	testfile.RequireDisk(t, t.TempDir())
	fd, err := f.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fd.Close() })
	if err := unix.Fadvise(int(fd.Fd()), 0, 0, unix.FADV_RANDOM); err != nil {
		t.Fatal(err)
	}
	return beside{fd, c}
}

// evict leaves no page resident.
func (b beside) evict(t *testing.T) {
	t.Helper()
	unmap := func() error {
		if b.caller.data == nil {
			return nil
		}
		return unix.Madvise(b.caller.data, unix.MADV_DONTNEED)
	}
	if r, err := (pagecache.Evictor{Unmap: unmap}).Evict(t.Context(), b.File, b.caller.size); err != nil || r.Resident != 0 {
		t.Fatalf("evicting: %v, %v", r, err)
	}
}

// read makes pages resident.
func (b beside) read(t *testing.T, pages ...int64) {
	t.Helper()
	for _, p := range pages {
		if _, err := b.ReadAt(make([]byte, 1), p*b.caller.page); err != nil {
			t.Fatal(err)
		}
	}
}

// resident is how many of n pages, from one on, are resident.
func (b beside) resident(t *testing.T, first, n int64) int64 {
	t.Helper()
	r, err := pagecache.Resident(b.File, first*b.caller.page, n*b.caller.page)
	if err != nil {
		t.Fatal(err)
	}
	return r.Resident
}

// settle waits until n pages from one on are resident: the kernel reads on its own after a hint.
func (b beside) settle(t *testing.T, first, n int64) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		got := b.resident(t, first, n)
		if got == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of the %d pages from %d on are resident, half a minute after a hint", got, n, first)
		}
	}
}

// The ranges of these tests begin with the last byte of a page, and have 4 pages: each touches 5.
const touched = 5

// A probe misses if, and only if, a page of its range is not resident, whichever it is.
func TestProbesTell(t *testing.T) {
	f, setup := openFile(t)
	all := []int64{0, 1, 2, 3, 4}
	for _, c := range Calls() {
		if c.effect != readbench.EffectProbe {
			continue
		}
		for _, advice := range []mapping.Advice{mapping.Normal, mapping.Random} {
			t.Run(c.name+"/"+advice.String(), func(t *testing.T) {
				r, do := reader(t, measured{c, advice, false, linux, nil}, f, setup)
				b := lookBeside(t, f, r)
				probe := func(state string, want uint64, resident ...int64) {
					b.evict(t)
					b.read(t, resident...)
					before := r.Counts()
					if err := do(); err != nil {
						t.Fatal(err)
					}
					after := r.Counts()
					if after.Probed != before.Probed+1 || after.Missed != before.Missed+want {
						t.Errorf("%s: %d probed and %d missed, want 1 and %d", state, after.Probed-before.Probed, after.Missed-before.Missed, want)
					}
				}
				probe("all are resident", 0, all...)
				probe("none is", 1)
				for i := range all {
					probe(fmt.Sprintf("only page %d is", i), 1, all[i])
					probe(fmt.Sprintf("all but page %d are", i), 1, slices.Delete(slices.Clone(all), i, i+1)...)
				}
			})
		}
	}
}

// A hint makes all pages of its ranges resident, and no others.
func TestHintsRead(t *testing.T) {
	f, setup := openFile(t)
	for _, c := range Calls() {
		if c.effect != readbench.EffectHint {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			r, do := reader(t, measured{c, mapping.Random, false, linux, nil}, f, setup)
			b := lookBeside(t, f, r)
			b.evict(t)
			if err := do(); err != nil {
				t.Fatal(err)
			}
			for i := range int64(c.batch) {
				b.settle(t, i*rangeEvery/r.page, touched)
			}
			if got, want := b.resident(t, 0, r.size/r.page), int64(c.batch*touched); got != want {
				t.Errorf("%d pages of the file are resident, the ranges have %d", got, want)
			}
		})
	}
}

// The probe by RWF_NOWAIT starts to read the first page that it finds missing, where the kernel does so (Linux 6.12).
func TestNowaitHints(t *testing.T) {
	f, setup := openFile(t)
	r, do := reader(t, measured{Nowait(), mapping.Random, false, linux, nil}, f, setup)
	b := lookBeside(t, f, r)
	b.evict(t)
	b.read(t, 0, 1)
	if err := do(); err != nil {
		t.Fatal(err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(release(), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	if major < 6 || major == 6 && minor < 12 {
		if got := b.resident(t, 0, touched); got != 2 {
			t.Errorf("%d pages are resident, 2 were", got)
		}
		return
	}
	b.settle(t, 0, 3)
	if got := b.resident(t, 3, touched-3); got != 0 {
		t.Errorf("%d pages are resident behind the first one that was missing", got)
	}
}
